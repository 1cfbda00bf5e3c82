"""What is done with arrays everywhere."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fascicle.core.arrays import unique_values


@given(
    arrays.arrays(
        np.int64, arrays.array_shapes(max_dims=2, min_side=0), elements=st.integers(-5, 5)
    )
)
def test_different_values_are_those_of_numpy(values: np.ndarray) -> None:
    before = values.copy()
    found = unique_values(values)
    assert found.dtype == values.dtype
    assert found.tolist() == np.unique(values).tolist() == sorted(set(values.ravel().tolist()))
    assert np.array_equal(values, before)
