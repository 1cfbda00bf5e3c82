"""Types of tensors by name, such as batches, score tables and weights."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

Tensors = Mapping[str, Tensor]
TensorDict = dict[str, Tensor]
