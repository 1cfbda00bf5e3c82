"""Functions that make scores truer, fitted on development data: one number (temperature), or a rising step (isotonic).

Both keep the order of the scores, so that precision-recall curves stay as they are (isotonic calibration makes scores
equal here and there); what changes is what a score *says*. A temperature needs little data; isotonic calibration bends
to any rising curve and needs hundreds of mentions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fascicle.core.arrays import Floats
from fascicle.decoding.calibration import interpolated, logits, sigmoid, tempered
from fascicle.errors import InputError
from fascicle.evaluation.calibration.reliability import Judged
from fascicle.settings.decision import IsotonicCurve, LogisticCurve, TemperatureCurve

LEAST, MOST = 0.01, 100.0  # temperatures
LIMIT = 100.0  # of slope and offset
_STEPS = 100


@dataclass(frozen=True, kw_only=True)
class Temperature:
    """Divides the logit of a score by one number (Guo et al., ICML 2017).

    Attributes:
        value: above 1 where the system is too sure of itself, below 1 where it is too shy.
        at_bound: whether the best value lies outside ``[LEAST, MOST]``, as when the scores part right from wrong at 0.5
            without an exception, or say the opposite of the truth.
    """

    value: float
    at_bound: bool = False

    def apply(self, scores: Floats) -> Floats:
        """Calibrated scores, shape as given."""
        return tempered(scores, self.value)

    def as_dict(self) -> dict[str, Any]:
        """The fields, ready for JSON."""
        return {"temperature": self.value, "at_bound": self.at_bound}

    def curve(self) -> TemperatureCurve:
        """As a model folder has it.

        Raises:
            InputError: no temperature within the bounds fits.
        """
        if self.at_bound:
            raise InputError(
                f"no temperature from {LEAST:g} to {MOST:g} fits these scores, as where right and wrong mentions are "
                "parted at 0.5 without an exception; use isotonic calibration, none, or more development data"
            )
        return TemperatureCurve(temperature=self.value)


def fit_temperature(data: Judged) -> Temperature:
    """The temperature with the highest likelihood.

    Args:
        data: of development documents.

    Raises:
        InputError: no mentions.
    """
    evidence, right = logits(_given(data)), data.right.astype(np.float64)

    def slope(inverse: float) -> float:
        """Derivative of the negative log likelihood by the inverse temperature, in which it is convex."""
        return float(np.sum((sigmoid(inverse * evidence) - right) * evidence))

    low, high = 1.0 / MOST, 1.0 / LEAST
    if slope(low) >= 0.0:
        return Temperature(value=MOST, at_bound=True)
    if slope(high) <= 0.0:
        return Temperature(value=LEAST, at_bound=True)
    while high / low > 1.0 + 1e-12:
        middle = math.sqrt(low * high)
        if middle in (low, high):
            break
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return Temperature(value=1.0 / math.sqrt(low * high))


@dataclass(frozen=True, kw_only=True)
class Isotonic:
    """A function that never falls: linear between knots, level beyond them.

    Attributes:
        scores: of the knots, rising.
        values: calibrated score of each, not falling.
    """

    scores: tuple[float, ...]
    values: tuple[float, ...]

    def apply(self, scores: Floats) -> Floats:
        """Calibrated scores, shape as given."""
        return interpolated(scores, self.scores, self.values)

    def as_dict(self) -> dict[str, Any]:
        """The knots, ready for JSON."""
        return {"scores": list(self.scores), "values": list(self.values)}

    def curve(self) -> IsotonicCurve:
        """As a model folder has it."""
        return IsotonicCurve(scores=self.scores, values=self.values)


def fit_isotonic(data: Judged) -> Isotonic:
    """The rising function with the smallest squared distance to the truth, by pooling adjacent violators.

    Args:
        data: of development documents.

    Raises:
        InputError: no mentions.
    """
    knots, places = np.unique(_given(data), return_inverse=True)
    weights = np.bincount(places, minlength=len(knots)).astype(np.float64)
    sums = np.bincount(places, weights=data.right.astype(np.float64), minlength=len(knots))
    pools: list[tuple[float, float, int]] = []  # sum, weight, knots
    for total, weight in zip(sums.tolist(), weights.tolist(), strict=True):
        pool = (total, weight, 1)
        while pools and pools[-1][0] * pool[1] >= pool[0] * pools[-1][1]:  # means, compared without dividing
            before = pools.pop()
            pool = (before[0] + pool[0], before[1] + pool[1], before[2] + pool[2])
        pools.append(pool)
    values = np.repeat([total / weight for total, weight, _ in pools], [count for _, _, count in pools])
    # Of the knots of a pool, the first and the last say everything.
    needed = np.ones(len(knots), dtype=bool)
    if len(knots) > 2:
        needed[1:-1] = (values[1:-1] != values[:-2]) | (values[1:-1] != values[2:])
    return Isotonic(scores=tuple(knots[needed].tolist()), values=tuple(values[needed].tolist()))


def fit_logistic(judged: Sequence[Sequence[tuple[float, bool]]]) -> LogisticCurve | None:
    """The curve of highest likelihood over the log odds of scores (Platt, 1999), by Newton's method.

    The truth of each mention is softened as in Platt's paper, so that scores that part right from wrong without an
    exception have a finite curve.

    Args:
        judged: the score of each mention of each group, and whether it is right; each group counts the same.

    Returns:
        ``None`` if all are right, all are wrong, or better scores are no better.
    """
    groups = [one for one in judged if one]
    pairs = [pair for one in groups for pair in one]
    share = np.concatenate([np.full(len(one), len(pairs) / len(groups) / len(one)) for one in groups] or [np.zeros(0)])
    right = np.array([true for _, true in pairs], dtype=bool)
    if not 0 < right.sum() < len(right):
        return None
    evidence = logits(np.array([score for score, _ in pairs], dtype=np.float64))
    truth = np.where(right, (right.sum() + 1) / (right.sum() + 2), 1 / ((~right).sum() + 2))
    inputs = np.column_stack([evidence, np.ones(len(right))])
    weights = np.array([1.0, 0.0])
    for _ in range(_STEPS):
        said = sigmoid(inputs @ weights)
        curvature = (inputs * (share * said * (1 - said))[:, None]).T @ inputs + 1e-9 * np.eye(2)
        step = np.linalg.solve(curvature, inputs.T @ (share * (said - truth)))
        weights = weights - np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-10:
            break
    slope, offset = np.clip(weights, -LIMIT, LIMIT).tolist()
    return LogisticCurve(slope=slope, offset=offset) if slope > 0 else None


def _given(data: Judged) -> Floats:
    if not len(data.scores):
        raise InputError("nothing was predicted, so no calibration can be fitted; give development data")
    return data.scores
