"""The one way from documents to mentions, for a torch model and for an ONNX session alike.

read (pieces, windows) -> score (batches) -> decode -> mentions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from fascicle.core.document import GOLD, Document, Event, Mention, Patch, apply
from fascicle.core.spans import Span
from fascicle.core.wording import has_letters
from fascicle.decode.calibration import calibrated, rounded, thresholds
from fascicle.errors import InputError
from fascicle.recipe.calibration import Calibration
from fascicle.recipe.manifest import Manifest
from fascicle.runtime.batching import length_sorted_batches
from fascicle.runtime.decoders import Decoder, Found, Tables, decoder_of
from fascicle.runtime.distributions import GoldDistribution, Prober, prober_of
from fascicle.text.batch import Batch, collate
from fascicle.text.pieces import Ints, Pieces, PieceTokenizer
from fascicle.text.reading import Reading, ReadsDocuments, read_documents
from fascicle.text.segment import segmenter
from fascicle.text.windows import Window, cut_short

_CHUNK_CHARACTERS = 1 << 17  # text read together: enough to sort windows by length, little enough to stay flat
_CHUNK_DOCUMENTS = 512


class Scorer(Protocol):
    """The network: one padded batch in, named score tables out."""

    def run(self, inputs: Batch) -> Tables:
        """Scores one batch of ``text.batch.collate``."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Probed:
    """One document, what the model would add to it, and what it says of each mention that was asked for."""

    document: Document
    patch: Patch
    gold: tuple[GoldDistribution, ...]


@dataclass(frozen=True)
class _Both:
    """Two that take what they need of the same tables."""

    decoder: Decoder
    prober: Prober

    def take(self, tables: Tables, windows: Sequence[Window], counts: Ints) -> list[tuple[Any, Any]]:
        decided, probed = (one.take(tables, windows, counts) for one in (self.decoder, self.prober))
        return list(zip(decided, probed, strict=True))


class Annotator(ABC):
    """A predictor of mentions, over documents, streams and texts."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The source of its mentions."""

    @property
    @abstractmethod
    def types(self) -> tuple[str, ...]:
        """What it looks for."""

    @abstractmethod
    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions and events for each document.

        Args:
            documents: sentences and words are taken from them where given.

        Returns:
            One patch per document, in order; the documents stay as they are.
        """

    def stream(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Annotates any number of documents in bounded memory, in order."""
        for chunk in chunks(documents):
            for document, patch in zip(chunk, self.predict(chunk), strict=True):
                yield apply(document, patch)

    def annotate(self, texts: str | Iterable[str]) -> list[Document]:
        """Annotates texts.

        Args:
            texts: one text, or several.

        Returns:
            One document per text, named ``text-1`` and so on.
        """
        given = [texts] if isinstance(texts, str) else texts
        return list(self.stream(_as_document(text, number) for number, text in enumerate(given, start=1)))


