"""Vectors of what is known of a unit, added to its state."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class InputVectors(nn.Module):
    """A learnt vector for each column of zeros and ones; a unit gets the sum of those of its ones.

    All start at zero and draw nothing, so a fresh model computes what it would without them. In training each block of
    columns is dropped for whole windows: there a network learns to do without a dictionary, or without patterns, as it
    must where a name is in no dictionary. Nothing is scaled up for it, for a missing name is no weaker name.
    """

    def __init__(self, blocks: Sequence[int], width: int, *, dropout: float, rate: float = 1.0) -> None:
        """Makes the table.

        Args:
            blocks: widths of the columns that are dropped together.
            width: of a state.
            dropout: probability of dropping a block for a window.
            rate: what the optimizer multiplies the learning rate of the head with.
        """
        super().__init__()
        self.blocks = tuple(blocks)
        self.dropout = dropout
        self.rate = rate
        self.table = nn.Parameter(torch.zeros(sum(self.blocks), width))

    def forward(self, features: Tensor) -> Tensor:
        """Sums vectors.

        Args:
            features: zeros and ones, ``[B, U, F]``.

        Returns:
            ``[B, U, d]``; 0 for a unit of which nothing is known.
        """
        known = features.to(self.table.dtype)
        if self.training and self.dropout:
            known = known * self._kept(len(known)).to(known.device)[:, None]
        found: Tensor = known @ self.table
        return found

    def _kept(self, windows: int) -> Tensor:
        """Which columns each window is read with, ``[B, F]``."""
        drawn = (torch.rand(windows, len(self.blocks)) >= self.dropout).to(self.table.dtype)
        return drawn.repeat_interleave(torch.tensor(self.blocks), dim=1)
