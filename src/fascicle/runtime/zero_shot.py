"""Zero-shot models of GLiNER and GLiNER2: types that are said in words, without training."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeGuard

import msgspec

from fascicle.core.arguments import AnyPath
from fascicle.core.document import Document, Mention, Patch, unique
from fascicle.core.mention import PlacedSpans, Span
from fascicle.errors import ModelError, UsageError, import_extra
from fascicle.settings.types import read_types
from fascicle.text.annotator import Annotator
from fascicle.text.segment import all_sentences, segmenter, sentence_parts

Program = Literal["gliner", "gliner2"]
THRESHOLD: Final = 0.5  # of both programs
CHARACTERS: Final = 1_200  # that a network reads together


class Entity(NamedTuple):
    """A match of a network, with offsets in the text that it read."""

    start: int
    end: int
    words: str  # those of the type
    score: float


class Network:
    """A network of one of the programs, which are asked in the same way."""

    def __init__(self, model: Any) -> None:
        """Takes a loaded model of the program."""
        self._model = model

    def parts(self, text: str, sentences: Sequence[Span], most: int) -> Iterator[Span]:
        """Yields the ranges that the network reads; see `sentence_parts`."""
        return sentence_parts(text, sentences, most)

    def find(
        self, text: str, words: Sequence[str], *, threshold: float, flat: bool
    ) -> Iterator[Entity]:
        """Yields the entities of a text.

        Args:
            text: of one range.
            words: of the types.
            threshold: least score.
            flat: whether no entity overlaps another.
        """
        raise NotImplementedError


class _Gliner(Network):
    def parts(self, text: str, sentences: Sequence[Span], most: int) -> Iterator[Span]:
        """Yields ranges with at most as many words of its own splitter as the model reads
        together; it drops others.
        """
        longest, split = self._model.config.max_len, self._model.data_processor.words_splitter
        for start, end in super().parts(text, sentences, most):
            words = [span for _, *span in split(text[start:end])]
            cuts = [start + words[at][0] for at in range(longest, len(words), longest)]
            yield from pairwise((start, *cuts, end))

    def find(
        self, text: str, words: Sequence[str], *, threshold: float, flat: bool
    ) -> Iterator[Entity]:
        for entity in self._model.predict_entities(
            text, list(words), threshold=threshold, flat_ner=flat
        ):
            yield Entity(entity["start"], entity["end"], entity["label"], entity["score"])


class _Gliner2(Network):
    def find(
        self, text: str, words: Sequence[str], *, threshold: float, flat: bool
    ) -> Iterator[Entity]:
        answer = self._model.extract_entities(
            text,
            list(words),
            threshold=threshold,
            include_confidence=True,
            include_spans=True,
            overlap_policy="disallow" if flat else "allow",
        )
        entities = [
            Entity(entity["start"], entity["end"], label, entity["confidence"])
            for label, of_label in answer["entities"].items()
            for entity in of_label
            if entity["end"] <= len(text)  # it adds a full stop to a text without one
        ]
        return _disjoint(entities) if flat else iter(entities)


def _disjoint(entities: Iterable[Entity]) -> Iterator[Entity]:
    """Yields the entities with the best scores of which no two overlap, whatever their types."""
    places = PlacedSpans(())
    for entity in sorted(entities, key=lambda entity: -entity.score):
        if not places.overlapping(entity[:2]):
            places.add(entity[:2])
            yield entity


_NETWORKS: Final[Mapping[str, Callable[[Any], Network]]] = MappingProxyType(
    {"gliner": _Gliner, "gliner2": _Gliner2}
)


def open_network(program: str, model: AnyPath, *, offline: bool) -> Network:
    """Loads a model.

    Args:
        program: a `Program`.
        model: a folder, or a name of the hub.
        offline: whether the hub is not asked.

    Raises:
        MissingExtraError: the program is not installed.
        ModelError: the model cannot be loaded.
    """
    library = import_extra(program, extra=program)
    is_folder = Path(model).is_dir()
    try:
        loader = library.GLiNER if program == "gliner" else library.AutoExtractor
        network = loader.from_pretrained(str(model), local_files_only=offline or is_folder)
    # a foreign file may raise any
    except Exception as error:
        reason = " ".join(str(error).split())[:300]
        advice = " or set offline = false to fetch it" if offline and not is_folder else ""
        raise ModelError(
            f"the model {str(model)!r} of {program} cannot be loaded ({reason}); give a folder"
            f"{advice or ' or a name of the hub'}"
        ) from None
    network.eval()
    return _NETWORKS[program](network)


def open_zero_shot(
    model: AnyPath,
    types: AnyPath | Sequence[AnyPath] | None,
    *,
    threshold: float | Mapping[str, float] = 0.0,
    device: str | None = None,
) -> ZeroShotPredictor:
    """Opens a model by its name.

    Args:
        model: such as ``gliner:NAME``; a name that is no folder is asked of the hub.
        types: words for types, each also as ``WORDS=TYPE``, or one text of them with commas; or the
            path of a TOML file of types, whose keywords (without one the names) are the words.
        threshold: see `ZeroShotPredictor`.
        device: the processor.

    Raises:
        UsageError: no types, or words that mean two; another device.
        RecipeError: the file cannot be read.
        MissingExtraError, ModelError: see `open_network`.
    """
    if device not in (None, "cpu", "auto"):
        raise UsageError(f"{model} runs on the processor; leave out the device {device!r}")
    program, _, name = str(model).partition(":")
    words = _words_of_file(types) if _is_file(types) else _words_of_list(types or (), name=model)
    place = Path(name).expanduser()
    network = open_network(program, place if place.is_dir() else name, offline=False)
    last = name.rstrip("/\\").replace("\\", "/").rpartition("/")[2]
    return ZeroShotPredictor(network, name=f"{program}:{last}", words=words, threshold=threshold)


def _is_file(types: Any) -> TypeGuard[AnyPath]:
    return isinstance(types, os.PathLike) or (isinstance(types, str) and types.endswith(".toml"))


def _words_of_file(path: AnyPath) -> dict[str, str]:
    return {of_type.keyword or of_type.name: of_type.name for of_type in read_types(path).types}


def _words_of_list(types: Any, *, name: object) -> dict[str, str]:
    parts = types.split(",") if isinstance(types, str) else types
    pairs = [tuple(side.strip() for side in part.partition("=")[::2]) for part in parts]
    words = {first: kind or first for first, kind in pairs if first}
    if not words or len(words) < len(pairs):
        raise UsageError(
            f"{name} finds types that are said in words, and {list(parts)} does not name each "
            "once; name some as types, for example disease,chemical substance=Chemical"
        )
    return words


class ZeroShotPredictor(Annotator):
    """A model of GLiNER or GLiNER2 as a predictor."""

    def __init__(
        self,
        network: Network,
        *,
        name: str,
        words: Mapping[str, str],
        threshold: float | Mapping[str, float] = 0.0,
    ) -> None:
        """Takes a network.

        Args:
            network: see `open_network`.
            name: of the program and the model.
            words: what the model looks for -> type.
            threshold: least score; one number, or one for each of some types; `THRESHOLD` for the
                others, and in place of 0.
        """
        self._network, self._name, self._words = network, name, dict(words)
        of_type = (
            threshold
            if isinstance(threshold, Mapping)
            else dict.fromkeys(words.values(), threshold)
        )
        self._least = {kind: of_type.get(kind) or THRESHOLD for kind in words.values()}

    @property
    def name(self) -> str:
        """Name of the program and the model."""
        return self._name

    @property
    def types(self) -> tuple[str, ...]:
        """Types that it looks for."""
        return tuple(self._least)

    @property
    def kind(self) -> str:
        """A zero-shot model."""
        return "zero-shot model"

    @property
    def fingerprint(self) -> str:
        """Name, types and thresholds; the files of the model are not part of it."""
        return f"{self._name} {self._words} {self._least}"

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Predicts mentions; no two overlap."""
        return [Patch(add=unique(list(self._mentions(document)))[0]) for document in documents]

    def _mentions(self, document: Document) -> Iterator[Mention]:
        sentences = all_sentences(document, segmenter(self.segmenter))
        for mention in find_mentions(
            self._network,
            msgspec.structs.replace(document, sentences=sentences),
            words=self._words,
            threshold=min(self._least.values()),
            source=self._name,
        ):
            if mention.score is not None and mention.score >= self._least[mention.type]:
                yield mention


def find_mentions(
    network: Network,
    document: Document,
    *,
    words: Mapping[str, str],
    threshold: float,
    source: str,
    flat: bool = True,
    most: int = CHARACTERS,
) -> Iterator[Mention]:
    """Yields the mentions of a document.

    Args:
        network: see `open_network`.
        document: with its sentences.
        words: what the model looks for -> type.
        threshold: least score.
        source: of the mentions.
        flat: whether no mention overlaps another.
        most: characters that the network reads together.
    """
    text = document.text
    for start, end in network.parts(text, document.sentences or (), most):
        for entity in network.find(text[start:end], list(words), threshold=threshold, flat=flat):
            score = round(min(max(float(entity.score), 0.0), 1.0), 6)
            place = (start + int(entity.start), start + int(entity.end))
            yield Mention((place,), words[entity.words], score=score, source=source)
