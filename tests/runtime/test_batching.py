from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.runtime.batching import length_sorted_batches

lengths_lists = st.lists(st.integers(0, 600), max_size=80)
bounds = st.integers(1, 2000)


@given(lengths_lists, bounds, st.integers(1, 100_000))
def test_every_item_is_in_exactly_one_batch(lengths: list[int], max_tokens: int, max_area: int) -> None:
    batches = list(length_sorted_batches(lengths, max_tokens=max_tokens, max_area=max_area))
    assert all(len(batch) for batch in batches)
    assert sorted(index for batch in batches for index in batch.tolist()) == list(range(len(lengths)))


@given(lengths_lists, bounds, st.integers(1, 100_000))
def test_every_batch_keeps_the_bounds_unless_it_is_one_item(lengths: list[int], max_tokens: int, max_area: int) -> None:
    for batch in length_sorted_batches(lengths, max_tokens=max_tokens, max_area=max_area):
        longest = max(lengths[index] for index in batch)
        kept = len(batch) * longest <= max_tokens and len(batch) * longest**2 <= max_area
        assert kept or len(batch) == 1


@given(lengths_lists, bounds, st.integers(1, 100_000))
def test_no_batch_could_have_taken_the_next_item(lengths: list[int], max_tokens: int, max_area: int) -> None:
    batches = list(length_sorted_batches(lengths, max_tokens=max_tokens, max_area=max_area))
    for batch, following in pairwise(batches):
        longest = lengths[following[0]]
        count = len(batch) + 1
        assert count * longest > max_tokens or count * longest**2 > max_area


@given(lengths_lists)
def test_lengths_rise_and_ties_keep_their_order(lengths: list[int]) -> None:
    order = [index for batch in length_sorted_batches(lengths) for index in batch.tolist()]
    assert order == sorted(range(len(lengths)), key=lambda index: (lengths[index], index))


def test_an_over_long_item_is_a_batch_of_one() -> None:
    batches = [batch.tolist() for batch in length_sorted_batches([5000, 3, 4], max_tokens=16)]
    assert batches == [[1, 2], [0]]


def test_no_items_give_no_batches() -> None:
    assert list(length_sorted_batches(np.array([], dtype=np.int64))) == []


@pytest.mark.parametrize(
    ("lengths", "options", "message"),
    [
        ([-1], {}, "negative"),
        ([[1, 2]], {}, "one-dimensional"),
        ([1], {"max_tokens": 0}, "at least 1"),
        ([1], {"max_area": 0}, "at least 1"),
    ],
)
def test_impossible_arguments_are_refused(lengths: list[int], options: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(length_sorted_batches(lengths, **options))
