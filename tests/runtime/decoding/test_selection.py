from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.runtime.decoding.selection import SpanDecoding, select

Row = tuple[int, int, int, int, float]  # owner, start, end, type, score
DECODINGS: tuple[SpanDecoding, ...] = ("nested", "greedy", "optimal")


@st.composite
def span_tables(draw: st.DrawFn, most: int = 9, eighths: bool = True) -> list[Row]:
    """Spans of up to three texts, crowded, with duplicates; scores in eighths are often equal
    and add up exactly.
    """
    score = st.integers(0, 8).map(lambda k: k / 8) if eighths else st.floats(0, 1)
    start = st.integers(0, 7)
    row = st.builds(
        lambda owner, first, width, kind, value: (owner, first, first + width, kind, value),
        st.integers(-1, 1),
        start,
        st.integers(1, 5),
        st.integers(0, 2),
        score,
    )
    return draw(st.lists(row, max_size=most))


def kept(rows: list[Row], decoding: SpanDecoding, **options: bool) -> list[Row]:
    spans = np.array([row[1:4] for row in rows], dtype=np.int64).reshape(-1, 3)
    scores = np.array([row[4] for row in rows])
    owners = np.array([row[0] for row in rows], dtype=np.int64)
    chosen = select(spans, scores, decoding=decoding, owners=owners, **options)
    assert chosen.dtype == np.int64
    assert len(set(chosen.tolist())) == len(chosen)
    return [rows[index] for index in chosen]


def overlap(left: Row, right: Row) -> bool:
    return left[0] == right[0] and left[1] < right[2] and right[1] < left[2]


def without_duplicates(rows: list[Row]) -> list[Row]:
    """In order of owner, start, end and type, each with its best score."""
    return [
        max(group, key=lambda row: row[4])
        for _, group in itertools.groupby(sorted(rows), key=lambda row: row[:4])
    ]


def greedy(rows: list[Row]) -> list[Row]:
    """The definition, span by span."""
    accepted: list[Row] = []
    for row in sorted(rows, key=lambda row: (-row[4], *row[1:4])):
        if not any(overlap(row, other) for other in accepted):
            accepted.append(row)
    return sorted(accepted)


def optimal(rows: list[Row]) -> list[Row]:
    """The best of all disjoint subsets; among equals the one with the earliest span in which
    they differ.
    """
    unique = without_duplicates(rows)
    best: tuple[float, tuple[bool, ...]] = (-1.0, ())
    for subset in itertools.product((False, True), repeat=len(unique)):
        members = [row for row, member in zip(unique, subset, strict=True) if member]
        if not any(overlap(a, b) for a, b in itertools.combinations(members, 2)):
            best = max(best, (sum(row[4] for row in members), subset))
    return [row for row, member in zip(unique, best[1], strict=True) if member]


@given(span_tables(most=20))
def test_nested_keeps_every_span_once(rows: list[Row]) -> None:
    assert kept(rows, "nested") == without_duplicates(rows)


@given(span_tables(most=20))
def test_greedy_is_the_sequential_rule(rows: list[Row]) -> None:
    assert kept(rows, "greedy") == greedy(rows)


@given(span_tables(most=9))
def test_optimal_is_the_best_of_all_subsets(rows: list[Row]) -> None:
    assert kept(rows, "optimal") == optimal(rows)


@given(span_tables(most=9, eighths=False))
def test_optimal_weighs_as_much_as_the_best_subset_for_any_scores(rows: list[Row]) -> None:
    total = sum(row[4] for row in kept(rows, "optimal"))
    assert total == pytest.approx(sum(row[4] for row in optimal(rows)), rel=1e-12)


@pytest.mark.parametrize("decoding", DECODINGS)
@given(rows=span_tables(most=11))
def test_types_that_do_not_compete_are_chosen_from_one_by_one(
    decoding: SpanDecoding, rows: list[Row]
) -> None:
    """Each type has the selection that it would have alone, found by brute force."""
    definition = {"nested": without_duplicates, "greedy": greedy, "optimal": optimal}[decoding]
    alone = [definition([row for row in rows if row[3] == kind]) for kind in range(3)]
    assert kept(rows, decoding, across_types=True) == sorted(itertools.chain(*alone))


def test_selections_of_thousands_of_spans_are_the_sequential_ones() -> None:
    """Long chains of overlaps, in which a decision reaches far, and texts that begin anywhere."""
    chance = np.random.default_rng(4)
    for spread in (40, 400, 4000):
        start = chance.integers(-spread, spread, 1500)
        width, kind = chance.integers(1, 12, 1500), chance.integers(0, 4, 1500)
        columns = (
            chance.integers(0, 3, 1500) * 10**9,
            start,
            start + width,
            kind,
            chance.integers(1, 65, 1500) / 64,
        )
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        flat, best = kept(rows, "greedy"), kept(rows, "optimal")
        assert flat == greedy(rows)
        assert sum(row[4] for row in best) >= sum(row[4] for row in flat)
        assert sum(row[4] for row in best) == _heaviest(rows)


def _heaviest(rows: list[Row]) -> float:
    """Weighted interval scheduling by units: the best weight of everything that ends at or
    before each.
    """
    total = 0.0
    for owner in {row[0] for row in rows}:
        ends: dict[int, list[Row]] = {}
        for row in rows:
            if row[0] == owner:
                ends.setdefault(row[2], []).append(row)
        first, last = min(row[1] for row in rows), max(row[2] for row in rows)
        best = {first: 0.0}
        for unit in range(first + 1, last + 1):
            best[unit] = max(
                [best[unit - 1], *(best[row[1]] + row[4] for row in ends.get(unit, []))]
            )
        total += best[last]
    return total


def test_a_chain_of_a_hundred_thousand_overlaps_needs_no_recursion() -> None:
    count = 100_000
    start = np.arange(count)
    spans = np.stack([start, start + 2, np.zeros(count, dtype=np.int64)], axis=1)
    falling = np.linspace(1, 0.5, count)
    assert select(spans, falling, decoding="greedy").tolist() == list(range(0, count, 2))
    assert select(spans, falling, decoding="optimal").tolist() == list(range(0, count, 2))


@pytest.mark.parametrize(
    ("spans", "scores", "owners", "message"),
    [
        ([[0, 1]], [0.5], None, r"spans \(1, 2\), scores \(1,\), owners \(1,\)"),
        ([[0, 1, 0]], [0.5, 0.5], None, r"spans \(1, 3\), scores \(2,\)"),
        ([[0, 1, 0]], [[0.5]], None, "do not agree"),
        ([[0, 1, 0]], 0.5, None, "do not agree"),
        ([[0, 1, 0]], [0.5], [0, 1], r"owners \(2,\)"),
        ([[0, 1.5, 0]], [0.5], None, "integers, got float64"),
        ([[0, 1, 0]], [0.5], [0.5], "integers, got int64 and float64"),
        ([[0, 1, 0], [3, 3, 0]], [0.5, 0.5], None, r"end after its start, got \[3, 3, 0\]"),
        ([[0, 1, 0]], [np.nan], None, "finite and not negative"),
        ([[0, 1, 0]], [np.inf], None, "finite and not negative"),
        ([[0, 1, 0]], [-0.1], None, "finite and not negative"),
    ],
)
def test_bad_input_is_refused(spans: object, scores: object, owners: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        select(spans, scores, decoding="nested", owners=owners)  # type: ignore[arg-type]


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown span decoding 'flat'; choose"):
        select([[0, 1, 0]], [0.5], decoding="flat")  # type: ignore[arg-type]
