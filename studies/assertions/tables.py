"""How right the facts of mentions are, in a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fascicle.training.experiments.results import read_result
from studies.tables.grids import NOT_RUN, markdown


def scores(results: Path) -> str:
    """Scores of the rules and of other tools, with the time for a text."""
    body = []
    for part, row in read_result(results, "assertions").get("parts", {}).items():
        for at, (system, negated) in enumerate(row["negated"].items()):
            every = row["all facts"].get(system)
            cells = [
                *(("", "") if at else (part, f"{row['mentions']:,}")),
                system,
                *(f"{negated[rate][0]:.1f}" for rate in ("precision", "recall")),
                _interval(negated["f1"]),
                _interval(every["f1"]) if every else "–",
                _less(negated if every is None else every) if at else "",
                f"{row['milliseconds a text'][system]:.2f}",
            ]
            body.append(cells)
    head = ["texts", "mentions", "system", "negated: precision", "recall", "F1"]
    head += ["F1 of all facts", "Fascicle's F1 less this", "ms a text"]
    return markdown(head, body) if body else NOT_RUN


def _interval(rate: Sequence[float]) -> str:
    value, low, high = rate
    return f"{value:.1f} ({low:.1f} to {high:.1f})"


def _less(row: Mapping[str, Any]) -> str:
    low, high = row["ours less it, f1"]
    return f"{low:+.1f} to {high:+.1f}"
