"""Scores for a person: a table in plain text, percentages with two decimals."""

from __future__ import annotations

from collections.abc import Sequence

from fascicle.evaluate.intervals import Interval
from fascicle.evaluate.scores import Counts, Rates, Scores

_HEADER = ("type", "P", "R", "F1", "gold", "predicted", "TP", "FP", "FN")


def table(scores: Scores, *, interval: Interval | None = None) -> str:
    """A readable table: one line per type, then micro and macro, then what a reader must know to trust them.

    Args:
        scores: what to show.
        interval: of the micro F1; ``None`` leaves the line out.
    """
    rows = [_line(name, scores.rates(name), counts) for name, counts in scores.by_type.items()]
    macro = scores.macro
    averages = [
        _line("micro", scores.micro, scores.counts),
        ("macro", *map(percent, (macro.precision, macro.recall, macro.f1)), *[""] * 5),
    ]
    aligned = aligned_rows([_HEADER, *rows, *averages])
    rule = "-" * len(aligned[0])
    body = [aligned[0], rule, *aligned[1:-2], *([rule] if rows else []), *aligned[-2:]]
    return "\n".join([*(line.rstrip() for line in body), "", *notes(scores, interval=interval)]) + "\n"


def notes(scores: Scores, *, interval: Interval | None = None) -> list[str]:
    """What belongs below any table of these scores, as sentences."""
    said = [f"Strict match of document, type and offsets over {len(scores.by_document):,} documents."]
    if interval is not None:
        said.append(
            f"Micro F1 {percent(interval.estimate)}, {interval.level:.0%} interval {percent(interval.low)} to "
            f"{percent(interval.high)} (bootstrap over documents, {interval.resamples:,} draws, seed {interval.seed})."
        )
    if scores.duplicates_gold or scores.duplicates_predicted:
        said.append(
            f"Duplicates counted once: {scores.duplicates_gold:,} in the gold, "
            f"{scores.duplicates_predicted:,} in the predictions."
        )
    if scores.missing:
        said.append(f"Documents without predictions: {len(scores.missing):,}; nothing counts as found in them.")
    if scores.zero_rule != "zero":
        said.append(f"Quantities without a denominator follow the rule {scores.zero_rule!r}.")
    return said


def _line(name: str, rates: Rates, counts: Counts) -> tuple[str, ...]:
    numbers = (counts.support, counts.predicted, counts.tp, counts.fp, counts.fn)
    return (name, *map(percent, (rates.precision, rates.recall, rates.f1)), *(f"{number:,}" for number in numbers))


def percent(share: float) -> str:
    """A share as a percentage with two decimals."""
    return f"{100 * share:.2f}"


def aligned_rows(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of equal width, the first to the left, the numbers to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if index == 0 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
