"""What short forms mean that stand among the names of a text: what the text defines them by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from fascicle.core.document import Document
from fascicle.knowledge.abbreviations.forms import can_be_short
from fascicle.knowledge.abbreviations.pairs import Pairs, is_distinctive
from fascicle.knowledge.keys.key import key
from fascicle.knowledge.overlaps import Place

_BRACKETS: Final = frozenset("()[]{}")


def as_defined(document: Document, places: Sequence[Place]) -> list[Place]:
    """Places, with those of short forms as the text defines them.

    A short form means what its long form means, if that is a name too. Else it keeps its type, and its links if it is
    hardly short for anything else.

    Args:
        document: that they stand in.
        places: of all names, in the order of the text.
    """
    at = {bracket for place in places for bracket in _brackets(document.text, place)}
    if not at and not document.abbreviations:
        return list(places)
    pairs = Pairs(document, at=at)
    if not pairs:
        return list(places)
    known = [(place, *_form(document.text, place, pairs)) for place in places]
    longs: dict[str, Place] = {}
    for place, long, is_long in known:
        if is_long:
            longs.setdefault(long, place)
    return [
        place if is_long or not long else _meant(document.text, place, longs.get(long))
        for place, long, is_long in known
    ]


def _form(text: str, place: Place, pairs: Pairs) -> tuple[str, bool]:
    """The long form of the pair of a place, empty for none, and whether it is that."""
    pair, _ = pairs.of((place.start, place.end))
    return ("", False) if pair is None else (pair.long, key(text[place.start : place.end], 1) == key(pair.long, 1))


def _meant(text: str, place: Place, long: Place | None) -> Place:
    if long is not None:
        return place._replace(meanings=long.meanings)
    if is_distinctive(text[place.start : place.end]):
        return place
    return place._replace(meanings=tuple(meaning._replace(links=()) for meaning in place.meanings))


def _brackets(text: str, place: Place) -> Iterator[int]:
    """Where brackets stand beside a name that can be a short form."""
    start, end = place.start, place.end
    beside = [at for at in (start - 1, end, end + 1) if at >= 0 and text[at : at + 1] in _BRACKETS]
    if beside and can_be_short(text[start:end]):
        yield from beside
