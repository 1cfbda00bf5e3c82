"""Tables of what heads cost: scoring alone, training, inference, memory, 8 bits. All from
``studies/results/``.
"""

from __future__ import annotations

from typing import Any

from studies.common import result
from studies.tables.grids import MISSING, markdown


def head_cost(name: str = "head_cost") -> str:
    """Whole training steps and whole inference against the softmax tagger, of one results file."""
    found = result(name)
    if not found:
        return MISSING
    training, inference, memory = found["training"]["steps"], found["inference"], found["memory"]
    body = []
    for head in training:
        cells = [_ratio(training[head])]
        cells += [_ratio(inference[bits]["sentences"][head]) for bits in ("fp32", "int8")]
        cells += [_plain(memory[bits]["sentences"].get(head)) for bits in ("fp32", "int8")]
        body.append([f"`{head}`", *cells])
    head_row = (
        "times `softmax`",
        "training step",
        "inference, fp32",
        "inference, int8",
        "memory, fp32",
        "memory, int8",
    )
    return markdown(head_row, body)


def int8_heads() -> str:
    """F1 of the 8-bit export less that of the trained model, by run."""
    runs = result("int8_heads").get("runs", {})
    body = []
    for name, value in runs.items():
        d = value["difference"]
        gap = f"{100 * d['estimate']:+.2f} ({100 * d['low']:+.1f} to {100 * d['high']:+.1f})"
        body.append([f"`{name}`", f"{100 * value['f1']:.2f}", f"{100 * value['int8_f1']:.2f}", gap])
    return markdown(("run", "test F1", "test F1, int8", "difference, 95 % interval"), body)


def _ratio(value: dict[str, Any]) -> str:
    if "ratio" not in value:
        return "1"
    ratio = value["ratio"]
    return f"{ratio['median']:.2f} ({ratio['low']:.2f} to {ratio['high']:.2f})"


def _plain(value: dict[str, Any] | None) -> str:
    return MISSING if not value else f"{value['ratio']:.2f}"
