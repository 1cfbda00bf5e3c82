"""Documents as words and sentences, for what is measured in words."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import pairwise
from typing import Literal

from fascicle.core.document import Document
from fascicle.core.spans import Fragments
from fascicle.errors import UsageError
from fascicle.text.segment import RULES_1

TextUnit = Literal["sentence", "document"]
UNITS: tuple[TextUnit, ...] = ("sentence", "document")

Surface = tuple[str, ...]


class Layout:
    """The words of a document, and of each of its texts.

    Words and sentences are those of the document; where the source did not say, those of the segmenter ``rules@1``. A
    *text* is a sentence, or the whole document. It goes from its first character to the next text, and the first one
    also has what stands before it, so that every character belongs to one.
    """

    def __init__(self, document: Document, *, unit: TextUnit = "sentence") -> None:
        """Cuts a document.

        Args:
            document: any.
            unit: what a text is.

        Raises:
            UsageError: an unknown unit.
        """
        if unit not in UNITS:
            raise UsageError(f"the unit of text {unit!r} was given; choose from {', '.join(UNITS)}")
        self.document = document
        words = document.words if document.words is not None else RULES_1.words(document.text)
        self._starts = [start for start, _ in words]
        self._ends = [end for _, end in words]
        self._firsts = [0]
        if unit == "sentence":
            given = document.sentences if document.sentences is not None else RULES_1.sentences(document.text)
            self._firsts = [start for start, _ in given] or [0]
        bounds = [0, *(bisect_left(self._starts, first) for first in self._firsts[1:]), len(words)]
        self.texts = tuple(range(first, last) for first, last in pairwise(bounds))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words as they stand."""
        text = self.document.text
        return tuple(text[start:end] for start, end in zip(self._starts, self._ends, strict=True))

    @cached_property
    def lower(self) -> tuple[str, ...]:
        """The words in lower case."""
        return tuple(word.lower() for word in self.words)

    def touched(self, spans: Fragments) -> range | tuple[int, ...]:
        """The places of the words that share a character with a mention, in order."""
        runs = [range(bisect_right(self._ends, start), bisect_left(self._starts, end)) for start, end in spans]
        return runs[0] if len(runs) == 1 else tuple(sorted({at for run in runs for at in run}))

    def surface(self, spans: Fragments) -> Surface:
        """The words that a mention touches, whole and in lower case."""
        touched = self.touched(spans)
        if isinstance(touched, range):
            return self.lower[touched.start : touched.stop]
        return tuple(self.lower[at] for at in touched)

    def text_at(self, offset: int) -> int:
        """The place of the text that a character belongs to."""
        return max(0, bisect_right(self._firsts, offset) - 1)
