"""Pools piece states to unit states: the first piece, the elementwise maximum, or the mean.

Shapes: B windows, T pieces with special tokens, U units, d width.

Rows are gathered and joined by torch in training, and by one operator over rows in an exported
graph.

The exporter of torch writes a gather or a scatter along an axis as one that moves single numbers
(``GatherElements``, ``ScatterElements``). ONNX also has both over rows (``GatherND``,
``ScatterND``), which give the same result and are several times as fast.

Shapes: B windows, T pieces, U rows of a result, d width.

The module also has learnt vectors of the input features of a unit, which are added to its state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.onnx import is_in_onnx_export

STD = 0.02  # as BERT draws its own layers


def draw(module: nn.Module) -> None:
    """Draws the weights of all linear layers below a module from N(0, 0.02^2), in their order;
    biases are 0.
    """
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            nn.init.normal_(layer.weight, std=STD)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


_Join = Literal["max", "add"]


def _rows_at(states: Tensor, places: Tensor) -> Tensor:
    """Gathers rows by their places.

    Args:
        states: ``[B, T, d]``.
        places: in the rows of the same window, ``[B, U]``.

    Returns:
        ``[B, U, d]``.
    """
    if is_in_onnx_export():
        return _RowsAt.apply(states, places.unsqueeze(-1))  # type: ignore[no-untyped-call]
    return states.gather(1, _wide(places, states))


def _join_rows(slots: Tensor, places: Tensor, states: Tensor, *, join: _Join) -> Tensor:
    """Joins the rows of ``states`` to those of ``slots``, by maximum or sum.

    Args:
        slots: initial rows, ``[B, U, d]``.
        places: the slot of each row of ``states``, ``[B, T]``.
        states: ``[B, T, d]``.
        join: the larger of two numbers, or their sum.

    Returns:
        ``[B, U, d]``.
    """
    if is_in_onnx_export():
        rows = torch.arange(places.shape[0], device=places.device).unsqueeze(1).expand_as(places)
        pairs = torch.stack([rows, places], dim=-1)
        return _JoinedRows.apply(slots, pairs, states, join)  # type: ignore[no-untyped-call]
    return _join(slots, places, states, join)


def _join(slots: Tensor, places: Tensor, states: Tensor, join: str) -> Tensor:
    if join == "add":
        return slots.scatter_add(1, _wide(places, states), states)
    return slots.scatter_reduce(1, _wide(places, states), states, reduce="amax", include_self=True)


def _wide(places: Tensor, states: Tensor) -> Tensor:
    return places.unsqueeze(-1).expand(-1, -1, states.shape[-1])


class _RowsAt(Function):
    """Gather over rows, for export only; ``places`` is ``[B, U, 1]``."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, places: Tensor) -> Tensor:
        return states.gather(1, places.expand(-1, -1, states.shape[-1]))

    @staticmethod
    def symbolic(graph: Any, states: Any, places: Any) -> Any:
        return graph.op("GatherND", states, places, batch_dims_i=1)


class _JoinedRows(Function):
    """Scatter over rows, for export only; ``places`` is ``[B, T, 2]``: the window and the slot
    of each row.
    """

    @staticmethod
    def forward(ctx: Any, slots: Tensor, places: Tensor, states: Tensor, join: str) -> Tensor:
        return _join(slots, places[..., 1], states, join)

    @staticmethod
    def symbolic(graph: Any, slots: Any, places: Any, states: Any, join: str) -> Any:
        return graph.op("ScatterND", slots, places, states, reduction_s=join)


class _FirstPooling(nn.Module):
    """Pooling by the state of the first piece of each unit (also used for units that are
    pieces).
    """

    needs = ("first_piece",)

    def forward(self, states: Tensor, *, first_piece: Tensor, **_: Tensor) -> Tensor:
        """Gathers the states.

        Args:
            states: ``[B, T, d]``.
            first_piece: positions, ``[B, U]``.

        Returns:
            ``[B, U, d]``; rows beyond the units of a window repeat some state and mean nothing.
        """
        return _rows_at(states, first_piece)


