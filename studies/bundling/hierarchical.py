"""The mean difference of two systems over several corpora and seeds, and how sure it is: a
hierarchical bootstrap.

Corpora are drawn with replacement; of each drawn corpus, seeds and test documents are, each with
replacement. All seeds of a corpus are scored on the same drawn documents, by both systems, so that
everything that pairs stays paired. A draw without any mention in a corpus is left out, and counted,
as in ``intervals``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fascicle.core.arrays import Floats
from fascicle.errors import InputError
from fascicle.evaluation.scoring.scores import Scores
from fascicle.evaluation.uncertainty.intervals import (
    Difference,
    check_paired,
    count_table,
    f1_of_sums,
    make_difference,
    without_denominator,
)

Pair = tuple[Scores, Scores]


def bootstrap_pooled(
    corpora: Sequence[Sequence[Pair]], *, resamples: int = 2000, level: float = 0.95, seed: int = 0
) -> Difference:
    """The mean over corpora of the mean over seeds of F1 of the first system less F1 of the second.

    Args:
        corpora: of each corpus one pair of scores for each seed, all on the same documents.
        resamples: number of draws.
        level: share of the draws that the interval holds.
        seed: of the random numbers.

    Raises:
        InputError: no corpus, a corpus without pairs, or a pair that was not scored on the same
            gold.
        UsageError: a level or a number of draws out of range.
    """
    if not corpora or not all(corpora):
        raise InputError(
            "a pooled difference needs at least one corpus, and a pair of scores for each"
        )
    for pairs in corpora:
        for first, second in pairs:
            check_paired(first, second)
            check_paired(pairs[0][0], first)
    chance = np.random.default_rng(seed)
    chosen = chance.integers(0, len(corpora), size=(resamples, len(corpora)))
    drawn = np.empty(chosen.shape)
    for number, pairs in enumerate(corpora):
        places = np.nonzero(chosen == number)
        drawn[places] = _drawn(pairs, len(places[0]), level=level, chance=chance)
    estimate = float(
        np.mean([np.mean([a.micro.f1 - b.micro.f1 for a, b in pairs]) for pairs in corpora])
    )
    return make_difference(estimate, drawn.mean(axis=1), level=level, seed=seed)


def _drawn(
    pairs: Sequence[Pair], draws: int, *, level: float, chance: np.random.Generator
) -> Floats:
    """The mean difference over drawn seeds on drawn documents, for each of so many draws."""
    tables = np.array(
        [[count_table(s, resamples=1, level=level) for s in pair] for pair in pairs]
    )  # [S, 2, docs, 3]
    seeds = chance.integers(0, len(pairs), size=(draws, len(pairs)))
    flat = (
        np.moveaxis(tables, 2, 0).reshape(tables.shape[2], -1).astype(np.float64)
    )  # whole numbers: sums are exact
    shape = (*tables.shape[:2], tables.shape[3])
    found, none = np.empty(draws), without_denominator(pairs[0][0])
    for at in range(draws):
        documents = chance.integers(0, tables.shape[2], size=tables.shape[2])
        weights = np.bincount(documents, minlength=tables.shape[2])
        f1 = f1_of_sums((weights @ flat).astype(np.int64).reshape(shape), none=none)  # [S, 2]
        found[at] = (f1[:, 0] - f1[:, 1])[seeds[at]].mean()
    return found
