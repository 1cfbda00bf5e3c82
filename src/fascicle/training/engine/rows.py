"""Gradients of large tables of embeddings, on a processor.

A batch reads a few hundred of the thirty thousand rows of a vocabulary. Its gradient is dense all the same: for every
step torch takes memory of the size of the table and fills it with zeros, which costs a small encoder a tenth of its
time. Here the gradients of rows are collected as they are, and put into one dense tensor that is kept from step to
step, of which only the rows that were written are cleared. What the optimizer sees is the same dense gradient.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

_LARGE = 4096  # rows; below, nothing is gained
_MARGIN = 1e-6  # that of torch


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
    def join(self) -> None:
        """Adds up what was collected, one row for each that was read; after the backward pass, before ``clip``."""
        for weight in (table.weight for table in self._tables):
            if weight.grad is not None and weight.grad.is_sparse:
                weight.grad = weight.grad.coalesce()

    @torch.no_grad()
    def fill(self) -> None:
        """Makes the gradients dense; before everything else that reads them."""
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


@torch.no_grad()
def clip(parameters: Iterable[nn.Parameter], limit: float) -> None:
    """What ``torch.nn.utils.clip_grad_norm_`` does, on a processor, with fewer passes over memory.

    Gradients of rows are read and scaled as they are, and nothing is written where the norm is within the limit.

    Args:
        parameters: their gradients are dense, or rows that are added up, see ``RowGradients.join``.
        limit: of the norm over all of them.
    """
    found = [p.grad.values() if p.grad.is_sparse else p.grad for p in parameters if p.grad is not None]
    flat = [values.reshape(-1) for values in found]  # a copy where it is not contiguous: of small ones alone
    norm = math.sqrt(math.fsum(float(values.dot(values)) for values in flat))
    factor = limit / (norm + _MARGIN)
    if factor >= 1.0:
        return
    for values in found:
        values.mul_(factor)


def _tables(model: nn.Module) -> Iterator[nn.Embedding]:
    for module in model.modules():
        if isinstance(module, nn.Embedding) and module.num_embeddings >= _LARGE and module.weight.device.type == "cpu":
            yield module
