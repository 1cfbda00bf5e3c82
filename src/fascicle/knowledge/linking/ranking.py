"""The ranker: a conditional logistic model of which candidate a mention means, or none of them.

The probability of a candidate is ``exp(w x) / (1 + sum of exp(w x'))`` over the candidates ``x'`` of its mention
(McFadden 1974, the conditional logit with an outside option); what is left is that of NIL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints

_STEPS: Final = 60
_HALVINGS: Final = 30
_DONE: Final = 1e-9  # gain of a step, relative to the loss


class Choices(NamedTuple):
    """The candidates of mentions.

    Attributes:
        owners: number of the mention of each candidate, ascending, ``[n]``.
        features: of each candidate, ``[n, features]``.
        mentions: how many there are, also without candidates.
    """

    owners: Ints
    features: Floats
    mentions: int


def probabilities(choices: Choices, weights: Floats) -> tuple[Floats, Floats]:
    """How probable each candidate is, and NIL for each mention.

    Args:
        choices: candidates.
        weights: of the features.

    Returns:
        ``[n]`` and ``[mentions]``; those of a mention sum up to 1.
    """
    # Not a product of matrices, whose last digits depend on the place of a row: equal candidates must tie.
    scores = np.einsum("nf,f->n", np.ascontiguousarray(choices.features), weights)
    highest = np.zeros(choices.mentions)
    np.maximum.at(highest, choices.owners, scores)
    powers = np.exp(scores - highest[choices.owners])
    none = np.exp(-highest)
    total = none + np.bincount(choices.owners, weights=powers, minlength=choices.mentions)
    return powers / total[choices.owners], none / total


def loss_of(choices: Choices, right: Bools, weights: Floats, penalty: float) -> tuple[float, Floats]:
    """The negative log-likelihood of the right candidates, with an L2 penalty, and its gradient.

    A mention without a right candidate is right as NIL; with several, any of them is right.

    Args:
        choices: candidates.
        right: which of them, ``[n]``.
        weights: of the features.
        penalty: half of it times the squared weights is added.
    """
    found, none = probabilities(choices, weights)
    of_right = np.bincount(choices.owners, weights=found * right, minlength=choices.mentions)
    some = np.bincount(choices.owners, weights=right, minlength=choices.mentions) > 0
    target = np.where(some, of_right, none)
    loss = -np.log(np.maximum(target, 1e-300)).sum() + 0.5 * penalty * weights @ weights
    wanted = np.where(right, found / np.maximum(of_right, 1e-300)[choices.owners], 0.0)
    return float(loss), choices.features.T @ (found - wanted) + penalty * weights


def fit(choices: Choices, right: Bools, *, penalty: float = 1.0) -> Floats:
    """The weights of least loss, by Newton's method with halved steps.

    With one right candidate at most for each mention the loss is convex, and its least value is found; with several,
    a step uses the convex part of the curvature.

    Args:
        choices: candidates.
        right: which of them, ``[n]``.
        penalty: see `loss_of`; above 0.

    Returns:
        ``[features]``.
    """
    weights = np.zeros(choices.features.shape[1])
    loss, slope = loss_of(choices, right, weights, penalty)
    for _ in range(_STEPS):
        step = np.linalg.solve(_curvature(choices, weights, penalty), slope)
        size = 1.0
        for _ in range(_HALVINGS):
            tried, tried_slope = loss_of(choices, right, weights - size * step, penalty)
            if tried <= loss:
                break
            size /= 2
        else:
            break
        gain, weights = loss - tried, weights - size * step
        loss, slope = tried, tried_slope
        if gain <= _DONE * max(loss, 1.0):
            break
    return weights


def _curvature(choices: Choices, weights: Floats, penalty: float) -> Floats:
    """The second derivative of the logarithm of the sum over candidates, and the penalty."""
    found, _ = probabilities(choices, weights)
    weighted = choices.features * found[:, None]
    means = np.zeros((choices.mentions, choices.features.shape[1]))
    np.add.at(means, choices.owners, weighted)
    curvature: Floats = choices.features.T @ weighted - means.T @ means
    return curvature + penalty * np.eye(len(weights))


class Table(NamedTuple):
    """The candidates of all mentions of a type.

    Attributes:
        choices: candidates of units.
        right: whether each is, ``[n]``.
        tiers: of each, ``[n]``.
        documents: number of the document of each unit, ``[units]``.
        scores: of the mention of each unit, or not a number, ``[units]``.
        inputs: names of the features.
    """

    choices: Choices
    right: Bools
    tiers: Ints
    documents: Ints
    scores: Floats
    inputs: tuple[str, ...]


def joined(tables: Sequence[Table]) -> Table:
    """Several as one."""
    sizes = np.cumsum([0, *(table.choices.mentions for table in tables)])
    owners = [table.choices.owners + size for table, size in zip(tables, sizes[:-1], strict=True)]
    features = np.concatenate([table.choices.features for table in tables])
    return Table(
        Choices(np.concatenate(owners), features, int(sizes[-1])),
        np.concatenate([table.right for table in tables]),
        np.concatenate([table.tiers for table in tables]),
        np.concatenate([table.documents for table in tables]),
        np.concatenate([table.scores for table in tables]),
        tables[0].inputs,
    )


def of_units(table: Table, kept: Bools) -> Table:
    """The candidates of some units."""
    units = np.flatnonzero(kept)
    rows = np.flatnonzero(kept[table.choices.owners])
    owners = np.searchsorted(units, table.choices.owners[rows])
    choices = Choices(owners, table.choices.features[rows], len(units))
    return Table(
        choices, table.right[rows], table.tiers[rows], table.documents[units], table.scores[units], table.inputs
    )


def first(choices: Choices, scores: Floats) -> Ints:
    """The best candidate of each unit that has one."""
    order = np.lexsort((-scores, choices.owners))
    return order[np.flatnonzero(np.diff(choices.owners[order], prepend=-1))]


def unseen(table: Table, folds: Sequence[Floats], weights: Floats) -> Floats:
    """The probabilities of candidates, each by weights that did not see its document.

    Args:
        table: candidates.
        folds: weights without each fold of documents.
        weights: of all documents, for those that taught nothing.
    """
    scores = np.zeros(len(table.right))
    fold_of = np.where(table.documents < 0, len(folds), table.documents % len(folds))[table.choices.owners]
    for fold, own_weights in enumerate((*folds, weights)):
        own = fold_of == fold
        if own.any():
            scores[own] = probabilities(table.choices, own_weights)[0][own]
    return scores
