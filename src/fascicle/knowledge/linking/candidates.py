"""The candidates of things that mentions name, and what speaks for those of short forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.knowledge.abbreviations.forms import FUNCTION_WORDS
from fascicle.knowledge.linking.asking import Question, Unit
from fascicle.knowledge.linking.finding import CANONICAL, DENSE
from fascicle.knowledge.pack.keying import KeyReader
from fascicle.knowledge.pack.pack import Pack

MOST: Final = 64  # candidates of a unit
HALF: Final = 0.5  # of the words of a long form, that the names of its concept have at least


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


class Agreement:
    """Compares concepts of short forms with their long forms."""

    def __init__(self, pack: Pack, read: KeyReader) -> None:
        """Takes the pack of the concepts, and what makes keys."""
        self._pack, self._read = pack, read

    def __call__(self, owners: Ints, concepts: Ints, questions: Sequence[Question]) -> tuple[Bools, Floats]:
        """What speaks for candidates of short forms.

        Args:
            owners: number of the unit of each candidate, ``[n]``.
            concepts: rows of the candidates, ``[n]``.
            questions: that were asked for each, ``[n]``.

        Returns:
            Whether its short form is distinctive and has one candidate in each species; the share of the words of its
            long form that its names have. Function words are none.
        """
        distinctive = np.array([one.distinctive for one in questions], dtype=np.bool_)
        several = list(zip(concepts.tolist(), [one.name for one in questions], strict=True))
        distinct = dict.fromkeys(several)  # a pair has many mentions
        values = dict(zip(distinct, self._shares(list(distinct)), strict=True))
        return distinctive & self._alone(owners, concepts), np.array([values[one] for one in several])

    def _alone(self, owners: Ints, concepts: Ints) -> Bools:
        """Whether the unit of each candidate has one in each species at most."""
        taxa = self._pack.taxon_rows[concepts].astype(np.int64)
        _, first, counts = np.unique(owners << 32 | taxa, return_index=True, return_counts=True)
        found: Bools = ~np.isin(owners, owners[first[counts > 1]])
        return found

    def _shares(self, several: Sequence[tuple[int, str]]) -> list[float]:
        active = self._pack.active
        owners, terms = active.of_concept.take(np.array([row for row, _ in several], dtype=np.int64))
        keys = active.keys.strings.take(np.searchsorted(active.starts, terms, side="right") - 1)
        words: list[set[str]] = [set() for _ in several]
        for owner, name in zip(owners.tolist(), keys, strict=True):
            words[owner].update(name.split(" "))
        names = self._read([long for _, long in several])
        wanted = [{one for one in name.split(" ") if one.isalnum()} - FUNCTION_WORDS for name in names]
        return [len(one & own) / max(1, len(one)) for one, own in zip(wanted, words, strict=True)]