class ModelPredictor(Annotator):
    """A model as a predictor: ``predict`` is pure, ``annotate`` applies it to texts.

    The score of a mention is defined by its head, see ``models/``, and changed by the calibration of its decision if
    there is one.
    """

    def __init__(
        self,
        manifest: Manifest,
        tokenizer: PieceTokenizer,
        scorer: Scorer,
        *,
        max_tokens: int = 1024,
        read: ReadsDocuments = read_documents,
    ) -> None:
        """Puts the parts together.

        Args:
            manifest: of the model.
            tokenizer: of the model.
            scorer: the network.
            max_tokens: pieces in a batch, padding included.
            read: cuts documents; ``text.reading.KeptReadings`` where the same ones are predicted again and again.

        Raises:
            InputError: the model was made with a segmenter that this release does not have.
        """
        segmenter(manifest.reading.segmenter)
        self.manifest = manifest
        self._tokenizer = tokenizer
        self._scorer = scorer
        self._max_tokens = max_tokens
        self._reads = read

    @property
    def name(self) -> str:
        """Of the model; the source of its mentions."""
        return self.manifest.name

    def uncalibrated(self) -> ModelPredictor:
        """The same model with the scores of its head and no threshold: what a calibration is fitted on."""
        return self.with_calibration(msgspec.UNSET)

    def with_calibration(self, calibration: Calibration | msgspec.UnsetType) -> ModelPredictor:
        """The same model with other scores and thresholds."""
        return self._deciding(calibration=calibration)

    def with_nothing(self, nothing: float) -> ModelPredictor:
        """The same model with another ``Decision.nothing``."""
        return self._deciding(nothing=nothing)

    def _deciding(self, **changes: Any) -> ModelPredictor:
        decision = msgspec.structs.replace(self.manifest.decision, **changes)
        manifest = msgspec.structs.replace(self.manifest, decision=decision)
        return ModelPredictor(manifest, self._tokenizer, self._scorer, max_tokens=self._max_tokens, read=self._reads)

    @property
    def types(self) -> tuple[str, ...]:
        """That the model looks for."""
        return self.manifest.types

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions and events for each document.

        Args:
            documents: sentences and words are taken from them where given.

        Returns:
            One patch per document, in order; the documents stay as they are.
        """
        patches: list[Patch] = []
        for chunk in chunks(documents):
            patches.extend(self._predict_chunk(chunk))
        return patches

    def probe(self, documents: Iterable[Document], *, source: str = GOLD) -> Iterator[Probed]:
        """Predicts, and says how probable mentions are that documents hold already; in bounded memory, in order.

        Args:
            documents: with mentions; of any number.
            source: whose mentions are asked for.

        Yields:
            For each document its patch, as `predict` gives it, and of each mention what the model says of its span.
        """
        for chunk in chunks(documents):
            read, decoder = self._read(chunk), decoder_of(self.manifest)
            given = [document.layer(source) for document in chunk]
            prober, places = prober_of(self.manifest, read, given)
            taken = self._score(read, _Both(decoder, prober).take)
            found = decoder.decide([[one for one, _ in parts] for parts in taken], read.windows)
            numbers = prober.probabilities([[one for _, one in parts] for parts in taken], read.windows)
            patches = self._patches(chunk, read, found)
            for document, patch, mentions, where, rows in zip(chunk, patches, given, places, numbers, strict=True):
                yield Probed(document=document, patch=patch, gold=where.fill(mentions, rows))

    def _predict_chunk(self, documents: Sequence[Document]) -> list[Patch]:
        read, decoder = self._read(documents), decoder_of(self.manifest)
        return self._patches(documents, read, decoder.decide(self._score(read, decoder.take), read.windows))

    def _read(self, documents: Sequence[Document]) -> Reading:
        level = self.manifest.answering.level
        return self._reads(documents, self._tokenizer, reading=self.manifest.reading, level=level)

    def _patches(self, documents: Sequence[Document], read: Reading, found: Sequence[Found]) -> list[Patch]:
        patches = []
        for document, pieces, (spans, raw) in zip(documents, read.pieces, found, strict=True):
            scores, kept = self._calibrated(spans, raw)
            events = _events(document, pieces, capacity=read.capacity, unknown=self._tokenizer.unknown)
            if not kept.all():
                events = (*events, _below(int((~kept).sum())))
            patches.append(Patch(add=self._mentions(pieces, spans[kept], scores[kept]), events=events))
        return patches

    def _score(self, read: Reading, take: Callable[[Tables, Sequence[Window], Ints], list[Any]]) -> list[list[Any]]:
        """What is taken of each window of each document."""
        windows = [w for cut in read.windows for w in cut]
        taken: list[Any] = [None] * len(windows)
        extra = len(self._tokenizer.prefix) + len(self._tokenizer.suffix)
        lengths = [w.pieces[1] - w.pieces[0] + extra for w in windows]
        for chosen in length_sorted_batches(lengths, max_tokens=self._max_tokens):
            together = [windows[i] for i in chosen]
            batch = collate(together, read.pieces, self._tokenizer)
            rows = take(self._scorer.run(batch), together, batch["unit_count"])
            for i, row in zip(chosen.tolist(), rows, strict=True):
                taken[i] = row
        in_order = iter(taken)
        return [[next(in_order) for _ in cut] for cut in read.windows]

    def _calibrated(
        self, spans: NDArray[np.int64], raw: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The scores that the decision gives, and which of them reach the threshold of their type."""
        scores, calibration = rounded(raw), self.manifest.decision.calibration
        if not calibration:
            return scores, np.ones(len(scores), dtype=bool)
        scores = calibrated(scores, calibration)
        return scores, scores >= thresholds(calibration, self.manifest.types)[spans[:, 2]]

    def _mentions(self, pieces: Pieces, spans: NDArray[np.int64], scores: NDArray[np.float64]) -> tuple[Mention, ...]:
        starts = pieces.units[spans[:, 0], 0].tolist()
        ends = pieces.units[spans[:, 1] - 1, 1].tolist()
        kinds = spans[:, 2].tolist()
        return tuple(
            Mention(((a, b),), self.manifest.types[k], score=s, source=self.name)
            for a, b, k, s in zip(starts, ends, kinds, scores.tolist(), strict=True)
            if a < b
        )


