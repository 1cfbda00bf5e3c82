"""The candidates of annotated mentions as arrays, of which rankers are fitted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.knowledge.linking.ranking import Choices, probabilities


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


def without_features(table: Table, without: Collection[str]) -> Table:
    """The table with nothing in the columns of some features, so that they get no weight."""
    kept = np.array([name not in without for name in table.inputs])
    return table._replace(choices=table.choices._replace(features=table.choices.features * kept)) if without else table


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
