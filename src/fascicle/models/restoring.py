"""Makes a model that torch can train from an export: the weights of its graph, in 8 or 32 bits, by
name.

An export keeps the names of most weights. The exporter of torch renames the matrices of linear
layers and transposes them; the operator that uses such a matrix keeps the name of its layer.
Weights in 8 bits become numbers again with the scale that stands beside them, so a restored model
is as exact as the export, not as the run before it.

Only graphs of BERT encoders can be restored, because the settings of the encoder are read from the
shapes of its weights and from a few operators. Other encoders have weights of the same names, so
the scores of the model are compared with those of the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from fascicle.core.session import OnnxSession
from fascicle.errors import ModelError, import_extra
from fascicle.models.encoder import Encoder, without_pooler
from fascicle.models.export.graph import AnsweringGraph
from fascicle.models.model import NerModel, build_model, check_tensors
from fascicle.settings.folders.manifest import MANIFEST, Manifest
from fascicle.text.pieces import PieceTokenizer

GRAPH: Final = "model.onnx"
_PREFIX: Final = "model."
_NETWORK: Final = "encoder.network."
_PRODUCTS: Final = frozenset({"MatMul", "MatMulIntegerToFloat", "FusedMatMul"})
_QUANTISED: Final = "_quantized"
_ADVICE: Final = "give the run folder of its training"
_ACTIVATIONS: Final = MappingProxyType(
    {"Relu": "relu", "Erf": "gelu", "Gelu": "gelu", "Tanh": "gelu_new", "FastGelu": "gelu_new"}
)
_FOREIGN: Final = f"the encoder of this export is not of the kind BERT; {_ADVICE}"
_SAMPLE: Final = MappingProxyType({"batch": 3, "pieces": 29, "units": 19, "types": 4})
# Largest difference of scores, as a share of their spread: 8 bits cost the shipped models up to
# 0.07, and positions that start one later 0.24.
_LARGEST_GAP: Final = MappingProxyType({"float": 1e-3, "8 bits": 0.15})

Arrays = Mapping[str, NDArray[Any]]


def restore_model(folder: Path, manifest: Manifest, tokenizer: PieceTokenizer) -> NerModel:
    """Builds the model of an export with the weights of its graph.

    Args:
        folder: of an export, such as that of a model that ships.
        manifest: of the export.
        tokenizer: of the export.

    Returns:
        The model in evaluation mode.

    Raises:
        ModelError: the encoder is none of BERT, or a weight is missing.
        MissingExtraError: the package ``onnx`` is not installed.
    """
    graph = import_extra("onnx", extra="train").load(str(folder / GRAPH)).graph
    head = manifest.decision.answer
    tensors = {name: torch.from_numpy(np.array(array)) for name, array in _weights(graph, head)}

    encoder = Encoder(_bert(graph, tensors, tokenizer), origin=manifest.encoder)
    model = build_model(encoder, manifest, tokenizer=tokenizer).eval()
    check_tensors(folder, model, tensors, name=MANIFEST, advice=_ADVICE)
    model.load_state_dict(tensors)
    in_8_bits = any(item.name.endswith(_QUANTISED) for item in graph.initializer)
    _check_scores(folder / GRAPH, model, limit=_LARGEST_GAP["8 bits" if in_8_bits else "float"])
    return model


def _check_scores(graph: Path, model: NerModel, *, limit: float) -> None:
    """Refuses a model whose scores of random pieces differ too much from those of its graph."""
    answering = AnsweringGraph(model)
    inputs = answering.example(_SAMPLE)
    with torch.inference_mode():
        tables = answering(**inputs)
    exported = OnnxSession.open(graph).run({name: t.numpy() for name, t in inputs.items()})
    for table, other in zip(tables, exported.values(), strict=True):
        if not np.sqrt(np.square(table.numpy() - other).mean()) <= limit * other.std():
            raise ModelError(_FOREIGN)


def _weights(graph: Any, head: str) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yields the weights of a graph under the names that they have in torch."""
    from onnx.numpy_helper import to_array

    arrays = {item.name: to_array(item) for item in graph.initializer}
    for name in arrays:
        weight = name.removesuffix(_QUANTISED)
        if weight.startswith(_PREFIX) and not weight.endswith(("_scale", "_zero_point")):
            yield weight.removeprefix(_PREFIX), _as_floats(weight, arrays)
    for node in graph.node:
        matrix = node.input[1].removesuffix(_QUANTISED) if node.op_type in _PRODUCTS else ""
        if matrix.startswith("onnx::"):
            yield _layer_of(node.name, head) + ".weight", _as_floats(matrix, arrays).T


