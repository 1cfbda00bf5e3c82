"""Which of all combinations to take: the best F1, the best precision at a recall, the best recall at a precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fascicle.core.arrays import Ints
from fascicle.errors import UsageError
from fascicle.evaluation.comparison.cells import Cells
from fascicle.evaluation.comparison.comparing import LEVEL, Measured, drawn_rates, measured
from fascicle.evaluation.comparison.search import Candidate, kept_cells
from fascicle.evaluation.uncertainty.intervals import Interval, interval_of


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A combination, and how it does beside the best single system.

    Attributes:
        candidate: the combination.
        measured: its scores with their intervals.
        gain: its F1 less that of the best single system, with the paired interval.
    """

    candidate: Candidate
    measured: Measured
    gain: Interval


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What was aimed at, and what was chosen.

    Attributes:
        aim: ``"f1"``, ``"precision"`` or ``"recall"``: what is as high as possible.
        floor: what the recall (for precision) or the precision (for recall) must not be below; 0 for ``"f1"``.
        chosen: ``None`` if no combination reaches the floor.
        reachable: the highest value, of any combination, of what the floor is about.
    """

    aim: str
    floor: float
    chosen: Chosen | None
    reachable: float


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What the search led to.

    Attributes:
        single: index of the best single system by F1; of equals the first.
        choices: for F1, for precision, for recall.
        candidates: all combinations, the best F1 first.
    """

    single: int
    choices: tuple[Choice, ...]
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, kw_only=True)
class Floors:
    """What is demanded; ``None`` stands for what the best single system has.

    Attributes:
        recall: of the combination of the best precision.
        precision: of the combination of the best recall.
    """

    recall: float | None = None
    precision: float | None = None

    def __post_init__(self) -> None:
        """Refuses what no rate can be.

        Raises:
            UsageError: a floor outside [0, 1].
        """
        for name, value in (("recall", self.recall), ("precision", self.precision)):
            if value is not None and not 0.0 <= value <= 1.0:
                raise UsageError(f"a {name} of at least {value} was demanded; give a share from 0 to 1, such as 0.85")


def choose(cells: Cells, drawn: Ints, candidates: Sequence[Candidate], *, floors: Floors, seed: int = 0) -> Choices:
    """Chooses among the combinations.

    Args:
        cells: the systems and the gold.
        drawn: cells of bootstrap draws, ``[R, C]``.
        candidates: of `fascicle.evaluation.comparison.search.search`, at least one.
        floors: what is demanded.
        seed: of the draws.
    """
    singles = [cells.counts(cells.predicted[:, at]).rates() for at in range(len(cells.systems))]
    single = max(range(len(singles)), key=lambda at: singles[at].f1)
    recall = singles[single].recall if floors.recall is None else floors.recall
    precision = singles[single].precision if floors.precision is None else floors.precision
    aims: list[tuple[str, float, Callable[[Candidate], float], Callable[[Candidate], float]]] = [
        ("f1", 0.0, _f1, _f1),
        ("precision", recall, _precision, _recall),
        ("recall", precision, _recall, _precision),
    ]
    choices = []
    for aim, floor, wanted, demanded in aims:
        found = _best([one for one in candidates if demanded(one) >= floor], wanted)
        chosen = None if found is None else _chosen(cells, drawn, found, single=single, seed=seed)
        choices.append(Choice(aim=aim, floor=floor, chosen=chosen, reachable=max(map(demanded, candidates))))
    return Choices(single=single, choices=tuple(choices), candidates=tuple(candidates))


def _best(candidates: Sequence[Candidate], wanted: Callable[[Candidate], float]) -> Candidate | None:
    """Of equals the one with the higher F1, then the earlier."""
    return max(candidates, key=lambda one: (wanted(one), one.f1), default=None)


def _chosen(cells: Cells, drawn: Ints, candidate: Candidate, *, single: int, seed: int) -> Chosen:
    kept, alone = kept_cells(cells, candidate.members, candidate.rule), cells.predicted[:, single]
    f1 = drawn_rates(cells, drawn, np.stack([kept, alone], axis=1))[2]
    estimate = candidate.f1 - cells.counts(alone).rates().f1
    return Chosen(
        candidate=candidate,
        measured=measured(cells, drawn, kept, seed=seed),
        gain=interval_of(estimate, f1[:, 0] - f1[:, 1], level=LEVEL, seed=seed),
    )


def _f1(candidate: Candidate) -> float:
    return candidate.f1


def _precision(candidate: Candidate) -> float:
    return candidate.precision


def _recall(candidate: Candidate) -> float:
    return candidate.recall
