"""Every subset of some systems under every rule, scored on the same gold; meant for development data.

A combination that is the best of hundreds on some gold is partly the luckiest: choose on development data, and score
the one that was chosen on test data, once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice

import numpy as np

from fascicle.combination.rules import Rule, k_of_n, majority, union, weighted
from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.errors import UsageError
from fascicle.evaluation.comparison.cells import Cells
from fascicle.evaluation.comparison.comparing import LEVEL, drawn_rates
from fascicle.evaluation.scoring.scores import Counts
from fascicle.evaluation.uncertainty.intervals import interval_of

MOST = 12  # systems of which all subsets are tried: 4,083 of two or more
DIGITS = 4  # of F1 as a weight, so that a command with these weights does the same
_AT_ONCE = 512  # combinations; bounds the memory of a product


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One combination.

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

    @property
    def precision(self) -> float:
        """On the gold."""
        return self.counts.rates().precision

    @property
    def recall(self) -> float:
        """On the gold."""
        return self.counts.rates().recall

    @property
    def f1(self) -> float:
        """On the gold."""
        return self.counts.rates().f1


def search(cells: Cells, drawn: Ints) -> tuple[Candidate, ...]:
    """Scores every subset of two or more systems under every rule.

    Rules are the union, the majority, k of n for every other k, and the majority weighted by F1 on this gold. What is
    kept depends only on the cell of a mention, so a rule is asked once for each cell.

    Args:
        cells: the systems and the gold.
        drawn: cells of bootstrap draws, ``[R, C]``.

    Returns:
        All combinations, the best F1 first; of equals, that of fewer systems and of the simpler rule.

    Raises:
        UsageError: more than `MOST` systems.
    """
    count = len(cells.systems)
    if count > MOST:
        raise UsageError(f"all subsets of {count} systems were asked for; give at most {MOST}, or leave out the search")
    weights = [_as_weight(cells.counts(cells.predicted[:, at]).rates().f1) for at in range(count)]
    found: list[tuple[int, bytes, Candidate]] = []
    made = _candidates(count, weights)
    while block := list(islice(made, _AT_ONCE)):
        chosen = np.stack([kept_cells(cells, members, rule) for _, members, rule in block], axis=1)
        counts = [cells.counts(kept) for kept in chosen.T]
        ends = _ends([one.rates().f1 for one in counts], drawn_rates(cells, drawn, chosen)[2])
        for at, (place, members, rule) in enumerate(block):
            candidate = Candidate(members=members, rule=rule, counts=counts[at], f1_interval=ends[at])
            found.append((place, np.packbits(chosen[:, at]).tobytes(), candidate))
    return _ordered(found, cells.systems)


def _ends(estimates: Sequence[float], drawn: Floats) -> list[tuple[float, float]]:
    """Both ends of the interval of each of K numbers, from draws ``[R, K]``."""
    if np.isnan(drawn).any():
        found = (interval_of(*pair, level=LEVEL, seed=0) for pair in zip(estimates, drawn.T, strict=True))
        return [(one.low, one.high) for one in found]
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)  # of all at once, many times faster
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _ordered(found: list[tuple[int, bytes, Candidate]], names: Sequence[str]) -> tuple[Candidate, ...]:
    """Sorts, and marks those that keep what one before them keeps."""
    found.sort(key=lambda one: (-one[2].f1, len(one[2].members), one[0], sorted(names[m] for m in one[2].members)))
    seen: set[bytes] = set()
    ordered = []
    for _, kept, candidate in found:
        ordered.append(replace(candidate, repeats=kept in seen))
        seen.add(kept)
    return tuple(ordered)


def _as_weight(f1: float) -> str:
    return f"{f1:.{DIGITS}f}"


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


def kept_cells(cells: Cells, members: Sequence[int], rule: Rule) -> Bools:
    """The cells whose mentions a rule keeps, ``[C]``.

    Args:
        cells: the systems and the gold.
        members: indices of the systems that the rule is for.
        rule: for these systems.
    """
    predicted = cells.predicted[:, list(members)]
    return rule.keeps(predicted, np.ones_like(predicted))
