"""Types of tensors by name, such as batches, score tables and weights."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

Tensors = Mapping[str, Tensor]
TensorDict = dict[str, Tensor]


def move_tensors(tensors: Tensors, device: torch.device) -> TensorDict:
    """Returns the tensors on a device."""
    return {name: tensor.to(device) for name, tensor in tensors.items()}
