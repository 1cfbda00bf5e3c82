"""Weights of a ranker: their fit, and their limits.

A low prior never speaks for a concept, nor does anything for a rare meaning of a short form.
Without these limits, a fit on texts that hardly ever have rare meanings may give them any weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Floats
from fascicle.linking.features import RARE_SHORT_FORM
from fascicle.linking.logit import ChoiceSets, probabilities

_PRIOR: Final = "prior"
_SHARE: Final = "share of prior"
RARE_AT_MOST: Final = -5.0
_STEPS: Final = 60
_HALVINGS: Final = 30
_DONE: Final = 1e-9  # gain of a step, relative to the loss


def fit_loss(
    choices: ChoiceSets, right: Bools, weights: Floats, penalty: float
) -> tuple[float, Floats]:
    """Returns the negative log-likelihood of the right candidates, with an L2 penalty, and its
    gradient.

    A mention without a right candidate is right as NIL; with several, any of them is right.

    Args:
        choices: candidates.
        right: which of them, ``[n]``.
        weights: of the features.
        penalty: half of it times the squared weights is added.
    """
    shares, none = probabilities(choices, weights)
    of_right = np.bincount(choices.owners, weights=shares * right, minlength=choices.mentions)
    some = np.bincount(choices.owners, weights=right, minlength=choices.mentions) > 0
    target = np.where(some, of_right, none)
    loss = -np.log(np.maximum(target, 1e-300)).sum() + 0.5 * penalty * weights @ weights
    targets = np.where(right, shares / np.maximum(of_right, 1e-300)[choices.owners], 0.0)
    return float(loss), choices.features.T @ (shares - targets) + penalty * weights


def fit(
    choices: ChoiceSets,
    right: Bools,
    *,
    penalty: float = 1.0,
    lowest: Floats | float = -np.inf,
    highest: Floats | float = np.inf,
) -> Floats:
    """Fits the weights of least loss within bounds, by Newton's method with halved steps.

    With one right candidate at most for each mention the loss is convex, and its least value is
    found; with several, a step uses the convex part of the curvature. A weight at its bound that
    the slope would move outside is no part of a step (Bertsekas, "Projected Newton methods for
    optimization problems with simple constraints", 1982).

    Args:
        choices: candidates.
        right: which of them, ``[n]``.
        penalty: see `fit_loss`; above 0.
        lowest: bound of each weight.
        highest: the same.

    Returns:
        ``[features]``.
    """
    weights = np.clip(np.zeros(choices.features.shape[1]), lowest, highest)
    loss, slope = fit_loss(choices, right, weights, penalty)
    for _ in range(_STEPS):
        free = ~((weights <= lowest) & (slope > 0) | (weights >= highest) & (slope < 0))
        step, size = np.zeros(len(weights)), 1.0
        step[free] = np.linalg.solve(
            _curvature(choices, weights, penalty)[np.ix_(free, free)], slope[free]
        )
        for _ in range(_HALVINGS):
            moved = np.clip(weights - size * step, lowest, highest)
            tried, tried_slope = fit_loss(choices, right, moved, penalty)
            if tried <= loss:
                break
            size /= 2
        else:
            break
        gain, weights = loss - tried, moved
        loss, slope = tried, tried_slope
        if gain <= _DONE * max(loss, 1.0):
            break
    return weights


def _curvature(choices: ChoiceSets, weights: Floats, penalty: float) -> Floats:
    """Returns the second derivative of the logarithm of the sum over candidates, and the
    penalty.
    """
    shares, _ = probabilities(choices, weights)
    weighted = choices.features * shares[:, None]
    means = np.zeros((choices.mentions, choices.features.shape[1]))
    np.add.at(means, choices.owners, weighted)
    curvature: Floats = choices.features.T @ weighted - means.T @ means
    return curvature + penalty * np.eye(len(weights))


def limited(weights: Mapping[str, float]) -> dict[str, float]:
    """Returns weights within the limits: the probability of a candidate never falls as its own
    prior rises.

    The prior of the first candidate is in its own features as the prior, and in those of the others
    as their share of it; that of any other candidate is in both of its own features. So neither the
    prior nor the sum may be below 0.

    Args:
        weights: by the name of the feature; one that is missing is 0.
    """
    prior = max(weights.get(_PRIOR, 0.0), 0.0)
    share = max(weights.get(_SHARE, 0.0), -prior)
    rare = min(weights.get(RARE_SHORT_FORM, 0.0), RARE_AT_MOST)
    return {**weights, _PRIOR: prior, _SHARE: share, RARE_SHORT_FORM: rare}


def fit_limited(
    choices: ChoiceSets, right: Bools, inputs: Sequence[str], *, penalty: float
) -> Floats:
    """Fits the weights of least loss within the limits.

    Args:
        choices: candidates.
        right: which of them, ``[n]``.
        inputs: names of the features.
        penalty: see `fit`.

    Returns:
        ``[features]``.
    """
    prior, share, rare = map(inputs.index, (_PRIOR, _SHARE, RARE_SHORT_FORM))
    features = choices.features.copy()
    features[:, prior] -= features[:, share]  # the highest prior: now no limit concerns two weights
    lowest, highest = np.full(len(inputs), -np.inf), np.full(len(inputs), np.inf)
    lowest[[prior, share]], highest[rare] = 0.0, RARE_AT_MOST
    weights = fit(
        choices._replace(features=features), right, penalty=penalty, lowest=lowest, highest=highest
    )
    weights[share] -= weights[prior]
    return weights
