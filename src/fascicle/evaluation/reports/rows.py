"""Rows of a report that are the same in Markdown and on the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from fascicle.evaluation.report_parts import Report, SystemPart
from fascicle.evaluation.scoring.rules import RULES


class RowTable(Protocol):
    """A table that rows are added to."""

    def name(self, text: str) -> str:
        """Formats a name."""

    def add(self, *cells: str) -> None:
        """Adds a row."""

    def share(self, row: Mapping[str, Any], name: str, *, best: float | None = None) -> str:
        """Formats a share in percent, or why it is undefined."""

    def because(self, reason: str) -> str:
        """Returns an undefined cell."""


def best_value(values: Iterable[float | None]) -> float | None:
    """Returns the highest of several values, if there are several and they are not all the same."""
    defined = [value for value in values if value is not None]
    return max(defined) if len(set(defined)) > 1 else None


def add_rules(table: RowTable, systems: Sequence[SystemPart]) -> None:
    """Adds micro F1 of each system under each rule of matching."""
    best = {}
    for rule in RULES:
        best[rule] = best_value(
            system["scores"]["rules"][rule]["micro"]["f1"] for system in systems
        )
    for system in systems:
        rules = system["scores"]["rules"]
        cells = (table.share(rules[rule]["micro"], "f1", best=best[rule]) for rule in RULES)
        table.add(table.name(system["name"]), *cells)


def types_of(systems: Iterable[SystemPart]) -> list[str]:
    """Returns the types that the gold or a system has, sorted."""
    return sorted(
        frozenset().union(*(system["scores"]["rules"]["strict"]["types"] for system in systems))
    )


def add_types(table: RowTable, report: Report) -> None:
    """Adds of each type its gold mentions, and precision, recall, F1 and loose F1 of each
    system.
    """
    rules = [system["scores"]["rules"] for system in report["systems"]]
    for name in types_of(report["systems"]):
        strict = [rows["strict"]["types"].get(name) for rows in rules]
        loose = [rows["loose"]["types"].get(name) for rows in rules]
        best = best_value(row["f1"] for row in strict if row is not None)
        cells: list[str] = []
        for row, loose_row in zip(strict, loose, strict=True):
            if row is None or loose_row is None:
                cells += [table.because("neither the gold nor this system has the type")] * 4
                continue
            cells += [table.share(row, "precision"), table.share(row, "recall")]
            cells += [table.share(row, "f1", best=best), table.share(loose_row, "f1")]
        table.add(table.name(name), f"{report['gold']['types'].get(name, 0):,}", *cells)


def add_subsets(
    table: RowTable, systems: Iterable[SystemPart], titles: Iterable[tuple[str, str]]
) -> None:
    """Adds the recall of each system on parts of the gold; each has a key and a title."""
    for key, title in titles:
        rows = [system["subsets"][key] for system in systems]
        gold, best = rows[0]["gold"], best_value(row["recall"] for row in rows)
        count = table.because(rows[0]["undefined"]) if gold is None else f"{gold:,}"
        table.add(title, count, *(table.share(row, "recall", best=best) for row in rows))


def add_bins(table: RowTable, value: Mapping[str, Any]) -> None:
    """Adds the mentions in each interval of the score, their mean score and their precision."""
    for number, interval in enumerate(value["reliability"]):
        row = {**interval, "undefined": "no mention has such a score"}
        table.add(
            f"{'(' if number else '['}{interval['low']:.4g}, {interval['high']:.4g}]",
            f"{interval['count']:,}",
            table.share(row, "mean_score"),
            table.share(row, "precision"),
        )


def add_thresholds(table: RowTable, value: Mapping[str, Any]) -> None:
    """Adds the threshold for each goal, with precision and recall."""
    for row in value["thresholds"]:
        if row["threshold"] is None:
            table.add(row["for"], *[table.because(row["undefined"])] * 3)
            continue
        rates = (table.share(row, name) for name in ("precision", "recall"))
        table.add(row["for"], f"{row['threshold']:.4g}", *rates)


def add_calibrated_types(table: RowTable, value: Mapping[str, Any]) -> None:
    """Adds the calibration of the scores of each type."""
    for name, row in value["types"].items():
        errors = (
            table.share(row, key) for key in ("expected_calibration_error", "average_precision")
        )
        table.add(table.name(name), f"{row['predicted']:,}", *errors)
