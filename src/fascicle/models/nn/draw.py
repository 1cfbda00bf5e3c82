"""Initial weights of a head."""

from __future__ import annotations

from torch import nn

STD = 0.02  # as BERT draws its own layers


def draw(module: nn.Module) -> None:
    """Draws the weights of all linear layers below a module from N(0, 0.02^2), in their order; biases are 0."""
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            nn.init.normal_(layer.weight, std=STD)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
