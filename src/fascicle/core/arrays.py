"""Arrays of numbers and the names of their types; shapes are given where they are used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Number = TypeVar("_Number", bound=np.number)

Ints = NDArray[np.int64]
Ints32 = NDArray[np.int32]
Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Bools = NDArray[np.bool_]


def int_array(values: ArrayLike) -> Ints:
    """Returns numbers as an array of 64 bits each, on every system."""
    return np.array(values, dtype=np.int64)


def lengths_of(items: Sequence[Any]) -> Ints:
    """Returns the length of each item, such as a string or an array."""
    return np.fromiter(map(len, items), dtype=np.int64, count=len(items))


def unique_values(values: NDArray[_Number]) -> NDArray[_Number]:
    """Returns the distinct values in rising order, as ``np.unique`` does, without its slow import
    of ``numpy.ma``.

    Args:
        values: numbers in any shape, without NaN.
    """
    ordered = np.sort(values, axis=None)
    first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]
