"""Reliability of scores: reliability curves, precision and recall over the score, and thresholds.

All of it is about *predicted* mentions: their scores, and whether each is right. A score is well
calibrated if, of the mentions with a score near 0.8, 80 % are right. What a system did not predict
has no score, so calibration says nothing about recall; the precision-recall curve does, with all
gold mentions in its denominator.

A curve can only show what was written down: predictions below the threshold of the system are not
in its file, and the recall of the curve ends where the file ends.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import compress, pairwise
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.core.document import Mention, identities
from fascicle.core.wording import plural
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.breakdown.errors import distinct
from fascicle.evaluation.report_parts import PointPart

BINS: Final = 10  # of scores, of equal width


@dataclass(frozen=True, kw_only=True)
class JudgedMentions:
    """Predicted mentions with their scores, and whether they are right.

    Attributes:
        scores: from 0 to 1, shape ``[n]``.
        right: whether each is a true positive, shape ``[n]``.
        types: type of each of the ``n``.
        gold: type -> gold mentions.
    """

    scores: Floats = field(repr=False)
    right: Bools = field(repr=False)
    types: tuple[str, ...] = field(repr=False)
    gold: Mapping[str, int]

    def __post_init__(self) -> None:
        """Refuses what are no probabilities.

        Raises:
            InputError: a score outside [0, 1], or not one truth and one type for each.
        """
        _check(self.scores, self.right)
        if len(self.types) != len(self.scores):
            raise InputError(
                f"{plural(len(self.scores), 'score')} and {plural(len(self.types), 'type')} were "
                "given; give one each"
            )

    def of_type(self, type_: str) -> JudgedMentions:
        """Selects the mentions of one type."""
        of_type = self.select(np.array([name == type_ for name in self.types], dtype=bool))
        return replace(of_type, gold={type_: self.gold.get(type_, 0)})

    def select(self, selection: Bools) -> JudgedMentions:
        """Selects mentions, ``[n]``, and keeps all of the gold."""
        types = tuple(compress(self.types, selection.tolist()))
        return replace(
            self, scores=self.scores[selection], right=self.right[selection], types=types
        )


def judged(
    gold: Mapping[str, Iterable[Mention]], predicted: Mapping[str, Iterable[Mention]]
) -> JudgedMentions:
    """Scores and their truth, under the strict rule of matching.

    Of a mention that was predicted more than once, the highest score counts.

    Args:
        gold: document id -> its gold mentions.
        predicted: the same of one system; every mention has a score.

    Raises:
        InputError: a predicted mention without a score, or nothing was predicted.
    """
    scores: list[float] = []
    right: list[bool] = []
    types: list[str] = []
    bare: list[tuple[str, Mention]] = []
    counts: Counter[str] = Counter()
    for identifier, mentions in gold.items():
        true = identities(identifier, mentions)
        counts.update(type_ for _, type_, _ in true)
        for mention in distinct(predicted.get(identifier, ())):
            if mention.score is None:
                bare.append((identifier, mention))
                continue
            scores.append(mention.score)
            right.append((identifier, mention.type, mention.spans) in true)
            types.append(mention.type)
    if bare:
        raise InputError(
            f"{len(bare):,} of the {len(bare) + len(scores):,} predicted mentions have no score, "
            f"the first is the {bare[0][1].type} at {bare[0][1].start} in document {bare[0][0]!r}; "
            "calibration needs a score for each"
        )
    if not scores:
        raise InputError("nothing was predicted, so there are no scores to judge")
    return JudgedMentions(
        scores=np.array(scores),
        right=np.array(right, dtype=bool),
        types=tuple(types),
        gold=dict(sorted(counts.items())),
    )


@dataclass(frozen=True, kw_only=True)
class Bin:
    """Mentions with scores near one another.

    Attributes:
        low: lower end, not inside except 0.
        high: upper end, inside.
        count: mentions.
        mean_score: what the system said on average; ``None`` for an empty bin.
        precision: what was right of it; ``None`` for an empty bin.
    """

    low: float
    high: float
    count: int
    mean_score: float | None
    precision: float | None


def reliability_curve(scores: Floats, right: Bools) -> tuple[Bin, ...]:
    """Returns the reliability curve: mean score and precision in ten bins of the score, of equal
    width.

    Args:
        scores: from 0 to 1, shape ``[n]``.
        right: shape ``[n]``.

    Raises:
        InputError: a score outside [0, 1], or shapes that differ.
    """
    _check(scores, right)
    parts = (np.ones_like(scores), scores, right)
    return curve_of_bins(
        np.stack(
            [np.bincount(assign_bins(scores), weights=part, minlength=BINS) for part in parts],
            axis=1,
        )
    )


def assign_bins(scores: Floats) -> Ints:
    """Returns the number of the bin of each score, ``[n]``."""
    return np.maximum(np.searchsorted(np.arange(BINS) / BINS, scores, side="left") - 1, 0)


def curve_of_bins(sums: Floats) -> tuple[Bin, ...]:
    """Returns the reliability curve of sums over bins.

    Args:
        sums: for each bin, the number of mentions, the sum of their scores, and the number of right
            ones, shape ``[bins, 3]``.
    """
    places = [at / len(sums) for at in range(len(sums) + 1)]
    return tuple(
        Bin(
            low=low,
            high=high,
            count=int(n),
            mean_score=total / n if n else None,
            precision=right / n if n else None,
        )
        for (low, high), (n, total, right) in zip(pairwise(places), sums.tolist(), strict=True)
    )


def expected_calibration_error(bins: Iterable[Bin]) -> float | None:
    """Returns the mean distance of score and precision over the mentions, bin by bin; ``None``
    without mentions.

    It depends on the bins: compare only numbers over the same ones.
    """
    known = [(one.count, one.mean_score, one.precision) for one in bins]
    filled = [
        (n, abs(score - right))
        for n, score, right in known
        if score is not None and right is not None
    ]
    total = sum(n for n, _ in filled)
    return sum(n * distance for n, distance in filled) / total if total else None


def brier_score(scores: Floats, right: Bools) -> float | None:
    """Returns the mean squared distance of score and truth (0 or 1); ``None`` without mentions."""
    _check(scores, right)
    return float(np.mean((scores - right) ** 2)) if len(scores) else None


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Precision and recall when only mentions with at least a threshold are kept.

    Attributes:
        thresholds: every score that occurs, falling, shape ``[t]``.
        precision: shape ``[t]``.
        recall: of all gold mentions, shape ``[t]``; ``None`` if there is no gold mention.
        mentions: those kept, shape ``[t]``.
        gold: gold mentions.
    """

    thresholds: Floats = field(repr=False)
    precision: Floats = field(repr=False)
    recall: Floats | None = field(repr=False)
    mentions: Ints = field(repr=False)
    gold: int

    @property
    def average_precision(self) -> float | None:
        """The sum of precision times the growth of recall, step by step; ``None`` if there is no
        gold mention.
        """
        if self.recall is None:
            return None
        return float(np.sum(self.precision * np.diff(self.recall, prepend=0.0)))

    def thinned(self, points: int = 101) -> list[PointPart]:
        """At most so many points, evenly over the kept mentions, the first and the last among
        them; ready for JSON.
        """
        if not len(self.mentions):
            return []
        places = sorted(
            set(
                np.searchsorted(
                    self.mentions, np.linspace(self.mentions[0], self.mentions[-1], points)
                ).tolist()
            )
        )
        return [
            {
                "threshold": float(self.thresholds[place]),
                "precision": float(self.precision[place]),
                "recall": None if self.recall is None else float(self.recall[place]),
            }
            for place in places
        ]


