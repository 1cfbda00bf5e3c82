"""Short forms among the names of a text: they mean what the text defines them by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from fascicle.core.document import Document
from fascicle.terms.abbreviations.forms import can_be_short
from fascicle.terms.abbreviations.pairs import Pairs, is_distinctive
from fascicle.terms.keys.key import key
from fascicle.terms.overlaps import Occurrence

_BRACKET: Final = re.compile(r"[()\[\]{}]")


def apply_definitions(document: Document, places: Sequence[Occurrence]) -> list[Occurrence]:
    """Returns places, where those of short forms follow their definitions in the text.

    A short form means what its long form means, if that is a name too. Else it keeps its type, and
    its links if it is rarely ambiguous.

    Args:
        document: the document that contains the places.
        places: of all names, in the order of the text.
    """
    at = _brackets_beside(document.text, places)
    if not at and not document.abbreviations:
        return list(places)
    pairs = Pairs(document, at=at)
    if not pairs:
        return list(places)
    forms = [(place, *_form(document.text, place, pairs)) for place in places]
    longs: dict[str, Occurrence] = {}
    for place, long, is_long in forms:
        if is_long:
            longs.setdefault(long, place)
    return [
        place if is_long or not long else _give_meaning(document.text, place, longs.get(long))
        for place, long, is_long in forms
    ]


def _form(text: str, place: Occurrence, pairs: Pairs) -> tuple[str, bool]:
    """Returns the long form of the pair of a place, empty for none, and whether it is that."""
    surface = " ".join(text[place.start : place.end].split())
    pair, _ = pairs.of(surface, (place.start, place.end))
    return ("", False) if pair is None else (pair.long, key(surface, 1) == key(pair.long, 1))


def _give_meaning(text: str, place: Occurrence, long: Occurrence | None) -> Occurrence:
    if long is not None:
        return place._replace(meanings=long.meanings)
    if is_distinctive(text[place.start : place.end]):
        return place
    return place._replace(meanings=tuple(meaning._replace(links=()) for meaning in place.meanings))


def _brackets_beside(text: str, places: Sequence[Occurrence]) -> set[int]:
    """Returns the places of brackets beside names that can be short forms."""
    brackets = {match.start() for match in _BRACKET.finditer(text)}
    return {
        bracket
        for place in (places if brackets else ())
        if not brackets.isdisjoint(beside := (place.start - 1, place.end, place.end + 1))
        and can_be_short(text[place.start : place.end])
        for bracket in beside
        if bracket in brackets
    }
