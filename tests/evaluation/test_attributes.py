"""Intervals hold every value once, or say which they do not hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.errors import InputError
from fascicle.evaluation.breakdown.attributes import (
    ATTRIBUTES,
    Range,
    assign,
    quantile_ranges,
    real_ranges,
    whole_ranges,
)

VALUES = st.lists(st.integers(0, 12) | st.floats(0, 3), min_size=1, max_size=30)


def holds(one: Range, value: float) -> bool:
    return (one.low < value or (one.with_low and one.low == value)) and (
        value < one.high or (one.with_high and one.high == value)
    )


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_the_usual_intervals_share_no_value_and_leave_no_gap(name: str) -> None:
    attribute = ATTRIBUTES[name]
    end = 50.0 if math.isinf(attribute.ranges[-1].high) else attribute.ranges[-1].high
    first = attribute.ranges[0].low
    steps = np.arange(first, end + 1) if attribute.whole else np.linspace(first, end, 2001)
    for value in steps:
        assert sum(holds(one, float(value)) for one in attribute.ranges) == 1
    places = assign(steps.astype(np.float64), attribute.ranges, name=name)
    assert [
        holds(attribute.ranges[place], float(value))
        for place, value in zip(places, steps, strict=True)
    ]
    assert (np.diff(places) >= 0).all()


def test_the_intervals_of_the_paper() -> None:
    labels = {
        name: [one.label for one in ATTRIBUTES[name].ranges]
        for name in ATTRIBUTES
        if ATTRIBUTES[name].paper
    }
    assert labels == {
        "length": ["1", "2", "3-4", "5+"],
        "text_length": ["1-7", "8-16", "17-31", "32+"],
        "label_consistency": ["[0, 0.1]", "(0.1, 0.5]", "(0.5, 0.9]", "(0.9, 1]"],
        "entity_density": ["[0, 0.01]", "(0.01, 0.025]", "(0.025, 0.05]", "over 0.05"],
    }


@given(VALUES)
def test_quantiles_hold_every_gold_value_and_every_other(values: list[float]) -> None:
    given_values = np.array(values, dtype=np.float64)
    ranges = quantile_ranges(given_values)
    assert 1 <= len(ranges) <= 4
    for value in (*values, 0.0, 1e9):
        assert sum(holds(one, value) for one in ranges) == 1
    counts = np.bincount(assign(given_values, ranges, name="x"), minlength=len(ranges))
    assert (counts > 0).all() or ranges[0].high == 0.0 or min(values) > 0.0
    if len(set(values)) == len(values) >= 4:
        assert max(counts) <= math.ceil(len(values) / 4)


def test_quantiles_of_distinct_values_are_equally_full() -> None:
    values = np.arange(1, 101, dtype=np.float64)
    ranges = quantile_ranges(values, whole=True)
    assert [one.label for one in ranges] == ["0-25", "26-50", "51-75", "76+"]
    assert np.bincount(assign(values, ranges, name="x")).tolist() == [25, 25, 25, 25]
    assert [one.label for one in quantile_ranges(np.zeros(9))] == ["at least 0"]
    assert [one.label for one in quantile_ranges(np.array([0.0, 0.0, 0.0, 0.5]))] == ["0", "over 0"]


def test_what_lies_outside_is_an_error() -> None:
    with pytest.raises(
        InputError, match=r"2 values of x lie outside all intervals \(1, 2\+\), the first is 0;"
    ):
        assign(np.array([1.0, 0.0, 5.0, 0.5]), whole_ranges(1, 2), name="x")
    with pytest.raises(InputError, match="the first is nan"):
        assign(np.array([math.nan]), whole_ranges(0), name="x")
    with pytest.raises(InputError, match=r"the first is 1\.5"):
        assign(np.array([1.5]), real_ranges(0, 1), name="x")


def test_no_quantiles_of_nothing() -> None:
    with pytest.raises(InputError, match="no gold mention"):
        quantile_ranges(np.array([]))
