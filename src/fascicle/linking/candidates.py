"""Candidates of units: concepts that each may mean, with how they were found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.linking.asking import Unit

TIERS: Final = ("exact", "folded", "canonical", "reordered", "near", "remembered", "dense")
EXACT, FOLDED, CANONICAL, REORDERED, NEAR, REMEMBERED, DENSE = range(7)
MOST: Final = 64  # candidates of a unit


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Candidates of units; each concept occurs once for a unit, by the best of its names.

    Attributes:
        units: in the order of documents, mentions and parts.
        owners: number of the unit of each candidate, ascending, ``[n]``; so are all the others.
        concepts: rows in the pack of the concepts that lead their sets, ascending within a unit.
        terms: row of the active term by which it was found, or -1 for a remembered name.
        tiers: numbers in `TIERS`.
        similarity: of the keys, or of the vectors of a name that was found by them.
        ways: of all names that lead to it, as bits by their number in `WAYS`.
        distance: `ITSELF` for a name of its own, else that of a concept that it is equivalent to, see `Reached`.
        names: how many terms lead to it.
        priors: of the term; 0.5 for a remembered name.
        labels: whether the term is a preferred name.
        distinctive: whether it was found by a short form alone that is hardly short for anything else.
        agrees: the share of the words of the long form that its names have, if it was found by the short form alone.
        hinted: 1 if words of the mention name the species of the concept, -1 if they name another, else 0.
        remembered: how many documents annotated the surface with it.
        remembered_all: how many annotated it with any concept.
    """

    units: list[Unit]
    owners: Ints
    concepts: Ints
    terms: Ints
    tiers: Ints
    similarity: Floats
    ways: Ints
    distance: Ints
    names: Ints
    priors: Floats
    labels: Bools
    distinctive: Bools
    agrees: Floats
    hinted: Ints
    remembered: Ints
    remembered_all: Ints

    @property
    def dense(self) -> Floats:
        """Similarity of candidates that were found by vectors, 0 for the others, ``[n]``."""
        return np.where(self.tiers == DENSE, self.similarity, 0.0)


def cut(found: Candidates, allowed: Bools) -> Candidates:
    """Returns at most `MOST` candidates of each unit, the best ones of those that are allowed."""
    counts = np.bincount(found.owners[allowed], minlength=len(found.units))
    if allowed.all() and (not len(counts) or counts.max() <= MOST):
        return found
    keys = (found.concepts, -found.priors, found.distance, -found.dense, found.tiers, -found.remembered, found.owners)
    order = np.lexsort(keys)
    order = order[allowed[order]]
    starts = np.cumsum(counts) - counts
    kept = np.sort(order[np.arange(len(order)) - starts[found.owners[order]] < MOST])
    columns = {name: getattr(found, name)[kept] for name in Candidates.__dataclass_fields__ if name != "units"}
    return Candidates(units=found.units, **columns)


def first_in(places: Ints, found: Candidates, allowed: Bools) -> Bools:
    """Returns whether each candidate may stay, given those of vocabularies that precede its own.

    Where an equal name leads to a concept of a vocabulary, concepts of later vocabularies are no candidates: `breast
    cancer` is the concept of MeSH that has this name, and not a narrower one of DOID beside it.

    Args:
        places: of the vocabulary of each concept of the pack.
        found: candidates of units.
        allowed: those that count.
    """
    own = places[found.concepts]
    first = np.full(len(found.units), int(places.max(initial=0)) + 1)
    equal = allowed & (found.tiers <= CANONICAL)
    np.minimum.at(first, found.owners[equal], own[equal])
    may_stay: Bools = own <= first[found.owners]
    return may_stay
