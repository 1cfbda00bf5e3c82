"""A comparison for a person, as plain text or as Markdown."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fascicle.core.wording import plural
from fascicle.evaluation.comparison.comparing import LEVEL, Comparison, Measured, SystemPair
from fascicle.evaluation.comparison.search import (
    Chosen,
    ScoredCombination,
    SearchChoice,
    SearchResult,
)
from fascicle.evaluation.reports.markdown_table import escaped
from fascicle.evaluation.reports.table import aligned_rows, percent
from fascicle.evaluation.scoring.scores import ONE_DOCUMENT, Counts
from fascicle.evaluation.uncertainty.intervals import Interval

SHOWN = 10  # combinations in the table; the JSON has all of them
_ALPHA = 1 - LEVEL
# what is as high as possible -> what has a floor
_FLOORS: Final = {"precision": "recall", "recall": "precision"}
_NUMBERS: Final = re.compile(r"[\d\s.,%+\-–()\[\]]*")


@dataclass(frozen=True, kw_only=True)
class _Section:
    """A table with its title, what must be known to read it, and commands that it leads to."""

    title: str
    rows: Sequence[Sequence[str]] = ()
    notes: Sequence[str] = ()
    commands: Sequence[tuple[str, str]] = ()


def as_text(sections: Sequence[_Section]) -> str:
    """Formats the comparison for a terminal."""
    return "\n".join(_joined(_text_lines(section)) for section in sections)


def as_markdown(title: str, sections: Sequence[_Section], *, notes: Sequence[str] = ()) -> str:
    """Formats the comparison as Markdown; notes on what was compared come first."""
    parts = [f"# {_escaped(title)}\n"]
    if notes:
        parts.append(_joined(f"- {_escaped(note)}" for note in notes))
    parts += [_joined(_markdown(section)) for section in sections]
    return "\n".join(parts)


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def make_sections(
    comparison: Comparison, choices: SearchResult | None = None, *, commands: Sequence[str] = ()
) -> list[_Section]:
    """Returns the comparison as tables.

    Args:
        comparison: of the systems.
        choices: of the combinations; ``None`` leaves them out.
        commands: for each choice of a combination the command that makes it, in the order of
            ``choices``.
    """
    signs = _signs(len(comparison.rows))
    sections = [
        _systems(comparison, signs),
        _together(comparison),
        _pairs(comparison, dict(zip((row.name for row in comparison.rows), signs, strict=True))),
        _matrix(
            "Gold mentions that the row misses and the column finds", signs, comparison.found_by
        ),
        _matrix(
            "False positives of the row that the column does not have", signs, comparison.avoided_by
        ),
        _types(comparison, signs),
    ]
    if choices is not None:
        sections += [_combinations(choices, signs), _choices(choices, signs, commands)]
    return sections


def _combined(candidate: ScoredCombination, names: Sequence[str]) -> tuple[str, str]:
    """Returns the rule of a combination in words, ``2 of 3`` for k of n, and its systems."""
    rule = (
        f"{candidate.rule.votes} of {len(candidate.members)}"
        if candidate.rule.name == "kofn"
        else candidate.rule.name
    )
    return rule, " + ".join(names[member] for member in candidate.members)


def _signs(count: int) -> list[str]:
    """Returns short names for columns: A, B, C ..., and numbers after the alphabet ends."""
    letters = string.ascii_uppercase
    return (
        list(letters[:count])
        if count <= len(letters)
        else [str(number) for number in range(1, count + 1)]
    )


def _systems(comparison: Comparison, signs: Sequence[str]) -> _Section:
    head = ("system", "P", "R", "F1", "predicted", "TP", "FP", "FN", "only it finds", "only its FP")
    rows = [
        (
            f"{sign} {row.name}",
            *_measured(row.measured),
            f"{row.unique_true:,}",
            f"{row.unique_false:,}",
        )
        for sign, row in zip(signs, comparison.rows, strict=True)
    ]
    intervals = (
        f"in brackets the {LEVEL:.0%} interval (bootstrap over {comparison.unit}s, "
        f"{comparison.resamples:,} draws, seed {comparison.seed})"
        if comparison.documents > 1
        else f"no intervals, because {ONE_DOCUMENT}"
    )
    note = (
        "Strict match of document, type and offsets over "
        f"{plural(comparison.documents, comparison.unit)} with {comparison.gold:,} gold mentions; "
        f"{intervals}."
    )
    return _Section(title="Systems", rows=[head, *rows], notes=[note])


def _together(comparison: Comparison) -> _Section:
    head = ("all systems", "P", "R", "F1", "predicted", "TP", "FP", "FN")
    rows = [
        (name, *_measured(measured))
        for name, measured in (
            ("union", comparison.union),
            ("intersection", comparison.intersection),
        )
    ]
    note = (
        "The recall of the union limits every combination; a filter that kept exactly what is "
        f"right of it would have F1 {percent(comparison.oracle_f1)}."
    )
    return _Section(title="Together", rows=[head, *rows], notes=[note])


def _pairs(comparison: Comparison, signs: Mapping[str, str]) -> _Section:
    head = (
        "pair",
        "agreement F1",
        "shared TP",
        "F1 difference",
        "p bootstrap",
        "corrected",
        "p randomisation",
        "corrected",
        "differ",
    )
    rows = [
        (
            f"{signs[pair.first]} - {signs[pair.second]}",
            percent(pair.agreement),
            f"{pair.shared_true:,}",
            _with_ends(pair.difference, signed=True),
            f"{pair.difference.p_value:.4f}",
            f"{pair.bootstrap_p:.4f}",
            f"{pair.randomisation_p:.4f}",
            f"{pair.randomisation_p_corrected:.4f}",
            "yes" if pair.differ() else "not shown",
        )
        for pair in comparison.pairs
    ]
    return _Section(title="Pairs", rows=[head, *rows], notes=list(_verdict(comparison, signs)))


def _verdict(comparison: Comparison, signs: Mapping[str, str]) -> Iterator[str]:
    """Yields sentences on which differences between systems the tests support, and which not."""
    pairs = comparison.pairs
    differing = [pair for pair in pairs if pair.differ()]
    corrected = (
        f", corrected for {plural(len(pairs), 'pair')} by Holm's method" if len(pairs) > 1 else ""
    )
    if differing:
        rest = len(pairs) - len(differing)
        unsupported = f"; for the other {rest} the data do not show a difference" if rest else ""
        yield (
            f"In F1, {_better(differing, signs)} at the level of {_ALPHA:.0%} by both "
            f"tests{corrected}{unsupported}."
        )
    else:
        yield f"No difference in F1 is shown at the level of {_ALPHA:.0%} by both tests{corrected}."
    yield (
        "The tests (paired bootstrap; approximate randomisation) are about the choice of texts, "
        "not about training seeds; that a difference is not shown does not mean that there is none."
    )
    # two of all ways to swap differ as what was observed
    few = math.ldexp(2.0 * len(pairs), -comparison.documents)
    if few >= _ALPHA and not differing:
        yield (
            f"With {len(pairs)} {'pair' if len(pairs) == 1 else 'pairs'} and "
            f"{plural(comparison.documents, comparison.unit)} no difference can be shown, however "
            f"large: the randomisation gives no corrected p-value below about {min(1.0, few):.3f}; "
            f"give more {comparison.unit}s."
        )
    smallest = min(1.0, 2 * len(pairs) / (comparison.resamples + 1))
    if smallest >= _ALPHA:
        needed = math.ceil(2 * len(pairs) / _ALPHA)
        yield (
            f"With {plural(len(pairs), 'pair')} and {plural(comparison.resamples, 'draw')} no "
            f"corrected p-value of the bootstrap can be below {smallest:.3f}: give --resamples "
            f"{needed:,} or more."
        )


def _better(pairs: Sequence[SystemPair], signs: Mapping[str, str]) -> str:
    """``A is better than B, C and D, B is better than D``."""
    worse: dict[str, list[str]] = {}
    for pair in pairs:
        names = (
            (pair.first, pair.second) if pair.difference.estimate > 0 else (pair.second, pair.first)
        )
        worse.setdefault(signs[names[0]], []).append(signs[names[1]])
    return ", ".join(
        f"{sign} is better than {_enumerate(losers)}" for sign, losers in sorted(worse.items())
    )


def _enumerate(names: Sequence[str]) -> str:
    return " and ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), names[-1]])


def _types(comparison: Comparison, signs: Sequence[str]) -> _Section:
    head = ("type", "gold", "system", "P", "R", "F1", "only it finds")
    rows = []
    for name, counts in comparison.types.items():
        counts_by_system = [
            row.by_type.get(name, Counts(fn=counts.support)) for row in comparison.rows
        ]
        unique = [f"{number:,}" for number in comparison.unique_by_type[name]]
        lines = zip((*signs, "union"), (*counts_by_system, counts), (*unique, ""), strict=True)
        for at, (sign, own, only) in enumerate(lines):
            first = (name, f"{counts.support:,}") if at == 0 else ("", "")
            rows.append((*first, sign, *map(percent, vars(own.rates()).values()), only))
    return _Section(title="Types", rows=[head, *rows])


def _matrix(title: str, names: Sequence[str], numbers: Sequence[Sequence[int]]) -> _Section:
    rows: list[Sequence[str]] = [("", *names)]
    for at, (name, row) in enumerate(zip(names, numbers, strict=True)):
        cells = [f"{number:,}" for number in row]
        cells[at] = ""
        rows.append((name, *cells))
    return _Section(title=title, rows=rows)


def _combinations(choices: SearchResult, names: Sequence[str]) -> _Section:
    head = ("rule", "systems", "P", "R", "F1")
    different = [candidate for candidate in choices.candidates if not candidate.repeats]
    rows = [
        (
            *_combined(candidate, names),
            *map(percent, (candidate.precision, candidate.recall)),
            f"{percent(candidate.f1)} [{', '.join(map(percent, candidate.f1_interval))}]",
        )
        for candidate in different[:SHOWN]
    ]
    note = (
        f"{plural(len(choices.candidates), 'combination')} of two or more systems were scored on "
        f"this gold, {len(different):,} of which keep different mentions"
    )
    limit_note = f"; these are the best {SHOWN} of them by F1" if len(different) > SHOWN else ""
    return _Section(title="Combinations", rows=[head, *rows], notes=[f"{note}{limit_note}."])


def _cells_of(choice: Chosen, names: Sequence[str]) -> tuple[str, ...]:
    """Returns rule and systems of a combination, its figures, and what it gains."""
    cells = (*_combined(choice.candidate, names), *_measured(choice.measured)[:3])
    return (*cells, _with_ends(choice.gain, signed=True))


def _note_on_floor(choice: SearchChoice) -> str:
    return (
        f"No combination has a {_FLOORS[choice.aim]} of at least {percent(choice.floor)}; the "
        f"highest is {percent(choice.reachable)}."
    )


def _choices(choices: SearchResult, names: Sequence[str], commands: Sequence[str]) -> _Section:
    single = names[choices.single]
    rows: list[Sequence[str]] = [("best", "rule", "systems", "P", "R", "F1", f"F1 less {single}")]
    notes = []
    aims: dict[str, list[str]] = {}  # command -> what it is best at
    for choice, command in zip(choices.choices, commands, strict=True):
        selection = choice.chosen
        if selection is None:
            notes.append(_note_on_floor(choice))
            continue
        rows.append((_aim(choice), *_cells_of(selection, names)))
        aims.setdefault(command, []).append(_aim(choice))
    best = choices.choices[0].chosen
    if best is not None and best.gain.estimate <= 0:
        f1 = percent(choices.candidates[0].f1)
        notes.append(f"No combination has a higher F1 than {single} alone ({f1} at best).")
    notes.append(
        "Chosen on this gold, so these figures flatter the choice: take development data here, "
        "and score what was chosen on other texts, once."
    )
    labelled = [("; ".join(aim_names), command) for command, aim_names in aims.items()]
    return _Section(title="Choices", rows=rows, notes=notes, commands=labelled)


def _aim(choice: SearchChoice) -> str:
    if choice.aim not in _FLOORS:
        return "F1"
    return f"{choice.aim} at {_FLOORS[choice.aim]} >= {percent(choice.floor)}"


def _measured(measured: Measured) -> tuple[str, ...]:
    """Returns precision, recall and F1 with their intervals, then the counts."""
    counts = (measured.counts.predicted, *vars(measured.counts).values())
    return (
        *map(_with_ends, (measured.precision, measured.recall, measured.f1)),
        *(f"{count:,}" for count in counts),
    )


def _with_ends(interval: Interval, *, signed: bool = False) -> str:
    sign = "+" if signed else ""
    ends = f"[{100 * interval.low:{sign}.2f}, {100 * interval.high:{sign}.2f}]"
    return f"{100 * interval.estimate:{sign}.2f} {'[-, -]' if interval.is_undefined else ends}"


def _text_lines(section: _Section) -> Iterator[str]:
    yield section.title
    if section.rows:
        head, *rows = aligned_rows(section.rows)
        yield "-" * len(head)
        yield from (line.rstrip() for line in (head, *rows))
    yield from section.notes
    for what, command in section.commands:
        yield from (f"{what}:", f"  {command}")


def _markdown(section: _Section) -> Iterator[str]:
    yield from (f"## {section.title}", "")
    if section.rows:
        head, *rows = section.rows
        yield _markdown_row(head)
        yield _markdown_row(["---"] * len(head))
        yield from map(_markdown_row, rows)
        yield ""
    for note in section.notes:
        yield from (note, "")
    for what, command in section.commands:
        yield from (f"{what}:", "", "```", command, "```", "")


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_escaped, cells))} |"


def _escaped(cell: str) -> str:
    """Returns a cell as it reads; numbers and their intervals have no meaning in Markdown."""
    return cell if _NUMBERS.fullmatch(cell) else escaped(cell)
