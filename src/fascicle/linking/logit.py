"""Conditional logistic model of the candidate that a mention means, or none of them.

The probability of a candidate is ``exp(w x) / (1 + sum of exp(w x'))`` over the candidates ``x'``
of its mention (McFadden 1974, the conditional logit with an outside option); what is left is that
of NIL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints


class ChoiceSets(NamedTuple):
    """Candidates of mentions.

    Attributes:
        owners: number of the mention of each candidate, ascending, ``[n]``.
        features: of each candidate, ``[n, features]``.
        mentions: how many there are, also without candidates.
    """

    owners: Ints
    features: Floats
    mentions: int


def probabilities(choices: ChoiceSets, weights: Floats) -> tuple[Floats, Floats]:
    """Returns the probability of each candidate, and of NIL for each mention.

    Args:
        choices: candidates.
        weights: of the features.

    Returns:
        ``[n]`` and ``[mentions]``; those of a mention sum up to 1.
    """
    # Not a product of matrices, whose last digits depend on the place of a row: equal candidates
    # must tie.
    scores = np.einsum("nf,f->n", np.ascontiguousarray(choices.features), weights)
    highest = np.zeros(choices.mentions)
    np.maximum.at(highest, choices.owners, scores)
    powers = np.exp(scores - highest[choices.owners])
    none = np.exp(-highest)
    total = none + np.bincount(choices.owners, weights=powers, minlength=choices.mentions)
    return powers / total[choices.owners], none / total


class TrainingTable(NamedTuple):
    """Candidates of all mentions of a type.

    Attributes:
        choices: candidates of units.
        right: whether each is, ``[n]``.
        tiers: of each, ``[n]``.
        documents: number of the document of each unit, ``[units]``.
        scores: of the mention of each unit, or not a number, ``[units]``.
        inputs: names of the features.
    """

    choices: ChoiceSets
    right: Bools
    tiers: Ints
    documents: Ints
    scores: Floats
    inputs: tuple[str, ...]


def join_tables(tables: Sequence[TrainingTable]) -> TrainingTable:
    """Concatenates several tables."""
    sizes = np.cumsum([0, *(table.choices.mentions for table in tables)])
    owners = [table.choices.owners + size for table, size in zip(tables, sizes[:-1], strict=True)]
    features = np.concatenate([table.choices.features for table in tables])
    choices = ChoiceSets(np.concatenate(owners), features, int(sizes[-1]))
    names = ("right", "tiers", "documents", "scores")
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(table, name) for table in tables]) for name in names
    }
    return TrainingTable(choices, inputs=tables[0].inputs, **columns)


def select_units(table: TrainingTable, selected: Bools) -> TrainingTable:
    """Returns the candidates of some units."""
    units = np.flatnonzero(selected)
    rows = np.flatnonzero(selected[table.choices.owners])
    owners = np.searchsorted(units, table.choices.owners[rows])
    choices = ChoiceSets(owners, table.choices.features[rows], len(units))
    return TrainingTable(
        choices,
        table.right[rows],
        table.tiers[rows],
        table.documents[units],
        table.scores[units],
        table.inputs,
    )


def best_rows(choices: ChoiceSets, scores: Floats) -> Ints:
    """Returns the best candidate of each unit that has one."""
    order = np.lexsort((-scores, choices.owners))
    return order[np.flatnonzero(np.diff(choices.owners[order], prepend=-1))]


def cross_validate(table: TrainingTable, folds: Sequence[Floats], weights: Floats) -> Floats:
    """Returns cross-validated probabilities of candidates: by weights that were fitted without
    their document.

    Args:
        table: candidates.
        folds: weights without each fold of documents.
        weights: of all documents, for those that taught nothing.
    """
    scores = np.zeros(len(table.right))
    fold_of = np.where(table.documents < 0, len(folds), table.documents % len(folds))[
        table.choices.owners
    ]
    for fold, own_weights in enumerate((*folds, weights)):
        own = fold_of == fold
        if own.any():
            scores[own] = probabilities(table.choices, own_weights)[0][own]
    return scores
