"""Documents as a network reads them: pieces and windows, the same in training and at inference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from fascicle.core.arrays import Ints
from fascicle.core.document import Document
from fascicle.settings.heads import Level
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.inputs import Columns, Finder, look_up
from fascicle.text.pieces import Pieces, PieceTokenizer, encode_documents
from fascicle.text.windows import Context, Window, windows_of


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Documents cut for a network.

    Attributes:
        level: what a unit is.
        pieces: of each document.
        windows: of each document.
        capacity: most pieces of a window, special tokens not counted.
    """

    level: Level
    pieces: list[Pieces]
    windows: list[list[Window]]
    capacity: int


def read_documents(
    documents: Sequence[Document],
    tokenizer: PieceTokenizer,
    *,
    reading: ReadingSettings,
    level: Level,
) -> Reading:
    """Cuts documents into pieces and windows.

    Args:
        documents: any number.
        tokenizer: of the model.
        reading: what the network reads at a time.
        level: what a unit is.
    """
    capacity = reading.max_length - len(tokenizer.prefix) - len(tokenizer.suffix)
    pieces = encode_documents(documents, tokenizer, segmenter=reading.segmenter, level=level)
    windows = [
        windows_of(
            p,
            document=i,
            unit=reading.unit,
            capacity=capacity,
            overlap=reading.overlap,
            context=Context.of(reading),
        )
        for i, p in enumerate(pieces)
    ]
    return Reading(level=level, pieces=pieces, windows=windows, capacity=capacity)


class ReadsDocuments(Protocol):
    """Cuts documents as ``read_documents`` does."""

    def __call__(
        self, documents: Sequence[Document], tokenizer: PieceTokenizer, *, reading: ReadingSettings, level: Level
    ) -> Reading:
        """See ``read_documents``."""
        ...


class LooksUp:
    """Reads like ``read_documents``, and looks the units up."""

    def __init__(self, finder: Finder | None, columns: Columns) -> None:
        """Takes what is looked up in.

        Args:
            finder: of names; ``None`` for none.
            columns: what is known of a unit; with all types of the finder.
        """
        self._finder = finder
        self._columns = columns

    def __call__(
        self, documents: Sequence[Document], tokenizer: PieceTokenizer, *, reading: ReadingSettings, level: Level
    ) -> Reading:
        """See ``read_documents``."""
        read = read_documents(documents, tokenizer, reading=reading, level=level)
        known = look_up(documents, [p.units for p in read.pieces], self._finder, self._columns)
        return replace(read, pieces=[replace(p, inputs=one) for p, one in zip(read.pieces, known, strict=True)])


class KeptReadings:
    """Reads like another reader, but what is said in advance to be read again only once."""

    def __init__(self, again: Sequence[Document], *, read: ReadsDocuments = read_documents) -> None:
        """Begins without readings.

        Args:
            again: documents that will be read several times; their readings stay in memory.
            read: the other reader.
        """
        self._read = read
        self._again = {id(document): document for document in again}  # held, so that no other has their ids
        self._known: dict[tuple[object, ...], Reading] = {}

    def __call__(
        self, documents: Sequence[Document], tokenizer: PieceTokenizer, *, reading: ReadingSettings, level: Level
    ) -> Reading:
        """See ``read_documents``; the same documents together give the same object."""
        ids = tuple(map(id, documents))
        key = (ids, id(tokenizer), reading, level)
        if key in self._known:
            return self._known[key]
        found = self._read(documents, tokenizer, reading=reading, level=level)
        if self._again.keys() >= set(ids):
            self._known[key] = found
        return found


def by_pieces(read: Reading) -> Reading:
    """The same windows with pieces as their units, for a head that labels pieces beside one that labels words."""
    pieces = [_pieces_as_units(p) for p in read.pieces]
    windows = [_moved(cut, words, of) for cut, words, of in zip(read.windows, read.pieces, pieces, strict=True)]
    return replace(read, level="piece", pieces=pieces, windows=windows)


def _pieces_as_units(pieces: Pieces) -> Pieces:
    """As ``encode_documents`` gives them for the level ``piece``."""
    keep = np.flatnonzero(pieces.spans[:, 0] < pieces.spans[:, 1])
    unit_of = np.full(len(pieces.ids), -1, dtype=np.int64)
    unit_of[keep] = np.arange(len(keep))
    units = pieces.spans[keep]
    inputs = None if pieces.inputs is None else pieces.inputs.of(units, pieces.text)
    return replace(pieces, units=units, first=keep, unit_of=unit_of, inputs=inputs)


def _moved(windows: Sequence[Window], words: Pieces, pieces: Pieces) -> list[Window]:
    """Windows with their ranges of words as ranges of pieces.

    The pieces after a word, up to the next or the end of the sentence, go with it; those that a word has beyond the end
    of its window are not read.
    """
    # Where each word begins, and where the last one ends: pieces before the first word belong to none.
    borders = np.searchsorted(pieces.first, np.append(words.first, len(words.unit_of)))
    ends = np.searchsorted(pieces.first, _sentence_ends(words))

    def moved(span: tuple[int, int]) -> tuple[int, int]:
        return int(borders[span[0]]), int(min(borders[span[1]], ends[span[1] - 1]))

    found = []
    for window in windows:
        read = int(np.searchsorted(pieces.first, window.pieces[1]))
        units, keep = ((a, min(b, read)) for a, b in (moved(window.units), moved(window.keep)))
        found.append(replace(window, units=units, keep=keep, segment=moved(window.segment)))
    return found


def _sentence_ends(words: Pieces) -> Ints:
    """The piece at which the sentence of each word ends."""
    at = np.searchsorted(words.sentences[:, 1], words.first, side="right")
    ends: Ints = words.sentences[at, 1]
    return ends
