"""Compares several systems on gold, and tries every combination of them (``fascicle compare``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fascicle.core.arguments import checked
from fascicle.errors import UsageError
from fascicle.evaluation.comparison.comparing import Cells, Comparison, cells_of
from fascicle.evaluation.comparison.comparing import compare as compared
from fascicle.evaluation.comparison.search import MOST, Choices, Floors, choose, search
from fascicle.evaluation.systems.several import (
    FromFile,
    Systems,
    notes_on,
    read_gold,
    read_systems,
    renamed,
    systems_of,
    types_checked,
)
from fascicle.formats.account import EventCounts
from fascicle.runtime.combination.align import System, some_documents
from fascicle.settings.base import Natural, Positive
from fascicle.verbs.tasks.combine import OFFSETS
from fascicle.verbs.tasks.evaluate import File, request_of


@dataclass(frozen=True, kw_only=True)
class CompareSettings:
    """Settings of a comparison.

    Attributes:
        floors: recall that the most precise combination must have, and precision of the one with the best recall.
        search: score every subset of the systems under every rule.
        resamples: bootstrap draws, and shuffles.
        seed: of the random numbers.
        allow_missing: gold documents that a system does not list count as without predictions.
    """

    floors: Floors = field(default_factory=Floors)
    search: bool = True
    resamples: Positive = 1000
    seed: Natural = 0
    allow_missing: bool = False


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Result of a comparison.

    Attributes:
        comparison: mentions that each system finds and the others do not.
        choices: the best combinations; ``None`` where none were tried.
        given: the systems and their files, in order.
        systems: the same with the type names of the comparison.
        notes: sentences for the reader.
    """

    comparison: Comparison
    choices: Choices | None
    given: Sequence[FromFile]
    systems: Sequence[System]
    notes: tuple[str, ...] = ()


@checked
def compare(
    gold: File,
    systems: Systems,
    settings: CompareSettings | None = None,
    *,
    events: EventCounts | None = None,
) -> Compared:
    """Compares several systems, and finds the best combination.

    Args:
        gold: a corpus in any format, or a prediction file that holds the gold.
        systems: prediction files, or corpora in any format.
        settings: of the comparison.
        events: counts the events of documents.

    Raises:
        UsageError: fewer than two systems, or too many to try all combinations.
        InputError: a file cannot be read, has other texts than the gold, or has a different name for one type.
    """
    chosen = settings or CompareSettings()
    systems = systems_of(systems)
    reference = read_gold(request_of(gold), events=events)
    given = read_systems(systems, gold=reference, events=events)
    if chosen.search and len(given) > MOST:
        raise UsageError(
            f"all subsets of {len(given)} systems are too many to try; give at most {MOST} systems, or search=False"
        )
    (right, *named), notes = renamed(systems, given, reference.system("the gold"))
    if not systems.distinct_types:
        notes += _check_types(right, named, notes)
    cells = cells_of(right, named, allow_missing=chosen.allow_missing)
    drawn = cells.drawn(resamples=chosen.resamples, seed=chosen.seed)
    comparison, choices = compared(cells, drawn, seed=chosen.seed, unit=reference.unit), None
    if chosen.search:
        choices = choose(cells, drawn, search(cells, drawn), floors=chosen.floors, seed=chosen.seed)
    notes = [*notes, *reference.notes, *notes_on(given), *_missing(cells), *_all_wrong(comparison)]
    return Compared(comparison=comparison, choices=choices, given=given, systems=named, notes=tuple(notes))


def _check_types(gold: System, systems: Sequence[System], notes: Sequence[str]) -> list[str]:
    """Refuses a system without any type of the gold, and type names that differ only in spelling."""
    types_checked((gold, *systems), notes, agree=False)
    return [note for system in systems for note in types_checked((gold, system), notes, agree=True)]


def _all_wrong(comparison: Comparison) -> Iterator[str]:
    for row in comparison.rows:
        if row.measured.counts.fp and not row.measured.counts.tp:
            yield f"{row.name} has no mention of the gold; {OFFSETS}"


def _missing(cells: Cells) -> Iterator[str]:
    for name, documents in cells.missing.items():
        yield f"{name} does not list {some_documents(documents)}; nothing counts as found in them"
    if cells.duplicates:
        yield f"mentions that one side has more than once, beyond the first: {cells.duplicates:,}; they count once"
