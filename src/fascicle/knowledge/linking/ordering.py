"""The order of candidates where nothing was fitted: stated weights of a few features, the same for every type.

The weights are round numbers, chosen on the texts that the shipped linker was fitted on. Of a mention whose first two
candidates differ by less than `MARGIN` there, the first was right in a third; so they are not told apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec
import numpy as np

from fascicle.core.arrays import Floats, Ints
from fascicle.knowledge.linking.candidates import Gathered
from fascicle.knowledge.linking.features import FEATURES

WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "species: in the name": 4.0,
        "species: likely": 2.0,
        "species: share in the document": 1.0,
        "tier: exact": 1.0,
        "tier: folded": 0.5,
        "tier: reordered": -0.5,
        "tier: near": -1.0,
        "tier: remembered": 1.0,
        "similarity": 1.0,
        "found by: short": -1.0,
        "found by: bare": -1.0,
        "found by: part": -1.0,
        "found by: shorter": -6.0,
        "by an exact match of vocabularies": -0.25,
        "by a reference of vocabularies": -0.5,
        "by two references": -1.0,
        "by a parent": -3.0,
        "by a namesake": -2.0,
        "label": 1.0,
        "case": 0.5,
        "share of prior": 0.5,
        "share of remembered": 3.0,
        "another name in the document": 0.5,
        "words around": 1.0,
    }
)
MARGIN: Final = 0.5
DENSE: Final = -2.0  # of a name that was found by vectors, beside their similarity
_WEIGHTS: Final = np.array([WEIGHTS.get(name, 0.0) for name in FEATURES])
_DIGITS: Final = 9  # of a sum: equal candidates must tie


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates of units in their order, as arrays.

    Attributes:
        found: candidates.
        features: ``[n, FEATURES]``.
        order: numbers of candidates, by unit, the best first, ``[n]``.
        scores: probability of each candidate, or NaN, ``[n]``.
        nil: probability that none fits, of each unit, or NaN, ``[units]``.
        thresholds: below which probability the answer of each unit is NIL, ``[units]``.
        alike: how many candidates of each unit stand first and cannot be told apart, ``[units]``.
    """

    found: Gathered
    features: Floats
    order: Ints
    scores: Floats
    nil: Floats
    thresholds: Floats
    alike: Ints


def stated_scores(found: Gathered, features: Floats) -> Floats:
    """The weighted sum of the features of each candidate, ``[n]``."""
    sums = np.einsum("nf,f->n", features, _WEIGHTS)
    dense = found.dense
    scores: Floats = np.round(sums + np.where(dense > 0, DENSE + dense, 0.0), _DIGITS)
    return scores


def shares(scores: Floats, owners: Ints, units: int) -> Floats:
    """The share that each candidate has of its unit, if one of them is meant, ``[n]``.

    Args:
        scores: stated, ``[n]``.
        owners: number of the unit of each, ``[n]``.
        units: how many there are.
    """
    highest = np.full(units, -np.inf)
    np.maximum.at(highest, owners, scores)
    powers = np.exp(scores - highest[owners])
    found: Floats = powers / np.bincount(owners, weights=powers, minlength=units)[owners]
    return found


def alike(scores: Floats, stated: Floats, owners: Ints, *, units: int) -> Ints:
    """How many candidates of each unit stand first and cannot be told apart, the first among them, ``[units]``.

    Args:
        scores: by a ranker, or not a number, in the order of candidates, ``[n]``.
        stated: the same by `stated_scores`.
        owners: number of the unit of each, ascending, ``[n]``.
        units: how many there are.
    """
    starts = np.searchsorted(owners, np.arange(units))
    first = starts[owners]
    ranked = np.nan_to_num(scores, nan=0.0)
    near = (ranked == ranked[first]) & (stated > stated[first] - MARGIN)
    found: Ints = np.bincount(owners[near], minlength=units)
    return found
