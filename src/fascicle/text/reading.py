"""Reading of documents for a network: pieces and windows, the same in training and at inference.

Long documents are read in parts, with the same result as reading the whole, so that memory stays
bounded.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, Protocol

import msgspec
import numpy as np
from msgspec.structs import replace

from fascicle.core.arrays import Ints
from fascicle.core.document import Document
from fascicle.core.mention import Span
from fascicle.settings.heads import Level
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.inputs import FeatureColumns, NameFinder, compute_unit_inputs
from fascicle.text.pieces import Pieces, PieceTokenizer, encode_documents, piece_units
from fascicle.text.segment import all_sentences, segmenter
from fascicle.text.windows import NO_CONTEXT, Context, Window, make_windows, segment_starts


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """Documents divided into pieces and windows.

    Attributes:
        level: kind of unit.
        pieces: pieces of each document.
        windows: windows of each document.
        capacity: most pieces of a window, without special tokens.
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
    """Divides documents into pieces and windows.

    Args:
        documents: any number.
        tokenizer: tokenizer of the model.
        reading: settings of the windows.
        level: kind of unit.
    """
    capacity = reading.max_length - len(tokenizer.prefix) - len(tokenizer.suffix)
    pieces = encode_documents(documents, tokenizer, segmenter=reading.segmenter, level=level)
    cut = partial(
        make_windows,
        unit=reading.unit,
        capacity=capacity,
        overlap=reading.overlap,
        context=Context.of(reading),
    )
    windows = [cut(p, document=i) for i, p in enumerate(pieces)]
    return Reading(level=level, pieces=pieces, windows=windows, capacity=capacity)


class DocumentReader(Protocol):
    """Function that divides documents as ``read_documents`` does."""

    def __call__(
        self,
        documents: Sequence[Document],
        tokenizer: PieceTokenizer,
        *,
        reading: ReadingSettings,
        level: Level,
    ) -> Reading:
        """Reads documents; see ``read_documents``."""


class FeatureReader:
    """Reader like ``read_documents`` that adds features of the units."""

    def __init__(self, finder: NameFinder | None, columns: FeatureColumns) -> None:
        """Sets the finder of names.

        Args:
            finder: finder of names, or ``None``.
            columns: features of a unit, with all types of the finder.
        """
        self._finder = finder
        self._columns = columns

    def __call__(
        self,
        documents: Sequence[Document],
        tokenizer: PieceTokenizer,
        *,
        reading: ReadingSettings,
        level: Level,
    ) -> Reading:
        """Reads documents like ``read_documents``, and adds their features."""
        result = read_documents(documents, tokenizer, reading=reading, level=level)
        inputs = compute_unit_inputs(
            documents, [p.units for p in result.pieces], self._finder, self._columns
        )
        return replace(
            result,
            pieces=[replace(p, inputs=own) for p, own in zip(result.pieces, inputs, strict=True)],
        )


class CachedReader:
    """Reader that caches the readings of documents that will be read several times."""

    def __init__(
        self, again: Sequence[Document], *, reader: DocumentReader = read_documents
    ) -> None:
        """Starts with an empty cache.

        Args:
            again: documents that will be read several times; their readings are kept in memory.
            reader: reader to call.
        """
        self._read = reader
        # kept alive, so that their ids stay unique
        self._again = {id(document): document for document in again}
        self._known: dict[tuple[object, ...], Reading] = {}

    def __call__(
        self,
        documents: Sequence[Document],
        tokenizer: PieceTokenizer,
        *,
        reading: ReadingSettings,
        level: Level,
    ) -> Reading:
        """Reads like ``read_documents``; repeated calls with the same documents return the same
        object.
        """
        ids = tuple(map(id, documents))
        key = (ids, id(tokenizer), reading, level)
        if key in self._known:
            return self._known[key]
        result = self._read(documents, tokenizer, reading=reading, level=level)
        if self._again.keys() >= set(ids):
            self._known[key] = result
        return result


def with_piece_units(reading: Reading) -> Reading:
    """Returns the same windows with pieces as units, for a head that labels pieces beside one
    that labels words.
    """
    pieces = [_pieces_as_units(p) for p in reading.pieces]
    windows = [
        _moved(cut, words, of)
        for cut, words, of in zip(reading.windows, reading.pieces, pieces, strict=True)
    ]
    return replace(reading, level="piece", pieces=pieces, windows=windows)


def _pieces_as_units(pieces: Pieces) -> Pieces:
    """Makes pieces the units, as ``encode_documents`` does for the level ``piece``."""
    unit_of, first, units = piece_units(pieces.spans)
    inputs = None if pieces.inputs is None else pieces.inputs.of(units, pieces.text)
    return replace(pieces, units=units, first=first, unit_of=unit_of, inputs=inputs)


def _moved(windows: Sequence[Window], words: Pieces, pieces: Pieces) -> list[Window]:
    """Converts the word ranges of windows to piece ranges.

    The pieces after a word, up to the next word or the end of the sentence, belong to it; pieces of
    a word beyond the end of its window are not read.
    """
    # Starts of the words, and the end of the last one: pieces before the first word belong to none.
    borders = np.searchsorted(pieces.first, np.append(words.first, len(words.unit_of)))
    ends = np.searchsorted(pieces.first, _sentence_ends(words))

    def moved(span: tuple[int, int]) -> tuple[int, int]:
        return int(borders[span[0]]), int(min(borders[span[1]], ends[span[1] - 1]))

    result = []
    for window in windows:
        end = int(np.searchsorted(pieces.first, window.pieces[1]))
        units, keep = ((a, min(b, end)) for a, b in (moved(window.units), moved(window.keep)))
        result.append(replace(window, units=units, keep=keep, segment=moved(window.segment)))
    return result


