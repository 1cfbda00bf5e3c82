"""How sure a score is: percentile bootstrap over documents, for one system and for the difference of two.

Documents are drawn with replacement, as many as there are, and the micro F1 of each draw is computed from the sums of
their counts (Efron and Tibshirani 1993, chapter 13). Mentions of one document are not independent, so documents are the
unit. What an interval tells is the uncertainty from the choice of *test documents*; that from training seeds needs
several trained models.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from fascicle.errors import InputError, UsageError
from fascicle.evaluate.scores import ZERO_RULES, Scores

_INDICES_AT_ONCE = 1 << 21  # bounds the memory: 16 MiB of indices


@dataclass(frozen=True, kw_only=True)
class Interval:
    """An estimate with its bootstrap interval.

    Attributes:
        estimate: on the documents as they are.
        low: lower end of the interval.
        high: upper end.
        level: share of the draws that lie inside, e.g. 0.95.
        resamples: number of draws.
        seed: of the random numbers; the same seed gives the same interval.
    """

    estimate: float
    low: float
    high: float
    level: float
    resamples: int
    seed: int

    def as_dict(self) -> dict[str, float | int]:
        """The fields, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Difference(Interval):
    """F1 of a first system less F1 of a second, on the same draws of documents.

    Attributes:
        p_value: two-sided: twice the smaller share of draws at or beyond no difference, counting the sample itself as
            one draw; at most 1.
    """

    p_value: float


def bootstrap_f1(scores: Scores, *, resamples: int = 1000, level: float = 0.95, seed: int = 0) -> Interval:
    """The interval of the micro F1.

    Args:
        scores: of one system.
        resamples: number of draws.
        level: share of the draws that the interval holds.
        seed: of the random numbers.

    Raises:
        InputError: there is no document.
        UsageError: a level or a number of draws out of range.
    """
    counts = count_table(scores, resamples=resamples, level=level)
    drawn = np.concatenate(
        [
            f1_of_sums(_sums(counts, draws), scores)
            for draws in drawn_documents(len(counts), resamples=resamples, seed=seed)
        ]
    )
    low, high = percentiles(drawn, level)
    return Interval(estimate=scores.micro.f1, low=low, high=high, level=level, resamples=resamples, seed=seed)


def bootstrap_difference(
    first: Scores, second: Scores, *, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> Difference:
    """The interval of the difference in micro F1 of two systems, paired: both are scored on the same draws.

    Args:
        first: of one system.
        second: of another, on the same gold.
        resamples: number of draws.
        level: share of the draws that the interval holds.
        seed: of the random numbers.

    Raises:
        InputError: no document, or the two were not scored on the same gold under the same rule.
        UsageError: a level or a number of draws out of range.
    """
    check_paired(first, second)
    counts = count_table(first, resamples=resamples, level=level)
    others = np.array([list(_triple(second, identifier)) for identifier in first.by_document], dtype=np.int64)
    parts = [
        f1_of_sums(_sums(counts, draws), first) - f1_of_sums(_sums(others, draws), second)
        for draws in drawn_documents(len(counts), resamples=resamples, seed=seed)
    ]
    drawn = np.concatenate(parts)
    low, high = percentiles(drawn, level)
    return Difference(
        estimate=first.micro.f1 - second.micro.f1,
        low=low,
        high=high,
        level=level,
        resamples=resamples,
        seed=seed,
        p_value=two_sided(drawn),
    )


def two_sided(drawn: npt.NDArray[np.float64]) -> float:
    """Twice the smaller share of draws at or beyond no difference, counting the sample itself as one; at most 1."""
    tail = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    return min(1.0, 2 * (tail + 1) / (len(drawn) + 1))


def check_paired(first: Scores, second: Scores) -> None:
    """Refuses two systems that were not scored on the same gold under the same rule."""
    same = first.by_document.keys() == second.by_document.keys() and all(
        counts.support == second.by_document[identifier].support for identifier, counts in first.by_document.items()
    )
    if not same or first.zero_rule != second.zero_rule:
        raise InputError(
            f"two systems over {len(first.by_document):,} and {len(second.by_document):,} documents were given; "
            "a paired comparison needs the same documents with the same gold mentions, scored under the same zero rule"
        )


def count_table(scores: Scores, *, resamples: int, level: float) -> npt.NDArray[np.int64]:
    """Counts per document, shape (documents, 3): true positives, false positives, false negatives."""
    if resamples < 1 or not 0.0 < level < 1.0:
        raise UsageError(
            f"{resamples} resamples at the level {level} were asked for; give at least 1, and a level between 0 and 1"
        )
    if not scores.by_document:
        raise InputError("scores over no document were given; an interval needs at least one")
    return np.array([list(_triple(scores, identifier)) for identifier in scores.by_document], dtype=np.int64)


def _triple(scores: Scores, identifier: str) -> tuple[int, int, int]:
    counts = scores.by_document[identifier]
    return counts.tp, counts.fp, counts.fn


def drawn_documents(documents: int, *, resamples: int, seed: int) -> Iterator[npt.NDArray[np.int64]]:
    """Indices of drawn documents, in blocks of shape (some draws, documents); the blocks only bound the memory.

    Args:
        documents: how many there are.
        resamples: number of draws.
        seed: of the random numbers; the same seed gives the same draws.
    """
    generator = np.random.default_rng(seed)
    block = max(1, _INDICES_AT_ONCE // documents)
    for start in range(0, resamples, block):
        yield generator.integers(0, documents, size=(min(block, resamples - start), documents), dtype=np.int64)


def weights_of(draws: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """How often each document was drawn, shape as given: a product with counts gives their sums over each draw."""
    rows, documents = draws.shape
    places = (draws + documents * np.arange(rows)[:, None]).ravel()
    return np.bincount(places, minlength=rows * documents).reshape(rows, documents).astype(np.float64)


def _sums(counts: npt.NDArray[np.int64], draws: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Sums over the drawn documents, shape (draws, 3)."""
    return np.stack([column[draws].sum(axis=1) for column in counts.T], axis=1)


def f1_of_sums(sums: npt.NDArray[np.int64], scores: Scores) -> npt.NDArray[np.float64]:
    """F1 of true positives, false positives and false negatives, shape (..., 3), under the zero rule of some scores."""
    tp, fp, fn = np.moveaxis(sums, -1, 0)
    total = 2 * tp + fp + fn
    return np.where(total > 0, 2 * tp / np.maximum(total, 1), ZERO_RULES[scores.zero_rule])


def percentiles(drawn: npt.NDArray[np.float64], level: float) -> tuple[float, float]:
    """The ends of the interval that holds a share of the draws."""
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
