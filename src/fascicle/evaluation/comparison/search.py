"""Every subset of some systems under every rule, scored on the same gold; meant for development
data.

A combination that is the best of hundreds on some gold is partly the luckiest: choose on
development data, and score the one that was chosen on test data, once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations, islice
from operator import attrgetter
from typing import Any

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.errors import UsageError
from fascicle.evaluation.comparison.comparing import (
    LEVEL,
    Cells,
    Comparison,
    Measured,
    SystemRow,
    measure,
    rates_of_draws,
)
from fascicle.evaluation.scoring.scores import Counts, Rates
from fascicle.evaluation.uncertainty.intervals import MEASURES, Interval, make_interval
from fascicle.runtime.combination.rules import Rule, k_of_n, majority, union, weighted

MOST = 12  # systems of which all subsets are tried: 4,083 of two or more
_DIGITS = 4  # of F1 as a weight, so that a command with these weights does the same
_AT_ONCE = 512  # combinations; bounds the memory of a product
# place of the rule among the rules, members, rule
_Combination = tuple[int, tuple[int, ...], Rule]
# place of the rule, which cells it keeps, and the scores
_EndsOfInterval = tuple[float, float] | tuple[None, None]
_Scored = tuple[int, bytes, "ScoredCombination"]


@dataclass(frozen=True, kw_only=True)
class ScoredCombination(Rates):
    """One combination, with precision, recall and F1 on the gold.

    Attributes:
        members: indices of its systems, ascending.
        rule: for these systems.
        counts: on the gold.
        f1_interval: lower and upper end of the bootstrap interval of its F1; ``None`` without an
            interval.
        repeats: whether one before it in the order of `search` keeps exactly the same mentions.
    """

    members: tuple[int, ...]
    rule: Rule
    counts: Counts
    f1_interval: _EndsOfInterval
    repeats: bool = False


def search(cells: Cells, drawn: Ints) -> tuple[ScoredCombination, ...]:
    """Scores every subset of two or more systems under every rule.

    Rules are the union, the majority, k of n for every other k, and the majority weighted by F1 on
    this gold. What is kept depends only on the cell of a mention, so a rule is asked once for each
    cell.

    Args:
        cells: the systems and the gold.
        drawn: cells of bootstrap draws, ``[R, C]``.

    Returns:
        All combinations, the best F1 first; of equals, that of fewer systems and of the simpler
        rule.

    Raises:
        UsageError: more than `MOST` systems.
    """
    count = len(cells.systems)
    if count > MOST:
        raise UsageError(
            f"all subsets of {count} systems were asked for; give at most {MOST}, or leave out "
            "the search"
        )
    weights = [f"{cells.counts(column).rates().f1:.{_DIGITS}f}" for column in cells.predicted.T]
    untried = _candidates(count, weights)
    scored: list[_Scored] = []
    while block := list(islice(untried, _AT_ONCE)):
        scored += _score_block(cells, drawn, block)
    return _ordered(scored, cells.systems)


def _score_block(cells: Cells, drawn: Ints, block: Sequence[_Combination]) -> Iterator[_Scored]:
    selections = np.stack([_kept_cells(cells, members, rule) for _, members, rule in block], axis=1)
    counts = [cells.counts(selection) for selection in selections.T]
    estimates = [part.rates().f1 for part in counts]
    ends = _ends(estimates, rates_of_draws(cells, drawn, selections)[2])
    for number, (place, members, rule) in enumerate(block):
        candidate = ScoredCombination(
            members=members,
            rule=rule,
            counts=counts[number],
            f1_interval=ends[number],
            **vars(counts[number].rates()),
        )
        yield place, np.packbits(selections[:, number]).tobytes(), candidate


def _ends(estimates: Sequence[float], drawn: Floats) -> list[_EndsOfInterval]:
    """Returns both ends of the interval of each of K numbers, from draws ``[R, K]``."""
    if np.isnan(drawn).any():
        intervals = (
            make_interval(*pair, level=LEVEL, seed=0)
            for pair in zip(estimates, drawn.T, strict=True)
        )
        return [
            (None, None) if interval.is_undefined else (interval.low, interval.high)
            for interval in intervals
        ]
    # of all at once, many times faster
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _ordered(scored: list[_Scored], names: Sequence[str]) -> tuple[ScoredCombination, ...]:
    """Sorts the combinations, and marks those that keep the same mentions as an earlier one."""

    def order(entry: _Scored) -> tuple[float, int, int, list[str]]:
        place, _, candidate = entry
        members = candidate.members
        return -candidate.f1, len(members), place, sorted(names[member] for member in members)

    earlier: set[bytes] = set()
    ordered = []
    for _, selection, candidate in sorted(scored, key=order):
        ordered.append(replace(candidate, repeats=selection in earlier))
        earlier.add(selection)
    return tuple(ordered)


def _candidates(count: int, weights: Sequence[str]) -> Iterator[_Combination]:
    """Every subset of two or more systems with every rule for it."""
    subsets = chain.from_iterable(combinations(range(count), size) for size in range(2, count + 1))
    for members in subsets:
        more_than_half = len(members) // 2 + 1
        rules = [majority(), union()]
        rules += [k_of_n(k) for k in range(2, len(members) + 1) if k != more_than_half]
        own = [weights[member] for member in members]
        if any(float(weight) > 0 for weight in own):
            rules.append(weighted(own))
        yield from ((place, members, rule) for place, rule in enumerate(rules))


def _kept_cells(cells: Cells, members: Sequence[int], rule: Rule) -> Bools:
    """Returns the cells whose mentions a rule keeps, ``[C]``.

    Args:
        cells: the systems and the gold.
        members: indices of the systems that the rule is for.
        rule: for these systems.
    """
    predicted = cells.predicted[:, list(members)]
    return rule.keeps(predicted, np.ones_like(predicted))


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A combination, and how it does beside the best single system.

    Attributes:
        candidate: the combination.
        measured: its scores with their intervals.
        gain: its F1 less that of the best single system, with the paired interval.
    """

    candidate: ScoredCombination
    measured: Measured
    gain: Interval