def _as_document(text: str, number: int) -> Document:
    if not isinstance(text, str):
        raise InputError(f"annotate takes texts, got {type(text).__name__}; stream and predict take documents")
    try:
        return Document(id=f"text-{number}", text=text)
    except ValueError as error:
        raise InputError(str(error)) from None


def _events(document: Document, pieces: Pieces, *, capacity: int, unknown: int | None) -> tuple[Event, ...]:
    """What of a document the network did not see, or not as written."""
    long = [(int(a), int(b)) for a, b in pieces.units[cut_short(pieces, capacity=capacity)]]
    strange = [span for span in _unknown_words(pieces, unknown) if has_letters(document.text[slice(*span)])]
    unread = [span for span in _unread(document, pieces) if has_letters(document.text[slice(*span)])]
    said = (
        ("long-word", long, f"have more pieces than a window holds; their first {capacity} were read"),
        (
            "unknown-word",
            strange,
            "are unknown to the tokenizer: the network did not see their letters",
        ),
        ("unread-text", unread, "lie in no word that the tokenizer reads"),
    )
    return tuple(
        Event(step="read", kind="loss", code=code, message=f"{len(spans)} stretches of text {what}", span=spans[0])
        for code, spans, what in said
        if spans
    )


def _below(count: int) -> Event:
    """What was found and left out."""
    what = "mention has a score" if count == 1 else "mentions have scores"
    message = f"{count:,} {what} below the threshold of the model and {'was' if count == 1 else 'were'} left out"
    return Event(step="decide", kind="note", code="below-threshold", message=message)


def _unknown_words(pieces: Pieces, unknown: int | None) -> list[Span]:
    """Units whose only piece is the unknown token."""
    if unknown is None or not len(pieces.first):
        return []
    counts = np.bincount(pieces.unit_of[pieces.unit_of >= 0], minlength=len(pieces.first))
    found = np.flatnonzero((pieces.ids[pieces.first] == unknown) & (counts == 1))
    return [(int(a), int(b)) for a, b in pieces.units[found]]


def _unread(document: Document, pieces: Pieces) -> list[Span]:
    """Stretches of text in no unit, white space left out."""
    order = np.argsort(pieces.units[:, 0], kind="stable")
    starts = np.append(pieces.units[order, 0], len(document.text))
    ends = np.maximum.accumulate(np.append(0, pieces.units[order, 1]))
    gaps = np.flatnonzero(ends < starts)
    found = zip(ends[gaps].tolist(), starts[gaps].tolist(), strict=True)
    return [(a, b) for a, b in found if not document.text[a:b].isspace()]


def chunks(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Consecutive documents, bounded in number and characters (one long document is a chunk of its own)."""
    chunk: list[Document] = []
    size = 0
    for document in documents:
        if chunk and (size + len(document.text) > _CHUNK_CHARACTERS or len(chunk) == _CHUNK_DOCUMENTS):
            yield chunk
            chunk, size = [], 0
        chunk.append(document)
        size += len(document.text)
    if chunk:
        yield chunk
