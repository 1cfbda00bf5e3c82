"""What is traced: a network as a function of tensors by name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

import torch
from torch import Tensor, nn


class Graph(nn.Module):
    """A network as a function of tensors by name, which is what is traced."""

    outputs: tuple[str, ...]

    @abstractmethod
    def example(self, sizes: Mapping[str, int]) -> dict[str, Tensor]:
        """Inputs of given sizes with padding in the last row."""

    @abstractmethod
    def axes(self) -> dict[str, tuple[str, ...]]:
        """Names of the axes of every input and output."""


def texts_of(sizes: Mapping[str, int], *, vocabulary: int) -> tuple[dict[str, Tensor], torch.Generator]:
    """Piece ids with padding in the last row, and the generator to draw more from."""
    batch, pieces = sizes["batch"], sizes["pieces"]
    generator = torch.Generator().manual_seed(0)
    mask = torch.ones(batch, pieces, dtype=torch.long)
    mask[-1, pieces // 2 :] = 0
    ids = torch.randint(0, vocabulary, (batch, pieces), generator=generator)
    return {"input_ids": ids, "attention_mask": mask}, generator
