"""Reads intermediate results of the layers of an encoder: hidden states, and the inputs of
attention.

Hooks on the layers and on their projections of queries and keys read them while the encoder runs.
So nothing is computed twice, and nothing of transformers is replaced. Attention scores are the
input of the softmax over keys: for MPNet they contain its bias for relative positions, so that a
student without such a bias learns it too.

Also makes a smaller encoder from a larger one: some of its layers, or its architecture in another
size.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from torch import Tensor, nn

from fascicle.errors import ModelError, RecipeError
from fascicle.models.encoder import Encoder, without_pooler
from fascicle.settings.recipes.distil import SizeSettings

# BERT and similar models, MPNet, DistilBERT
_PROJECTIONS: Final = (("query", "key"), ("q", "k"), ("q_lin", "k_lin"))


@dataclass(kw_only=True, eq=False)
class Layers:
    """Intermediate results of all layers for one batch.

    Attributes:
        states: of the embeddings, then of each layer, ``[B, T, d]``.
        queries: of each layer, ``[B, T, d]``; empty if attention was not requested.
        keys: the same.
        heads: of attention.
        bias: added to the scores of all layers, ``[1, H, T, T]``; ``None`` for none.
    """

    states: list[Tensor] = field(default_factory=list)
    queries: list[Tensor] = field(default_factory=list)
    keys: list[Tensor] = field(default_factory=list)
    heads: int
    bias: Tensor | None = None

    def scores(self, layer: int) -> Tensor:
        """Returns the input of the softmax over keys, without the mask, in fp32.

        Args:
            layer: from 1.

        Returns:
            ``[B, H, T, T]`` (query, key).
        """
        query, key = (
            states[layer - 1]
            .float()
            .view(*states[layer - 1].shape[:2], self.heads, -1)
            .transpose(1, 2)
            for states in (self.queries, self.keys)
        )
        scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
        return scores if self.bias is None else scores + self.bias.float()


class LayerReader:
    """Finds the layers of an encoder once, and reads their results."""

    def __init__(self, encoder: Encoder, *, attention: bool = True) -> None:
        """Finds the layers.

        Args:
            encoder: of one of the architectures that are known here.
            attention: whether attention is read too.

        Raises:
            ModelError: an encoder whose layers, or whose queries and keys, are not found.
        """
        self.depth = int(encoder.config.num_hidden_layers)
        self.heads = int(encoder.config.num_attention_heads)
        self._network = encoder.network
        self._layers = list(encoder.network.get_submodule(_path_of_layers(encoder)).children())
        pairs = [_projections(layer) for layer in self._layers] if attention else []
        self._pairs = [pair for pair in pairs if pair is not None]
        if len(self._pairs) < len(pairs):
            raise ModelError(
                f"the attention of the encoder {encoder.origin!r} ({encoder.config.model_type}) "
                "has no separate queries and keys, so it cannot be compared; set layers.attention "
                "= 0"
            )

    @contextmanager
    def reading(self) -> Iterator[Layers]:
        """Returns a block in which the encoder runs once; the result is complete at its end."""
        layers = Layers(heads=self.heads)

        def store(_: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
            if not layers.states:
                layers.states.append(inputs[0])
            layers.states.append(output[0] if isinstance(output, tuple) else output)

        handles = [module.register_forward_hook(store) for module in self._layers]
        for pair in self._pairs:
            for module, outputs in zip(pair, (layers.queries, layers.keys), strict=True):
                handles.append(
                    module.register_forward_hook(
                        lambda _, __, output, outputs=outputs: outputs.append(output)
                    )
                )
        try:
            yield layers
        finally:
            for handle in handles:
                handle.remove()
        if self._pairs:
            layers.bias = self._position_bias(layers.states[0])

    def _position_bias(self, states: Tensor) -> Tensor | None:
        compute = getattr(getattr(self._network, "encoder", None), "compute_position_bias", None)
        return compute(states[:1]) if compute is not None else None


def _path_of_layers(encoder: Encoder) -> str:
    """Returns the name of the list of layers: the only module list of that length that is in no
    other such list.

    Raises:
        ModelError: there is none, or there are several.
    """
    depth = int(encoder.config.num_hidden_layers)
    lists = [
        name
        for name, module in encoder.network.named_modules()
        if isinstance(module, nn.ModuleList) and len(module) == depth
    ]
    inside = tuple(f"{name}." for name in lists)
    outer = [name for name in lists if not name.startswith(inside)]
    if len(outer) != 1:
        raise ModelError(
            f"the layers of the encoder {encoder.origin!r} ({encoder.config.model_type}) are not "
            "found; use a BERT, RoBERTa, ELECTRA, DistilBERT or MPNet, or distil with [prediction] "
            "only"
        )
    return outer[0]


def _projections(layer: nn.Module) -> tuple[nn.Module, nn.Module] | None:
    """Returns the layers that compute queries and keys."""
    linear = {
        name.rpartition(".")[2]: module
        for name, module in layer.named_modules()
        if isinstance(module, nn.Linear)
    }
    return next(
        ((linear[q], linear[k]) for q, k in _PROJECTIONS if q in linear and k in linear), None
    )


def with_layers(encoder: Encoder, layers: Sequence[int]) -> Encoder:
    """Returns a copy of an encoder with some of its layers.

    Args:
        encoder: stays as it is.
        layers: the layers that are kept, counted from 1, in increasing order.

    Raises:
        RecipeError: the encoder has no such layer.
        ModelError: its layers are not found.
    """
    path, depth = _path_of_layers(encoder), int(encoder.config.num_hidden_layers)
    if layers[-1] > depth:
        raise RecipeError(
            f"student.layers names layer {layers[-1]}, but {encoder.origin} has {depth}: name "
            f"layers from 1 to {depth}"
        )
    network = _fresh(encoder.config, num_hidden_layers=len(layers))
    new = {str(old - 1): str(at) for at, old in enumerate(layers)}
    tensors = {}
    for name, tensor in encoder.network.state_dict().items():
        inside = re.fullmatch(rf"{re.escape(path)}\.(\d+)\.(.*)", name)
        if not inside:
            tensors[name] = tensor
        elif inside[1] in new:
            tensors[f"{path}.{new[inside[1]]}.{inside[2]}"] = tensor
    network.load_state_dict(tensors)
    return Encoder(network, origin=f"{encoder.origin} layers {' '.join(map(str, layers))}")


def with_size(encoder: Encoder, size: SizeSettings) -> Encoder:
    """Builds the same architecture in another size, with random weights from torch's generator.

    Args:
        encoder: gives the vocabulary and the positions.
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


def copy_encoder(encoder: Encoder) -> Encoder:
    """Returns a copy of an encoder with its own weights."""
    return Encoder(copy.deepcopy(encoder.network), origin=encoder.origin)


def _fresh(config: Any, **changes: int) -> nn.Module:
    from transformers import AutoModel

    changed = copy.deepcopy(config)
    for name, value in changes.items():
        setattr(changed, name, value)
    if int(changed.hidden_size) % int(changed.num_attention_heads):
        raise RecipeError(
            f"{changed.hidden_size} components cannot be shared among "
            f"{changed.num_attention_heads} heads; change one"
        )
    return AutoModel.from_config(changed, **without_pooler(changed.model_type)).float()