@dataclass(frozen=True, kw_only=True)
class SearchChoice:
    """Goal of the search, and the combination chosen for it.

    Attributes:
        aim: ``"f1"``, ``"precision"`` or ``"recall"``: what is as high as possible.
        floor: what the recall (for precision) or the precision (for recall) must not be below; 0
            for ``"f1"``.
        chosen: ``None`` if no combination reaches the floor.
        reachable: the highest value, of any combination, of what the floor is about.
    """

    aim: str
    floor: float
    chosen: Chosen | None
    reachable: float


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """Results of the search.

    Attributes:
        single: index of the best single system by F1; of equals the first.
        choices: for F1, for precision, for recall.
        candidates: all combinations, the best F1 first.
    """

    single: int
    choices: tuple[SearchChoice, ...]
    candidates: tuple[ScoredCombination, ...]


@dataclass(frozen=True, kw_only=True)
class Floors:
    """Lowest values that are demanded; ``None`` means the value of the best single system.

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
                raise UsageError(
                    f"a {name} of at least {value} was demanded; give a share from 0 to 1, such "
                    "as 0.85"
                )


def choose(
    cells: Cells,
    drawn: Ints,
    candidates: Sequence[ScoredCombination],
    *,
    floors: Floors,
    seed: int = 0,
) -> SearchResult:
    """Chooses among the combinations.

    Args:
        cells: the systems and the gold.
        drawn: cells of bootstrap draws, ``[R, C]``.
        candidates: of `fascicle.evaluation.comparison.search.search`, at least one.
        floors: what is demanded.
        seed: of the draws.
    """
    singles = [cells.counts(column).rates() for column in cells.predicted.T]
    single = max(range(len(singles)), key=lambda number: singles[number].f1)
    measure_choice = partial(_measure_choice, cells, drawn, single=single, seed=seed)
    recall = singles[single].recall if floors.recall is None else floors.recall
    precision = singles[single].precision if floors.precision is None else floors.precision
    aims = (("f1", 0.0, "f1"), ("precision", recall, "recall"), ("recall", precision, "precision"))
    choices = tuple(_choose_for(aim, candidates, measure_choice) for aim in aims)
    return SearchResult(single=single, choices=choices, candidates=tuple(candidates))


def _choose_for(
    goal: tuple[str, float, str],
    candidates: Sequence[ScoredCombination],
    measure_choice: Callable[[ScoredCombination], Chosen],
) -> SearchChoice:
    """Chooses the best combination for an aim, of those whose other rate reaches its floor."""
    aim, floor, demanded = goal
    able = [candidate for candidate in candidates if getattr(candidate, demanded) >= floor]
    # of equals the one with the higher F1, the earlier
    best = max(able, key=attrgetter(aim, "f1"), default=None)
    return SearchChoice(
        aim=aim,
        floor=floor,
        chosen=None if best is None else measure_choice(best),
        reachable=max(map(attrgetter(demanded), candidates)),
    )


def _measure_choice(
    cells: Cells, drawn: Ints, candidate: ScoredCombination, *, single: int, seed: int
) -> Chosen:
    selection, alone = (
        _kept_cells(cells, candidate.members, candidate.rule),
        cells.predicted[:, single],
    )
    f1 = rates_of_draws(cells, drawn, np.stack([selection, alone], axis=1))[2]
    estimate = candidate.f1 - cells.counts(alone).rates().f1
    return Chosen(
        candidate=candidate,
        measured=measure(cells, drawn, selection, seed=seed),
        gain=make_interval(estimate, f1[:, 0] - f1[:, 1], level=LEVEL, seed=seed),
    )


def as_dict(
    comparison: Comparison, choices: SearchResult | None = None, *, commands: Sequence[str] = ()
) -> dict[str, Any]:
    """Rows of the comparison table, with names in full and with all combinations.

    Args:
        comparison: of the systems.
        choices: of the combinations; ``None`` leaves them out.
        commands: for each choice of a combination the command that makes it, in the order of
            ``choices``.
    """
    names = [row.name for row in comparison.rows]
    value: dict[str, Any] = {
        "documents": comparison.documents,
        "gold": comparison.gold,
        "level": LEVEL,
        "resamples": comparison.resamples,
        "seed": comparison.seed,
        "systems": [_row_dict(row) for row in comparison.rows],
        "union": _measured_dict(comparison.union),
        "intersection": _measured_dict(comparison.intersection),
        "oracle_f1": comparison.oracle_f1,
        "pairs": [
            vars(pair) | {"difference": _interval_dict(pair.difference)}
            for pair in comparison.pairs
        ],
        "misses_found_by": _matrix_dict(names, comparison.found_by),
        "false_alarms_avoided_by": _matrix_dict(names, comparison.avoided_by),
        "types": {
            name: {
                "union": _counts_dict(counts),
                "unique_true": dict(zip(names, comparison.unique_by_type[name], strict=True)),
            }
            for name, counts in comparison.types.items()
        },
    }
    return value if choices is None else value | _search_dict(choices, names, commands)


def _search_dict(
    result: SearchResult, names: Sequence[str], commands: Sequence[str]
) -> dict[str, Any]:
    return {
        "combinations": [_candidate_dict(candidate, names) for candidate in result.candidates],
        "best_single": names[result.single],
        "best": [
            _choice_dict(choice, names, command)
            for choice, command in zip(result.choices, commands, strict=True)
        ],
    }


def _row_dict(row: SystemRow) -> dict[str, Any]:
    return {
        "name": row.name,
        **_measured_dict(row.measured),
        "unique_true": row.unique_true,
        "unique_false": row.unique_false,
        "types": {name: _counts_dict(counts) for name, counts in row.by_type.items()},
    }


def _counts_dict(counts: Counts) -> dict[str, Any]:
    return vars(counts) | vars(counts.rates())


def _interval_dict(interval: Interval) -> dict[str, Any]:
    return vars(interval) | (dict.fromkeys(("low", "high")) if interval.is_undefined else {})


def _measured_dict(measured: Measured) -> dict[str, Any]:
    intervals = {}
    for name in MEASURES:
        interval = _interval_dict(getattr(measured, name))
        intervals[name] = {key: interval[key] for key in ("estimate", "low", "high")}
    return intervals | vars(measured.counts) | {"predicted": measured.counts.predicted}


def _matrix_dict(
    names: Sequence[str], numbers: Sequence[Sequence[int]]
) -> dict[str, dict[str, int]]:
    return {
        name: dict(zip(names, row, strict=True)) for name, row in zip(names, numbers, strict=True)
    }


def _candidate_dict(candidate: ScoredCombination, names: Sequence[str]) -> dict[str, Any]:
    low, high = candidate.f1_interval
    return {
        "rule": candidate.rule.name,
        **({"k": candidate.rule.votes} if candidate.rule.name == "kofn" else {}),
        **(
            {"weights": [float(weight) for weight in candidate.rule.weights]}
            if candidate.rule.weights
            else {}
        ),
        "systems": [names[member] for member in candidate.members],
        "precision": candidate.precision,
        "recall": candidate.recall,
        "f1": candidate.f1,
        "f1_low": low,
        "f1_high": high,
        **vars(candidate.counts),
        "repeats": candidate.repeats,
    }


def _choice_dict(choice: SearchChoice, names: Sequence[str], command: str) -> dict[str, Any]:
    value: dict[str, Any] = {"aim": choice.aim, "floor": choice.floor, "combination": None}
    if choice.chosen is not None:
        value["combination"] = _candidate_dict(choice.chosen.candidate, names)
        value["gain_over_best_single"] = _interval_dict(choice.chosen.gain)
        value["command"] = command
    return value
