"""Tables of what heads cost: scoring alone, training, inference, memory, 8 bits. All from
``studies/results/``.
"""

from __future__ import annotations

from typing import Any

from studies.common import result
from studies.tables.grids import MISSING, markdown

_SCORING = {
    "boundary_32": "boundary, width 32",
    "boundary_10": "boundary, width 10, embedded width",
    "pooling_10": "pooling, width 10",
    "hybrid_10": "hybrid, width 10",
    "biaffine_10": "biaffine, width 10",
    "boundary_10_sampled_100": "boundary, width 10, 100 spans a row taught",
    "hybrid_10_sampled_100": "hybrid, width 10, 100 spans a row taught",
}


def span_speed() -> str:
    """Scoring and loss alone: the factorised form against the literal concatenation."""
    found = result("span_speed")
    body = []
    for key, what in _SCORING.items():
        value = found.get(key, {})
        cells = [_against_literal(value.get(part)) for part in ("logits", "loss_and_gradients")]
        body.append([what, *cells])
    return markdown(("batch 8 x 128 units, 6 types", "all logits", "loss and gradients"), body)


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


def inputs_cost() -> str:
    """Time of models that look units up, beside the same model without."""
    found = result("inputs-cost")
    if not found:
        return MISSING
    times = found["cpu_ms_per_sentence"]
    body = [
        [f"`{name}`", f"{times[name]:.2f}", _ratio({"ratio": ratio})]
        for name, ratio in found["ratio"].items()
    ]
    none = ["none", f"{times['none']:.2f}", "1"]
    return markdown(("inputs", "ms a sentence", "ratio (quartiles)"), [none, *body])


def _against_literal(value: dict[str, Any] | None) -> str:
    if not value:
        return MISSING
    low, high = value["ratio_quartiles"]
    return (
        f"{value['fascicle_ms']:.1f} ms, {value['ratio']:.1f} times as fast ({low:.1f} to "
        f"{high:.1f})"
    )


def _ratio(value: dict[str, Any]) -> str:
    if "ratio" not in value:
        return "1"
    ratio = value["ratio"]
    return f"{ratio['median']:.2f} ({ratio['low']:.2f} to {ratio['high']:.2f})"


def _plain(value: dict[str, Any] | None) -> str:
    return MISSING if not value else f"{value['ratio']:.2f}"


def folder_output() -> str:
    """What one output file for each input costs beside one file for all."""
    rows = []
    for unit in ("abstracts", "sentences"):
        found = result(f"folder-output-{unit}")
        if not found:
            rows.append([unit, *[MISSING] * 4])
            continue
        ratios = (
            f"{found[key]:.3f}"
            for key in ("cpu_ratio", "cpu_ratio_without_file_system", "wall_ratio")
        )
        rows.append([f"{found['files']:,} {unit}", *ratios, f"{found['first_file']:.1f}"])
    head = [
        "files",
        "CPU ratio",
        "without the file system",
        "wall ratio",
        "seconds to the first file",
    ]
    return markdown(head, rows)


_LINKING = {
    "keys": ("keys to rows", 300_000),
    "near": ("similar names", 1_000),
    "diseases and chemicals": ("links of diseases and chemicals", 20_000),
    "genes": ("links of genes", 20_000),
}
_STEPS = ("abbreviations", "dictionary", "links")


def linking_speed() -> str:
    """What links cost: things a second of processor time on one core, beside the goals."""
    found = result("linking-speed")
    if not found:
        return MISSING
    tasks, body = found["tasks"], []
    for task, (what, goal) in _LINKING.items():
        own = tasks[task]
        body.append([what, f"{own['this_per_second']:,.0f}", f"{goal:,}"])
        if "this_per_second_without_near" in own:
            rate = f"{own['this_per_second_without_near']:,.0f}"
            body.append([f"{what}, without the search for similar names", rate, f"{goal:,}"])
    rates = {task: tasks[task]["this_per_second"] for task in _STEPS}
    body += [[f"abstracts, {task}", f"{rate:,.0f}", ""] for task, rate in rates.items()]
    body.append(
        [
            "abstracts, all three steps",
            f"{1 / sum(1 / rate for rate in rates.values()):,.0f}",
            "500",
        ]
    )
    body.append(
        [
            "MB of own memory, linker open",
            f"{found['memory_mb']['this']['opened']:.0f}",
            "at most 40",
        ]
    )
    return markdown(("a second", "rate", "goal"), body)
