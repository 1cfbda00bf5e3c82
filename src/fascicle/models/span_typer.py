"""Span typer (*span-level-strategy*): static word vectors of one span, BiLSTM, attention, a linear
layer.

It reads only the words of the span, without context, and every span separately. Therefore it is no
encoder and head of ``NerModel``: there an encoder reads pieces of whole windows, the states of
units are shared by all spans, and a model folder has a tokenizer. The span typer has none of these,
and its states belong to one span.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from fascicle.core.arrays import Floats, int_array
from fascicle.core.document import Document, Event, Mention, MentionsById, Patch
from fascicle.core.mention import Fragments, Span
from fascicle.errors import ModelError, UsageError
from fascicle.models.model import check_tensors
from fascicle.models.nn.span_reader import SpanBatch, SpanReader, span_batch
from fascicle.runtime.decoding.selection import select
from fascicle.settings.folders.best import model_folder
from fascicle.settings.folders.described import TYPER
from fascicle.settings.recipes.typer import (
    WEIGHTS,
    WORDS,
    TyperManifest,
    read_typer_manifest,
    write_typer_manifest,
)
from fascicle.text.segment import Surface, SurfaceReader, segmenter

_AT_ONCE = 8192  # distinct spans in one batch


class SpanTyper(nn.Module):
    """Network of the span typer: distinct spans -> logits of their types."""

    vectors: Tensor

    def __init__(self, vectors: Tensor, *, hidden: int, classes: int) -> None:
        """Builds the model.

        Args:
            vectors: frozen, of each word and, last, of unknown words, ``[n + 1, d]``.
            hidden: states of each direction.
            classes: number of types, plus 1 if "no mention" is a class.
        """
        super().__init__()
        self.register_buffer("vectors", vectors)
        self.reader = SpanReader(vectors.shape[1], hidden)
        self.classify = nn.Linear(self.reader.width, classes)

    def forward(self, rows: Tensor, batch: SpanBatch) -> Tensor:
        """Returns the logits.

        Args:
            rows: of the vectors, of the words that occur in the batch, ``[V]``.
            batch: spans over these words.

        Returns:
            ``[S, C]``.
        """
        return self.classify(self.reader(self.vectors.index_select(0, rows), batch))


class WordVocabulary:
    """Vocabulary: words -> rows of the vectors; the last row is that of unknown words."""

    def __init__(self, words: Sequence[str], *, lowercase: bool) -> None:
        """Takes the words in the order of their rows."""
        self.words = tuple(words)
        self._index = {word: row for row, word in enumerate(words)}
        self._lowercase = lowercase

    def row(self, word: str) -> int:
        """Returns the row of a word."""
        return self._index.get(word.lower() if self._lowercase else word, len(self._index))

    def knows(self, word: str) -> bool:
        """True if a word has its own vector."""
        return self.row(word) < len(self._index)

    def batch(self, surfaces: Sequence[Surface]) -> tuple[Tensor, SpanBatch]:
        """Converts distinct spans to the input of the model: the rows of the vectors that occur,
        and the span batch.
        """
        lengths = int_array([len(surface) for surface in surfaces])
        rows = int_array([self.row(word) for surface in surfaces for word in surface])
        used, places = np.unique(rows, return_inverse=True)
        words = np.zeros((len(surfaces), int(lengths.max(initial=1))), dtype=np.int64)
        words[np.arange(words.shape[1]) < lengths[:, None]] = places
        return torch.from_numpy(used), span_batch(words, lengths)


class TyperModel:
    """Trained span typer with its vocabulary and manifest: types given spans, and finds mentions
    among all spans.
    """

    def __init__(
        self, network: SpanTyper, vocabulary: WordVocabulary, manifest: TyperManifest
    ) -> None:
        """Puts the parts together; the network is put into evaluation mode."""
        self.network = network.eval()
        self.vocabulary = vocabulary
        self.manifest = manifest
        self.segmenter = segmenter(manifest.settings.segmenter)

    @property
    def types(self) -> tuple[str, ...]:
        """Types in the order of the classes."""
        return self.manifest.types

    def reader(self, document: Document) -> SurfaceReader:
        """Cuts a document into words as the model needs them."""
        return SurfaceReader(document, self.segmenter)

    def probabilities(self, surfaces: Sequence[Surface]) -> Floats:
        """Returns the probability of each class, ``[m, C]``; equal surfaces are computed only
        once.
        """
        distinct = {surface: place for place, surface in enumerate(dict.fromkeys(surfaces))}
        # neighbours have common beginnings
        ordered = sorted(distinct, key=lambda surface: (len(surface), surface))
        classes = len(self.types) + self.manifest.settings.nothing
        table = np.zeros((len(distinct), classes))
        device = self.network.vectors.device
        with torch.inference_mode():
            for start in range(0, len(ordered), _AT_ONCE):
                part = ordered[start : start + _AT_ONCE]
                rows, batch = self.vocabulary.batch(part)
                logits = self.network(rows.to(device), batch.to(device)).double()
                table[[distinct[surface] for surface in part]] = (
                    torch.softmax(logits, dim=1).cpu().numpy()
                )
        return table[[distinct[surface] for surface in surfaces]]

    def type_probabilities(self, surfaces: Sequence[Surface]) -> Floats:
        """Returns the probability of each type, given that the span is a mention, ``[m, K]``;
        rows sum to 1.
        """
        of_types = self.probabilities(surfaces)[:, : len(self.types)]
        return of_types / np.maximum(of_types.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)

    def type_fragments(
        self, documents: Sequence[Document], spans: Sequence[Sequence[Fragments]]
    ) -> list[Floats]:
        """Computes type probabilities of given spans, fragment by fragment.

        Args:
            documents: with their texts.
            spans: the spans to type of each document.

        Returns:
            Of each span in turn the probabilities of the types of its fragments, ``[fragments,
            K]``.

        Raises:
            InputError: a span that is empty, holds no word, or ends beyond the text.
        """
        surfaces: list[Surface] = []
        sizes = []
        for document, mentions in zip(documents, spans, strict=True):
            reader = self.reader(document)
            for fragments in mentions:
                surfaces += [reader.surface(fragment) for fragment in fragments]
                sizes.append(len(fragments))
        table = self.type_probabilities(surfaces) if surfaces else np.zeros((0, len(self.types)))
        return np.split(table, np.cumsum(sizes)[:-1]) if sizes else []

    def retype(self, documents: Sequence[Document], proposed: MentionsById) -> list[Patch]:
        """Replaces the types of the spans that another system found by the types of this model.

        A mention gets the type with the largest product of the probabilities of its fragments; its
        score is the mean (geometric) of these. Mentions that then are equal become one, and an
        event reports it.

        Args:
            documents: with their texts.
            proposed: document id -> mentions of the other system.
        """
        spans = [sorted({m.spans for m in proposed.get(document.id, ())}) for document in documents]
        tables = iter(self.type_fragments(documents, spans))
        return [
            self._retype_spans(
                own,
                list(islice(tables, len(own))),
                merged=len(proposed.get(document.id, ())) - len(own),
            )
            for document, own in zip(documents, spans, strict=True)
        ]

    def _retype_spans(
        self, spans: Sequence[Fragments], tables: Sequence[Floats], *, merged: int
    ) -> Patch:
        """Returns the mentions of one document from the probabilities of their fragments.

        Args:
            spans: of the mentions.
            tables: of each mention, ``[fragments, K]``.
            merged: mentions that had the span of another one.
        """
        mentions, events = [], []
        if merged:
            events.append(
                _note(
                    "same-span",
                    f"{merged} proposed mentions have the span of another one and share its new "
                    "type",
                )
            )
        for fragments, table in zip(spans, tables, strict=True):
            logs = np.log(np.maximum(table, 1e-300)).mean(axis=0)
            best = int(logs.argmax())
            if len(set(table.argmax(axis=1))) > 1:
                text = "the fragments of a discontinuous mention have different types alone"
                events.append(_note("fragments-disagree", text))
            mentions.append(self._mention(fragments, best, float(np.exp(logs[best]))))
        return Patch(add=tuple(mentions), events=tuple(events))

    def _mention(self, spans: Fragments, kind: int, score: float) -> Mention:
        return Mention(spans, self.types[kind], score=min(1.0, score), source=self.manifest.name)

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Finds mentions: every span of up to ``width`` words of one sentence gets its most
        probable class.

        The score of a mention is the probability of its type among all classes.

        Raises:
            UsageError: the model has no class "no mention", so that it would call every span a
                mention.
        """
        if not self.manifest.settings.nothing:
            raise UsageError(
                f"the span typer {self.manifest.name} types given spans and cannot find any: give "
                "it the spans of another system, or train it with nothing = true"
            )
        return [self._find_mentions(document) for document in documents]

    def _find_mentions(self, document: Document) -> Patch:
        spans, scores = [], []
        for part in _parts(self.reader(document).spans(self.manifest.settings.width)):
            table = self.probabilities([surface for _, surface in part])
            best = table.argmax(axis=1)
            for place in np.flatnonzero(best < len(self.types)):
                spans.append((*part[place][0], int(best[place])))
                scores.append(float(table[place, best[place]]))
        if not spans:
            return Patch()
        selected = select(
            np.array(spans), np.array(scores), decoding=self.manifest.settings.decoding
        )
        rows = ((*spans[i], scores[i]) for i in selected)
        return Patch(
            add=tuple(
                self._mention(((start, end),), kind, score) for start, end, kind, score in rows
            )
        )