def _as_floats(weight: str, arrays: Arrays) -> NDArray[Any]:
    if weight in arrays:
        return arrays[weight]
    whole = arrays[weight + _QUANTISED].astype(np.float32)
    return (whole - arrays[weight + "_zero_point"].astype(np.float32)) * arrays[weight + "_scale"]


def _layer_of(node: str, head: str) -> str:
    """Returns the name of the layer that a product belongs to: ``/encoder/a/b/MatMul_quant`` is
    of ``encoder.a.b``.
    """
    layer = node.strip("/").rpartition("/")[0].replace("/", ".")
    return layer if layer.startswith("encoder.") else f"heads.{head}.{layer}"


def _bert(
    graph: Any, tensors: Mapping[str, torch.Tensor], tokenizer: PieceTokenizer
) -> torch.nn.Module:
    """Builds the network of an encoder, without its weights, from their shapes."""
    from transformers import AutoConfig, AutoModel

    try:
        pieces, width = tensors[_NETWORK + "embeddings.word_embeddings.weight"].shape
        config = AutoConfig.for_model(
            "bert",
            vocab_size=pieces,
            hidden_size=width,
            num_hidden_layers=_count_layers(tensors),
            num_attention_heads=width // _head_width(graph),
            intermediate_size=len(tensors[_NETWORK + "encoder.layer.0.intermediate.dense.bias"]),
            max_position_embeddings=len(
                tensors[_NETWORK + "embeddings.position_embeddings.weight"]
            ),
            type_vocab_size=len(tensors[_NETWORK + "embeddings.token_type_embeddings.weight"]),
            pad_token_id=tokenizer.pad,
            hidden_act=_activation(graph),
            layer_norm_eps=_epsilon(graph),
        )
    except (KeyError, StopIteration):
        raise ModelError(_FOREIGN) from None
    return AutoModel.from_config(config, **without_pooler("bert"))


def _count_layers(tensors: Mapping[str, torch.Tensor]) -> int:
    return sum(name.endswith("attention.self.query.weight") for name in tensors)


def _activation(graph: Any) -> str:
    """Returns the activation of a graph; its absence is ReLU, which clipping to 8 bits includes."""
    names = (_ACTIVATIONS.get(node.op_type) for node in graph.node)
    return next(filter(None, names), "relu")


def _epsilon(graph: Any) -> float:
    node = next(node for node in graph.node if node.op_type == "LayerNormalization")
    return next(attribute.f for attribute in node.attribute if attribute.name == "epsilon")


def _head_width(graph: Any) -> int:
    """Reads the width of an attention head from the shape to which the first queries are
    brought.
    """
    from onnx.numpy_helper import to_array

    constants = {item.name: to_array(item) for item in graph.initializer}
    constants |= {
        node.output[0]: to_array(node.attribute[0].t)
        for node in graph.node
        if node.op_type == "Constant"
    }
    made_by = {output: node for node in graph.node for output in node.output}
    reshape = next(
        node for node in graph.node if node.name.endswith("layer.0/attention/self/Reshape")
    )
    return int(constants[made_by[reshape.input[1]].input[-1]][0])
