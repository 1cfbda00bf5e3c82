"""Programs of others as steps: one file each, found by entry points of the group
``fascicle.steps``.

What they have in common is here.
"""

from __future__ import annotations

from fascicle.core.document import Document, MentionKey


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
