"""Probabilities that mean what they say: the odds of answers are corrected by what was right on other texts.

A ranker is too sure where its features depend on one another, and not sure enough elsewhere. Of the candidate that
stands first, the logarithm of its odds is scaled and shifted (Platt, "Probabilistic outputs for support vector
machines", 1999); both numbers are fitted to documents that the ranker has not seen. A mention that a recogniser found
may be none, or have wrong ends: for such ones there is a correction of its own, to which the score of the mention adds.
"""

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


class Calibration(NamedTuple):
    """A correction of the logarithm of odds.

    Attributes:
        scale: that it is multiplied by; above 0.
        shift: that is added.
        mention: that the logarithm of the odds of the mention's score is multiplied by before it is added; not below 0.
    """

    scale: float = 1.0
    shift: float = 0.0
    mention: float = 0.0

    def __call__(self, scores: Floats, mentions: Floats | None = None) -> Floats:
        """The corrected probabilities; of mentions with one score, their order stays.

        Args:
            scores: probabilities of answers, ``[n]``.
            mentions: scores of their mentions, ``[n]``; without them, nothing is added for these.
        """
        added = 0.0 if mentions is None else self.mention * _odds(mentions, _SURE)
        found: Floats = _share(self.scale * _odds(scores) + added + self.shift)
        return found


def fit_calibration(scores: Floats, right: Bools, mentions: Floats | None = None) -> Calibration:
    """The correction of greatest likelihood, with a penalty for its size, by Newton's method.

    Args:
        scores: probabilities of answers, each by a ranker that had not seen its document, ``[n]``.
        right: whether each is right, ``[n]``.
        mentions: scores of the mentions, ``[n]``, if they were found; one by which worse mentions have better links is
            left out.
    """
    columns = [_odds(scores), np.ones(len(scores)), *([] if mentions is None else [_odds(mentions, _SURE)])]
    scale, shift, *others = _weights(np.stack(columns, axis=1), right).tolist()
    if others and others[0] < 0:
        return fit_calibration(scores, right)
    return Calibration(round(max(scale, _LEAST), 6), round(shift, 6), round(others[0], 6) if others else 0.0)


def _weights(values: Floats, right: Bools) -> Floats:
    weights = _NONE[: values.shape[1]]
    loss, slope, curvature = _loss(values, right, weights)
    for _ in range(_STEPS):
        step = np.linalg.solve(curvature, slope)
        while (tried := _loss(values, right, weights - step))[0] > loss and np.abs(step).max() > _DONE:
            step = step / 2
        if np.abs(step).max() <= _DONE:
            break
        weights = weights - step
        loss, slope, curvature = tried
    return weights


def _loss(values: Floats, right: Bools, weights: Floats) -> tuple[float, Floats, Floats]:
    """The penalised negative log-likelihood, its gradient and its curvature."""
    odds, distance = values @ weights, weights - _NONE[: len(weights)]
    found = _share(odds)
    loss = np.logaddexp(0.0, np.where(right, -odds, odds)).sum() + 0.5 * _PENALTY * distance @ distance
    slope = values.T @ (found - right) + _PENALTY * distance
    curvature = (values * (found * (1 - found))[:, None]).T @ values + _PENALTY * np.eye(len(weights))
    return float(loss), slope, curvature


def corrected(
    scores: Floats, nil: Floats, owners: Ints, calibration: Callable[[Floats], Floats]
) -> tuple[Floats, Floats]:
    """Corrects the probability of the first candidate of each unit; the others and NIL share the rest as before.

    Args:
        scores: of candidates, ``[n]``.
        nil: of units, ``[units]``.
        owners: number of the unit of each candidate, ``[n]``; of candidates that are equally probable, the one that
            stands before the others is the first.
        calibration: the correction: the probability of the first candidate of each unit, ``[units]``, to another.

    Returns:
        New ``scores`` and ``nil``; those of a unit sum up to 1 as they did.
    """
    best = np.zeros(len(nil))
    np.maximum.at(best, owners, scores)
    some = np.bincount(owners, minlength=len(nil)) > 0
    wanted = np.where(some, calibration(best), 0.0)
    rest = (1.0 - wanted) / np.maximum(1.0 - best, _EDGE)
    order = np.lexsort((-scores, owners))
    first = order[np.flatnonzero(np.diff(owners[order], prepend=-1))]
    found = scores * rest[owners]
    found[first] = wanted[owners[first]]
    return found, nil * rest


def _odds(scores: Floats, edge: float = _EDGE) -> Floats:
    inside = np.clip(scores, edge, 1 - edge)
    found: Floats = np.log(inside / (1 - inside))
    return found


def _share(odds: Floats) -> Floats:
    found: Floats = 1.0 / (1.0 + np.exp(-np.clip(odds, -_FARTHEST, _FARTHEST)))
    return found
