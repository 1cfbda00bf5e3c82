"""Programs of others as steps: one file each, found by entry points of the group
``fascicle.steps``.

What they have in common is here.
"""

from __future__ import annotations

from collections.abc import Iterator

from fascicle.core.document import Document, MentionKey
from fascicle.core.mention import Span


def sentence_parts(document: Document, most: int) -> Iterator[Span]:
    """Yields ranges of whole sentences with at most so many characters; a longer sentence is cut
    at white space.
    """
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


class Adapter:
    """A program as a step in a process of its own; an object says what its settings decide of
    these attributes.
    """

    apart = True
    name = ""
    needs: frozenset[str] = frozenset({"sentences"})
    gives: frozenset[str] = frozenset({"mentions"})
    drops: frozenset[str] = frozenset()
    fingerprint = ""
    types: tuple[str, ...] = ()

    def _earlier(self, document: Document) -> tuple[MentionKey, ...]:
        """Returns the mentions of an earlier run, which the new ones replace."""
        return tuple(mention.key for mention in document.layer(self.name))
