"""Pairs of numbers as one number, so that numpy sorts and compares them at once."""

from __future__ import annotations

from typing import Final

from fascicle.core.arrays import Ints

_BITS: Final = 32
_LOW: Final = (1 << _BITS) - 1


def join_pairs(first: Ints, second: Ints) -> Ints:
    """Returns each pair as one number, in the order of the pairs; all are below 2^32."""
    return first << _BITS | second


def split_pairs(pairs: Ints) -> tuple[Ints, Ints]:
    """Returns the first and the second number of each pair."""
    return pairs >> _BITS, pairs & _LOW
