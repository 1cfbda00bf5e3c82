"""Scores of facts: each fact of a mention counts as a mention of this type, for all rules and
intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from fascicle.core.document import GOLD, Document, Mention

# Names of attributes in corpora and tools, in lower case, without "is_" -> fact.
_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("negated", "negation", "negative", "neg", "negex"), "negated"),
        **dict.fromkeys(
            ("uncertain", "uncertainty", "speculation", "speculated", "possible"), "uncertain"
        ),
        **dict.fromkeys(("hypothetical", "conditional"), "hypothetical"),
        **dict.fromkeys(("historical", "history"), "historical"),
        **dict.fromkeys(("other-person", "other_person", "family"), "other-person"),
    }
)
_FALSE: Final = frozenset({"false", "0", "no", "none"})


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
    for name, value in mention.attributes:
        fact = _NAMES.get(name.lower().removeprefix("is_"))
        if fact and value.lower() not in _FALSE:
            yield msgspec.structs.replace(mention, type=fact, links=(), attributes=())
