"""A model of GLiNER or GLiNER2 as a step: names of types that are said in words, without
training.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from fascicle.core.document import Document, Patch, unique
from fascicle.errors import ModelError, RecipeError
from fascicle.pipeline.adapters import Adapter
from fascicle.runtime.zero_shot import CHARACTERS, THRESHOLD, Program, find_mentions, open_network
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
            cut between sentences, and for GLiNER a part of more words than the model reads after
            as many words.
        offline: whether the hub is not asked.
    """

    model: Name
    types: Annotated[dict[Name, Name], Meta(min_length=1)]
    threshold: Share = THRESHOLD
    flat: bool = True
    characters: Positive = CHARACTERS
    offline: bool = True


class GlinerStep(Adapter):
    """A GLiNER model as a step; see the module."""

    Settings = GlinerSettings
    program: Program = "gliner"
    name = "gliner"

    def __init__(self, settings: GlinerSettings, *, name: str = "", folder: str = ".") -> None:
        """Loads the model.

        Args:
            settings: see there.
            name: of the step, and the source of its mentions; that of the program by default.
            folder: the folder that a relative path begins at.

        Raises:
            MissingExtraError: the program is not installed.
            RecipeError: the model cannot be loaded.
        """
        self._settings, self.name = settings, name or self.program
        self.drops = frozenset({self.name})
        self.types = tuple(dict.fromkeys(settings.types.values()))
        place = Path(folder, settings.model)
        try:
            self._network = open_network(
                self.program,
                place if place.is_dir() else settings.model,
                offline=settings.offline,
            )
        except ModelError as error:
            raise RecipeError(str(error)) from None
        self.fingerprint = hashlib.sha256(msgspec.json.encode(settings, order="sorted")).hexdigest()

    def run(self, documents: Sequence[Document]) -> Iterator[Patch]:
        """Yields one patch for each document."""
        settings = self._settings
        for document in documents:
            mentions = find_mentions(
                self._network,
                document,
                words=settings.types,
                threshold=settings.threshold,
                source=self.name,
                flat=settings.flat,
                most=settings.characters,
            )
            yield Patch(add=unique(list(mentions))[0], drop=self._earlier(document))


class Gliner2Step(GlinerStep):
    """A GLiNER2 model as a step; see the module."""

    program: Program = "gliner2"
    name = "gliner2"