def _note(code: str, message: str) -> Event:
    return Event(step="typer", kind="note", code=code, message=message)


def _parts(spans: Iterator[tuple[Span, Surface]]) -> Iterator[list[tuple[Span, Surface]]]:
    """Yields spans in portions, so that a long document needs no more memory than a short one."""
    while part := list(islice(spans, 32 * _AT_ONCE)):
        yield part


def save_typer(folder: Path, model: TyperModel) -> TyperManifest:
    """Writes a model, its vectors included, into an existing, empty folder; returns the manifest
    as written.
    """
    tensors = {
        name: t.detach().cpu().clone().contiguous()
        for name, t in model.network.state_dict().items()
    }
    save_file(tensors, folder / WEIGHTS)
    (folder / WORDS).write_bytes(msgspec.json.encode(model.vocabulary.words))
    return write_typer_manifest(folder, model.manifest)


def load_typer(folder: str | Path) -> TyperModel:
    """Reads a model; the tensors of the file must be exactly those of the model, with their shapes.

    Args:
        folder: of the model, or of the run that made it.

    Raises:
        ModelError: no span typer, or a damaged one.
    """
    folder = model_folder(Path(folder))
    manifest = read_typer_manifest(folder)
    try:
        words = msgspec.json.decode((folder / WORDS).read_bytes(), type=list[str])
        tensors = load_file(folder / WEIGHTS)
    except (OSError, ValueError, msgspec.MsgspecError, SafetensorError) as error:
        raise ModelError(f"the model folder {folder} is damaged ({error}); copy it again") from None
    settings = manifest.settings
    vectors = torch.zeros(len(words) + 1, manifest.dimension)
    network = SpanTyper(
        vectors, hidden=settings.hidden, classes=len(manifest.types) + settings.nothing
    )
    check_tensors(folder, network, tensors, name=TYPER, advice="copy the folder again")
    network.load_state_dict(tensors)
    return TyperModel(network, WordVocabulary(words, lowercase=manifest.lowercase), manifest)
