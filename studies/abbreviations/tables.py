"""Abbreviations in tables: the finder on gold, and what rules change about mentions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fascicle.training.experiments.results import read_result
from studies.abbreviations.finder import NAME
from studies.tables.grids import NOT_RUN, markdown

TEST, SHIPPED = "abbreviation-rules", "abbreviation-shipped"


def finder(results: Path) -> str:
    """Precision, recall and F1 on both halves."""
    told = read_result(results, NAME)
    body = [
        [
            half,
            f"{told[half]['pairs']:,}",
            system,
            *(_rate(told[half][key][name]) for name in ("precision", "recall", "f1")),
        ]
        for half in ("odd", "even")
        for key, system in (
            ("finder", "Fascicle"),
            ("schwartz_hearst", "Schwartz and Hearst, without repairs"),
        )
        if half in told
    ]
    return markdown(["records", "pairs", "system", "P", "R", "F1"], body) if body else NOT_RUN


def rules(results: Path) -> str:
    """Test F1 before and after, for each system, with the rules that were fitted on dev."""
    body = [
        [corpus, system, _on(row["rules"]), *_change(row), _difference(row["difference"])]
        for corpus, system, row in _rows(results)
    ]
    head = ["corpus", "system", "rules", "P", "R", "F1", "difference of F1"]
    return markdown(head, body) if body else NOT_RUN


def ablation(results: Path) -> str:
    """Differences of test F1: each rule alone, all of them, and all but one."""
    body = []
    for corpus, system, row in _rows(results):
        alone = [_points(one) for one in row["alone"].values()]
        less = [
            _points(row["without"][name]) if name in row["without"] else "–"
            for name in ("spread", "drop", "one_type")
        ]
        body.append([corpus, system, *alone, f"**{_points(row['difference'])}**", *less])
    head = [
        "corpus",
        "system",
        "exact alone",
        "end alone",
        "drop alone",
        "one type alone",
        "**fitted**",
    ]
    return markdown([*head, "less spread", "less drop", "less one type"], body) if body else NOT_RUN


def _rows(results: Path) -> list[tuple[str, str, Mapping[str, Any]]]:
    rows = [
        (corpus, system, row)
        for corpus, systems in read_result(results, TEST).get("systems", {}).items()
        for system, row in systems.items()
    ]
    shipped = read_result(results, SHIPPED)
    return (
        [*rows, ("bc5cdr, raw text", f"`{shipped['model']}`", shipped["test"])] if shipped else rows
    )


def _on(rules: Mapping[str, Any]) -> str:
    named = [f"spread {rules['spread']}"] if rules["spread"] != "no" else []
    named += [name for name in ("drop", "one_type") if rules[name]]
    return ", ".join(named) or "none"


def _change(row: Mapping[str, Any]) -> list[str]:
    before, after = (row[name]["micro"] for name in ("before", "after"))
    return [
        f"{100 * before[name]:.1f} → {100 * after[name]:.1f}"
        for name in ("precision", "recall", "f1")
    ]


def _rate(one: Mapping[str, float]) -> str:
    return f"{100 * one['estimate']:.1f} ({100 * one['low']:.1f} to {100 * one['high']:.1f})"


def _difference(one: Mapping[str, float]) -> str:
    return f"{_points(one)} ({100 * one['low']:+.2f} to {100 * one['high']:+.2f})"


def _points(one: Mapping[str, float]) -> str:
    return f"{100 * one['estimate']:+.2f}"
