from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.mention import (
    PlacedSpans,
    Span,
    check_fragments,
    check_ranges,
    contains,
    fragments_contain,
    fragments_overlap,
    overlaps,
)

spans = st.tuples(st.integers(0, 30), st.integers(1, 10)).map(lambda p: (p[0], p[0] + p[1]))
fragments = st.lists(spans, min_size=1, max_size=4)


def characters(span: Span) -> set[int]:
    return set(range(*span))


@given(spans, spans)
def test_relations_are_those_of_the_sets_of_characters(a: Span, b: Span) -> None:
    x, y = characters(a), characters(b)
    assert overlaps(a, b) == overlaps(b, a) == bool(x & y)
    assert contains(a, b) == (y <= x)


@given(st.sets(spans, max_size=8), st.sets(spans, max_size=4), spans)
def test_placed_spans_are_found_by_overlap(first: set[Span], later: set[Span], asked: Span) -> None:
    places = PlacedSpans(first)
    for span in later - first:
        places.add(span)
    assert places.overlapping(asked) == sorted(one for one in first | later if overlaps(one, asked))


def test_adjacent_spans_do_not_overlap() -> None:
    assert not overlaps((0, 5), (5, 8))
    assert not fragments_overlap(((0, 5),), ((5, 8),))


@given(fragments)
def test_fragments_are_sorted_disjoint_or_refused(given_spans: list[Span]) -> None:
    ordered = sorted(given_spans)
    disjoint = all(a[1] <= b[0] for a, b in pairwise(ordered))
    if not disjoint:
        with pytest.raises(ValueError, match="disjoint"):
            check_fragments(tuple(ordered))
        return
    found = tuple(ordered)
    check_fragments(found)
    assert fragments_contain(found, found)
    assert fragments_contain(((ordered[0][0], ordered[-1][1]),), found)


@pytest.mark.parametrize(
    "bad", [(), ((3, 3),), ((-1, 2),), ((4, 2),), ((5, 7), (1, 2)), ((0, 3), (2, 4))]
)
def test_what_is_no_set_of_fragments_is_refused(bad: tuple[Span, ...]) -> None:
    with pytest.raises(ValueError, match="span"):
        check_fragments(bad)


def test_ranges_must_lie_inside_the_text() -> None:
    check_ranges([(0, 2), (2, 5)], length=5, name="word")
    with pytest.raises(ValueError, match=r"word \(2, 6\) is not allowed in a text of 5 characters"):
        check_ranges([(0, 2), (2, 6)], length=5, name="word")


def test_one_long_span_makes_no_other_slower() -> None:
    # 40,000 short spans take a fraction of a second; all pairs of them would take minutes.
    count = 40_000
    places = PlacedSpans([(0, 2 * count), *((2 * at, 2 * at + 1) for at in range(count))])
    began = time.process_time()
    assert all(len(places.overlapping((2 * at, 2 * at + 1))) == 2 for at in range(count))
    assert time.process_time() - began < 20
