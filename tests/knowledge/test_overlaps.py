"""What is kept of overlapping places, against a slow choice of the longest."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fascicle.knowledge.overlaps import Meaning, Place, resolved

SPANS = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 6)), max_size=10, unique=True).map(sorted)


def places_of(spans: list[tuple[int, int]]) -> list[Place]:
    meanings = (Meaning("A", 0.9, ()), Meaning("B", 0.5, ()))
    return sorted(Place(start, start + width, meanings) for start, width in spans)


def greedy(places: list[Place], *, nested: bool) -> list[Place]:
    """The longest place that is left and clashes with none, again and again."""
    left, kept = list(places), list[Place]()
    while left:
        best = max(left, key=lambda place: (place.end - place.start, -place.start))
        left.remove(best)
        shared = [set(range(best.start, best.end)) & set(range(other.start, other.end)) for other in kept]
        whole = set(range(best.start, best.end))
        if all(not one or (nested and one == whole) for one in shared):
            kept.append(best)
    return sorted(kept)


@given(SPANS)
def test_the_longest_are_kept(spans: list[tuple[int, int]]) -> None:
    places = places_of(spans)
    assert [place for place, _ in resolved(places, "longest")] == greedy(places, nested=False)
    assert [meaning.type for _, meaning in resolved(places, "longest")] == ["A"] * len(greedy(places, nested=False))
    nested = [place for place, meaning in resolved(places, "nested") if meaning.type == "A"]
    assert nested == greedy(places, nested=True)
    assert len(list(resolved(places, "all"))) == 2 * len(places)
