"""Coordinated names in tables: concepts of gold mentions, and discontinuous places."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fascicle.training.experiments.results import read_result
from studies.tables.grids import NOT_RUN, markdown

PARTS = {"train and dev": "coordination.dev", "test": "coordination"}
KINDS = ("coordinated", "composite", "single")


def concepts(results: Path) -> str:
    """How often the set of concepts is that of the gold, and precision and recall of concepts."""
    body = [
        [
            corpus,
            part,
            kind,
            f"`{arm}`" if arm != "linker alone" else arm,
            f"{row['mentions']:,}",
            *_figures(row),
        ]
        for part, name in PARTS.items()
        for corpus, arms in read_result(results, name).get("concepts", {}).items()
        for kind in KINDS
        for arm, kinds in arms.items()
        if (row := kinds.get(kind))
    ]
    head = [
        "corpus",
        "part",
        "gold",
        "system",
        "mentions",
        "equal sets",
        "P of concepts",
        "R of concepts",
    ]
    return markdown(head, body) if body else NOT_RUN


def places(results: Path) -> str:
    """Recall of discontinuous gold of CRAFT, and precision of what is added."""
    body = [
        [
            part,
            f"`{arm}`",
            f"{row['discontinuous']:,}",
            f"{row['coordinated']:,}",
            f"{row['added']:,}",
            f"{row['right']:,}",
            _percent(row["precision"], row["precision_interval"]),
            _percent(row["recall"], row["recall_interval"]),
            f"{100 * row['recall_of_coordinated']:.1f}",
        ]
        for part, name in PARTS.items()
        for arm, row in read_result(results, name).get("places", {}).items()
    ]
    head = [
        "part",
        "rule",
        "discontinuous",
        "of them coordinated",
        "added",
        "right",
        "P",
        "R",
        "R of coordinated",
    ]
    return markdown(head, body) if body else NOT_RUN


def _figures(row: dict[str, float]) -> list[str]:
    equal = _percent(row["equal"] / row["mentions"], row["interval"])  # type: ignore[arg-type]
    return [
        f"{row['equal']}: {equal}",
        f"{100 * row['precision']:.1f}",
        f"{100 * row['recall']:.1f}",
    ]


def _percent(share: float, interval: Sequence[float]) -> str:
    return f"{100 * share:.1f} ({100 * interval[0]:.1f} to {100 * interval[1]:.1f})"
