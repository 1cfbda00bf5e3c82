"""Every subset of some systems under every rule, scored on the same gold; meant for development
data.

A combination that is the best of hundreds on some gold is partly the luckiest: choose on
development data, and score the one that was chosen on test data, once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
    measure,
    rates_of_draws,
)
from fascicle.evaluation.scoring.scores import Counts, Rates
from fascicle.evaluation.uncertainty.intervals import MEASURES, Interval, make_interval
from fascicle.runtime.combination.rules import Rule, k_of_n, majority, union, weighted

MOST = 12  # systems of which all subsets are tried: 4,083 of two or more
_DIGITS = 4  # of F1 as a weight, so that a command with these weights does the same
_AT_ONCE = 512  # combinations; bounds the memory of a product


@dataclass(frozen=True, kw_only=True)
class Candidate(Rates):
    """One combination, with precision, recall and F1 on the gold.

    Attributes:
        members: indices of its systems, ascending.
        rule: for these systems.
        counts: on the gold.
        f1_interval: lower and upper end of the bootstrap interval of its F1.
        repeats: whether one before it in the order of `search` keeps exactly the same mentions.
    """

    members: tuple[int, ...]
    rule: Rule
    counts: Counts
    f1_interval: tuple[float, float]
    repeats: bool = False


def search(cells: Cells, drawn: Ints) -> tuple[Candidate, ...]:
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
    weights = [f"{cells.counts(one).rates().f1:.{_DIGITS}f}" for one in cells.predicted.T]
    found: list[tuple[int, bytes, Candidate]] = []
    made = _candidates(count, weights)
    while block := list(islice(made, _AT_ONCE)):
        chosen = np.stack([_kept_cells(cells, members, rule) for _, members, rule in block], axis=1)
        counts = [cells.counts(kept) for kept in chosen.T]
        ends = _ends([one.rates().f1 for one in counts], rates_of_draws(cells, drawn, chosen)[2])
        for at, (place, members, rule) in enumerate(block):
            rates = vars(counts[at].rates())
            candidate = Candidate(
                members=members, rule=rule, counts=counts[at], f1_interval=ends[at], **rates
            )
            found.append((place, np.packbits(chosen[:, at]).tobytes(), candidate))
    return _ordered(found, cells.systems)


def _ends(estimates: Sequence[float], drawn: Floats) -> list[tuple[float, float]]:
    """Returns both ends of the interval of each of K numbers, from draws ``[R, K]``."""
    if np.isnan(drawn).any():
        found = (
            make_interval(*pair, level=LEVEL, seed=0)
            for pair in zip(estimates, drawn.T, strict=True)
        )
        return [(one.low, one.high) for one in found]
    # of all at once, many times faster
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _ordered(
    found: list[tuple[int, bytes, Candidate]], names: Sequence[str]
) -> tuple[Candidate, ...]:
    """Sorts the combinations, and marks those that keep the same mentions as an earlier one."""
    found.sort(
        key=lambda one: (
            -one[2].f1,
            len(one[2].members),
            one[0],
            sorted(names[m] for m in one[2].members),
        )
    )
    seen: set[bytes] = set()
    ordered = []
    for _, kept, candidate in found:
        ordered.append(replace(candidate, repeats=kept in seen))
        seen.add(kept)
    return tuple(ordered)


def _candidates(count: int, weights: Sequence[str]) -> Iterator[tuple[int, tuple[int, ...], Rule]]:
    """Place of the rule among the rules, members, rule."""
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

    candidate: Candidate
    measured: Measured
    gain: Interval


@dataclass(frozen=True, kw_only=True)
class Choice:
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
class Choices:
    """Results of the search.

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
    cells: Cells, drawn: Ints, candidates: Sequence[Candidate], *, floors: Floors, seed: int = 0
) -> Choices:
    """Chooses among the combinations.

    Args:
        cells: the systems and the gold.
        drawn: cells of bootstrap draws, ``[R, C]``.
        candidates: of `fascicle.evaluation.comparison.search.search`, at least one.
        floors: what is demanded.
        seed: of the draws.
    """
    singles = [cells.counts(one).rates() for one in cells.predicted.T]
    single = max(range(len(singles)), key=lambda at: singles[at].f1)
    recall = singles[single].recall if floors.recall is None else floors.recall
    precision = singles[single].precision if floors.precision is None else floors.precision
    choices = []
    aims = (("f1", 0.0, "f1"), ("precision", recall, "recall"), ("recall", precision, "precision"))
    for aim, floor, demanded in aims:
        able = [one for one in candidates if getattr(one, demanded) >= floor]
        # of equals the one with the higher F1, the earlier
        found = max(able, key=attrgetter(aim, "f1"), default=None)
        chosen = None if found is None else _chosen(cells, drawn, found, single=single, seed=seed)
        reachable = max(map(attrgetter(demanded), candidates))
        choices.append(Choice(aim=aim, floor=floor, chosen=chosen, reachable=reachable))
    return Choices(single=single, choices=tuple(choices), candidates=tuple(candidates))


