"""Tables of runs of pipelines: what they withstand and cost, and what PubMed and PMC would cost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from studies.common import result
from studies.tables.grids import MISSING, markdown

# Documents, and characters in each. A citation without an abstract is shorter, and the articles of
# CRAFT, with their reference lists taken away, are about as long as this.
LIBRARIES = (
    ("PubMed, 38 million citations", 38e6, 1_500),
    ("PMC, 7 million open articles", 7e6, 40_000),
)
PRICE = 0.04  # US dollars for an hour of one core
CORES = 100
PIPELINES = (
    ("", "abbreviations, names of the shipped pack"),
    ("-model", "model, dictionary, rules, choice"),
)


def measured(results: Path) -> str:
    """What a run withstands, and what it costs beside its steps."""
    rows = [
        [what, goal, show(found) if (found := result(name, results)) else MISSING]
        for what, goal, name, show in ROWS
    ]
    return markdown(("what", "goal", "measured"), rows)


def costs(results: Path) -> str:
    """An extrapolation from the rate of one worker to whole libraries."""
    rows = []
    for suffix, what in PIPELINES:
        found = result(f"runs-workers{suffix}", results)
        for library, count, characters in LIBRARIES:
            cells = [MISSING] * 4
            if found:
                rate = found["documents_per_second"]["1"] * found["characters"] / found["documents"]
                hours = count * characters / rate / 3_600
                cells = [
                    f"{rate / 1_000:,.0f}",
                    f"{hours:,.0f}",
                    f"{hours / CORES:,.1f}",
                    f"{hours * PRICE:,.0f}",
                ]
            rows.append([library, what, *cells])
    head = (
        "texts",
        "steps",
        "thousand characters a second and core",
        "core hours",
        f"hours on {CORES} cores",
        "US dollars",
    )
    return markdown(head, rows)


def _killed(found: dict[str, Any]) -> str:
    same = "the same bytes" if found["same_bytes"] else "OTHER BYTES"
    return f"{found['kills']:,} kills, {found['runs']:,} runs, {found['starts']:,} starts: {same}"


def _slope(part: str) -> Callable[[dict[str, Any]], str]:
    def show(found: dict[str, Any]) -> str:
        slope = found[f"{part}_mib_per_100000"]
        held = f"{found[f'{part}_mib']:,.0f} MiB at the end"
        return f"{slope['estimate']:+.2f} MiB ({slope['low']:+.2f} to {slope['high']:+.2f}), {held}"

    return show


def _ratio(key: str) -> Callable[[dict[str, Any]], str]:
    return lambda found: f"{found[key]:.2f}"


def _damaged(found: dict[str, Any]) -> str:
    return (
        f"{found['files']:,} files of {len(found['targets'])} kinds: {found['broken']:,} "
        "broke a rule"
    )


ROWS: tuple[tuple[str, str, str, Callable[[dict[str, Any]], str]], ...] = (
    (
        "10,000 documents, term pack, killed at random moments",
        "100 kills, the same bytes",
        "killed-runs",
        _killed,
    ),
    ("the same with the model", "5 kills, the same bytes", "killed-runs-model", _killed),
    (
        "memory of a worker, for 100,000 documents more",
        "interval holds 0",
        "runs-memory",
        _slope("worker"),
    ),
    (
        "memory of the run itself, for 100,000 documents more",
        "report",
        "runs-memory",
        _slope("run"),
    ),
    ("2 workers against 1, term pack", "at least 1.8", "runs-workers", _ratio("ratio_of_work")),
    ("2 workers against 1, model", "at least 1.8", "runs-workers-model", _ratio("ratio_of_work")),
    (
        "CPU time of a pipeline against its steps, term pack",
        "at most 1.10",
        "runs-overhead",
        _ratio("overhead"),
    ),
    (
        "CPU time of a pipeline against its steps, model",
        "at most 1.10",
        "runs-overhead-model",
        _ratio("overhead"),
    ),
    ("damaged XML and JSON files", "10,000 files, none breaks a rule", "runs-damaged", _damaged),
    (
        "one abstract: `fascicle run` against `annotate`, whole process",
        "report",
        "runs-start",
        _ratio("ratio"),
    ),
)
