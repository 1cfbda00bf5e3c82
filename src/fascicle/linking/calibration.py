"""Calibration of the probabilities of links."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints

_EDGE: Final = 1e-6  # probabilities nearer to 0 and 1 count as this
_STEPS: Final = 50
_PENALTY: Final = 1.0  # on the squared distance from no correction
_LEAST: Final = 0.01  # scale; it must keep the order
_DONE: Final = 1e-9  # size of a step
_FARTHEST: Final = 500.0  # odds whose exponential is finite
_NONE: Final = np.array([1.0, 0.0, 0.0])
_SURE: Final = 0.01  # scores of mentions nearer to 0 and 1 count as this


class LinkCalibration(NamedTuple):
    """Linear correction of the logarithm of odds, so that probabilities mean what they say.

    A ranker is too sure where its features depend on one another, and not sure enough elsewhere. Of
    the first candidate, the logarithm of its odds is scaled and shifted (Platt, "Probabilistic
    outputs for support vector machines", 1999). Both numbers are fitted to documents that the
    ranker has not seen. A mention that a recogniser found may be none, or have wrong ends; such
    mentions have a correction of their own, which adds their score.

    Attributes:
        scale: the number by which the value is multiplied; above 0.
        shift: the number that is added.
        mention: the weight of the logarithm of the odds of the mention's score, which is added; not
            below 0.
    """

    scale: float = 1.0
    shift: float = 0.0
    mention: float = 0.0

    def __call__(self, scores: Floats, mentions: Floats | None = None) -> Floats:
        """Returns the calibrated probabilities; mentions with equal scores keep their order.

        Args:
            scores: probabilities of answers, ``[n]``.
            mentions: scores of their mentions, ``[n]``; without them, nothing is added for these.
        """
        added = 0.0 if mentions is None else self.mention * _odds(mentions, _SURE)
        calibrated: Floats = _share(self.scale * _odds(scores) + added + self.shift)
        return calibrated


def fit_calibration(
    scores: Floats, right: Bools, mentions: Floats | None = None
) -> LinkCalibration:
    """Fits the calibration by penalised maximum likelihood, with Newton's method.

    Args:
        scores: probabilities of answers, each by a ranker that was fitted without its document,
            ``[n]``.
        right: whether each is right, ``[n]``.
        mentions: scores of the mentions, ``[n]``, if they were found; one by which worse mentions
            have better links is left out.
    """
    columns = [
        _odds(scores),
        np.ones(len(scores)),
        *([] if mentions is None else [_odds(mentions, _SURE)]),
    ]
    scale, shift, *mention = _weights(np.stack(columns, axis=1), right).tolist()
    if mention and mention[0] < 0:
        return fit_calibration(scores, right)
    return LinkCalibration(
        round(max(scale, _LEAST), 6), round(shift, 6), round(mention[0], 6) if mention else 0.0
    )


def _weights(values: Floats, right: Bools) -> Floats:
    weights = _NONE[: values.shape[1]]
    loss, slope, curvature = _loss(values, right, weights)
    for _ in range(_STEPS):
        step = np.linalg.solve(curvature, slope)
        while (tried := _loss(values, right, weights - step))[0] > loss and np.abs(
            step
        ).max() > _DONE:
            step = step / 2
        if np.abs(step).max() <= _DONE:
            break
        weights = weights - step
        loss, slope, curvature = tried
    return weights


def _loss(values: Floats, right: Bools, weights: Floats) -> tuple[float, Floats, Floats]:
    """Returns the penalised negative log-likelihood, its gradient and its curvature."""
    odds, distance = values @ weights, weights - _NONE[: len(weights)]
    shares = _share(odds)
    loss = (
        np.logaddexp(0.0, np.where(right, -odds, odds)).sum() + 0.5 * _PENALTY * distance @ distance
    )
    slope = values.T @ (shares - right) + _PENALTY * distance
    curvature = (values * (shares * (1 - shares))[:, None]).T @ values + _PENALTY * np.eye(
        len(weights)
    )
    return float(loss), slope, curvature


def correct_probabilities(
    scores: Floats, nil: Floats, owners: Ints, calibration: Callable[[Floats], Floats]
) -> tuple[Floats, Floats]:
    """Corrects the probability of the first candidate of each unit; the others and NIL share the
    rest as before.

    Args:
        scores: of candidates, ``[n]``.
        nil: of units, ``[units]``.
        owners: number of the unit of each candidate, ``[n]``; of candidates that are equally
            probable, the one that stands before the others is the first.
        calibration: the correction: the probability of the first candidate of each unit,
            ``[units]``, to another.

    Returns:
        New ``scores`` and ``nil``; those of a unit sum up to 1 as they did.
    """
    best = np.zeros(len(nil))
    np.maximum.at(best, owners, scores)
    some = np.bincount(owners, minlength=len(nil)) > 0
    corrected = np.where(some, calibration(best), 0.0)
    rest = (1.0 - corrected) / np.maximum(1.0 - best, _EDGE)
    order = np.lexsort((-scores, owners))
    first = order[np.flatnonzero(np.diff(owners[order], prepend=-1))]
    new_scores = scores * rest[owners]
    new_scores[first] = corrected[owners[first]]
    return new_scores, nil * rest


def _odds(scores: Floats, edge: float = _EDGE) -> Floats:
    inside = np.clip(scores, edge, 1 - edge)
    odds: Floats = np.log(inside / (1 - inside))
    return odds


def _share(odds: Floats) -> Floats:
    share: Floats = 1.0 / (1.0 + np.exp(-np.clip(odds, -_FARTHEST, _FARTHEST)))
    return share
