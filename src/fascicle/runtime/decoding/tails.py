"""Mentions that go on behind their name: with a variant, a strain or a protein."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from fascicle.core.document import Mention, in_order
from fascicle.runtime.decoding.retyping import once

_SPECIES: Final = "Species"
# a species or its second word, and what people call it: Ixodes ricinus ticks
_COMMON: Final = re.compile(r"((?:[A-Z](?:[a-z]+|\.) )?[a-z]{3,}(?:us|i|um|is|ae?)) ([a-z]{3,})")
_GENUS: Final = re.compile(r"\b([A-Z](?:[a-z]+|\.))\s\Z")
_NEAR: Final = 20  # characters in which the genus before a name is sought
_ACID: Final = "[ACDEFGHIKLMNPQRSTVWY]"
# type -> names, of which the first group may be the whole name
_TAILS: Final = MappingProxyType(
    {
        "Gene": re.compile(  # BRAFV600E, prothrombin G20210A, EGFR p.Leu858Arg
            rf"(\S.+?\S)(?:[\s-](?:p\.)?)?"
            rf"(?:{_ACID}\d{{2,5}}(?:{_ACID}|del)|[A-Z][a-z]{{2}}\d{{2,4}}[A-Z][a-z]{{2}})"
        ),
        _SPECIES: re.compile(  # Helicobacter pylori CagA, Bacillus subtilis 168
            r"([A-Z](?:[a-z]+|\.) [a-z]{3,}(?<!virus|phage))\s"
            r"(?:[a-z]{3}[A-Z]\d?|[A-Z][a-z]{2}[A-Z]\d?|\S*\d\S*)"
        ),
    }
)


def all_forms(mentions: Sequence[Mention], names: Mapping[int, str], text: str) -> Iterator[str]:
    """Yields the names of mentions, by their indices, and what they are without their tails."""
    for at, name in names.items():
        yield name
        yield _shorter(name, mentions[at].type)
        if mentions[at].type == _SPECIES and (match := _COMMON.fullmatch(name)):
            yield match[2]
            yield _with_genus(match[1], text, mentions[at].start)


def without_tails(
    mentions: Sequence[Mention], names: Mapping[int, str], types: Mapping[str, str], *, text: str
) -> tuple[Mention, ...]:
    """Returns mentions without a tail where the pack has no name with it: ``BRAFV600E`` becomes
    ``BRAF``, and ``E. coli K-12`` stays. The common name behind a species goes too.

    Args:
        mentions: of a network.
        names: those of the mentions that may stay, by their indices.
        types: of the names that mean one type alone.
        text: of the document.
    """
    result, cut = list[Mention](), list[Mention]()
    for at, mention in enumerate(mentions):
        name = names.get(at, "")
        is_species = mention.type == _SPECIES
        shorter = _without_common(name, types, text, mention.start) if is_species else ""
        if not shorter:
            shorter = _shorter(name, mention.type)
            is_known = shorter != name and types.get(shorter) == mention.type
            shorter = shorter if is_known else ""
        if not shorter or name in types:
            result.append(mention)
            continue
        spans = ((mention.start, mention.start + len(shorter)),)
        cut.append(replace(mention, spans=spans))
    return tuple(in_order(once(result, cut)))


def _without_common(name: str, types: Mapping[str, str], text: str, start: int) -> str:
    """Returns a species without its common name; empty for all others, such as ``indica rice``."""
    match = _COMMON.fullmatch(name)
    if not match or types.get(match[2]) != _SPECIES:
        return ""
    return match[1] if types.get(_with_genus(match[1], text, start)) == _SPECIES else ""


def _with_genus(name: str, text: str, start: int) -> str:
    """Returns a species with the genus before it, which the edges add; empty for a second word
    without one.
    """
    if name[0].isupper():
        return name
    genus = _GENUS.search(text, max(0, start - _NEAR), start)
    return f"{genus[1]} {name}" if genus else ""


def _shorter(name: str, kind: str) -> str:
    match = _TAILS[kind].fullmatch(name) if kind in _TAILS else None
    return match[1] if match else name
