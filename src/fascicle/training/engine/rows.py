"""Gradients of large tables of embeddings, on a processor.

A batch reads a few hundred of the thirty thousand rows of a vocabulary. Its gradient is dense all the same: for every
step torch takes memory of the size of the table and fills it with zeros, which costs a small encoder a tenth of its
time. Here the gradients of rows are collected as they are, and put into one dense tensor that is kept from step to
step, of which only the rows that were written are cleared. What the optimizer sees is the same dense gradient.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

_LARGE = 4096  # rows; below, nothing is gained


class RowGradients:
    """The tables of a model, and a dense gradient for each."""

    def __init__(self, model: nn.Module) -> None:
        """Finds the large tables.

        Args:
            model: on its device; only on the processor anything is done, for a GPU fills memory in no time.
        """
        self._tables = tuple(_tables(model))
        self._dense: list[Tensor | None] = [None] * len(self._tables)
        self._rows: list[Tensor | None] = [None] * len(self._tables)

    @contextmanager
    def collected(self) -> Iterator[None]:
        """What is read in here gets gradients of rows."""
        for table in self._tables:
            table.sparse = True
        try:
            yield
        finally:
            for table in self._tables:
                table.sparse = False

    @torch.no_grad()
    def fill(self) -> None:
        """Makes the gradients dense; between the backward pass and everything that reads them."""
        for at, weight in enumerate(table.weight for table in self._tables):
            if weight.grad is None or not weight.grad.is_sparse:
                continue
            grad, dense = weight.grad.coalesce(), self._dense[at]
            if dense is None:
                dense = self._dense[at] = torch.zeros_like(weight)
            self._rows[at] = rows = grad.indices()[0]
            dense[rows] = grad.values()
            weight.grad = dense

    @torch.no_grad()
    def clear(self) -> None:
        """Forgets the gradients, after the weights have changed."""
        for at, (dense, rows) in enumerate(zip(self._dense, self._rows, strict=True)):
            if dense is not None and rows is not None:
                dense[rows] = 0.0
                self._rows[at] = None


def _tables(model: nn.Module) -> Iterator[nn.Embedding]:
    for module in model.modules():
        if isinstance(module, nn.Embedding) and module.num_embeddings >= _LARGE and module.weight.device.type == "cpu":
            yield module
