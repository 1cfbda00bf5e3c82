from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.wide import wide_logits

from fascicle.runtime.decoding.spans import SpanScores, candidate_spans

NAMES = ("starts", "ends", "widths", "spans")
MIXTURES = [
    chosen
    for mask in range(1, 16)
    if (chosen := tuple(name for bit, name in enumerate(NAMES) if mask >> bit & 1)) != ("widths",)
]
Tables = dict[str, np.ndarray]


def tables(
    seed: int, names: tuple[str, ...], sizes: tuple[int, int, int, int], *, ties: bool = False
) -> Tables:
    """Random tables for `(B, U, L, C)`; with ties, of small integers, so that many logits are
    equal.
    """
    chance = np.random.default_rng(seed)
    rows, units, widths, classes = sizes
    shapes = {
        "starts": (rows, units, classes),
        "ends": (rows, units, classes),
        "widths": (widths, classes),
        "spans": (rows, units, widths, classes),
    }
    made = {}
    for name in names:
        draw = (
            chance.integers(-1, 2, shapes[name])
            if ties
            else chance.normal(scale=3, size=shapes[name])
        )
        made[name] = draw.astype(np.float32)
    return made


def rows_of(found: SpanScores) -> list[tuple[int, int, int, int, float]]:
    return [
        (row, *span, score)
        for row, span, score in zip(found.rows, found.spans.tolist(), found.scores, strict=True)
    ]


def naive(band: np.ndarray, counts: list[int]) -> list[tuple[int, int, int, int, float]]:
    """The definition, cell by cell over the widened logits."""
    found = []
    for row, count in enumerate(counts):
        for start in range(count):
            for width in range(min(band.shape[2], count - start)):
                logits = [float(value) for value in band[row, start, width]]
                best = max(logits[1:])
                if best > logits[0]:
                    total = sum(math.exp(value - best) for value in logits)
                    found.append((row, start, start + width + 1, logits[1:].index(best), 1 / total))
    return found


def assert_same(found: SpanScores, expected: list[tuple[int, int, int, int, float]]) -> None:
    got = rows_of(found)
    assert [entry[:4] for entry in got] == [entry[:4] for entry in expected]
    assert [entry[4] for entry in got] == pytest.approx([entry[4] for entry in expected], rel=1e-12)
    assert found.rows.shape == found.scores.shape == (len(got),)
    assert found.spans.shape == (len(got), 3)
    assert found.scores.dtype == np.float64


@given(
    seed=st.integers(0, 10_000),
    names=st.sampled_from(MIXTURES),
    sizes=st.tuples(st.integers(0, 3), st.integers(0, 6), st.integers(1, 8), st.integers(2, 5)),
    ties=st.booleans(),
    none=st.sampled_from([-4.0, 0.0, 4.0]),
)
def test_candidates_are_the_cells_whose_best_class_is_a_type(
    seed: int, names: tuple[str, ...], sizes: tuple[int, int, int, int], ties: bool, none: float
) -> None:
    """Oracle: a loop over all cells of the wide logits; also in slices of any size, whatever is
    padded.
    """
    chance = np.random.default_rng(seed)
    made = tables(seed, names, sizes, ties=ties)
    next(iter(made.values()))[..., 0] += none
    counts = chance.integers(0, sizes[1] + 1, sizes[0]).tolist()
    longest = sizes[2]
    expected = naive(wide_logits(made, longest=longest), counts)
    found = candidate_spans(made, counts, longest=longest)
    assert_same(found, expected)
    for slice_size in (1, int(chance.integers(1, 200))):
        sliced = candidate_spans(made, counts, longest=longest, slice_size=slice_size)
        assert rows_of(sliced) == rows_of(found)
    junk = np.array([np.nan, np.inf, -np.inf, np.finfo(np.float32).max])
    for row, count in enumerate(counts):
        for name in {"starts", "ends", "spans"} & made.keys():
            made[name][row, count:] = chance.choice(junk)
        for first in range(count if "spans" in made else 0):
            made["spans"][row, first, count - first :] = chance.choice(junk)
    assert rows_of(candidate_spans(made, counts, longest=longest)) == rows_of(found)


@given(seed=st.integers(0, 10_000), names=st.sampled_from(MIXTURES), classes=st.integers(2, 3))
def test_nothing_is_lost_to_rounding(seed: int, names: tuple[str, ...], classes: int) -> None:
    """Numbers of which single precision holds the sum of two, not of three: who wins depends on
    every rounding.
    """
    chance = np.random.default_rng(seed)
    made = tables(seed, names, (2, 9, 5, classes))
    for name in names:
        made[name] = chance.choice([-(2.0**24), 0, 1, 2, 3, 2.0**24], size=made[name].shape).astype(
            np.float32
        )
    counts = [9, int(chance.integers(0, 10))]
    assert_same(
        candidate_spans(made, counts, longest=5), naive(wide_logits(made, longest=5), counts)
    )


