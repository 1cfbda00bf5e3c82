"""Sequence variants in tables: mentions and identifiers on gold, and what was read in open text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fascicle.training.experiments.results import read_result
from studies.tables.grids import NOT_RUN, markdown

NAME, OPEN = "variants", "variants-open"
PARTS = ("train", "dev", "test")
WRONG = ("false", "misnamed")
KINDS = {
    "p|SUB": "substitution of an amino acid (p)",
    "c|SUB": "substitution of a base (c)",
    "rs in writing": "rs number in writing",
    "rs": "rs number, all",
}


def mentions(results: Path) -> str:
    """Precision, recall and F1 of exact spans on each part."""
    told = read_result(results, NAME)
    body = [
        [
            part,
            f"{told[part]['mentions']:,}",
            *(_rate(told[part][name]) for name in ("precision", "recall", "f1")),
        ]
        for part in PARTS
        if part in told
    ]
    return markdown(["part", "mentions", "P", "R", "F1"], body) if body else NOT_RUN


def identifiers(results: Path) -> str:
    """How many of the gold identifiers of each kind are met."""
    told = read_result(results, NAME)
    body = [
        [words, *(_share(told[part]["identifiers"][kind]) for part in PARTS)]
        for kind, words in KINDS.items()
        if told
    ]
    return markdown(["kind", *PARTS], body) if body else NOT_RUN


def read_one_by_one(results: Path) -> str:
    """The share of what was found wrongly in open text."""
    told = read_result(results, OPEN)
    if not told:
        return NOT_RUN
    row = [f"{told['paragraphs']:,}", f"{told['mentions']:,}"]
    for what in WRONG:
        count = told[what]["mentions"]
        row.append(f"{count}: {_percent(count / told['mentions'], told[what]['interval'])}")
    return markdown(["paragraphs", "mentions", "false", "with a wrong name"], [row])


def _rate(one: Mapping[str, float]) -> str:
    return _percent(one["estimate"], (one["low"], one["high"]))


def _share(one: Mapping[str, Any]) -> str:
    return (
        f"{one['met']} of {one['of']}: {_percent(one['met'] / max(one['of'], 1), one['interval'])}"
    )


def _percent(share: float, interval: Sequence[float]) -> str:
    return f"{100 * share:.1f} ({100 * interval[0]:.1f} to {100 * interval[1]:.1f})"
