"""A smaller encoder from a larger one: some of its layers, or its architecture in another size."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from typing import Any

from torch import nn

from fascicle.errors import RecipeError
from fascicle.models.encoder import Encoder, without_pooler
from fascicle.models.layers import path_of_layers
from fascicle.settings.recipes.distil import SizeSettings


def with_layers(encoder: Encoder, layers: Sequence[int]) -> Encoder:
    """A copy with some of the layers.

    Args:
        encoder: stays as it is.
        layers: that are kept, counted from 1, in increasing order.

    Raises:
        RecipeError: the encoder has no such layer.
        ModelError: its layers are not found.
    """
    path, depth = path_of_layers(encoder), int(encoder.config.num_hidden_layers)
    if layers[-1] > depth:
        raise RecipeError(
            f"student.layers names layer {layers[-1]}, but {encoder.origin} has {depth}: name layers from 1 to {depth}"
        )
    network = _fresh(encoder.config, num_hidden_layers=len(layers))
    new = {str(old - 1): str(at) for at, old in enumerate(layers)}
    kept = {}
    for name, tensor in encoder.network.state_dict().items():
        inside = re.fullmatch(rf"{re.escape(path)}\.(\d+)\.(.*)", name)
        if not inside:
            kept[name] = tensor
        elif inside[1] in new:
            kept[f"{path}.{new[inside[1]]}.{inside[2]}"] = tensor
    network.load_state_dict(kept)
    return Encoder(network, origin=f"{encoder.origin} layers {' '.join(map(str, layers))}")


def with_size(encoder: Encoder, size: SizeSettings) -> Encoder:
    """The same architecture in another size, with random weights from torch's generator.

    Args:
        encoder: whose vocabulary and positions it has.
        size: of the new one.
    """
    network = _fresh(
        encoder.config,
        num_hidden_layers=size.layers,
        hidden_size=size.hidden,
        num_attention_heads=size.heads,
        intermediate_size=size.feed_forward,
    )
    return Encoder(network, origin=f"{size.layers}x{size.hidden} like {encoder.origin}")


def copied(encoder: Encoder) -> Encoder:
    """The same encoder once more, with weights of its own."""
    return Encoder(copy.deepcopy(encoder.network), origin=encoder.origin)


def _fresh(config: Any, **changes: int) -> nn.Module:
    from transformers import AutoModel

    changed = copy.deepcopy(config)
    for name, value in changes.items():
        setattr(changed, name, value)
    if int(changed.hidden_size) % int(changed.num_attention_heads):
        raise RecipeError(
            f"{changed.hidden_size} components cannot be shared among {changed.num_attention_heads} heads; change one"
        )
    network: nn.Module = AutoModel.from_config(changed, **without_pooler(changed.model_type)).float()
    return network
