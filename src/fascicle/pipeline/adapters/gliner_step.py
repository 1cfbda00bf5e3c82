"""A GLiNER model as a step: names of types that are said in words, without training."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from fascicle.core.document import Document, Mention, Patch, unique
from fascicle.core.mention import Span
from fascicle.errors import MissingExtraError, RecipeError
from fascicle.pipeline.adapters import Adapter, sentence_parts
from fascicle.settings.base import Name, Positive, Settings, Share


class GlinerSettings(Settings, frozen=True, kw_only=True):
    """Settings of the step.

    Attributes:
        model: a folder from that of the pipeline, or a name of the hub, which is fetched at the
            first use.
        types: what the model looks for -> type, such as ``{"chemical substance" = "Chemical"}``.
        threshold: least score of a mention.
        flat: whether no mention overlaps another.
        characters: greatest number of characters that the model reads together; longer texts are
            cut between sentences, and a part of more words than the model reads after as many
            words.
        offline: whether the hub is not asked.
    """

    model: Name
    types: Annotated[dict[Name, Name], Meta(min_length=1)]
    threshold: Share = 0.5
    flat: bool = True
    characters: Positive = 1_200
    offline: bool = True


class GlinerStep(Adapter):
    """A GLiNER model as a step; see the module."""

    Settings = GlinerSettings
    name = "gliner"

    def __init__(
        self, settings: GlinerSettings, *, name: str = "gliner", folder: str = "."
    ) -> None:
        """Loads the model.

        Args:
            settings: see there.
            name: of the step, and the source of its mentions.
            folder: the folder that a relative path begins at.

        Raises:
            MissingExtraError: GLiNER is not installed.
            RecipeError: the model cannot be loaded.
        """
        self._settings, self.name, self.drops = settings, name, frozenset({name})
        self.types = tuple(dict.fromkeys(settings.types.values()))
        self._model = _loaded(settings, folder)
        self.fingerprint = hashlib.sha256(msgspec.json.encode(settings, order="sorted")).hexdigest()

    def run(self, documents: Sequence[Document]) -> Iterator[Patch]:
        """Yields one patch for each document."""
        for document in documents:
            mentions = [
                mention for part in self._parts(document) for mention in self._of(document, *part)
            ]
            yield Patch(add=unique(mentions)[0], drop=self._earlier(document))

    def _parts(self, document: Document) -> Iterator[Span]:
        """Yields ranges with at most as many words of its own splitter as the model reads
        together; it drops others.
        """
        most = self._model.config.max_len
        for start, end in sentence_parts(document, self._settings.characters):
            words = [
                span
                for _, *span in self._model.data_processor.words_splitter(document.text[start:end])
            ]
            cuts = [start + words[at][0] for at in range(most, len(words), most)]
            yield from pairwise((start, *cuts, end))

    def _of(self, document: Document, start: int, end: int) -> Iterator[Mention]:
        settings, text = self._settings, document.text[start:end]
        for entity in self._model.predict_entities(
            text, list(settings.types), threshold=settings.threshold, flat_ner=settings.flat
        ):
            place = (start + int(entity["start"]), start + int(entity["end"]))
            score = round(min(max(float(entity["score"]), 0.0), 1.0), 6)
            yield Mention((place,), settings.types[entity["label"]], score=score, source=self.name)


def _loaded(settings: GlinerSettings, folder: str) -> Any:
    try:
        from gliner import GLiNER
    except ImportError:
        raise MissingExtraError("gliner", "gliner") from None
    place = Path(folder, settings.model)
    try:
        source = str(place) if place.is_dir() else settings.model
        model = GLiNER.from_pretrained(source, local_files_only=settings.offline or place.is_dir())
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        reason = " ".join(str(error).split())[:300]
        raise RecipeError(
            f"the GLiNER model {settings.model!r} cannot be loaded ({reason}); give a folder, or "
            "set offline = false to fetch it"
        ) from None
    model.eval()
    return model
