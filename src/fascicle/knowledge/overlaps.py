"""Which of the names that stand in a text are kept where they overlap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fascicle.core.mention import Link
from fascicle.settings.recognition import Overlaps


class Meaning(NamedTuple):
    """What a name means at a place.

    Attributes:
        type: of the mention.
        score: of the mention.
        links: none where several concepts have the name.
    """

    type: str
    score: float
    links: tuple[Link, ...]


class Place(NamedTuple):
    """A place where names stand.

    Attributes:
        start: first character.
        end: one past the last.
        meanings: of the name, one for each type, the most probable first.
    """

    start: int
    end: int
    meanings: tuple[Meaning, ...]


def resolved(places: list[Place], overlaps: Overlaps) -> Iterator[tuple[Place, Meaning]]:
    """The meanings of places that may stand beside each other, in the order of the text.

    Args:
        places: in the order of the text.
        overlaps: ``"longest"``: of places that overlap the longest, with its most probable meaning; ``"nested"``: also
            those inside it, with all meanings; ``"all"``: all.
    """
    if overlaps != "all":
        kept: list[Place] = []
        for group in _touching(places):
            kept += _chosen(group, nested=overlaps == "nested")
        places = sorted(kept, key=lambda place: (place.start, place.end))
    for place in places:
        for meaning in place.meanings[:1] if overlaps == "longest" else place.meanings:
            yield place, meaning


def _touching(places: Sequence[Place]) -> Iterator[list[Place]]:
    """Places that hang together by their overlaps."""
    group: list[Place] = []
    reach = 0
    for place in places:
        if group and place.start >= reach:
            yield group
            group, reach = [], 0
        group.append(place)
        reach = max(reach, place.end)
    if group:
        yield group


def _chosen(group: list[Place], *, nested: bool) -> list[Place]:
    """The longest first, then the more probable, then the first in the text; what overlaps one of these gives way."""
    if len(group) == 1:
        return group
    kept: list[Place] = []
    for place in sorted(group, key=lambda one: (one.start - one.end, -one.meanings[0].score, one.start)):
        if all(_beside(place, other) or (nested and _inside(place, other)) for other in kept):
            kept.append(place)
    return kept


def _beside(one: Place, other: Place) -> bool:
    return one.end <= other.start or other.end <= one.start


def _inside(one: Place, other: Place) -> bool:
    return other.start <= one.start and one.end <= other.end
