"""What one core can do at most, and what a graph asks of it: the two ends of
``studies/speed/roofline.py``.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from fascicle.core.session import load_onnxruntime, session_options

ROWS = 1024
_REPEATS = 25
_PRODUCT = "MatMulIntegerToFloat"


def shapes_of(path: Path) -> dict[tuple[int, int], int]:
    """How often each shape of an 8-bit weight occurs in a graph, ``(inputs, outputs)``."""
    model = onnx.load(str(path))
    sizes = {tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer}
    found: dict[tuple[int, int], int] = {}
    for node in model.graph.node:
        if node.op_type == _PRODUCT:
            inputs, outputs = sizes[node.input[1]]
            found[inputs, outputs] = found.get((inputs, outputs), 0) + 1
    return found


def asked(
    shapes: Mapping[tuple[int, int], int], *, width: int, layers: int, length: float
) -> dict[str, float]:
    """Operations and bytes of one piece in a window.

    Args:
        shapes: of the 8-bit products.
        width: of the encoder.
        layers: of the encoder.
        length: pieces of the window.

    Returns:
        Operations (a product and a sum are two) of the 8-bit products and of attention; bytes that
        the 8-bit products read and write as activations, and bytes of their weights, which all
        pieces of a batch share.
    """
    products = sum(2 * inputs * outputs * count for (inputs, outputs), count in shapes.items())
    moved = sum((inputs + 4 * outputs) * count for (inputs, outputs), count in shapes.items())
    return {
        "product_operations": products,
        "attention_operations": 4.0 * length * width * layers,
        "activation_bytes": moved,
        "weight_bytes": sum(
            inputs * outputs * count for (inputs, outputs), count in shapes.items()
        ),
    }


def measured(shapes: Mapping[tuple[int, int], int]) -> dict[str, Any]:
    """Operations a second of one core, in billions, for each arithmetic; shapes weigh as the
    graph has them.
    """
    seconds: dict[str, float] = {}
    operations = 0.0
    by_shape: dict[str, dict[str, float]] = {}
    for (inputs, outputs), count in shapes.items():
        own = 2.0 * ROWS * inputs * outputs
        operations += own * count
        for name, work in _products(inputs, outputs).items():
            took = _typical(work)
            seconds[name] = seconds.get(name, 0.0) + took * count
            by_shape.setdefault(f"{inputs} x {outputs}", {})[name] = round(own / took / 1e9, 1)
    return {
        "rows": ROWS,
        "giga_operations_per_second": {
            name: round(operations / took / 1e9, 1) for name, took in seconds.items()
        },
        "by_shape": by_shape,
    }


def _products(inputs: int, outputs: int) -> dict[str, Callable[[], object]]:
    random = np.random.default_rng(0)
    left = random.normal(size=(ROWS, inputs)).astype(np.float32)
    weight = random.normal(size=(inputs, outputs)).astype(np.float32)
    low = torch.from_numpy(left).bfloat16(), torch.from_numpy(weight).bfloat16()
    numbers = random.integers(0, 256, (ROWS, inputs)).astype(np.uint8)
    whole = _session("MatMul", {"w": weight}, TensorProto.FLOAT)
    integer = _session(
        "MatMulInteger", _integers(random, inputs, outputs, scales=False), TensorProto.UINT8
    )
    scaled = _session(_PRODUCT, _integers(random, inputs, outputs, scales=True), TensorProto.UINT8)
    return {
        "fp32": lambda: whole.run(None, {"a": left}),
        "bf16": lambda: low[0] @ low[1],
        "int8": lambda: integer.run(None, {"a": numbers}),
        "int8_to_float": lambda: scaled.run(None, {"a": numbers}),
    }


def _integers(
    random: np.random.Generator, inputs: int, outputs: int, *, scales: bool
) -> dict[str, Any]:
    """The constants of an 8-bit product in the order of its inputs, weights in 7 bits as the
    export makes them.
    """
    weight = random.integers(-63, 64, (inputs, outputs)).astype(np.int8)
    zeros = {"az": np.uint8(128), "wz": np.zeros(outputs, np.int8)}
    if not scales:
        return {"w": weight, **zeros}
    factors = {"as": np.float32(0.01), "ws": np.full(outputs, 0.01, np.float32)}
    return {"w": weight, **factors, **zeros, "b": np.zeros(outputs, np.float32)}


def _session(operator: str, constants: Mapping[str, Any], kind: int) -> Any:
    """One product as a graph."""
    domain = "com.microsoft" if operator == _PRODUCT else ""
    out = TensorProto.INT32 if operator == "MatMulInteger" else TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node(operator, ["a", *constants], ["y"], domain=domain)],
        "product",
        [helper.make_tensor_value_info("a", kind, None)],
        [helper.make_tensor_value_info("y", out, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    runtime = load_onnxruntime()
    options, _ = session_options(runtime, threads=1)
    return runtime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def _typical(work: Callable[[], object]) -> float:
    """Median CPU seconds."""
    spent = []
    for _ in range(_REPEATS + 3):
        before = time.process_time()
        work()
        spent.append(time.process_time() - before)
    return statistics.median(spent[3:])
