"""Makes an exported graph smaller and faster: 8-bit weights, and operators merged ahead of time.

Needs ``onnx``, not torch. Only what ONNX Runtime merges itself is merged. Its
``transformers.optimizer`` was slower in measurements: on one core 1,024 pieces in rows of 64 take
42 ms as they are and 45 ms with merged attention (rows of 512: 83 and 78 ms); with merged layer
norms as well, a sentence of BC5CDR takes 2.9 ms instead of 2.0.

The activations of an 8-bit graph get fixed scales, so that the answer for a text does not depend on
its batch.

Dynamic quantisation scales each activation by its range over the whole batch: the same sentence
then gets other scores in another batch. Here the ranges are measured once, on sample texts, and
become constants of the graph; values beyond them are clipped. It costs no time: each integer
product, its scales and its bias become one operator.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Ints
from fascicle.core.session import OnnxSession, load_onnxruntime, session_options
from fascicle.errors import MissingExtraError, ModelError

_PRODUCTS = ("MatMul", "Gemm")
_INTEGER = "MatMulInteger"
# The last layer of a head has one column per label; as integers it would save nothing and cost
# accuracy.
_NARROW = 32
_DYNAMIC = "DynamicQuantizeLinear"
_STATIC = "QuantizeLinear"
_FUSED = "MatMulIntegerToFloat"
_CONTRIB = "com.microsoft"
_LEVELS = 255  # of an unsigned 8-bit integer


@dataclass(frozen=True, kw_only=True)
class _Quantisation:
    """Result of :func:`quantise`, for the model card.

    Attributes:
        products: Matrix products with 8-bit weights.
        tables: Embedding tables with 8-bit entries.
        bytes_before: Size of the file that was read.
    """

    products: int
    tables: int
    bytes_before: int


def quantise(path_in: str | Path, path_out: str | Path) -> _Quantisation:
    """Stores weights and embedding tables as 8-bit integers; activations are scaled at run time.

    Args:
        path_in: An exported graph in float32.
        path_out: The file to write.

    Returns:
        Numbers of products and tables that are now integers, for the model card.

    Raises:
        ModelError: ``path_in`` is not an ONNX graph, or has nothing that can become integer.
        MissingExtraError: ``onnx`` is not installed.
    """
    load_onnxruntime()
    graph = _load_graph(path_in)
    from onnxruntime.quantization import QuantType, quantize_dynamic

    for number, node in enumerate(graph.graph.node):
        node.name = node.name or f"{node.op_type}_{number}"
    mark = graph.metadata_props.add()
    mark.key, mark.value = "onnx.quant.pre_process", "onnxruntime.quant"  # no preparation is needed
    with _without_warnings():
        quantize_dynamic(
            graph,
            path_out,
            per_channel=True,
            # 7 bits, so that the 16-bit sums of processors without VNNI cannot overflow
            reduce_range=True,
            # signed has the fast kernel: unsigned weights run at two thirds of the speed
            weight_type=QuantType.QInt8,
            nodes_to_exclude=_narrow_products(graph),
        )
    quantised = _load_graph(path_out)
    products = sum(node.op_type == _INTEGER for node in quantised.graph.node)
    if not products:
        raise ModelError(
            f"{path_in} has no matrix product with a constant weight, so there is nothing to "
            "quantise."
        )
    return _Quantisation(
        products=products,
        tables=_integer_tables(quantised),
        bytes_before=Path(path_in).stat().st_size,
    )


def merge(path_in: str | Path, path_out: str | Path) -> None:
    """Writes a graph with the operators merged as ONNX Runtime merges them when it opens it, so
    that opening is faster.

    Merges that only suit the processor at hand are left to the opening.

    Args:
        path_in: an exported graph.
        path_out: the file to write; another one.

    Raises:
        ModelError: ``path_in`` is not an ONNX graph that this ONNX Runtime can run.
        MissingExtraError: ``onnx`` is not installed.
    """
    import onnx

    runtime = load_onnxruntime()
    options, disabled = session_options(runtime, threads=1)
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(path_out)
    try:
        runtime.InferenceSession(
            str(path_in), options, providers=["CPUExecutionProvider"], disabled_optimizers=disabled
        )
    except Exception as error:  # its errors share no base class below Exception
        reason = str(error).strip().split("\n", 1)[0]
        raise ModelError(
            f"{path_in} cannot be run by ONNX Runtime ({reason})", file=str(path_in)
        ) from error
    graph = _load_graph(path_out)
    used = {node.domain for node in graph.graph.node}
    opsets = [opset for opset in graph.opset_import if opset.domain in used]
    del graph.opset_import[:]  # it declares also unused ones, which older releases do not have
    graph.opset_import.extend(opsets)
    onnx.save(graph, str(path_out))


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Suppresses warnings that the quantiser logs about tensors that it rightly leaves
    unchanged.
    """
    before = logging.root.manager.disable
    logging.disable(max(before, logging.WARNING))
    try:
        yield
    finally:
        logging.disable(before)


def _load_graph(path: str | Path) -> Any:
    try:
        import onnx
        from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtraError("train", "onnx") from error
    try:
        return onnx.load(str(path))
    except (OSError, DecodeError) as error:
        raise ModelError(
            f"{path} cannot be read as an ONNX graph: {error}", file=str(path), code="unreadable"
        ) from error


