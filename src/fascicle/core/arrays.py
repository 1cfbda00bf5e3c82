"""Type aliases for arrays; their shapes are given in the docstrings of the functions."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_Number = TypeVar("_Number", bound=np.number)

Ints = NDArray[np.int64]
Ints32 = NDArray[np.int32]
Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Bools = NDArray[np.bool_]


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
