"""Which concepts of a pack are one thing in several vocabularies, as its column of leading concepts says it."""

from __future__ import annotations

import numpy as np

from fascicle.core.arrays import Ints
from fascicle.knowledge.pack.arrays import Array, spread


class Leads:
    """The sets of a pack. Each concept is in one; one of the set leads it, and most concepts lead themselves alone.

    Attributes:
        column: row of the leading concept of each; empty for a pack without sets.
    """

    def __init__(self, column: Array) -> None:
        """Takes the column."""
        self.column = column
        led = np.flatnonzero(column != np.arange(len(column), dtype=column.dtype))
        order = np.argsort(column[led], kind="stable")
        self._rows = led[order]
        self._owners = column[self._rows].astype(np.int64)

    def __len__(self) -> int:
        """How many concepts are led by another one."""
        return len(self._rows)

    def of(self, rows: Ints) -> Ints:
        """The concepts that lead those of some rows."""
        if not len(self._rows):
            return rows
        found: Ints = self.column[rows].astype(np.int64)
        return found

    def led(self, rows: Ints) -> tuple[Ints, Ints]:
        """The concepts that others lead, without these: the place in ``rows`` of each, and the row."""
        starts, ends = (np.searchsorted(self._owners, rows, side=side) for side in ("left", "right"))
        return spread(starts, ends, self._rows)

    def members(self, row: int) -> list[int]:
        """All concepts of the set of one, the leading one first."""
        lead = self.of(np.array([row], dtype=np.int64))
        return [int(lead[0]), *self.led(lead)[1].tolist()]