def precision_recall(scores: Floats, right: Bools, *, gold: int) -> Curve:
    """Returns the curve over all thresholds; mentions with equal scores come and go together.

    Args:
        scores: from 0 to 1, shape ``[n]``.
        right: shape ``[n]``.
        gold: gold mentions, found or not.

    Raises:
        InputError: a score outside [0, 1], shapes that differ, or fewer gold mentions than were
            found.
    """
    _check(scores, right)
    if gold < int(right.sum()):
        raise InputError(
            f"{int(right.sum()):,} mentions are right, but only {gold:,} are gold; give the "
            "number of all"
        )
    order = np.argsort(-scores, kind="stable")
    true = np.cumsum(right[order], dtype=np.int64)
    # the last mention with each score
    last = np.flatnonzero(np.diff(scores[order], append=-math.inf))
    counts = (last + 1).astype(np.int64)
    return Curve(
        thresholds=scores[order][last],
        precision=true[last] / counts,
        recall=true[last] / gold if gold else None,
        mentions=counts,
        gold=gold,
    )


@dataclass(frozen=True, kw_only=True)
class _Threshold:
    """Threshold on scores: mentions with at least this score are kept.

    Attributes:
        threshold: the score.
        precision: of what is kept, on the data it was chosen on.
        recall: the same.
    """

    threshold: float
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Harmonic mean of both; 0 if both are."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def threshold_for(
    curve: Curve, *, precision: float | None = None, recall: float | None = None
) -> _Threshold:
    """Returns the threshold for a wanted precision or recall, chosen on development data.

    Of the thresholds with at least the wanted precision, the one with the highest recall, which is
    the lowest one; of those with at least the wanted recall, the one with the highest precision, of
    equal ones the highest. Precision may fall below the wanted one between thresholds that have it.

    Args:
        curve: of development data.
        precision: the wanted one; give this or recall.
        recall: the wanted one.

    Raises:
        UsageError: both or neither, or a number outside (0, 1].
        InputError: no threshold reaches it, or there is no gold mention.
    """
    if (precision is None) == (recall is None):
        raise UsageError(
            "a threshold needs a target precision or a target recall; give one of them"
        )
    name, least = ("precision", precision) if precision is not None else ("recall", recall)
    if least is None or not 0.0 < least <= 1.0:
        raise UsageError(f"a {name} of {least} was asked for; give a number above 0, up to 1")
    if curve.recall is None or not len(curve.thresholds):
        raise InputError(
            f"a threshold for a {name} of {least:g} needs gold and predicted mentions; there "
            "are none"
        )
    values = curve.precision if name == "precision" else curve.recall
    able = np.flatnonzero(values >= least)
    if not len(able):
        best = int(np.argmax(values))
        raise InputError(
            f"no threshold gives a {name} of {least:g}; the best is {values[best]:.4f} at "
            f"{curve.thresholds[best]:.4g}"
        )
    place = int(able[-1]) if name == "precision" else int(able[np.argmax(curve.precision[able])])
    return _at(curve, place, curve.recall)


def best_threshold(curve: Curve) -> _Threshold:
    """Returns the threshold with the highest F1, of equal ones the highest.

    Raises:
        InputError: there is no gold mention, or nothing was predicted.
    """
    if curve.recall is None or not len(curve.thresholds):
        raise InputError(
            "a threshold for the best F1 needs gold and predicted mentions; there are none"
        )
    true = curve.precision * curve.mentions
    return _at(curve, int(np.argmax(2 * true / (curve.mentions + curve.gold))), curve.recall)


def _at(curve: Curve, at: int, recall: Floats) -> _Threshold:
    return _Threshold(
        threshold=float(curve.thresholds[at]),
        precision=float(curve.precision[at]),
        recall=float(recall[at]),
    )


def _check(scores: Floats, right: Bools) -> None:
    if scores.shape != right.shape or scores.ndim != 1:
        raise InputError(
            f"scores of shape {scores.shape} and truths of shape {right.shape} were given; give "
            "one each"
        )
    wrong = scores[~((scores >= 0.0) & (scores <= 1.0))]
    if len(wrong):
        raise InputError(
            f"{len(wrong):,} of {len(scores):,} scores are not probabilities, the first is "
            f"{wrong[0]:g}; give scores from 0 to 1"
        )
