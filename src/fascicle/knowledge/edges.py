"""Where the names that a scan finds stand in documents, and whether one of them lies across an end of a sentence."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from fascicle.core.arrays import Ints
from fascicle.core.document import Document
from fascicle.text.pieces import all_sentences
from fascicle.text.segment import Segmenter

_MAY_END: Final = re.compile(r"[^\w\s-]|[\n\r\x85\u2028\u2029]")  # what sentences of the segmenter end with


class Edges:
    """Where the sentences of a document begin and end: its own, or else those of the segmenter.

    Sentences are cut when a name is first asked for that may lie across an end; most texts have none.
    """

    def __init__(self, document: Document, rules: Segmenter) -> None:
        """Takes the document, and what cuts it into sentences."""
        self._document, self._rules = document, rules
        self._edges: list[int] | None = None

    def part(self, start: int, end: int) -> bool:
        """Whether a sentence begins or ends inside of a range."""
        document = self._document
        if document.sentences is None and not _MAY_END.search(document.text, start, end):
            return False
        if self._edges is None:
            self._edges = sorted({edge for one in all_sentences(document, self._rules) for edge in one})
        return bisect_right(self._edges, start) < bisect_left(self._edges, end)


def by_document(documents: Sequence[Document], starts: Ints) -> Iterator[tuple[slice, int]]:
    """Which of the names that stand in texts joined by one character belong to each document, and where its text is."""
    borders = np.cumsum([0, *(len(document.text) + 1 for document in documents)])
    bounds = np.searchsorted(starts, borders).tolist()
    for first, last, offset in zip(bounds, bounds[1:], borders.tolist(), strict=False):
        yield slice(first, last), offset
