"""Things that mentions name, and the candidates of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.knowledge.linking.asking import Question
from fascicle.knowledge.linking.finding import CANONICAL, DENSE

MOST: Final = 64  # candidates of a unit


class Unit(NamedTuple):
    """One thing that a mention names.

    Attributes:
        document: number of the document.
        mention: number of the mention in it.
        part: number of the thing in the mention; 0 for most.
        type: of the mention.
        surface: of the thing.
        question: what is looked up.
        place: of the text, around which species are looked for.
    """

    document: int
    mention: int
    part: int
    type: str
    surface: str
    question: Question
    place: int


@dataclass(frozen=True, kw_only=True)
class Gathered:
    """The candidates of units; each concept is there once for a unit, by the best of its names.

    Attributes:
        units: in the order of documents, mentions and parts.
        owners: number of the unit of each candidate, ascending, ``[n]``; so are all the others.
        concepts: rows in the pack of the concepts that lead their sets, ascending within a unit.
        terms: row of the active term by which it was found, or -1 for a remembered name.
        tiers: numbers in `TIERS`.
        similarity: of the keys, or of the vectors of a name that was found by them.
        ways: of all names that lead to it, as bits by their number in `WAYS`.
        distance: `ITSELF` for a name of its own, else that of a concept that it stands for, see `Reached`.
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
        """The similarity of candidates that were found by vectors, 0 for the others, ``[n]``."""
        return np.where(self.tiers == DENSE, self.similarity, 0.0)


def cut(found: Gathered, allowed: Bools) -> Gathered:
    """At most `MOST` candidates of each unit, the best ones of those that are allowed."""
    counts = np.bincount(found.owners[allowed], minlength=len(found.units))
    if allowed.all() and (not len(counts) or counts.max() <= MOST):
        return found
    keys = (found.concepts, -found.priors, found.distance, -found.dense, found.tiers, -found.remembered, found.owners)
    order = np.lexsort(keys)
    order = order[allowed[order]]
    starts = np.cumsum(counts) - counts
    kept = np.sort(order[np.arange(len(order)) - starts[found.owners[order]] < MOST])
    columns = {name: getattr(found, name)[kept] for name in Gathered.__dataclass_fields__ if name != "units"}
    return Gathered(units=found.units, **columns)


def first_in(places: Ints, found: Gathered, allowed: Bools) -> Bools:
    """Whether each candidate may stay beside those of vocabularies that come before its own.

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