def _sentence_ends(words: Pieces) -> Ints:
    """Returns for each word the piece index of the end of its sentence."""
    at = np.searchsorted(words.sentences[:, 1], words.first, side="right")
    ends: Ints = words.sentences[at, 1]
    return ends


PART: Final = 1 << 17  # characters

_Read = Callable[[Sequence[Document]], Reading]


class DocumentPart(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a document, divided into pieces and windows.

    Attributes:
        span: range of the part in the text; the parts of a document cover it.
        reading: pieces and windows of this document; their ranges of characters refer to the whole
            text, not the part.
    """

    span: Span
    reading: Reading


def can_read_in_parts(reading: ReadingSettings) -> bool:
    """True if parts have the same windows as the whole: false if sentences are read with
    context.
    """
    return Context.of(reading) == NO_CONTEXT


def read_in_parts(
    document: Document, reader: _Read, *, reading: ReadingSettings, size: int = PART
) -> Iterator[DocumentPart]:
    """Reads a document part by part.

    A part ends at the end of a segment, so that sentences are packed as in the whole, and not
    inside a word. A segment that is longer than a part is a part of its own.

    Args:
        document: a document of any length.
        reader: function that reads whole documents.
        reading: settings of ``reader``; see `can_read_in_parts`.
        size: characters of a part, unless a segment is longer.
    """
    bare = Document(
        id=document.id, text=document.text, sentences=document.sentences, words=document.words
    )
    sentences = all_sentences(document, segmenter(reading.segmenter))
    first = 0
    while first < len(sentences):
        part, last = _read_part(bare, sentences, first, reader=reader, reading=reading, size=size)
        span = (_begin(bare, sentences, first), _begin(bare, sentences, last))
        yield DocumentPart(span=span, reading=_moved_by(part, span[0], document.text))
        first = last
    if not sentences and document.text:
        yield DocumentPart(span=(0, len(document.text)), reading=reader([bare]))


def _read_part(
    document: Document,
    sentences: Sequence[Span],
    first: int,
    *,
    reader: _Read,
    reading: ReadingSettings,
    size: int,
) -> tuple[Reading, int]:
    """Reads the part that begins with a sentence, twice as far whenever no segment ends in it; also
    returns the first sentence of the next part.
    """
    while True:
        last = _reach(sentences, first, size)
        span = (_begin(document, sentences, first), _begin(document, sentences, last))
        part = reader([_slice(document, sentences[first:last], span)])
        if last == len(sentences):
            return part, last
        count = _whole(part, document, sentences[first:last], reading)
        if count:
            return _shortened(part, count), first + count
        size *= 2


def _begin(document: Document, sentences: Sequence[Span], number: int) -> int:
    """Returns where the part begins whose first sentence has a number; the first with the text."""
    if number == len(sentences):
        return len(document.text)
    return sentences[number][0] if number else 0


def _reach(sentences: Sequence[Span], first: int, size: int) -> int:
    """Returns the index of the first sentence after a number of characters."""
    last = bisect_left(sentences, (sentences[first][0] + size, 0), lo=first + 1)
    return min(max(last, first + 1), len(sentences))


def _slice(document: Document, sentences: Sequence[Span], span: Span) -> Document:
    """Returns a range of a document, with the sentences in it, as a document."""
    start, end = span
    words = document.words
    if words is not None:
        words = words[bisect_left(words, (start, 0)) : bisect_left(words, (end, 0))]
        words = tuple((a - start, min(b, end) - start) for a, b in words)
    return msgspec.structs.replace(
        document,
        text=document.text[start:end],
        sentences=tuple((a - start, b - start) for a, b in sentences),
        words=words,
    )


def _whole(
    part: Reading, document: Document, sentences: Sequence[Span], reading: ReadingSettings
) -> int:
    """Counts the sentences of a part that form whole segments and do not end inside a word; 0 if
    there are none.
    """
    bounds = part.pieces[0].sentences
    starts = segment_starts(bounds, unit=reading.unit, capacity=part.capacity)
    for piece in reversed(starts[1:]):
        # Sentences without a piece belong to the part before.
        count = int(np.searchsorted(bounds[:, 1], piece, side="right"))
        if not _within_word(document, sentences[count][0]):
            return count
    return 0


def _within_word(document: Document, place: int) -> bool:
    """True if a word may extend across the start of a sentence."""
    if document.words is not None:
        after = bisect_left(document.words, (place, 0))
        return after > 0 and document.words[after - 1][1] > place
    # No segmenter ends a sentence inside a word; sentences of the document may do so.
    return document.sentences is not None and not document.text[place - 1].isspace()


def _shortened(part: Reading, count: int) -> Reading:
    """Returns the first sentences of a part."""
    (pieces,), (windows,) = part.pieces, part.windows
    end = int(pieces.sentences[count - 1, 1])
    units = int(np.searchsorted(pieces.first, end))
    shorter = replace(
        pieces,
        ids=pieces.ids[:end],
        spans=pieces.spans[:end],
        unit_of=pieces.unit_of[:end],
        units=pieces.units[:units],
        first=pieces.first[:units],
        sentences=pieces.sentences[:count],
        inputs=None if pieces.inputs is None else pieces.inputs.first(units),
    )
    return replace(
        part,
        pieces=[shorter],
        windows=[[window for window in windows if window.segment[1] <= units]],
    )


def _moved_by(part: Reading, start: int, text: str) -> Reading:
    pieces: Pieces = part.pieces[0]
    inputs = None if pieces.inputs is None else pieces.inputs.moved(start)
    moved = replace(
        pieces, spans=pieces.spans + start, units=pieces.units + start, text=text, inputs=inputs
    )
    return replace(part, pieces=[moved])
