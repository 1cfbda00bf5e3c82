"""Facts about mentions, such as negated, under the names that corpora and tools give them."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from fascicle.core.mention import Mention, Relation

# Names of attributes in corpora and tools, in lower case, without "is_" -> fact.
_NAMES: Final = MappingProxyType(
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


def facts_of(mention: Mention | Relation) -> Iterator[str]:
    """Yields the facts that the attributes of a mention state; a value may deny them."""
    for name, value in mention.attributes:
        fact = _NAMES.get(name.lower().removeprefix("is_"))
        if fact and value.lower() not in _FALSE:
            yield fact
