"""Sentences that a model was taught, as hashes, and the words of spans in sentences.

Training texts can be recognised by the hashes but not read. A span typer reads only the words of a span: those of the
document, else those of a segmenter; in scripts without spaces ``rules@1`` makes one word for each character. For a span
that begins or ends inside a word, only the part of the word in the span counts.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from fascicle.core.document import Document
from fascicle.core.mention import Span
from fascicle.core.wording import plural
from fascicle.errors import InputError
from fascicle.text.segment import Segmenter

TAUGHT: Final = "taught.bin"  # file of a model folder
_LEAST: Final = 60  # letters and digits: shorter sentences may be stock phrases
_BYTES: Final = 5  # bytes of a hash: of 1,000 files with 10,000 new sentences each, one has a false match
_OTHERS: Final = re.compile(r"[\W_]+")
_WORD: Final = 8
Cuts = Callable[[str], Sequence[Span]]


def sentence_hashes(document: Document, cuts: Cuts) -> frozenset[int]:
    """Computes a hash of each long sentence, from its letters and digits in lower case.

    Args:
        document: a document; its own sentences are used if it has any.
        cuts: function that splits a text into sentences.

    Returns:
        The first five bytes of the SHA-256 of each sentence of at least 60 letters and digits.
    """
    cut = cuts(document.text) if document.sentences is None else document.sentences
    texts = (_OTHERS.sub("", document.text[slice(*one)]).casefold() for one in cut)
    digests = (hashlib.sha256(text.encode("utf-8")).digest() for text in texts if len(text) >= _LEAST)
    return frozenset(int.from_bytes(digest[:_BYTES], "big") for digest in digests)


def all_sentence_hashes(documents: Iterable[Document], cuts: Cuts) -> frozenset[int]:
    """Computes the hashes of the sentences of all documents; see `sentence_hashes`."""
    found: set[int] = set()
    for document in documents:
        found |= sentence_hashes(document, cuts)
    return frozenset(found)


def pack_hashes(hashes: Collection[int]) -> bytes:
    """Encodes hashes as the content of the file: the differences of sorted hashes, by byte planes, compressed.

    Each of 100,000 hashes takes three bytes.
    """
    numbers = np.array(sorted(hashes), dtype=np.uint64)
    steps = np.diff(numbers, prepend=np.uint64(0)).astype(">u8").view(np.uint8).reshape(-1, _WORD)
    return zlib.compress(steps[:, -_BYTES:].T.tobytes(), 9)


def unpack_hashes(content: bytes) -> frozenset[int]:
    """Decodes the hashes that `pack_hashes` encoded.

    Raises:
        ValueError: another content.
    """
    try:
        columns = np.frombuffer(zlib.decompress(content), dtype=np.uint8).reshape(_BYTES, -1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    steps = np.zeros((columns.shape[1], _WORD), dtype=np.uint8)
    steps[:, -_BYTES:] = columns.T
    return frozenset(np.cumsum(steps.view(">u8").ravel(), dtype=np.uint64).tolist())


Surface = tuple[str, ...]


class SurfaceReader:
    """Reader of the words of spans of one document."""

    def __init__(self, document: Document, segmenter: Segmenter) -> None:
        """Segments the document unless it has words.

        Args:
            document: with or without words and sentences of its own.
            segmenter: segmenter for words or sentences that it lacks.
        """
        self.document = document
        self._segmenter = segmenter
        self.words = document.words if document.words is not None else segmenter.words(document.text)
        self._starts = [start for start, _ in self.words]

    def surface(self, span: Span) -> Surface:
        """Returns the words of a span.

        Raises:
            InputError: an empty span, one that ends beyond the text, or one that holds no word.
        """
        start, end = span
        name, length = self.document.id, len(self.document.text)
        if not 0 <= start < end:
            raise InputError(f"the span ({start}, {end}) of document {name!r} is empty; give 0 <= start < end")
        if end > length:
            raise InputError(
                f"the span ({start}, {end}) ends beyond document {name!r}, which has "
                f"{plural(length, 'character')}; offsets are code points into its text"
            )
        text, found = self.document.text, []
        for number in range(max(0, bisect_right(self._starts, start) - 1), bisect_left(self._starts, end)):
            first, last = self.words[number]
            if last > start:
                found.append(text[max(first, start) : min(last, end)])
        if not found:
            raise InputError(f"the span ({start}, {end}) of document {name!r} holds no word; give one that does")
        return tuple(found)

    @cached_property
    def sentences(self) -> tuple[tuple[int, int], ...]:
        """Word range of each sentence, ``(first, end)``; sentences without words are left out."""
        document = self.document
        given = document.sentences if document.sentences is not None else self._segmenter.sentences(document.text)
        bounds = [bisect_right(self._starts, start - 1) for start, _ in given]
        if not bounds:
            return ((0, len(self.words)),) if self.words else ()
        bounds[0] = 0  # words before the first given sentence
        return tuple((a, b) for a, b in pairwise([*bounds, len(self.words)]) if a < b)

    def crosses_sentences(self, span: Span) -> bool:
        """True if a span has words of more than one sentence."""
        first = bisect_right(self._starts, span[0]) - 1
        last = bisect_right(self._starts, span[1] - 1) - 1
        return not any(a <= first and last < b for a, b in self.sentences)

    def aligned(self, span: Span) -> tuple[int, int] | None:
        """Returns the word range of a span, ``(first, end)``; ``None`` if a boundary is inside a word."""
        first = bisect_right(self._starts, span[0]) - 1
        last = bisect_right(self._starts, span[1] - 1) - 1
        if first < 0 or self.words[first][0] != span[0] or self.words[last][1] != span[1]:
            return None
        return first, last + 1

    def spans(self, width: int) -> Iterator[tuple[Span, Surface]]:
        """Yields all spans of up to ``width`` words within one sentence, with their words."""
        text = self.document.text
        tokens = [text[start:end] for start, end in self.words]
        for begin, stop in self.sentences:
            for first in range(begin, stop):
                for last in range(first + 1, min(first + width, stop) + 1):
                    yield (self.words[first][0], self.words[last - 1][1]), tuple(tokens[first:last])
