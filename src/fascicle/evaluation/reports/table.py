"""Scores for a person, on a terminal: tables in plain text, percentages with two decimals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final

from fascicle.core.wording import plural, shorten
from fascicle.evaluation.report import TITLES as NUMBERS
from fascicle.evaluation.report import Headline, undefined_notes
from fascicle.evaluation.scoring.inputs import ScoredSystem
from fascicle.evaluation.scoring.rules import RULES, TITLES
from fascicle.evaluation.scoring.scores import ZERO_RULES, Counts, Scores, figures
from fascicle.evaluation.uncertainty.intervals import HEADLINE

HEADER: Final = ("type", "P", "R", "F1", "gold", "predicted", "TP", "FP", "FN")
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
    types = (
        [counts_line(name, counts) for name, counts in scores.by_type.items()] if by_type else []
    )
    averages = [counts_line("micro", scores.counts), _macro(scores)]
    lenient = [counts_line(TITLES[rule_scores.rule], rule_scores.counts) for rule_scores in others]
    blocks = [block for block in (types, averages, lenient) if block]
    notes = _notes(scores, headline=headline, unit=unit)
    if others:
        notes.append(
            "The last lines are micro scores under other rules of matching; docs/scores.md "
            "defines them."
        )
    if _has_undefined(chain.from_iterable(blocks)):
        notes.append(_undefined(scores))
    return "\n".join([*_ruled_blocks(blocks), "", *notes]) + "\n"


def _ruled_blocks(blocks: Sequence[Sequence[Sequence[str]]]) -> Iterator[str]:
    """Aligns blocks of rows below one header, with a rule above each."""
    head, *rest = aligned_rows([HEADER, *chain.from_iterable(blocks)])
    yield head.rstrip()
    lines = iter(rest)
    for block in blocks:
        yield "-" * len(head)
        yield from (line.rstrip() for line in islice(lines, len(block)))


def _has_undefined(rows: Iterable[Sequence[str]]) -> bool:
    return any(UNDEFINED in row for row in rows)


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
    parts = [_system_rows(systems, headlines), *([_types(systems)] if by_type else [])]
    gold = systems[0].strict.counts.support
    notes = [
        _notes(systems[0].strict)[0],
        f"There {'is' if gold == 1 else 'are'} {plural(gold, 'gold mention')}.",
        "From start only to type only: micro F1 under other rules of matching; docs/scores.md "
        "defines them.",
    ]
    for system in systems:
        headline = (headlines or {}).get(system.name)
        own = _notes(system.strict, headline=headline, unit=unit)[1:]
        notes += [f"{system.name}: {note}" for note in own]
    if _has_undefined(chain.from_iterable(parts)):
        notes.append(_undefined(systems[0].strict))
    return "\n\n".join([*map(ruled_rows, parts), "\n".join(notes)]) + "\n"


def _system_rows(
    systems: Sequence[ScoredSystem], headlines: Mapping[str, Headline] | None
) -> list[Sequence[str]]:
    interval = [] if headlines is None else ["interval"]
    rules = (TITLES[rule] for rule in RULES if rule != "strict")
    rows: list[Sequence[str]] = [
        ["system", "P", "R", "F1", *interval, "macro F1", *rules, *HEADER[5:]]
    ]
    for system in systems:
        line = counts_line(system.name, system.strict.counts)
        lenient = (percent(figures(scores.counts).f1) for scores in system.others)
        ends = [] if headlines is None else [_ends(headlines[system.name], "micro_f1")]
        rows.append([*line[:4], *ends, _macro(system.strict)[3], *lenient, *line[5:]])
    return rows


def _notes(
    scores: Scores, *, headline: Headline | None = None, unit: str = "document"
) -> list[str]:
    """Returns the sentences that belong below any table of these scores."""
    match = (
        "Strict match of document, type and offsets"
        if scores.rule == "strict"
        else f"Rule {TITLES[scores.rule]!r}"
    )
    notes = [f"{match} over {plural(len(scores.by_document), 'document')}."]
    if headline is not None and headline.intervals:
        notes += interval_notes(headline, unit)
    if scores.duplicates_gold or scores.duplicates_predicted:
        notes.append(
            f"Duplicates counted once: {scores.duplicates_gold:,} in the gold, "
            f"{scores.duplicates_predicted:,} in the predictions."
        )
    if scores.missing:
        notes.append(
            f"Documents without predictions: {len(scores.missing):,}; nothing counts as found in "
            "them."
        )
    if scores.zero_rule != "zero":
        notes.append(f"Quantities without a denominator follow the rule {scores.zero_rule!r}.")
    return notes


def interval_notes(headline: Headline, unit: str = "document") -> list[str]:
    """Returns the intervals in one sentence, and what was left out of them.

    Args:
        headline: at least one interval.
        unit: what was drawn.
    """
    first = next(iter(headline.intervals.values()))
    reasons = {name: f" ({why})" for name, why in headline.undefined.items()}
    ends = (f"{NUMBERS[name]} {_ends(headline, name)}{reasons.get(name, '')}" for name in HEADLINE)
    drawn = f"bootstrap over {unit}s, {plural(first.resamples, 'draw')}, seed {first.seed}"
    intervals = {name: interval.as_dict() for name, interval in headline.intervals.items()}
    return [
        f"{first.level:.0%} intervals ({drawn}): {', '.join(ends)}.",
        *undefined_notes(intervals, unit),
    ]


def _ends(headline: Headline, name: str) -> str:
    interval = headline.intervals.get(name)
    return UNDEFINED if interval is None else f"{percent(interval.low)} to {percent(interval.high)}"


def _undefined(scores: Scores) -> str:
    return (
        f"{UNDEFINED} is undefined: no prediction (P), no gold mention (R), or neither (F1); macro "
        f"averages take {ZERO_RULES[scores.zero_rule]:g} for it."
    )


def _types(systems: Sequence[ScoredSystem]) -> list[Sequence[str]]:
    """Formats F1 per type of each system."""
    rows: list[Sequence[str]] = [["F1 by type", "gold", *(system.name for system in systems)]]
    for name in sorted({name for system in systems for name in system.strict.by_type}):
        counts = [system.strict.by_type.get(name, Counts()) for system in systems]
        gold = max(part.support for part in counts)
        rows.append([name, f"{gold:,}", *(percent(figures(part).f1) for part in counts)])
    return rows


def counts_line(name: str, counts: Counts) -> tuple[str, ...]:
    """Returns the cells of a line: figures in percent, then counts."""
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
    return align_columns([list(map(shorten, row)) for row in rows])


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of equal width, the first to the left, the numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *rest in rows:
        cells = map(str.rjust, rest, widths[1:])
        lines.append("  ".join([first.ljust(widths[0]), *cells]))
    return lines
