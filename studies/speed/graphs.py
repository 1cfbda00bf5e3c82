"""The graph of a shipped model in other forms, for ``studies/speed/levers.py``.

The forms go by the names that the exporter of torch gives to the parts of a BERT encoder with a
max-pooled head.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import helper, numpy_helper

_CONTRIB = "com.microsoft"
_PARTS = ("query", "key", "value")


def is_pooled_by_numbers(model: Any) -> bool:
    """Whether a graph pools number by number, as exports did before they pooled whole rows."""
    return any(node.op_type == "ScatterElements" for node in model.graph.node)


def is_merged(model: Any) -> bool:
    """Whether the operators of a graph were merged when it was exported."""
    return any(node.op_type == "FusedMatMul" for node in model.graph.node)


def pooled_by_rows(model: Any) -> Any:
    """Max pooling with ``ScatterND`` in place of ``ScatterElements``, as exports have it now."""
    graph = model.graph
    (old,) = (node for node in graph.node if node.op_type == "ScatterElements")
    states = next(
        node.input[0] for node in graph.node if node.output[0] == "/pooling/Shape_output_0"
    )
    places, slots = "/pooling/Where_output_0", "/pooling/Add_1_output_0"
    for name, value in (("rows.0", 0), ("rows.1", 1), ("rows.one", [1]), ("rows.last", [-1])):
        graph.initializer.append(numpy_helper.from_array(np.array(value, np.int64), name))
    nodes = [
        helper.make_node("Shape", [places], ["rows.shape"]),
        helper.make_node("Gather", ["rows.shape", "rows.0"], ["rows.count"]),
        helper.make_node("Range", ["rows.0", "rows.count", "rows.1"], ["rows.range"]),
        helper.make_node("Unsqueeze", ["rows.range", "rows.one"], ["rows.column"]),
        helper.make_node("Expand", ["rows.column", "rows.shape"], ["rows.rows"]),
        helper.make_node("Unsqueeze", ["rows.rows", "rows.last"], ["rows.left"]),
        helper.make_node("Unsqueeze", [places, "rows.last"], ["rows.right"]),
        helper.make_node("Concat", ["rows.left", "rows.right"], ["rows.places"], axis=-1),
        helper.make_node(
            "ScatterND", [slots, "rows.places", states], ["rows.joined"], reduction="max"
        ),
    ]
    (cut,) = (node for node in graph.node if node.output[0] == "/pooling/Slice_output_0")
    cut.input[0] = "rows.joined"
    at = list(graph.node).index(old)
    for node in reversed(nodes):
        graph.node.insert(at, node)
    return pruned(model)


def merged_attention(model: Any, *, heads: int) -> Any:
    """``MultiHeadAttention`` for what follows the three products of each layer."""
    graph = model.graph
    graph.node.insert(0, helper.make_node("Cast", ["attention_mask"], ["mask32"], to=6))
    for start, last in _attentions(model):
        inputs = [*(f"{start}{part}/Add_output_0" for part in _PARTS), "", "mask32"]
        _replace(
            graph,
            last,
            helper.make_node(
                "MultiHeadAttention", inputs, [last], domain=_CONTRIB, num_heads=heads
            ),
        )
    return pruned(model)


def integer_attention(model: Any, *, heads: int) -> Any:
    """``QAttention``: the three products of each layer as one, and what follows them."""
    graph = model.graph
    graph.node.insert(0, helper.make_node("Cast", ["attention_mask"], ["mask32"], to=6))
    makers = {name: node for node in graph.node for name in node.output}
    values = {tensor.name: tensor for tensor in graph.initializer}
    for number, (start, last) in enumerate(_attentions(model)):
        parts = [makers[f"{start}{part}/Add_output_0"] for part in _PARTS]
        names = {}
        for key, place in (("w", 1), ("s", 3), ("z", 5), ("b", 6)):
            joined = np.concatenate(
                [numpy_helper.to_array(values[part.input[place]]) for part in parts], axis=-1
            )
            names[key] = f"attention.{number}.{key}"
            graph.initializer.append(numpy_helper.from_array(joined, names[key]))
        read, scale, zero = (parts[0].input[i] for i in (0, 2, 4))
        inputs = [read, names["w"], names["b"], scale, names["s"], "mask32", zero, names["z"]]
        _replace(
            graph,
            last,
            helper.make_node("QAttention", inputs, [last], domain=_CONTRIB, num_heads=heads),
        )
    return pruned(model)


def block_products(model: Any, *, bits: int, size: int = 32) -> Any:
    """``MatMulNBits`` for the products: weights in blocks of a column, and activations scaled at
    run time.

    Args:
        model: whose weights have 8 bits and one scale for each column.
        bits: 8, which keeps the weights as they are, or 4, which rounds them again within each
            block.
        size: weights of a block.
    """
    graph = model.graph
    values = {tensor.name: tensor for tensor in graph.initializer}
    makers = {name: node for node in graph.node for name in node.output}
    for node in [one for one in graph.node if one.op_type == "MatMulIntegerToFloat"]:
        weights = numpy_helper.to_array(values[node.input[1]])
        quantised = makers.get(node.input[0])
        if len(weights) % size or quantised is None or quantised.op_type != "QuantizeLinear":
            continue
        packed, scales = _blocks(weights, numpy_helper.to_array(values[node.input[3]]), bits, size)
        names = [f"{node.output[0]}.{part}" for part in ("blocks", "scales")]
        graph.initializer.extend(map(numpy_helper.from_array, (packed, scales), names))
        bias = node.input[6] if len(node.input) > 6 else ""
        made = helper.make_node(
            "MatMulNBits",
            [quantised.input[0], *names, "", "", bias],
            [node.output[0]],
            domain=_CONTRIB,
            K=weights.shape[0],
            N=weights.shape[1],
            bits=bits,
            block_size=size,
            accuracy_level=4,
        )
        at = list(graph.node).index(node)
        graph.node.remove(node)
        graph.node.insert(at, made)
    return pruned(model)


def _blocks(weights: Any, scale: Any, bits: int, size: int) -> tuple[Any, Any]:
    """Weights ``[K, N]`` in 8 bits as blocks ``[N, K / size, size * bits / 8]``, and the scale
    of each.
    """
    blocks = weights.T.reshape(weights.shape[1], -1, size).astype(np.float32)
    scales = np.broadcast_to(np.reshape(scale, (-1, 1, 1)), (*blocks.shape[:2], 1)).astype(
        np.float32
    )
    middle = 2 ** (bits - 1)
    if bits < 8:
        factor = np.maximum(np.abs(blocks).max(axis=-1, keepdims=True), 1) / (middle - 1)
        blocks, scales = np.round(blocks / factor), scales * factor
    numbers = (blocks + middle).astype(np.uint8)
    packed = numbers if bits == 8 else numbers[..., ::2] | numbers[..., 1::2] << 4
    return np.ascontiguousarray(packed), np.ascontiguousarray(
        scales[..., 0].reshape(len(blocks), -1)
    )


def pruned(model: Any) -> Any:
    """The same without what nothing reads."""
    graph = model.graph
    while True:
        used = {output.name for output in graph.output}
        for node in graph.node:
            used.update(node.input)
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    used.update(name for inner in attribute.g.node for name in inner.input)
                    used.update(output.name for output in attribute.g.output)
        kept = [node for node in graph.node if any(name in used for name in node.output)]
        if len(kept) == len(graph.node):
            break
        del graph.node[:]
        graph.node.extend(kept)
    tensors = [tensor for tensor in graph.initializer if tensor.name in used]
    del graph.initializer[:]
    graph.initializer.extend(tensors)
    return model


def _attentions(model: Any) -> list[tuple[str, str]]:
    """Of each layer the start of the names of its attention, and its output."""
    found = {}
    for node in model.graph.node:
        start, middle, _ = node.output[0].partition("/attention/self/")
        if node.op_type == "Reshape" and middle:
            found[start + middle] = node.output[0]  # the last one remains
    return list(found.items())


def _replace(graph: Any, output: str, node: Any) -> None:
    """Another maker of an output; where that was made of 8-bit numbers, what is made is turned
    into such.
    """
    (old,) = (one for one in graph.node if output in one.output)
    at = list(graph.node).index(old)
    graph.node.remove(old)
    makers = {name: one for one in graph.node for name in one.output}
    source = makers.get(old.input[0])
    while source is not None and source.op_type == "Transpose":
        source = makers.get(source.input[0])
    if source is not None and source.op_type == "QuantizeLinear":
        node.output[0] = f"{output}.states"
        graph.node.insert(
            at, helper.make_node("QuantizeLinear", [node.output[0], *source.input[1:]], [output])
        )
    graph.node.insert(at, node)
