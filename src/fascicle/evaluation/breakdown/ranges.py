"""Intervals that part the values of an attribute, each value into exactly one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.errors import InputError, UsageError

Values = Floats


@dataclass(frozen=True, kw_only=True)
class Range:
    """An interval of values.

    Attributes:
        low: lower end.
        high: upper end; may be infinite.
        with_low: whether the lower end belongs to it.
        with_high: whether the upper end does.
        whole: whether the values are whole numbers, which only changes how it is written.
    """

    low: float
    high: float
    with_low: bool = True
    with_high: bool = True
    whole: bool = False

    def __post_init__(self) -> None:
        """Refuses an interval without values.

        Raises:
            UsageError: the ends are reversed, or equal and not both inside.
        """
        closed = self.with_low and self.with_high
        if not (self.low < self.high or (closed and self.low == self.high)):
            raise UsageError(
                f"the interval from {self.low:g} to {self.high:g} holds no value; give its lower end first"
            )

    @property
    def label(self) -> str:
        """``"3-4"`` or ``"5+"`` for whole numbers, else ``"(0.1, 0.5]"``."""
        if self.whole:
            low, high = self.low + (not self.with_low), self.high - (not self.with_high)
            if math.isinf(high):
                return f"{low:g}+"
            return f"{low:g}" if low == high else f"{low:g}-{high:g}"
        if self.low == self.high:
            return f"{self.low:.4g}"
        if math.isinf(self.high):
            return f"{'at least' if self.with_low else 'over'} {self.low:.4g}"
        return f"{'[' if self.with_low else '('}{self.low:.4g}, {self.high:.4g}{']' if self.with_high else ')'}"

    def holds(self, values: Values) -> Bools:
        """Which of some values lie inside; shape as given."""
        above = values >= self.low if self.with_low else values > self.low
        below = values <= self.high if self.with_high else values < self.high
        inside: Bools = above & below
        return inside


Ranges = tuple[Range, ...]


def whole_ranges(*starts: int) -> Ranges:
    """Intervals of whole numbers: ``whole_ranges(1, 2, 3, 5)`` is 1, 2, 3-4, 5+."""
    ends = [*(after - 1 for after in starts[1:]), math.inf]
    return tuple(Range(low=low, high=high, whole=True) for low, high in zip(starts, ends, strict=True))


def real_ranges(*ends: float) -> Ranges:
    """Intervals between ends: ``real_ranges(0, 0.1, 0.5)`` is [0, 0.1], (0.1, 0.5]."""
    return tuple(
        Range(low=low, high=high, with_low=index == 0, with_high=not math.isinf(high))
        for index, (low, high) in enumerate(pairwise(ends))
    )


def quantile_ranges(values: Values, *, parts: int = 4, whole: bool = False) -> Ranges:
    """Intervals that hold about equally many of some values, and together every number from 0.

    Where one value is so frequent that two ends fall on it, there are fewer intervals.

    Args:
        values: not negative, at least one.
        parts: intervals wanted.
        whole: whether the values are whole numbers.

    Raises:
        InputError: no values.
        UsageError: fewer than one interval.
    """
    if parts < 1:
        raise UsageError(f"{parts} quantiles were asked for; give at least 1")
    if not len(values):
        raise InputError("there is no gold mention to take quantiles of; give fixed intervals")
    shares = np.arange(1, parts) / parts
    # Ends are values that occur: the share of values up to each is at least the wanted one.
    ends = sorted({float(end) for end in np.quantile(values, shares, method="inverted_cdf")} - {float(values.max())})
    cuts = [0.0, *ends, math.inf]
    return tuple(
        Range(low=low, high=high, with_low=at == 0, with_high=not math.isinf(high), whole=whole)
        for at, (low, high) in enumerate(pairwise(cuts))
    )


def check_ranges(ranges: Sequence[Range], *, name: str) -> None:
    """Refuses intervals of which two hold the same value.

    Args:
        ranges: of one attribute.
        name: of the attribute, for the message.

    Raises:
        UsageError: none, not in rising order, or two that overlap.
    """
    if not ranges:
        raise UsageError(f"no interval was given for {name}; give at least one")
    for before, after in pairwise(ranges):
        if after.low < before.high or (after.low == before.high and after.with_low and before.with_high):
            raise UsageError(
                f"the intervals {before.label} and {after.label} of {name} overlap or are out of order; "
                "give intervals that rise and share no value"
            )


def assign(values: Values, ranges: Sequence[Range], *, name: str) -> Ints:
    """The interval of each value.

    Args:
        values: shape ``[n]``.
        ranges: see ``check_ranges``.
        name: of the attribute, for the message.

    Returns:
        Places in ``ranges``, shape ``[n]``.

    Raises:
        InputError: a value outside all intervals; none is left out silently.
    """
    found = np.full(len(values), -1, dtype=np.int64)
    for at, one in enumerate(ranges):
        found[one.holds(values)] = at
    outside = values[found < 0]
    if len(outside):
        raise InputError(
            f"{len(outside):,} values of {name} lie outside all intervals ({', '.join(r.label for r in ranges)}), the "
            f"first is {outside[0]:g}; give intervals that cover every value"
        )
    return found
