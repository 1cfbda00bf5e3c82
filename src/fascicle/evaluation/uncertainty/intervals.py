"""Intervals of scores: percentile bootstrap over documents, for one system and for the difference
of two.

Documents are drawn with replacement, as many as there are, and the scores of each draw are computed
from the sums of their counts (Efron and Tibshirani 1993, chapter 13). Mentions of one document are
not independent, so documents are the unit. What an interval tells is the uncertainty from the
choice of *test documents*; that from training seeds needs several trained models.

A draw in which a number has no denominator, as precision where nothing was predicted in any drawn
document, says nothing about it: it is left out of its interval, and counted. The zero rule
``"binder"`` gives it a value, so it stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final, Literal

import numpy as np

from fascicle.core.arrays import Floats, Ints, int_array
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.scoring.scores import ZERO_RULES, Counts, Scores

_INDICES_AT_ONCE = 1 << 21  # bounds the memory: 16 MiB of indices, and as much of weights
Measure = Literal["precision", "recall", "f1"]
MEASURES: Final[tuple[Measure, ...]] = ("precision", "recall", "f1")
HEADLINE: Final = ("micro_precision", "micro_recall", "micro_f1", "macro_f1")


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
        undefined: draws in which the number has no denominator, which are left out. Where that are
            all of them, both ends are the estimate.
    """

    estimate: float
    low: float
    high: float
    level: float
    resamples: int
    seed: int
    undefined: int = 0

    @property
    def is_undefined(self) -> bool:
        """True if the number has no denominator in any draw, so that there is no interval."""
        return self.undefined == self.resamples

    def as_dict(self) -> dict[str, float | int]:
        """Returns the fields, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Difference(Interval):
    """F1 of a first system less F1 of a second, on the same draws of documents.

    Attributes:
        p_value: two-sided: twice the smaller share of draws at or beyond no difference, counting
            the sample itself as one draw; at most 1.
    """

    p_value: float


def bootstrap_f1(
    scores: Scores, *, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> Interval:
    """Returns the interval of the micro F1.

    Args:
        scores: of one system.
        resamples: number of draws.
        level: share of the draws that the interval holds.
        seed: of the random numbers.

    Raises:
        InputError: there is no document.
        UsageError: a level or a number of draws out of range.
    """
    bare = replace(scores, by_document_type={})  # the macro average costs the most
    return bootstrap(bare, resamples=resamples, level=level, seed=seed)["micro_f1"]


def bootstrap(
    scores: Scores, *, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> dict[str, Interval]:
    """Returns the intervals of the headline numbers, all over the same draws, those of
    ``bootstrap_f1``.

    Args:
        scores: of one system.
        resamples: number of draws.
        level: share of the draws that the intervals hold.
        seed: of the random numbers.

    Returns:
        Name, see `HEADLINE`, -> interval. The macro F1 of a draw is the mean over the types of
        which the drawn documents hold gold mentions; it is not there if ``scores.by_document_type``
        is empty.

    Raises:
        InputError: there is no document.
        UsageError: a level or a number of draws out of range.
    """
    counts = count_table(scores, resamples=resamples, level=level)
    types = [table for name, table in _type_tables(scores).items() if scores.by_type[name].support]
    parts = [
        (*_micro(weights @ counts, scores), _macro_f1(weights, types, scores))
        for weights in draw_weights(len(counts), resamples=resamples, seed=seed)
    ]
    micro = scores.micro
    estimates = (micro.precision, micro.recall, micro.f1, scores.macro.f1)
    return {
        name: make_interval(estimate, np.concatenate(drawn), level=level, seed=seed)
        for name, estimate, drawn in zip(HEADLINE, estimates, zip(*parts, strict=True), strict=True)
        if name != "macro_f1" or scores.by_document_type
    }


def bootstrap_types(
    scores: Scores, *, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> dict[str, Interval]:
    """Returns the interval of the F1 of each type, over the draws of ``bootstrap_f1``.

    Args:
        scores: of one system.
        resamples: number of draws.
        level: share of the draws that the intervals hold.
        seed: of the random numbers.

    Returns:
        Type -> interval; types that a single document has are left out, for drawing documents says
        nothing of them.

    Raises:
        InputError: there is no document.
        UsageError: a level or a number of draws out of range.
    """
    counts = count_table(scores, resamples=resamples, level=level)
    types = {name: table for name, table in _type_tables(scores).items() if len(table[0]) > 1}
    parts: dict[str, list[Floats]] = {name: [] for name in types}
    for weights in draw_weights(len(counts), resamples=resamples, seed=seed):
        for name, (documents, counts_of_type) in types.items():
            parts[name].append(_micro(weights[:, documents] @ counts_of_type, scores)[2])
    return {
        name: make_interval(scores.rates(name).f1, np.concatenate(drawn), level=level, seed=seed)
        for name, drawn in parts.items()
    }


def bootstrap_difference(
    first: Scores,
    second: Scores,
    *,
    measure: Measure = "f1",
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Difference:
    """The interval of the difference of two systems in one micro measure, paired: both are scored
    on the same draws.

    Args:
        first: of one system.
        second: of another, on the same gold.
        measure: what is compared, micro.
        resamples: number of draws.
        level: share of the draws that the interval holds.
        seed: of the random numbers.

    Raises:
        InputError: no document, or the two were not scored on the same gold under the same rule.
        UsageError: a level or a number of draws out of range.
    """
    check_paired(first, second)
    counts = count_table(first, resamples=resamples, level=level)
    counts_of_second = count_rows(
        [second.by_document[identifier] for identifier in first.by_document]
    )
    column = MEASURES.index(measure)
    parts = [
        _micro(weights @ counts, first)[column] - _micro(weights @ counts_of_second, second)[column]
        for weights in draw_weights(len(counts), resamples=resamples, seed=seed)
    ]
    estimate = getattr(first.micro, measure) - getattr(second.micro, measure)
    return make_difference(estimate, np.concatenate(parts), level=level, seed=seed)


def make_interval(estimate: float, drawn: Floats, *, level: float, seed: int) -> Interval:
    """Returns an estimate with the interval of its bootstrap draws.

    Args:
        estimate: on the documents as they are.
        drawn: on the draws, ``[R]``; not a number where it is undefined.
        level: share of the draws that the interval holds.
        seed: of the draws.
    """
    defined = drawn[~np.isnan(drawn)]
    low, high = percentiles(defined, level) if len(defined) else (estimate, estimate)
    undefined = len(drawn) - len(defined)
    return Interval(
        estimate=estimate,
        low=low,
        high=high,
        level=level,
        resamples=len(drawn),
        seed=seed,
        undefined=undefined,
    )


def make_difference(estimate: float, drawn: Floats, *, level: float, seed: int) -> Difference:
    """Returns a difference with the interval and the p-value of its bootstrap draws, see
    ``make_interval``.
    """
    interval = make_interval(estimate, drawn, level=level, seed=seed)
    return Difference(**asdict(interval), p_value=_two_sided(drawn[~np.isnan(drawn)]))


def _two_sided(drawn: Floats) -> float:
    """Twice the smaller share of draws at or beyond no difference, counting the sample itself as
    one; at most 1.
    """
    tail = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    return min(1.0, 2 * (tail + 1) / (len(drawn) + 1))


def check_paired(first: Scores, second: Scores) -> None:
    """Refuses two systems that were not scored on the same gold under the same rule."""
    same = first.by_document.keys() == second.by_document.keys() and all(
        counts.support == second.by_document[identifier].support
        for identifier, counts in first.by_document.items()
    )
    if not same or first.zero_rule != second.zero_rule:
        raise InputError(
            f"two systems over {len(first.by_document):,} and {len(second.by_document):,} "
            "documents were given; a paired comparison needs the same documents with the same gold "
            "mentions, scored under the same zero rule"
        )


def count_table(scores: Scores, *, resamples: int, level: float) -> Ints:
    """Counts per document, shape (documents, 3): true positives, false positives, false
    negatives.
    """
    if resamples < 1 or not 0.0 < level < 1.0:
        raise UsageError(
            f"{resamples} resamples at the level {level} were asked for; give at least 1, and a "
            "level between 0 and 1"
        )
    if not scores.by_document:
        raise InputError("scores over no document were given; an interval needs at least one")
    return count_rows(scores.by_document.values())


def count_rows(counts: Iterable[Counts]) -> Ints:
    """Returns true positives, false positives and false negatives, ``[n, 3]``."""
    return int_array([(part.tp, part.fp, part.fn) for part in counts]).reshape(-1, 3)


def _type_tables(scores: Scores) -> dict[str, tuple[Ints, Ints]]:
    """Of each type, sorted: the documents that have it, ``[n]``, and its counts there, ``[n,
    3]``.
    """
    places = {identifier: place for place, identifier in enumerate(scores.by_document)}
    tables = {}
    for name, parts in scores.by_document_type.items():
        documents = int_array([places[identifier] for identifier in parts])
        tables[name] = documents, count_rows(parts.values())
    return tables


def draw_documents(documents: int, *, resamples: int, seed: int) -> Iterator[Ints]:
    """Indices of drawn documents, in blocks of shape (some draws, documents); the blocks only bound
    the memory.

    Args:
        documents: how many there are.
        resamples: number of draws.
        seed: of the random numbers; the same seed gives the same draws.
    """
    generator = np.random.default_rng(seed)
    block = max(1, _INDICES_AT_ONCE // documents)
    for start in range(0, resamples, block):
        yield generator.integers(
            0, documents, size=(min(block, resamples - start), documents), dtype=np.int64
        )


def draw_weights(documents: int, *, resamples: int, seed: int) -> Iterator[Floats]:
    """How often each document was drawn, in blocks of `draw_documents`; products with these
    weights are exact sums.
    """
    for draws in draw_documents(documents, resamples=resamples, seed=seed):
        places = (draws + documents * np.arange(len(draws))[:, None]).ravel()
        yield np.bincount(places, minlength=draws.size).reshape(draws.shape).astype(np.float64)


def _micro(sums: Floats, scores: Scores) -> tuple[Floats, Floats, Floats]:
    """Computes precision, recall and F1 of sums of counts, shape (draws, 3)."""
    tp, fp, fn = sums.T
    none = without_denominator(scores)
    return ratios(tp, tp + fp, none), ratios(tp, tp + fn, none), f1_of_sums(sums, none=none)


def _macro_f1(weights: Floats, types: Sequence[tuple[Ints, Ints]], scores: Scores) -> Floats:
    """Returns the mean F1 of the types of which there is gold in each draw, shape (draws,)."""
    total, number = np.zeros(len(weights)), np.zeros(len(weights))
    for documents, counts in types:
        sums = weights[:, documents] @ counts
        has_gold = sums[:, 0] + sums[:, 2] > 0
        total += np.where(has_gold, f1_of_sums(sums, none=0.0), 0.0)
        number += has_gold
    return ratios(total, number, without_denominator(scores))


def ratios(part: Floats, whole: Floats, none: float = float("nan")) -> Floats:
    """Parts of wholes, shape as given; ``none`` where there is no whole."""
    return np.where(whole > 0, part / np.maximum(whole, 1), none)


def without_denominator(scores: Scores) -> float:
    """Returns the value of a number without a denominator in a draw: NaN, unless the rule for
    zeros defines it.
    """
    return float("nan") if scores.zero_rule == "zero" else ZERO_RULES[scores.zero_rule]


def f1_of_sums(sums: Ints | Floats, *, none: float) -> Floats:
    """Computes F1 of true positives, false positives and false negatives, shape (..., 3);
    ``none`` if all are 0.
    """
    tp, fp, fn = np.moveaxis(sums, -1, 0)
    return ratios(2 * tp, 2 * tp + fp + fn, none)


def percentiles(drawn: Floats, level: float) -> tuple[float, float]:
    """Returns the ends of the interval that holds a share of the draws."""
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high
