"""Histograms of any number of values in the memory of their bins, and panels of them for a picture.

A *panel* holds groups of values over common edges, as the densities of similarities in *binder*
Figures 2 and 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fascicle.core.arrays import Floats, Ints

_SLACK = 1e-3  # of the range: how far rounding may carry a value beyond the edges


class Histogram:
    """Counts of values in bins of equal width, filled bit by bit."""

    def __init__(self, *, low: float, high: float, bins: int) -> None:
        """Begins with nothing in it.

        Args:
            low: left edge of the first bin.
            high: right edge of the last bin, which holds it.
            bins: how many.

        Raises:
            ValueError: no bins, or no room between the edges.
        """
        if bins < 1 or not low < high:
            raise ValueError(
                f"a histogram needs bins between two edges, got {bins} from {low} to {high}"
            )
        self.edges: Floats = np.linspace(low, high, bins + 1)
        self.counts: Ints = np.zeros(bins, dtype=np.int64)

    @property
    def total(self) -> int:
        """How many values were added."""
        return int(self.counts.sum())

    def add(self, values: ArrayLike) -> None:
        """Counts values; rounding may have carried them a thousandth of the range beyond the edges.

        Args:
            values: of any shape.

        Raises:
            ValueError: a value is NaN, or lies outside.
        """
        given = np.asarray(values, dtype=np.float64).ravel()
        low, high = self.edges[[0, -1]]
        room = _SLACK * (high - low)
        outside = ~((given >= low - room) & (given <= high + room))
        if outside.any():
            raise ValueError(
                f"a histogram from {low:g} to {high:g} cannot count {given[outside][0]:g}"
            )
        self.counts += np.histogram(given.clip(low, high), bins=self.edges)[0]


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Groups of values over common edges.

    Attributes:
        title: what they are values of.
        groups: name -> histogram; all have the same edges.
    """

    title: str
    groups: Mapping[str, Histogram]

    def as_dict(self) -> dict[str, Any]:
        """``title``, ``edges`` of the bins, one more than there are, and the ``counts`` of each
        group.
        """
        first = next(iter(self.groups.values()))
        return {
            "title": self.title,
            "edges": first.edges.tolist(),
            "counts": {name: histogram.counts.tolist() for name, histogram in self.groups.items()},
        }


def panels_as_dict(panels: Iterable[Panel]) -> dict[str, Any]:
    """The content of a densities file, by type."""
    return {"fascicle_densities": 1, "panels": [panel.as_dict() for panel in panels]}
