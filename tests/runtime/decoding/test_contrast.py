"""Matches of a bi-encoder against Algorithm 1 of the paper, written as the loops that it is."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.runtime.decoding.spans import margin_scores, match_spans

Tables = dict[str, np.ndarray[Any, Any]]


def drawn(
    seed: int, *, rows: int, units: int, longest: int, kinds: int, joint: bool, own: bool
) -> Tables:
    """Scores from few values, so that equal ones occur."""
    chance = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {"spans": (rows, units, longest, kinds)}
    if own:
        shapes["span_threshold"] = (rows, kinds)
    if joint:
        shapes |= {"starts": (rows, units, kinds), "ends": (rows, units, kinds)}
        shapes |= {"start_threshold": (rows, kinds), "end_threshold": (rows, kinds)}
    return {
        name: chance.integers(-3, 4, shape).astype(np.float32) / 2 for name, shape in shapes.items()
    }


def naive(tables: Tables, counts: list[int], shift: float) -> list[tuple[Any, ...]]:
    spans = tables["spans"]
    found = []
    for b, i, w, k in product(*map(range, spans.shape)):
        j = i + w
        if j >= counts[b]:
            continue
        if "starts" in tables and (
            tables["starts"][b, i, k] < tables["start_threshold"][b, k]
            or tables["ends"][b, j, k] < tables["end_threshold"][b, k]
        ):
            continue
        limit = float(tables["span_threshold"][b, k]) if "span_threshold" in tables else 0.0
        if float(spans[b, i, w, k]) > limit + shift:
            score = float(spans[b, i, w, k])
            found.append((b, i, j + 1, k, score, score - limit - shift))
    return found


@given(
    seed=st.integers(0, 10**6),
    sizes=st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 4), st.integers(1, 3)),
    joint=st.booleans(),
    own=st.booleans(),
    shift=st.sampled_from([0.0, 0.5, -1.0]),
    data=st.data(),
)
def test_matches_equal_the_loops(
    seed: int,
    sizes: tuple[int, int, int, int],
    joint: bool,
    own: bool,
    shift: float,
    data: st.DataObject,
) -> None:
    rows, units, longest, kinds = sizes
    tables = drawn(seed, rows=rows, units=units, longest=longest, kinds=kinds, joint=joint, own=own)
    counts = data.draw(st.lists(st.integers(0, units), min_size=rows, max_size=rows))
    found = match_spans(tables, counts, shift=shift)
    expected = naive(tables, counts, shift)
    assert [*zip(found.rows.tolist(), *found.spans.T.tolist(), strict=True)] == [
        row[:4] for row in expected
    ]
    assert found.ranks.tolist() == [row[4] for row in expected]
    assert found.scores.tolist() == pytest.approx([1 / (1 + math.exp(-row[5])) for row in expected])
    assert (found.scores >= 0.5).all()


def test_what_lies_behind_the_units_has_no_influence() -> None:
    tables = drawn(1, rows=2, units=5, longest=3, kinds=2, joint=True, own=True)
    before = match_spans(tables, [3, 2])
    for name in ("spans", "starts", "ends"):
        tables[name][0, 3:] = tables[name][1, 2:] = np.nan
    tables["spans"][0, 2, 1:] = tables["spans"][1, 1, 1:] = np.nan
    after = match_spans(tables, [3, 2])
    assert after.spans.tolist() == before.spans.tolist()
    assert after.scores.tolist() == before.scores.tolist()


@pytest.mark.parametrize("name", ["spans", "span_threshold"])
def test_a_score_that_is_no_number_is_refused(name: str) -> None:
    tables = drawn(2, rows=1, units=3, longest=2, kinds=2, joint=False, own=True)
    tables[name][0, 0] = np.nan
    with pytest.raises(ValueError, match="is NaN"):
        match_spans(tables, [3])


def test_tables_that_do_not_agree_are_refused() -> None:
    tables = drawn(3, rows=2, units=3, longest=2, kinds=2, joint=True, own=True)
    for broken, counts, said in (
        ({n: t for n, t in tables.items() if n != "ends"}, [3, 3], "do not agree"),
        ({**tables, "starts": tables["starts"][:, :2]}, [3, 3], "do not agree"),
        ({**tables, "other": tables["starts"]}, [3, 3], "do not agree"),
        ({"starts": tables["starts"]}, [3, 3], "has the table spans"),
        (tables, [3], "counts must be"),
        (tables, [3, 4], "counts must be"),
        (tables, [-1, 3], "counts must be"),
    ):
        with pytest.raises(ValueError, match=said):
            match_spans(broken, counts)


def test_the_logistic_function() -> None:
    margins = np.array([1e-9, 0.5, 3.0, 40.0, 2000.0])
    found = margin_scores(margins)
    assert found.tolist() == pytest.approx([1 / (1 + math.exp(-m)) for m in margins[:4]] + [1.0])
    assert (found >= 0.5).all()
    assert (np.diff(found) >= 0).all()
