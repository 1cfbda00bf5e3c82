"""From piece states to unit states: the first piece, the elementwise maximum, or the mean.

Shapes: B windows, T pieces with special tokens, U units, d width.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from fascicle.nn.rows import joined_rows, rows_at


class FirstPooling(nn.Module):
    """The state of each unit's first piece (units that are pieces need no other pooling)."""

    needs = ("first_piece",)

    def forward(self, states: Tensor, *, first_piece: Tensor, **_: Tensor) -> Tensor:
        """Gathers.

        Args:
            states: ``[B, T, d]``.
            first_piece: positions, ``[B, U]``.

        Returns:
            ``[B, U, d]``; rows beyond the units of a window repeat some state and mean nothing.
        """
        return rows_at(states, first_piece)


class MaxPooling(nn.Module):
    """Elementwise maximum over the pieces of each word (*bundling-learning* §3.1.1)."""

    needs = ("first_piece", "unit_of_piece")

    def forward(self, states: Tensor, *, first_piece: Tensor, unit_of_piece: Tensor, **_: Tensor) -> Tensor:
        """Scatters.

        Args:
            states: ``[B, T, d]``.
            first_piece: ``[B, U]``, which says how many units there are.
            unit_of_piece: ``[B, T]``, -1 for pieces of no unit.

        Returns:
            ``[B, U, d]``; rows beyond the units of a window are 0.
        """
        # The lowest number, included in the maximum, stands for "nothing yet": ONNX has no maximum without it.
        lowest = torch.finfo(states.dtype).min
        slots, places = _slots(states, first_piece, unit_of_piece)
        pooled = joined_rows(slots + lowest, places, states, join="max")[:, :-1]
        return torch.where(pooled == lowest, torch.zeros_like(pooled), pooled)


class MeanPooling(nn.Module):
    """Mean over the pieces of each word."""

    needs = ("first_piece", "unit_of_piece")

    def forward(self, states: Tensor, *, first_piece: Tensor, unit_of_piece: Tensor, **_: Tensor) -> Tensor:
        """Scatters; arguments and shapes as in ``MaxPooling``."""
        slots, places = _slots(states, first_piece, unit_of_piece)
        total = joined_rows(slots, places, states, join="add")
        counts = joined_rows(slots[..., :1], places, torch.ones_like(states[..., :1]), join="add")
        return (total / counts.clamp(min=1))[:, :-1]


POOLINGS: dict[str, type[FirstPooling] | type[MaxPooling] | type[MeanPooling]] = {
    "first": FirstPooling,
    "max": MaxPooling,
    "mean": MeanPooling,
}


def _slots(states: Tensor, first_piece: Tensor, unit_of_piece: Tensor) -> tuple[Tensor, Tensor]:
    """Zeros with one row more than there are units, where pieces of no unit go; and the row of each piece."""
    units = first_piece.shape[1]
    slots = states.new_zeros(states.shape[0], units + 1, states.shape[2])
    return slots, torch.where(unit_of_piece < 0, units, unit_of_piece)
