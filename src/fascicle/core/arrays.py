"""Names for the arrays that pass between functions; their shapes are in the docstrings of those."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.number)

Ints = NDArray[np.int64]
Ints32 = NDArray[np.int32]
Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Bools = NDArray[np.bool_]


def different(values: NDArray[Number]) -> NDArray[Number]:
    """The different values, rising: ``np.unique`` of numbers, which imports ``numpy.ma`` when it is first called.

    Args:
        values: of any shape, without NaN.
    """
    ordered = np.sort(values, axis=None)
    first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]
