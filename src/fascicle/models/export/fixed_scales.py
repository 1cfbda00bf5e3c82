"""Fixed scales for the activations of an 8-bit graph, so that a text's answer depends on nothing read beside it.

Dynamic quantisation scales each activation by its range over the whole batch: the same sentence then gets other scores
in other company. Here the ranges are measured once, on sample texts, and become constants of the graph; values beyond
them are clipped. It costs no time: each integer product, its scales and its bias become one operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Ints
from fascicle.errors import ModelError
from fascicle.runtime.session import OnnxSession

_DYNAMIC = "DynamicQuantizeLinear"
_FUSED = "MatMulIntegerToFloat"
_CONTRIB = "com.microsoft"
_LEVELS = 255  # of an unsigned 8-bit integer


class RangeRecorder:
    """Runs a dynamically quantised graph as a scorer and records the range of every activation that it quantises."""

    def __init__(self, path: Path, scratch: Path) -> None:
        """Opens the graph with its activations as further outputs.

        Args:
            path: a graph of ``models.export.optimise.quantise``.
            scratch: a file name for the graph with more outputs.
        """
        import onnx

        model = onnx.load(str(path))
        self.names = tuple(dict.fromkeys(n.input[0] for n in model.graph.node if n.op_type == _DYNAMIC))
        self.ranges: dict[str, tuple[float, float]] = {}
        for name in self.names:
            model.graph.output.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
        onnx.save(model, str(scratch))
        self._session = OnnxSession.open(scratch)

    def run(self, inputs: Mapping[str, Ints]) -> dict[str, NDArray[Any]]:
        """Scores one batch of ``text.batch.collate``; padding does not count."""
        tables = self._session.run(inputs)
        real = inputs["attention_mask"].astype(bool)
        for name in self.names:
            values = tables.pop(name)
            values = values[real] if values.shape[:2] == real.shape else values
            low, high = self.ranges.get(name, (0.0, 0.0))
            self.ranges[name] = min(low, float(values.min())), max(high, float(values.max()))
        return tables


def fix_scales(path_in: Path, path_out: Path, *, ranges: Mapping[str, tuple[float, float]]) -> int:
    """Writes a graph whose activations have fixed scales.

    Args:
        path_in: a graph of ``models.export.optimise.quantise``.
        path_out: the file to write.
        ranges: lowest and highest value of every activation that the graph quantises, 0 included.

    Returns:
        How many activations have a fixed scale.

    Raises:
        ModelError: an activation without a range.
    """
    import onnx

    model = onnx.load(str(path_in))
    nodes = []
    for node in model.graph.node:
        if node.op_type != _DYNAMIC:
            nodes.append(node)
            continue
        if node.input[0] not in ranges:
            raise ModelError(f"the activation {node.input[0]} of {path_in.name} was never seen; calibrate on more text")
        model.graph.initializer.extend(_constants(node, ranges[node.input[0]]))
        nodes.append(onnx.helper.make_node("QuantizeLinear", [node.input[0], *node.output[1:]], node.output[:1]))
    fixed: int = sum(node.op_type == "QuantizeLinear" for node in nodes)
    nodes = _fuse(nodes, vectors={t.name for t in model.graph.initializer if len(t.dims) == 1})
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    if all(o.domain != _CONTRIB for o in model.opset_import):
        model.opset_import.append(onnx.helper.make_opsetid(_CONTRIB, 1))
    onnx.save(model, str(path_out))
    return fixed


def _constants(node: Any, limits: tuple[float, float]) -> list[Any]:
    """Scale and zero point by the formula of the dynamic operator."""
    from onnx import numpy_helper

    low, high = min(0.0, limits[0]), max(0.0, limits[1])
    scale = (high - low) / _LEVELS or 1.0
    zero = int(np.clip(round(-low / scale), 0, _LEVELS))
    return [
        numpy_helper.from_array(np.array(scale, np.float32), node.output[1]),
        numpy_helper.from_array(np.array(zero, np.uint8), node.output[2]),
    ]


def _fuse(nodes: list[Any], *, vectors: set[str]) -> list[Any]:
    """Integer product, cast, scale and bias become one operator; a product of another form stays as it is."""
    import onnx

    users: dict[str, list[Any]] = {}
    for node in nodes:
        for name in node.input:
            users.setdefault(name, []).append(node)
    maker = {name: node for node in nodes for name in node.output}
    replaced: dict[str, Any] = {}
    gone: set[str] = set()
    for node in nodes:
        chain = _chain(node, users, maker, vectors) if node.op_type == "MatMulInteger" else None
        if chain is None:
            continue
        links, scales, bias = chain
        inputs = [*node.input[:2], *scales.input, *node.input[2:4], *bias]
        last = links[-1].output[0]
        replaced[last] = onnx.helper.make_node(_FUSED, inputs, [last], name=node.name, domain=_CONTRIB)
        gone.update(link.output[0] for link in (*links, scales))
    kept = (replaced.get(node.output[0], node) for node in nodes)
    return [node for node in kept if node.op_type == _FUSED or node.output[0] not in gone]


def _chain(
    node: Any, users: Mapping[str, list[Any]], maker: Mapping[str, Any], vectors: Iterable[str]
) -> tuple[list[Any], Any, list[str]] | None:
    """The nodes from an integer product to its float result, the product of its scales, and its bias if it has one."""
    cast = _only(users, node.output[0], "Cast")
    scale = _only(users, cast.output[0], "Mul") if cast is not None else None
    if cast is None or scale is None:
        return None
    (factor,) = (name for name in scale.input if name != cast.output[0])
    scales = maker.get(factor)
    if scales is None or scales.op_type != "Mul" or len(node.input) != 4:
        return None
    add = _only(users, scale.output[0], "Add")
    bias = [name for name in add.input if name in vectors] if add is not None else []
    return ([node, cast, scale, add], scales, bias) if bias else ([node, cast, scale], scales, [])


def _only(users: Mapping[str, list[Any]], name: str, kind: str) -> Any:
    found = users.get(name, [])
    return found[0] if len(found) == 1 and found[0].op_type == kind else None
