from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.session import length_sorted_batches

lengths_lists = st.lists(st.integers(0, 600), max_size=80)
bounds = st.integers(1, 2000)


@given(lengths_lists, bounds, st.integers(1, 100_000))
def test_batches_are_as_large_as_the_bounds_allow(
    lengths: list[int], max_tokens: int, max_area: int
) -> None:
    batches = list(length_sorted_batches(lengths, max_tokens=max_tokens, max_area=max_area))
    order = [index for batch in batches for index in batch.tolist()]
    assert order == sorted(range(len(lengths)), key=lambda index: (lengths[index], index))

    def fits(count: int, longest: int) -> bool:
        return count * longest <= max_tokens and count * longest**2 <= max_area

    assert all(len(batch) == 1 or fits(len(batch), lengths[batch[-1]]) for batch in batches)
    assert not any(
        fits(len(batch) + 1, lengths[following[0]]) for batch, following in pairwise(batches)
    )


@pytest.mark.parametrize(
    ("lengths", "options", "message"),
    [
        ([-1], {}, "negative"),
        ([[1, 2]], {}, "one-dimensional"),
        ([1], {"max_tokens": 0}, "at least 1"),
        ([1], {"max_area": 0}, "at least 1"),
    ],
)
def test_impossible_arguments_are_refused(
    lengths: list[int], options: dict[str, int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        list(length_sorted_batches(lengths, **options))
