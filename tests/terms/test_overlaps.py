"""What is kept of overlapping places, against a slow choice of the longest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fascicle.terms.overlaps import Meaning, Occurrence, best_segmentation, resolve_overlaps

SPANS = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 6)), max_size=10, unique=True).map(
    sorted
)


def places_of(spans: list[tuple[int, int]]) -> list[Occurrence]:
    meanings = (Meaning("A", 0.9, ()), Meaning("B", 0.5, ()))
    return sorted(Occurrence(start, start + width, meanings) for start, width in spans)


def greedy(places: list[Occurrence], *, nested: bool) -> list[Occurrence]:
    """The longest place that is left and clashes with none, again and again."""
    left, kept = list(places), list[Occurrence]()
    while left:
        best = max(left, key=lambda place: (place.end - place.start, -place.start))
        left.remove(best)
        shared = [
            set(range(best.start, best.end)) & set(range(other.start, other.end)) for other in kept
        ]
        whole = set(range(best.start, best.end))
        if all(not one or (nested and one == whole) for one in shared):
            kept.append(best)
    return sorted(kept)


@given(SPANS)
def test_the_longest_are_kept(spans: list[tuple[int, int]]) -> None:
    places = places_of(spans)
    assert [place for place, _ in resolve_overlaps(places, "longest")] == greedy(
        places, nested=False
    )
    assert [meaning.type for _, meaning in resolve_overlaps(places, "longest")] == ["A"] * len(
        greedy(places, nested=False)
    )
    nested = [place for place, meaning in resolve_overlaps(places, "nested") if meaning.type == "A"]
    assert nested == greedy(places, nested=True)
    assert len(list(resolve_overlaps(places, "all"))) == 2 * len(places)


RANGES = st.sets(
    st.tuples(st.integers(0, 9), st.integers(1, 4)).map(lambda pair: (pair[0], pair[0] + pair[1])),
    max_size=11,
).map(sorted)
Spans = list[tuple[int, int]]


def segmentations(spans: Spans, end: int) -> Iterator[list[tuple[int, int, bool]]]:
    """Every way to cover the tokens up to an end by spans and single tokens, last part first."""
    if end == 0:
        yield []
        return
    parts = [(end - 1, end, False), *((a, b, True) for a, b in spans if b == end)]
    for part in parts:
        for rest in segmentations(spans, part[0]):
            yield [part, *rest]


def value(parts: list[tuple[int, int, bool]]) -> int:
    return sum((b - a) ** 2 for a, b, matched in parts if matched)


def chosen_of(spans: Spans) -> Spans:
    chosen = best_segmentation(np.array(spans, dtype=np.int64).reshape(-1, 2))
    return [span for span, kept in zip(spans, chosen.tolist(), strict=True) if kept]


@given(RANGES)
def test_the_segmentation_is_the_best_of_all_and_ties_follow_the_rule(spans: Spans) -> None:
    every = list(segmentations(spans, max((end for _, end in spans), default=0)))
    most = max(map(value, every))
    # Of equal sums up to a token, the one whose last part begins earlier.
    first = min(
        (parts for parts in every if value(parts) == most),
        key=lambda parts: [start for start, _, _ in parts],
    )
    assert chosen_of(spans) == [(a, b) for a, b, matched in reversed(first) if matched]
