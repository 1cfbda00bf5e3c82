"""Whose a relation of a document is: of the gold, or of a system."""

from __future__ import annotations

from collections.abc import Callable, Collection

from fascicle.core.document import Document
from fascicle.core.mention import GOLD, RELATE, Relation, is_scored


def gold_relations(
    document: Document, sources: Collection[str] | None = None
) -> tuple[Relation, ...]:
    """Returns the relations of the gold; see `gold_test`."""
    return tuple(filter(gold_test(document, sources), document.relations))


def gold_test(
    document: Document, sources: Collection[str] | None = None
) -> Callable[[Relation], bool]:
    """Returns what is true for the relations of a document that are of the gold. One of mentions
    is, if all of them are. One between concepts names no source: it is, unless mentions of systems
    stand there alone, or it has a score where a finder of relations added to the gold.

    Args:
        document: with all its mentions.
        sources: of the mentions that stand beside; those of the document by default.
    """
    if sources is None:
        sources = {mention.source for mention in document.mentions}
    has_gold = not sources or GOLD in sources
    is_mixed = not set(sources) <= {GOLD} or _has_added(document)

    def is_of_gold(relation: Relation) -> bool:
        if relation.arguments:
            return relation.sources == {GOLD}
        return has_gold and not (is_mixed and is_scored(relation))

    return is_of_gold


def _has_added(document: Document) -> bool:
    """True if a finder left an event, or relations with scores beside others without."""
    between = [relation for relation in document.relations if not relation.arguments]
    is_related = any(event.step == RELATE for event in document.events)
    return is_related or not all(map(is_scored, between))
