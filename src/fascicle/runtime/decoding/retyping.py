"""Mentions whose name has another type in the pack than a network gave them, and mentions that are
no names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from fascicle.core.document import Mention
from fascicle.core.lexicon import lexicon

_ANATOMY: Final = "Anatomy"
_GENE: Final = "Gene"  # genes are named by words too: for, no
_WORDS: Final = re.compile(r"(?=.{4}).*[a-z]{3}.*")  # no symbol and no short form
_DISEASES: Final = re.compile(r"[A-Za-z' -]*(?:itis|[oi]asis|os[ie]s|a?emia|oma|pathy|trophy|uria)")
# stems of biotechnological drugs, which a network takes for proteins or for what they treat
_BIOTECH: Final = re.compile(
    r"[A-Za-z][a-z]*(?:teplase|grastim|gramostim|sulfase|glucerase|uricase"
    r"|loticase|aspargase|mab|cept|siran|nersen)"
    r"|\w*poetin (?:alfa|beta)|(?:[Pp]eg)?[Ii]nterferon (?:alfa|beta)-\d[ab]?"
)
_BINOMIAL: Final = re.compile(r"[A-Z](?:[a-z]+ |\. ?)[a-z]{3,}")
# Type that a network gave -> type in the pack -> names for which the pack is right. A name of a
# virus may be that of its disease, food is a species and a chemical, and many chemicals of MeSH
# are proteins, so that these pairs are left as the network has them.
_RULES: Final[Mapping[str, Mapping[str, re.Pattern[str]]]] = MappingProxyType(
    {
        "Chemical": {"Disease": _WORDS, "CellType": _WORDS, "Species": _BINOMIAL},
        "CellLine": {"Disease": _WORDS, "Species": _BINOMIAL},
        "CellType": {_ANATOMY: _WORDS, "Species": _BINOMIAL},
        "Disease": {_ANATOMY: _WORDS, "Species": _BINOMIAL, "Chemical": _BIOTECH},
        "Species": {_ANATOMY: _WORDS, "Disease": _DISEASES},
        _GENE: {"Species": _BINOMIAL, "Chemical": _BIOTECH},
    }
)


def with_own_types(
    mentions: list[Mention],
    names: Mapping[int, str],
    types: Mapping[str, str],
    *,
    allowed: Collection[str],
    has_capitals: bool,
) -> list[Mention]:
    """Returns mentions of which a name has its type in the pack where a network is known to err:
    ``strabismus`` is no chemical, and ``alteplase`` no gene. A part of the body is no mention of a
    model without that type, and a word such as ``no`` is none.

    Args:
        mentions: of a network.
        names: those of the mentions that may stay, by their indices.
        types: of the names that mean one type alone.
        allowed: the types of the model.
        has_capitals: whether the text is written with capitals; else ``no`` may be a symbol.
    """
    changes: dict[int, str] = {}
    for at, name in names.items():
        kind, other = mentions[at].type, types.get(name, "")
        rule = _RULES.get(kind, {}).get(other)
        if rule and rule.fullmatch(name) and (other in allowed or other == _ANATOMY):
            changes[at] = other
        elif has_capitals and kind != _GENE and name in _small_words():
            changes[at] = ""
    return _changed(mentions, changes, allowed=allowed) if changes else mentions


def _changed(
    mentions: list[Mention], changes: Mapping[int, str], *, allowed: Collection[str]
) -> list[Mention]:
    """Returns the mentions with other types, each place once for a type, with its best score."""
    places = {(mention.type, mention.spans) for mention in mentions}
    changed = [mention for at, mention in enumerate(mentions) if at not in changes]
    by_score = sorted(changes, key=lambda at: mentions[at].score or 1.0, reverse=True)
    for at in by_score:
        place = changes[at], mentions[at].spans
        if changes[at] in allowed and place not in places:
            places.add(place)
            changed.append(replace(mentions[at], type=changes[at]))
    return changed


@cache
def _small_words() -> frozenset[str]:
    """Words of English that are no names, in lower case."""
    return frozenset(lexicon("languages")["words"]["English"])
