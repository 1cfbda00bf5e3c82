"""Long documents part by part: each part is read as it would be within the whole, so that memory stays bounded."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec
import numpy as np

from fascicle.core.document import Document
from fascicle.core.spans import Span
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.pieces import Pieces, all_sentences
from fascicle.text.reading import Reading
from fascicle.text.segment import segmenter
from fascicle.text.windows import NO_CONTEXT, Context, segment_starts

PART: Final = 1 << 17  # characters

Read = Callable[[Sequence[Document]], Reading]


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a document, read.

    Attributes:
        span: of the part in the text; the parts of a document cover it.
        reading: of this one document; the ranges of pieces and units are those of the text, and not of the part.
    """

    span: Span
    reading: Reading


def can_be_parted(reading: ReadingSettings) -> bool:
    """Whether the windows of a part are those of the whole: not where sentences are read with text around them."""
    return Context.of(reading) == NO_CONTEXT


def parts_of(document: Document, read: Read, *, reading: ReadingSettings, size: int = PART) -> Iterator[Part]:
    """Reads a document part by part.

    A part ends where a segment ends, so that packed sentences are packed as they are in the whole, and where no word
    goes on. A segment that is longer than a part is a part of its own.

    Args:
        document: of any length.
        read: reads whole documents.
        reading: what ``read`` reads at a time; see `can_be_parted`.
        size: characters of a part, at least where a segment is no longer.
    """
    bare = Document(id=document.id, text=document.text, sentences=document.sentences, words=document.words)
    sentences = all_sentences(bare, segmenter(reading.segmenter))
    first, before = 0, 0
    while first < len(sentences):
        last, wanted = first, size
        while True:
            last = _reach(sentences, first, wanted)
            end = sentences[last][0] if last < len(sentences) else len(bare.text)
            part = read([_slice(bare, sentences[first:last], (before, end))])
            if last == len(sentences):
                following = last
                break
            count = _whole(part, bare, sentences[first:last], reading)
            if count:
                following, end = first + count, sentences[first + count][0]
                part = _shortened(part, count)
                break
            wanted *= 2
        yield Part(span=(before, end), reading=_moved(part, before, document.text))
        first, before = following, end
    if not sentences and document.text:
        yield Part(span=(0, len(document.text)), reading=read([bare]))


def _reach(sentences: Sequence[Span], first: int, size: int) -> int:
    """The sentence that follows so many characters of sentences."""
    last = bisect_left(sentences, (sentences[first][0] + size, 0), lo=first + 1)
    return min(max(last, first + 1), len(sentences))


def _slice(document: Document, sentences: Sequence[Span], span: Span) -> Document:
    """A range of a document, with the sentences in it, as a document."""
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


def _whole(part: Reading, document: Document, sentences: Sequence[Span], reading: ReadingSettings) -> int:
    """How many sentences of a part make whole segments, and end where no word goes on; 0 if none do."""
    bounds = part.pieces[0].sentences
    starts = segment_starts(bounds, unit=reading.unit, capacity=part.capacity)
    for piece in reversed(starts[1:]):
        count = int(np.searchsorted(bounds[:, 1], piece, side="right"))  # sentences without a piece stay before it
        if not _within_word(document, sentences[count][0]):
            return count
    return 0


def _within_word(document: Document, place: int) -> bool:
    """Whether a word may go on beyond a place where a sentence begins."""
    if document.words is not None:
        after = bisect_left(document.words, (place, 0))
        return after > 0 and document.words[after - 1][1] > place
    # No segmenter ends a sentence inside a word; who made the sentences that a document has may have done so.
    return document.sentences is not None and not document.text[place - 1].isspace()


def _shortened(part: Reading, count: int) -> Reading:
    """The first sentences of a part."""
    (pieces,), (windows,) = part.pieces, part.windows
    end = int(pieces.sentences[count - 1, 1])
    units = int(np.searchsorted(pieces.first, end))
    kept = replace(
        pieces,
        ids=pieces.ids[:end],
        spans=pieces.spans[:end],
        unit_of=pieces.unit_of[:end],
        units=pieces.units[:units],
        first=pieces.first[:units],
        sentences=pieces.sentences[:count],
        inputs=None if pieces.inputs is None else pieces.inputs.first(units),
    )
    return replace(part, pieces=[kept], windows=[[window for window in windows if window.segment[1] <= units]])


def _moved(part: Reading, start: int, text: str) -> Reading:
    pieces: Pieces = part.pieces[0]
    inputs = None if pieces.inputs is None else pieces.inputs.moved(start)
    moved = replace(pieces, spans=pieces.spans + start, units=pieces.units + start, text=text, inputs=inputs)
    return replace(part, pieces=[moved])
