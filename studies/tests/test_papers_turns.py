"""Ratios of times in turns, with ends that order gives."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.papers.turns import compared, ends
from studies.speed.heads import Times


@given(st.integers(6, 60))
def test_the_median_is_between_the_ends_with_95_percent_and_not_by_narrower_ones(
    count: int,
) -> None:
    found = ends([float(at) for at in range(count)])
    below = int(found["low"])  # so many turns lie below the lower end
    assert found["high"] == count - 1 - below
    outside = 2 * sum(math.comb(count, at) for at in range(below + 1)) / 2**count
    assert outside <= 0.05
    assert outside + 2 * math.comb(count, below + 1) / 2**count > 0.05


def test_few_turns_have_no_interval() -> None:
    with pytest.raises(ValueError, match="5 turns have no interval of 95 %; make six or more"):
        ends([1.0] * 5)


def test_times_of_one_round_are_divided() -> None:
    times = Times(cpu={"a": [2.0, 4.0, 9.0] * 2, "b": [1.0, 2.0, 3.0] * 2}, wall={})
    assert compared(times, {"a": ("b",)}) == {
        "a by b": {"median": 2.0, "low": 2.0, "high": 3.0, "turns": 6}
    }
