"""Long texts in parts, for models that read a bounded number of characters."""

from __future__ import annotations

from collections.abc import Iterator

from fascicle.core.document import Document
from fascicle.core.mention import Span


def parts(document: Document, most: int) -> Iterator[Span]:
    """Yields ranges of whole sentences with at most so many characters; a longer sentence is cut at white space."""
    start = end = -1
    for first, last in document.sentences or ((0, len(document.text)),):
        if start >= 0 and last - start > most:
            yield start, end
            start = -1
        start, end = (first if start < 0 else start), last
        while end - start > most:
            blank = document.text.rfind(" ", start + 1, start + most)
            cut = blank if blank > start else start + most
            yield start, cut
            start = cut
    if 0 <= start < end:
        yield start, end
