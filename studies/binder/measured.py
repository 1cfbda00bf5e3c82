"""Tables of the study of BINDER that no grid makes: cost, parts of mentions, densities, types
described afterwards.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from fascicle.training.experiments.results import read_result
from studies.binder import token_labels
from studies.binder.paper import ALL, BREAKDOWN, SPEED
from studies.tables.grids import NOT_RUN, markdown

_SYSTEMS = {
    "softmax": "SEQ (softmax tagger)",
    "crf": "SeqCRF",
    "biaffine": "biaffine",
    "binder": "BINDER, one encoder",
    "binder_own": "BINDER, two encoders",
    "per_type": "one pass for each type",
}


def cost(results: Path) -> str:
    """Table 7: words a second, and times of the softmax tagger."""
    found = read_result(results, "binder_cost")
    if not found:
        return NOT_RUN
    training, inference = found["training"], found["inference"]
    body = []
    for name, what in _SYSTEMS.items():
        paper = SPEED.get(name)
        cells = [
            _speed(training, name),
            *(_speed(inference[graph], name) for graph in ("torch", "fp32", "int8")),
        ]
        said = inference["torch"].get("mentions", {}).get(name)
        cells.append("" if said is None else f"{said:,}")
        body.append([what, *cells, *(f"{n:,}" for n in paper)] if paper else [what, *cells, "", ""])
    trained = f"training, {found['precision']}" if "precision" in found else "training"
    head = [
        "words a CPU second (time over SEQ)",
        trained,
        "inference, torch",
        "inference, ONNX fp32",
    ]
    heads = [
        *head,
        "inference, ONNX int8",
        "mentions found",
        "paper: training, w/s",
        "paper: inference, w/s",
    ]
    return markdown(heads, body)


def _speed(of: Mapping[str, Any], name: str) -> str:
    if name not in of:
        return "no export" if name == "per_type" else NOT_RUN
    ratio = of[name].get("ratio")
    told = f" ({ratio['median']:.2f}, {ratio['low']:.2f} to {ratio['high']:.2f})" if ratio else ""
    return f"{of[name]['words_per_cpu_second']:,}{told}"


def token_rule(results: Path) -> str:
    """Labels of names as sequences of tokens, beside the quality that the paper states."""
    found = read_result(results, token_labels.NAME)
    if not found:
        return NOT_RUN
    said = {
        ("train", "Chemical"): "98.0 / 63.1",
        ("train", "Disease"): "98.3 / 46.7",
        ("test", ""): "86.4 / 51.2",
    }
    body = []
    for part, kind in (
        *((part, kind) for part in token_labels.PARTS for kind in ("Chemical", "Disease")),
        ("test", ""),
    ):
        cells = []
        for unit in ("mentions", "tokens"):
            right, given, gold = token_labels.rates(found, part, unit, kind)
            cells.append(f"{100 * right / given:.1f} / {100 * right / gold:.1f}")
        body.append([part, kind or "both", *cells, said.get((part, kind), "")])
    return markdown(["part", "type", "mentions: P / R", "tokens: P / R", "the paper: P / R"], body)


def breakdown(results: Path) -> str:
    """Table 8: F1 of spans, starts, ends, and with any overlap, by run and type."""
    runs = read_result(results, "binder_analysis").get("runs", {})
    body = []
    for name, run in runs.items():
        kinds = sorted(run["f1"], key=lambda kind: (kind == "ALL", kind))
        body += [[f"`{name}`", kind, *_four(run["f1"][kind])] for kind in kinds]
    body = body or [[NOT_RUN, *[""] * 5]]
    body += [
        [f"paper, {name}", "ALL", *(f"{n:.1f}" for n in numbers)]
        for name, numbers in BREAKDOWN.items()
    ]
    return markdown(["run", "type", "F1, span", "F1, start", "F1, end", "F1, any overlap"], body)


def _four(of: Mapping[str, float]) -> list[str]:
    return [f"{100 * of[rule]:.1f}" for rule in ("span", "start", "end", "loose")]


def partly(results: Path, *, at_most: int = 8) -> str:
    """Table 9: predictions that are right but for a boundary, the most frequent of each run."""
    runs = read_result(results, "binder_analysis").get("runs", {})
    parts = []
    for name, run in runs.items():
        of = run["partly_right"]
        kinds = ", ".join(f"{kind} {count}" for kind, count in of["kinds"].items())
        known = of["training"]
        told = (
            f"`{name}`: {of['pairs']} predictions are right but for a boundary ({kinds}). Train "
            "has the predicted "
            f"string more often in {known['predicted']}, the gold one in {known['gold']}, both "
            "equally often in "
            f"{known['same']}, neither in {known['neither']}."
        )
        rows = [_pair(row) for row in of["most_frequent"][:at_most]]
        head = ["type", "predicted (mentions in train)", "gold (mentions in train)", "times"]
        parts.append(f"{told}\n\n{markdown(head, rows)}")
    return "\n\n".join(parts) or NOT_RUN


def _pair(row: Mapping[str, Any]) -> Sequence[str]:
    said, gold = (str(row[side]).replace("|", "\\|") for side in ("predicted", "gold"))
    return [
        row["type"],
        f"{said} ({row['predicted_in_training']})",
        f"{gold} ({row['gold_in_training']})",
        str(row["times"]),
    ]


def densities(results: Path) -> str:
    """Figures 2 and 3 in numbers: where gold spans, thresholds and other spans lie, by run and
    type.
    """
    body = []
    for file in sorted((results / "binder-densities").glob("*.json")):
        for panel in json.loads(file.read_text(encoding="utf-8"))["panels"]:
            values = [
                _percentiles(panel, group, (50, 500, 950)) for group in ("entity", "threshold")
            ]
            most = _percentiles(panel, "non-entity", (999,))
            body.append(
                [f"`{file.stem}`", panel["title"].removeprefix(f"{file.stem}: "), *values, most]
            )
    heads = [
        "gold spans: 5, 50, 95 % below",
        "thresholds: 5, 50, 95 % below",
        "other spans: 99.9 % below",
    ]
    return markdown(["run", "type", *heads], body or [[NOT_RUN, *[""] * 4]])


def _percentiles(panel: Mapping[str, Any], group: str, shares: Iterable[int]) -> str:
    """The upper edges of the bins that reach some shares of the values, in thousandths."""
    reached, edges = list(accumulate(panel["counts"][group])), panel["edges"][1:]
    if not reached[-1]:
        return "none"
    return ", ".join(
        f"{edges[bisect_left(reached, share * reached[-1] / 1000)]:.1f}" for share in shares
    )


def unseen(results: Path) -> str:
    """Types that training did not see, described afterwards."""
    runs = read_result(results, "unseen_types").get("runs", {})
    trained = [run["trained"] for run in runs.values() if "trained" in run]
    body = []
    for run in runs.values():
        for name, of in run.get("types", {}).items():
            known = [f"{100 * t[name]['micro']['f1']:.1f}" for t in trained if name in t]
            mentions = f"{of['alone']['micro']['support']:,}"
            cells = [_with_interval(of[way]) for way in ("alone", "together")]
            best = " / ".join(f"{100 * of['in_hindsight'][which]:.1f}" for which in ALL)
            body.append(
                [name, mentions, str(run["seed"]), *cells, best, ", ".join(known) or NOT_RUN]
            )
    head = [
        "type",
        "mentions in test",
        "seed",
        "described alone: P / R / F1",
        "with all others: P / R / F1",
    ]
    heads = [*head, "alone, best cutoff in hindsight: P / R / F1", "F1 where it was trained on"]
    return markdown(heads, body or [[NOT_RUN, *[""] * (len(heads) - 1)]])


def reworded(results: Path) -> str:
    """Types that training did see, described in other words afterwards."""
    runs = read_result(results, "unseen_types").get("runs", {})
    ways = {
        "description": "the description it was trained on",
        "keyword": "its keyword",
        "name": "its name",
    }
    body = [
        [told, str(run["seed"]), _with_interval(run["all"][way])]
        for run in runs.values()
        for way, told in ways.items()
        if "all" in run
    ]
    return markdown(
        ["each type is described by", "seed", "all types: P / R / F1"], body or [[NOT_RUN, "", ""]]
    )


def _with_interval(of: Mapping[str, Any]) -> str:
    numbers = " / ".join(f"{100 * of['micro'][which]:.1f}" for which in ALL)
    return (
        f"{numbers} ({100 * of['f1_interval']['low']:.1f} to {100 * of['f1_interval']['high']:.1f})"
    )
