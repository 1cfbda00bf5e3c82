"""Mentions that go on behind their name: with a variant, a strain or a protein."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from fascicle.core.document import Mention, in_order

_ACID: Final = "[ACDEFGHIKLMNPQRSTVWY]"
# type -> names, of which the first group may be the whole name
_TAILS: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        "Gene": re.compile(  # BRAFV600E, prothrombin G20210A, EGFR p.Leu858Arg
            rf"(\S.+?\S)(?:[\s-](?:p\.)?)?"
            rf"(?:{_ACID}\d{{2,5}}(?:{_ACID}|del)|[A-Z][a-z]{{2}}\d{{2,4}}[A-Z][a-z]{{2}})"
        ),
        "Species": re.compile(  # Helicobacter pylori CagA, Bacillus subtilis 168
            r"([A-Z](?:[a-z]+|\.) [a-z]{3,}(?<!virus|phage))\s"
            r"(?:[a-z]{3}[A-Z]\d?|[A-Z][a-z]{2}[A-Z]\d?|\S*\d\S*)"
        ),
    }
)


def all_forms(mentions: Sequence[Mention], names: Mapping[int, str]) -> Iterator[str]:
    """Yields the names of mentions, by their indices, and what they are without their tails."""
    for at, name in names.items():
        yield name
        yield _shorter(name, mentions[at].type)


def without_tails(
    mentions: Sequence[Mention], names: Mapping[int, str], types: Mapping[str, str]
) -> tuple[Mention, ...]:
    """Returns mentions without a tail where the pack has no name with it: ``BRAFV600E`` becomes
    ``BRAF``, and ``E. coli K-12`` stays.

    Args:
        mentions: of a network.
        names: those of the mentions that may stay, by their indices.
        types: of the names that mean one type alone.
    """
    places = {(mention.type, mention.spans) for mention in mentions}
    result = list[Mention]()
    for at, mention in enumerate(mentions):
        name = names.get(at, "")
        shorter = _shorter(name, mention.type)
        if shorter == name or name in types or types.get(shorter) != mention.type:
            result.append(mention)
            continue
        spans = ((mention.start, mention.start + len(shorter)),)
        if (mention.type, spans) not in places:
            places.add((mention.type, spans))
            result.append(replace(mention, spans=spans))
    return tuple(in_order(result))


def _shorter(name: str, kind: str) -> str:
    match = _TAILS[kind].fullmatch(name) if kind in _TAILS else None
    return match[1] if match else name