def _narrow_products(graph: Any) -> list[str]:
    columns = {
        weight.name: weight.dims[-1] for weight in graph.graph.initializer if len(weight.dims) == 2
    }
    return [
        node.name
        for node in graph.graph.node
        if node.op_type in _PRODUCTS and columns.get(node.input[1], _NARROW) < _NARROW
    ]


def _integer_tables(graph: Any) -> int:
    """Stores tables that are looked up by row with 8-bit entries."""
    import onnx

    integer = {onnx.TensorProto.INT8, onnx.TensorProto.UINT8}
    tables = {weight.name for weight in graph.graph.initializer if weight.data_type in integer}
    return len(
        {
            node.input[0]
            for node in graph.graph.node
            if node.op_type == "Gather" and node.input[0] in tables
        }
    )


class RangeRecorder:
    """Runs a dynamically quantised graph as a scorer and records the range of every activation
    that it quantises.
    """

    def __init__(self, path: Path, scratch: Path) -> None:
        """Opens the graph with its activations as further outputs.

        Args:
            path: a graph of ``models.export.optimise.quantise``.
            scratch: a file name for the graph with more outputs.
        """
        import onnx

        model = onnx.load(str(path))
        self.names = tuple(
            dict.fromkeys(n.input[0] for n in model.graph.node if n.op_type == _DYNAMIC)
        )
        self.ranges: dict[str, tuple[float, float]] = {}
        for name in self.names:
            model.graph.output.append(
                onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)
            )
        onnx.save(model, str(scratch))
        self._session = OnnxSession.open(scratch)

    def run(self, inputs: Mapping[str, Ints]) -> dict[str, NDArray[Any]]:
        """Scores one batch of ``text.windows.collate``; padding does not count."""
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
        Number of activations with a fixed scale.

    Raises:
        ModelError: an activation without a range.
    """
    import onnx

    model = onnx.load(str(path_in))
    graph = model.graph
    nodes = []
    for node in graph.node:
        if node.op_type == _DYNAMIC:
            if node.input[0] not in ranges:
                raise ModelError(
                    f"the activation {node.input[0]} of {path_in.name} was never seen; calibrate "
                    "on more text"
                )
            graph.initializer.extend(_constants(node, ranges[node.input[0]]))
            inputs = [node.input[0], *node.output[1:]]
            node = onnx.helper.make_node(_STATIC, inputs, node.output[:1])
        nodes.append(node)
    fixed: int = sum(node.op_type == _STATIC for node in nodes)
    nodes = _fuse(nodes, vectors={t.name for t in graph.initializer if len(t.dims) == 1})
    del graph.node[:]
    graph.node.extend(nodes)
    _declare_contrib(model)
    onnx.save(model, str(path_out))
    return fixed


def _declare_contrib(model: Any) -> None:
    """Declares the operators of ONNX Runtime in a model, unless it does so."""
    import onnx

    if all(opset.domain != _CONTRIB for opset in model.opset_import):
        model.opset_import.append(onnx.helper.make_opsetid(_CONTRIB, 1))


def _constants(node: Any, limits: tuple[float, float]) -> list[Any]:
    """Returns scale and zero point by the formula of the dynamic operator."""
    from onnx import numpy_helper

    low, high = min(0.0, limits[0]), max(0.0, limits[1])
    scale = (high - low) / _LEVELS or 1.0
    zero = int(np.clip(round(-low / scale), 0, _LEVELS))
    return [
        numpy_helper.from_array(np.array(scale, np.float32), node.output[1]),
        numpy_helper.from_array(np.array(zero, np.uint8), node.output[2]),
    ]


def _fuse(nodes: list[Any], *, vectors: set[str]) -> list[Any]:
    """Merges integer product, cast, scale and bias into one operator; a product of another form
    stays as it is.
    """
    import onnx

    users = _users(nodes)
    maker = {name: node for node in nodes for name in node.output}
    fused: dict[str, Any] = {}
    gone: set[str] = set()
    for node in nodes:
        chain = _chain(node, users, maker, vectors) if node.op_type == _INTEGER else None
        if chain is not None:
            links, scales, bias = chain
            inputs = [*node.input[:2], *scales.input, *node.input[2:4], *bias]
            last = links[-1].output[0]
            fused[last] = onnx.helper.make_node(
                _FUSED, inputs, [last], name=node.name, domain=_CONTRIB
            )
            gone.update(link.output[0] for link in (*links, scales))
    merged = (fused.get(node.output[0], node) for node in nodes)
    return [node for node in merged if node.op_type == _FUSED or node.output[0] not in gone]


def _users(nodes: Iterable[Any]) -> Mapping[str, list[Any]]:
    """Returns the nodes that read each tensor."""
    users = defaultdict[str, list[Any]](list)
    for node in nodes:
        for name in node.input:
            users[name].append(node)
    return users


def _chain(
    node: Any, users: Mapping[str, list[Any]], maker: Mapping[str, Any], vectors: Iterable[str]
) -> tuple[list[Any], Any, list[str]] | None:
    """Finds the nodes from an integer product to its float result, the product of its scales,
    and its bias if any.
    """
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
    nodes = users.get(name, [])
    return nodes[0] if len(nodes) == 1 and nodes[0].op_type == kind else None
