"""Scores for a person, on a terminal: tables in plain text, percentages with two decimals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from fascicle.core.wording import plural, shorten
from fascicle.evaluation.report import TITLES as NUMBERS
from fascicle.evaluation.report import Headline, undefined_notes
from fascicle.evaluation.scoring.inputs import ScoredSystem
from fascicle.evaluation.scoring.rules import RULES, TITLES
from fascicle.evaluation.scoring.scores import ZERO_RULES, Counts, Scores, figures
from fascicle.evaluation.uncertainty.intervals import HEADLINE

_HEADER = ("type", "P", "R", "F1", "gold", "predicted", "TP", "FP", "FN")
UNDEFINED: Final = "-"


def table(
    scores: Scores,
    *,
    headline: Headline | None = None,
    by_type: bool = True,
    others: Sequence[Scores] = (),
    unit: str = "document",
) -> str:
    """Formats a table: one line per type, then micro and macro, then notes needed to interpret
    them.

    Args:
        scores: what to show.
        headline: its intervals; ``None`` leaves the line out.
        by_type: whether types have lines.
        others: the same mentions scored under other rules of matching, a line each with their micro
            scores.
        unit: what intervals were drawn over, see ``inputs.resampling_unit``.
    """
    types = [_line(name, counts) for name, counts in scores.by_type.items()] if by_type else []
    averages = [_line("micro", scores.counts), _macro(scores)]
    lenient = [_line(TITLES[one.rule], one.counts) for one in others]
    blocks = [block for block in (types, averages, lenient) if block]
    head, *rest = aligned_rows([_HEADER, *(row for block in blocks for row in block)])
    body, lines = [head.rstrip()], iter(rest)
    for block in blocks:
        body += ["-" * len(head), *(next(lines).rstrip() for _ in block)]
    said = _notes(scores, headline=headline, unit=unit)
    if others:
        said.append(
            "The last lines are micro scores under other rules of matching; docs/scores.md "
            "defines them."
        )
    if any(UNDEFINED in row for block in blocks for row in block):
        said.append(_undefined(scores))
    return "\n".join([*body, "", *said]) + "\n"


def systems_table(
    systems: Sequence[ScoredSystem],
    *,
    headlines: Mapping[str, Headline] | None = None,
    by_type: bool = True,
    unit: str = "document",
) -> str:
    """Formats several systems on one gold: a line for each, and their F1 per type.

    Args:
        systems: with different names, at least one.
        headlines: name of a system -> its intervals, that of the micro F1 in a column and all below
            the tables; ``None`` leaves them out.
        by_type: whether there is a table of types.
        unit: what intervals were drawn over, see ``inputs.resampling_unit``.
    """
    header = [
        "system",
        "P",
        "R",
        "F1",
        *(["interval"] if headlines is not None else []),
        "macro F1",
    ]
    header += [*(TITLES[rule] for rule in RULES if rule != "strict"), *_HEADER[5:]]
    rows: list[Sequence[str]] = [header]
    for one in systems:
        line = _line(one.name, one.strict.counts)
        lenient = (percent(figures(scores.counts).f1) for scores in one.others)
        interval = [] if headlines is None else [_ends(headlines[one.name], "micro_f1")]
        rows.append([*line[:4], *interval, _macro(one.strict)[3], *lenient, *line[5:]])
    gold = systems[0].strict.counts.support
    said = [
        _notes(systems[0].strict)[0],
        f"There {'is' if gold == 1 else 'are'} {plural(gold, 'gold mention')}.",
        "From start only to type only: micro F1 under other rules of matching; docs/scores.md "
        "defines them.",
    ]
    for one in systems:
        headline = (headlines or {}).get(one.name)
        said += [
            f"{one.name}: {note}" for note in _notes(one.strict, headline=headline, unit=unit)[1:]
        ]
    parts = [rows, *([_types(systems)] if by_type else [])]
    if any(UNDEFINED in row for part in parts for row in part):
        said.append(_undefined(systems[0].strict))
    return "\n\n".join([*map(ruled_rows, parts), "\n".join(said)]) + "\n"


def _notes(
    scores: Scores, *, headline: Headline | None = None, unit: str = "document"
) -> list[str]:
    """Returns the sentences that belong below any table of these scores."""
    match = (
        "Strict match of document, type and offsets"
        if scores.rule == "strict"
        else f"Rule {TITLES[scores.rule]!r}"
    )
    said = [f"{match} over {plural(len(scores.by_document), 'document')}."]
    if headline is not None and headline.intervals:
        said += _sure(headline, unit)
    if scores.duplicates_gold or scores.duplicates_predicted:
        said.append(
            f"Duplicates counted once: {scores.duplicates_gold:,} in the gold, "
            f"{scores.duplicates_predicted:,} in the predictions."
        )
    if scores.missing:
        said.append(
            f"Documents without predictions: {len(scores.missing):,}; nothing counts as found in "
            "them."
        )
    if scores.zero_rule != "zero":
        said.append(f"Quantities without a denominator follow the rule {scores.zero_rule!r}.")
    return said


def _sure(headline: Headline, unit: str) -> list[str]:
    """Returns the intervals in one sentence, and what was left out of them."""
    one = next(iter(headline.intervals.values()))
    reasons = {name: f" ({why})" for name, why in headline.undefined.items()}
    ends = (f"{NUMBERS[name]} {_ends(headline, name)}{reasons.get(name, '')}" for name in HEADLINE)
    drawn = f"bootstrap over {unit}s, {plural(one.resamples, 'draw')}, seed {one.seed}"
    found = {name: interval.as_dict() for name, interval in headline.intervals.items()}
    return [
        f"{one.level:.0%} intervals ({drawn}): {', '.join(ends)}.",
        *undefined_notes(found, unit),
    ]


def _ends(headline: Headline, name: str) -> str:
    interval = headline.intervals.get(name)
    return UNDEFINED if interval is None else f"{percent(interval.low)} to {percent(interval.high)}"


def _undefined(scores: Scores) -> str:
    return (
        f"{UNDEFINED} is undefined: no prediction (P), no gold mention (R), or neither (F1); "
        "macro averages take "
        f"{ZERO_RULES[scores.zero_rule]:g} for it."
    )


def _types(systems: Sequence[ScoredSystem]) -> list[Sequence[str]]:
    """Formats F1 per type of each system."""
    rows: list[Sequence[str]] = [["F1 by type", "gold", *(one.name for one in systems)]]
    for name in sorted({name for one in systems for name in one.strict.by_type}):
        counts = [one.strict.by_type.get(name, Counts()) for one in systems]
        gold = max(part.support for part in counts)
        rows.append([name, f"{gold:,}", *(percent(figures(part).f1) for part in counts)])
    return rows


def _line(name: str, counts: Counts) -> tuple[str, ...]:
    numbers = (counts.support, counts.predicted, counts.tp, counts.fp, counts.fn)
    return (
        name,
        *map(percent, vars(figures(counts)).values()),
        *(f"{number:,}" for number in numbers),
    )


def _macro(scores: Scores) -> tuple[str, ...]:
    if not any(counts.support for counts in scores.by_type.values()):
        return ("macro", *[UNDEFINED] * 3, *[""] * 5)
    return ("macro", *map(percent, vars(scores.macro).values()), *[""] * 5)


def percent(share: float | None) -> str:
    """Returns a share as a percentage with two decimals; undefined if there is none."""
    return UNDEFINED if share is None else f"{100 * share:.2f}"


def ruled_rows(rows: Sequence[Sequence[str]]) -> str:
    """Aligns rows, with a rule below the header."""
    aligned = aligned_rows(rows)
    return "\n".join(line.rstrip() for line in (aligned[0], "-" * len(aligned[0]), *aligned[1:]))


def aligned_rows(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns as `align_columns`; long names are cut."""
    return align_columns([[shorten(cell) for cell in row] for row in rows])


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of equal width, the first to the left, the numbers to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if index == 0 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
