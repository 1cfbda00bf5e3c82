"""Tables of the seconds that evaluation and the corpus doctor take, from
``results/evaluate-speed.json``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from studies.tables.grids import MISSING, markdown

_NONE: Final = "–"
# Name of a row -> what it is, filled from its values, and the most CPU seconds that are wanted.
Wanted = Sequence[tuple[str, str, float | None]]
EVALUATION: Final[Wanted] = (
    (
        "analysis",
        "scores, buckets and errors of {gold:,} gold and {predicted:,} predicted mentions",
        3,
    ),
    ("report_value", "the same with subsets, intervals, calibration and examples", None),
    (
        "bootstrap",
        "all intervals of two systems and of their difference, {draws:,} draws of {documents:,} "
        "documents",
        5,
    ),
    (
        "report",
        "`evaluate --report` of {systems} systems on BC5CDR test, a page of {page_mb} MB (goal: "
        "5 MB)",
        20,
    ),
)
DOCTOR: Final[Wanted] = (
    ("doctor_genia", "genia, {sentences:,} sentences, all checks but the next", 20),
    ("doctor_genia_reach", "the same with a tokenizer and a width", None),
    ("doctor_genia_jnlpba", "genia against jnlpba, {sentences:,} and {compared:,} sentences", 60),
    (
        "doctor_bc5cdr_raw",
        "bc5cdr, {sentences:,} sentences, against {characters:,} characters of full texts",
        None,
    ),
)


def seconds(results: Path, wanted: Wanted) -> str:
    """CPU seconds beside their goals, wall seconds and memory; then the machine.

    Args:
        results: the folder of the results.
        wanted: rows.
    """
    path = results / "evaluate-speed.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    rows = found.get("rows", {})
    with_peak = any("peak_mb" in rows.get(name, {}) for name, _, _ in wanted)
    body = [
        _row(what, rows.get(name), goal)[: 5 if with_peak else 4] for name, what, goal in wanted
    ]
    told = (
        f"\n\nMedians of {found['repeats']} runs, {found['date']}, on {_machine(found)}."
        if found
        else ""
    )
    head = ("what", "goal, CPU", "CPU", "wall", "peak memory")
    return markdown(head[: 5 if with_peak else 4], body) + told


def _row(what: str, value: Mapping[str, Any] | None, goal: float | None) -> list[str]:
    aim = _NONE if goal is None else f"{goal:g} s"
    if value is None:
        return [what.partition(" {")[0], aim, *[MISSING] * 3]
    peak = f"{value['peak_mb']} MB" if "peak_mb" in value else _NONE
    return [what.format(**value), aim, f"{value['cpu_s']:.1f} s", f"{value['wall_s']:.1f} s", peak]


def _machine(found: Mapping[str, Any]) -> str:
    facts = found["environment"]
    return f"{facts['processor']}, {facts['cores']} cores, {facts['threads']} thread"
