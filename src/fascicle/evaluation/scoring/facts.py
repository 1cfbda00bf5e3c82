"""Scores of facts: each fact of a mention counts as a mention of this type, for all rules and
intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.facts import facts_of


def gold_facts(documents: Iterable[Document]) -> list[Document]:
    """Returns documents with the facts of their gold mentions alone."""
    return [
        document.having(mentions=_as_mentions(document.layer(GOLD)), relations=(), changes=())
        for document in documents
    ]


def all_facts(mentions: Mapping[str, Iterable[Mention]]) -> dict[str, tuple[Mention, ...]]:
    """Returns the facts of the mentions of each document, by its id."""
    return {identifier: _as_mentions(of_document) for identifier, of_document in mentions.items()}


def _as_mentions(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Returns a mention for each fact of some mentions, with the fact as its type, and each
    once.
    """
    by_key = {mention.key: mention for annotated in mentions for mention in _facts(annotated)}
    return tuple(by_key.values())


def _facts(mention: Mention) -> Iterator[Mention]:
    for fact in facts_of(mention):
        yield msgspec.structs.replace(mention, type=fact, links=(), attributes=())
