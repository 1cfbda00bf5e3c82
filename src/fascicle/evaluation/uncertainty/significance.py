"""Significance tests of two systems: approximate randomisation, and Holm's correction for several
pairs.

Randomisation asks how often two systems would differ as much as they do if it were chance which of
the two said what: in every document, the answers of both are swapped or not by the toss of a coin
(Noreen 1989; Yeh 2000, "More accurate tests for the statistical significance of result
differences"). Documents are the unit, as they are in the bootstrap. Among many pairs some differ by
chance: Holm's step-down correction (1979) keeps the chance that *any* pair is wrongly called
different at the level of the test, whatever depends on what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from fascicle.core.arrays import Floats, Ints
from fascicle.errors import UsageError
from fascicle.evaluation.scoring.inputs import ScoredSystem
from fascicle.evaluation.scoring.scores import ZERO_RULES, Scores, no_interval
from fascicle.evaluation.uncertainty.intervals import (
    bootstrap_difference,
    check_paired,
    count_rows,
    count_table,
    f1_of_sums,
)

_SWAPS_AT_ONCE = 1 << 21  # bounds the memory: 16 MiB of doubles
_SAME = 1e-12  # F1 values that differ by less are equal, and rounded differently


def randomisation_p_value(
    first: Scores, second: Scores, *, shuffles: int = 1000, seed: int = 0
) -> float:
    """Returns the p-value of the difference in micro F1 of two systems, two-sided.

    Args:
        first: of one system.
        second: of another, on the same gold.
        shuffles: how often the answers are swapped at random.
        seed: of the random numbers.

    Returns:
        The share of shuffles in which the two differ at least as much, counting the sample itself
        as one.

    Raises:
        InputError: no document, or the two were not scored on the same gold under the same rule.
        UsageError: fewer than 1 shuffle.
    """
    check_paired(first, second)
    ours = count_table(first, resamples=1, level=0.5)
    theirs = count_rows(second.by_document[identifier] for identifier in first.by_document)
    none = ZERO_RULES[first.zero_rule]
    return swap_p_value(
        ours, theirs, figure=lambda sums: f1_of_sums(sums, none=none), shuffles=shuffles, seed=seed
    )


def swap_p_value(
    ours: Ints,
    theirs: Ints,
    *,
    figure: Callable[[Ints], Floats],
    shuffles: int = 1000,
    seed: int = 0,
) -> float:
    """Returns the p-value of the difference of two systems in any figure of sums over documents,
    two-sided.

    Args:
        ours: counts of the first by document, ``[documents, n]``.
        theirs: those of the second.
        figure: of sums of shape ``[..., n]``, with the shape ``[...]``; always a number.
        shuffles: how often the answers are swapped at random.
        seed: of the random numbers.

    Returns:
        See `randomisation_p_value`.

    Raises:
        UsageError: fewer than 1 shuffle.
    """
    if shuffles < 1:
        raise UsageError(f"{shuffles} shuffles were asked for; give at least 1")
    observed = abs(figure(ours.sum(axis=0)) - figure(theirs.sum(axis=0)))
    # what the first gains by a swap; exact, as sums are
    moved, as_extreme = (theirs - ours).astype(np.float64), 0
    for swaps in _swaps(len(ours), shuffles=shuffles, seed=seed):
        gains = (swaps @ moved).astype(np.int64)
        gaps = np.abs(figure(ours.sum(axis=0) + gains) - figure(theirs.sum(axis=0) - gains))
        as_extreme += int((gaps >= observed - _SAME).sum())
    return (as_extreme + 1) / (shuffles + 1)


def holm_correction(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: p-values that may be held against the level one by one.

    Args:
        p_values: of all the tests that were made.

    Returns:
        The corrected ones, in the same order; none is smaller than it was, and none exceeds 1.

    Raises:
        UsageError: a value outside [0, 1].
    """
    values = np.array(p_values, dtype=np.float64)
    if not len(values):
        return []
    if not ((values >= 0) & (values <= 1)).all():
        raise UsageError(f"the p-values {list(p_values)} were given; each must be from 0 to 1")
    order = np.argsort(values, kind="stable")
    raised = values[order] * np.arange(len(values), 0, -1)
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return [float(value) for value in corrected]


def _swaps(documents: int, *, shuffles: int, seed: int) -> Iterator[Floats]:
    """Zeros and ones, in blocks of shape (some shuffles, documents); the blocks only bound the
    memory.
    """
    generator = np.random.default_rng(seed)
    block = max(1, _SWAPS_AT_ONCE // documents)
    for start in range(0, shuffles, block):
        size = (min(block, shuffles - start), documents)
        yield generator.integers(0, 2, size=size, dtype=np.int64).astype(np.float64)


_NO_F1: Final = "the F1 of one of the two is undefined"


def paired_tests(systems: Sequence[ScoredSystem], *, resamples: int = 1000) -> list[dict[str, Any]]:
    """Returns the strict micro F1 of each further system against that of the first, on the same
    documents.

    Args:
        systems: scored on the same documents, at least one.
        resamples: draws of the bootstrap, and shuffles of the randomisation test.

    Returns:
        For each system after the first a row, ready for JSON: ``"f1_interval"``, the paired
        bootstrap interval of the difference, and ``"p_value"`` of approximate randomisation, with
        ``"p_holm"``, Holm's correction for the number of systems. Where there is none, ``None``,
        and ``"undefined"`` says why.
    """
    first, *rest = systems
    reasons = [_why_not(system, first) for system in rest]
    tested = [system for system, reason in zip(rest, reasons, strict=True) if not reason]
    p_values = [
        randomisation_p_value(system.drawn, first.drawn, shuffles=resamples) for system in tested
    ]
    p_value_pairs = zip(p_values, holm_correction(p_values), strict=True)
    rows: list[dict[str, Any]] = []
    for system, reason in zip(rest, reasons, strict=True):
        if reason:
            names = ("f1_interval", "p_value", "p_holm")
            rows.append(dict.fromkeys(names) | {"undefined": dict.fromkeys(names, reason)})
            continue
        interval = bootstrap_difference(system.drawn, first.drawn, resamples=resamples).as_dict()
        interval.pop("p_value")  # that of the bootstrap; one test is enough for a reader
        p_value, p_holm = next(p_value_pairs)
        rows.append({"f1_interval": interval, "p_value": p_value, "p_holm": p_holm})
    return rows


def _why_not(system: ScoredSystem, first: ScoredSystem) -> str:
    why = no_interval(system.drawn) or no_interval(first.drawn)
    return _NO_F1 if why and len(first.drawn.by_document) > 1 else why