def _chosen(cells: Cells, drawn: Ints, candidate: Candidate, *, single: int, seed: int) -> Chosen:
    kept, alone = _kept_cells(cells, candidate.members, candidate.rule), cells.predicted[:, single]
    f1 = rates_of_draws(cells, drawn, np.stack([kept, alone], axis=1))[2]
    estimate = candidate.f1 - cells.counts(alone).rates().f1
    return Chosen(
        candidate=candidate,
        measured=measure(cells, drawn, kept, seed=seed),
        gain=make_interval(estimate, f1[:, 0] - f1[:, 1], level=LEVEL, seed=seed),
    )


def as_dict(
    comparison: Comparison, choices: Choices | None = None, *, commands: Sequence[str] = ()
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
        "systems": [
            {
                "name": row.name,
                **_measured_dict(row.measured),
                "unique_true": row.unique_true,
                "unique_false": row.unique_false,
                "types": {
                    name: vars(counts) | vars(counts.rates())
                    for name, counts in row.by_type.items()
                },
            }
            for row in comparison.rows
        ],
        "union": _measured_dict(comparison.union),
        "intersection": _measured_dict(comparison.intersection),
        "oracle_f1": comparison.oracle_f1,
        "pairs": [vars(pair) | {"difference": vars(pair.difference)} for pair in comparison.pairs],
        "misses_found_by": _matrix_dict(names, comparison.found_by),
        "false_alarms_avoided_by": _matrix_dict(names, comparison.avoided_by),
        "types": {
            name: {
                "union": vars(counts) | vars(counts.rates()),
                "unique_true": dict(zip(names, unique, strict=True)),
            }
            for (name, counts), unique in zip(
                comparison.types.items(), comparison.unique_by_type.values(), strict=True
            )
        },
    }
    if choices is not None:
        value["combinations"] = [_candidate_dict(one, names) for one in choices.candidates]
        value["best_single"] = names[choices.single]
        value["best"] = [
            _choice_dict(choice, names, command)
            for choice, command in zip(choices.choices, commands, strict=True)
        ]
    return value


def _measured_dict(found: Measured) -> dict[str, Any]:
    sure = {name: vars(getattr(found, name)) for name in MEASURES}
    ends = {
        name: {key: interval[key] for key in ("estimate", "low", "high")}
        for name, interval in sure.items()
    }
    return ends | vars(found.counts) | {"predicted": found.counts.predicted}


def _matrix_dict(
    names: Sequence[str], numbers: Sequence[Sequence[int]]
) -> dict[str, dict[str, int]]:
    return {
        name: dict(zip(names, row, strict=True)) for name, row in zip(names, numbers, strict=True)
    }


def _candidate_dict(one: Candidate, names: Sequence[str]) -> dict[str, Any]:
    low, high = one.f1_interval
    return {
        "rule": one.rule.name,
        **({"k": one.rule.votes} if one.rule.name == "kofn" else {}),
        **({"weights": [float(weight) for weight in one.rule.weights]} if one.rule.weights else {}),
        "systems": [names[member] for member in one.members],
        "precision": one.precision,
        "recall": one.recall,
        "f1": one.f1,
        "f1_low": low,
        "f1_high": high,
        **vars(one.counts),
        "repeats": one.repeats,
    }


def _choice_dict(choice: Choice, names: Sequence[str], command: str) -> dict[str, Any]:
    value: dict[str, Any] = {"aim": choice.aim, "floor": choice.floor, "combination": None}
    if choice.chosen is not None:
        value["combination"] = _candidate_dict(choice.chosen.candidate, names)
        value["gain_over_best_single"] = vars(choice.chosen.gain)
        value["command"] = command
    return value