def test_scores_are_safe_for_huge_and_forbidden_logits() -> None:
    starts = np.array(
        [[[-1e30, 1e30], [-np.inf, 5], [-np.inf, -np.inf], [1e30, 1e30]]], dtype=np.float32
    )
    found = candidate_spans({"starts": starts}, [4], longest=1)
    assert found.spans.tolist() == [[0, 1, 0], [1, 2, 0]]
    assert found.scores.tolist() == [1.0, 1.0]


def test_half_precision_tables_are_added_in_single() -> None:
    halves = {
        name: table.astype(np.float16) for name, table in tables(3, NAMES, (2, 5, 3, 3)).items()
    }
    singles = {name: table.astype(np.float32) for name, table in halves.items()}
    assert rows_of(candidate_spans(halves, [5, 4], longest=3)) == rows_of(
        candidate_spans(singles, [5, 4], longest=3)
    )


def test_the_tables_say_how_long_spans_are_and_else_the_caller() -> None:
    both = {
        name: np.zeros(shape, dtype=np.float32)
        for name, shape in {"starts": (1, 4, 2), "widths": (2, 2)}.items()
    }
    both["starts"][..., 1] = 1
    assert len(candidate_spans(both, [4], longest=4).rows) == 4 + 3
    assert len(candidate_spans({"starts": both["starts"]}, [4], longest=4).rows) == 4 + 3 + 2 + 1
    assert len(candidate_spans({"starts": both["starts"]}, [4], longest=9).rows) == 4 + 3 + 2 + 1


@pytest.mark.parametrize("names", [("starts", "ends", "widths"), NAMES], ids="+".join)
def test_a_long_sentence_needs_no_band_in_memory(names: tuple[str, ...]) -> None:
    units, longest, classes = 2000, 32, 30
    made = tables(5, names, (1, units, longest, classes))
    made["starts"][..., 0] += 20
    tracemalloc.start()
    found = candidate_spans(made, [units], longest=longest, slice_size=1 << 16)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < units * longest * classes * 4 / 2
    assert len(found.rows)


def test_broken_scores_come_to_light() -> None:
    for name in NAMES:
        for value in (np.nan, np.inf):
            for kind in (0, 1, 2):
                made = tables(2, NAMES, (2, 3, 2, 3))
                made[name][..., kind] = value
                if value == np.inf and kind == 0:  # None has won, for certain
                    assert not len(candidate_spans(made, [3, 3], longest=2).rows)
                    continue
                with pytest.raises(ValueError, match="NaN or plus infinity"):
                    candidate_spans(made, [3, 3], longest=2)


@pytest.mark.parametrize(
    "shapes",
    [
        {},
        {"widths": (3, 2)},
        {"starts": (2, 4, 2), "middles": (2, 4, 2)},
        {"starts": (2, 4)},
        {"starts": (2, 4, 2), "ends": (2, 5, 2)},
        {"starts": (2, 4, 2), "ends": (3, 4, 2)},
        {"starts": (2, 4, 2), "widths": (3, 3)},
        {"spans": (2, 4, 3, 2), "widths": (2, 2)},
        {"spans": (2, 4, 3, 1)},
        {"spans": (2, 4, 0, 2)},
        {"starts": (2, 4, 1)},
    ],
    ids=str,
)
def test_tables_that_do_not_agree_are_refused(shapes: dict[str, tuple[int, ...]]) -> None:
    made = {name: np.zeros(shape, dtype=np.float32) for name, shape in shapes.items()}
    with pytest.raises(ValueError, match=r"table") as error:
        candidate_spans(made, [1, 1], longest=3)
    assert all(name in str(error.value) for name in shapes)
    with pytest.raises(ValueError, match="longest 0"):
        candidate_spans({"starts": np.zeros((1, 1, 2), dtype=np.float32)}, [1], longest=0)


@pytest.mark.parametrize("counts", [[3], [3, 3, 3], [3, 5], [-1, 3], [[3, 3]]], ids=str)
def test_counts_that_do_not_fit_are_refused(counts: list[int]) -> None:
    with pytest.raises(ValueError, match=r"counts must be \[2\], each from 0 to 4"):
        candidate_spans({"starts": np.zeros((2, 4, 2), dtype=np.float32)}, counts, longest=2)