class _MaxPooling(nn.Module):
    """Pooling by the elementwise maximum over the pieces of each word (*bundling-learning*
    §3.1.1).
    """

    needs = ("first_piece", "unit_of_piece")

    def forward(
        self, states: Tensor, *, first_piece: Tensor, unit_of_piece: Tensor, **_: Tensor
    ) -> Tensor:
        """Scatters the states.

        Args:
            states: ``[B, T, d]``.
            first_piece: ``[B, U]``; only its shape counts: the number of units.
            unit_of_piece: ``[B, T]``, -1 for pieces of no unit.

        Returns:
            ``[B, U, d]``; rows beyond the units of a window are 0.
        """
        # The lowest number, included in the maximum, means "no value yet": ONNX has no maximum
        # without it.
        lowest = torch.finfo(states.dtype).min
        slots, places = _slots(states, first_piece, unit_of_piece)
        pooled = _join_rows(slots + lowest, places, states, join="max")[:, :-1]
        return torch.where(pooled == lowest, torch.zeros_like(pooled), pooled)


class _MeanPooling(nn.Module):
    """Pooling by the mean over the pieces of each word."""

    needs = ("first_piece", "unit_of_piece")

    def forward(
        self, states: Tensor, *, first_piece: Tensor, unit_of_piece: Tensor, **_: Tensor
    ) -> Tensor:
        """Scatters the states; arguments and shapes as in ``_MaxPooling``."""
        slots, places = _slots(states, first_piece, unit_of_piece)
        total = _join_rows(slots, places, states, join="add")
        counts = _join_rows(slots[..., :1], places, torch.ones_like(states[..., :1]), join="add")
        return (total / counts.clamp(min=1))[:, :-1]


POOLINGS: dict[str, type[_FirstPooling] | type[_MaxPooling] | type[_MeanPooling]] = {
    "first": _FirstPooling,
    "max": _MaxPooling,
    "mean": _MeanPooling,
}


def _slots(states: Tensor, first_piece: Tensor, unit_of_piece: Tensor) -> tuple[Tensor, Tensor]:
    """Returns zeros with one more row than units, for pieces of no unit, and the row of each
    piece.
    """
    units = first_piece.shape[1]
    slots = states.new_zeros(states.shape[0], units + 1, states.shape[2])
    return slots, torch.where(unit_of_piece < 0, units, unit_of_piece)


class InputVectors(nn.Module):
    """Learnt vectors of the input features: one for each column of zeros and ones.

    A unit gets the sum of the vectors of its ones. All start at zero and use no random numbers, so
    a fresh model computes the same as without them. In training each block of columns is dropped
    for whole windows, so that the network also learns to work without a dictionary or patterns: a
    name may be in no dictionary. The other columns are not scaled up.
    """

    def __init__(
        self, blocks: Sequence[int], width: int, *, dropout: float, rate: float = 1.0
    ) -> None:
        """Builds the table.

        Args:
            blocks: widths of the columns that are dropped together.
            width: of a state.
            dropout: probability of dropping a block for a window.
            rate: factor by which the optimizer multiplies the learning rate of the head.
        """
        super().__init__()
        self.blocks = tuple(blocks)
        self.dropout = dropout
        self.rate = rate
        self.table = nn.Parameter(torch.zeros(sum(self.blocks), width))

    def forward(self, features: Tensor) -> Tensor:
        """Sums the vectors.

        Args:
            features: zeros and ones, ``[B, U, F]``.

        Returns:
            ``[B, U, d]``; 0 for a unit of which nothing is known.
        """
        values = features.to(self.table.dtype)
        if self.training and self.dropout:
            values = values * self._draw_columns(len(values)).to(values.device)[:, None]
        return values @ self.table

    def _draw_columns(self, windows: int) -> Tensor:
        """Draws the columns with which each window is read, ``[B, F]``."""
        drawn = (torch.rand(windows, len(self.blocks)) >= self.dropout).to(self.table.dtype)
        return drawn.repeat_interleave(torch.tensor(self.blocks), dim=1)
