"""The table of the best single models: as trained, in 8 bits, and with rules for abbreviations."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import result

NAME = "best-8-bits"
HEAD = (
    "| corpus | system | seeds | as trained | in 8 bits | with rules for abbreviations | 95 % interval, first seed |\n"
    "| --- | --- | --- | --- | --- | --- | --- |"
)


def table(results: Path) -> str:
    """F1 on test by corpus and system, the mean over seeds."""
    rows: dict[tuple[str, str, bool], list[Mapping[str, Any]]] = {}
    for one in result(NAME, results).get("runs", {}).values():
        rows.setdefault((one["corpus"], one["system"], one["refit"]), []).append(one)
    return "\n".join([HEAD, *(_row(key, sorted(found, key=lambda one: one["seed"])) for key, found in rows.items())])


def _row(key: tuple[str, str, bool], found: Sequence[Mapping[str, Any]]) -> str:
    corpus, system, refit = key
    interval = found[0]["resolved"]["f1_interval"]
    cells = [
        corpus,
        f"`{system}`" + (", refit on train and dev" if refit else ""),
        str(len(found)),
        *(_mean([one[name]["micro"]["f1"] for one in found]) for name in ("whole", "int8", "resolved")),
        f"{100 * interval['low']:.1f} to {100 * interval['high']:.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def _mean(values: Sequence[float]) -> str:
    mean = f"{100 * statistics.mean(values):.2f}"
    return f"{mean} ± {100 * statistics.stdev(values):.2f}" if len(values) > 1 else mean
