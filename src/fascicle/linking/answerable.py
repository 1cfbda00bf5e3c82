"""Concepts that may be answered: those in the vocabularies of a type, and how names of others
lead to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Ints, int_array
from fascicle.linking.asking import Unit
from fascicle.linking.candidates import FOLDED
from fascicle.linking.equivalents import (
    NOTHING,
    Equivalent,
    Namesakes,
    concatenate,
    select_rows,
    sort_equivalents,
)
from fascicle.linking.finding import Finder, FoundTerms
from fascicle.terms.pack.arrays import expand_ranges
from fascicle.terms.terms import NAME_KINDS

_LABEL: Final = NAME_KINDS.index("label")
_NONE: Final = int_array([])


class Answerable:
    """Concepts of a pack that may be answered."""

    def __init__(self, finder: Finder, vocabularies: Mapping[str, Sequence[str]]) -> None:
        """Sets the finder of an open pack.

        Args:
            finder: of the pack.
            vocabularies: of types, prefixes of the concepts that may be answered, with all of their
                sets; all of the pack by default.
        """
        self._finder, pack = finder, finder.pack
        self._wanted = {  # whether each concept may be answered
            kind: self._with_member(np.isin(pack.prefixes, prefixes)[pack.prefix_rows])
            for kind, prefixes in vocabularies.items()
            if prefixes
        }
        self._namesakes = Namesakes(pack)

    def may_be(self, kind: str, row: int) -> bool:
        """True if a concept may be answered for a mention of a type."""
        return kind not in self._wanted or bool(self._wanted[kind][row])

    def _with_member(self, members: Bools) -> Bools:
        """Returns whether the set of each concept has a chosen concept."""
        leads = self._finder.pack.leads.of(np.arange(len(members)))
        has_member = np.zeros(len(members), dtype=np.bool_)
        has_member[leads[members]] = True
        of_concept: Bools = has_member[leads]
        return of_concept

    def labelled_elsewhere(self, units: Sequence[Unit]) -> Ints:
        """Returns the units whose name is the label of a concept without a species that may not
        be answered.
        """
        numbers = [at for at, unit in enumerate(units) if unit.type in self._wanted]
        kinds = [units[at].type for at in numbers]
        matches = self._finder.find([units[at].query.name for at in numbers], kinds)
        active, concepts = self._finder.pack.active, self._finder.pack.active.concept[matches.terms]
        labels = (matches.tiers <= FOLDED) & (active.kind[matches.terms] == _LABEL)
        labels &= self._finder.pack.taxon_rows[concepts] == 0
        answered = [
            self._wanted[kinds[at]][row] for at, row in zip(matches.places, concepts, strict=True)
        ]
        labels &= ~np.array(answered, dtype=np.bool_)
        labelled: Ints = int_array(numbers)[matches.places[labels]]
        return labelled

    def reached(self, types: Sequence[str], matches: FoundTerms) -> Equivalent:
        """Returns the equivalents of terms in the vocabularies of their types; places are
        numbers of terms.
        """
        concepts = self._finder.pack.active.concept[matches.terms].astype(np.int64)
        numbers: dict[str | None, int] = {
            kind: number for number, kind in enumerate((None, *self._wanted))
        }
        of_term = int_array([numbers.get(kind, 0) for kind in types])[matches.places]
        parts = [
            self._within(concepts, places, kind)
            for kind, number in numbers.items()
            if len(places := np.flatnonzero(of_term == number))
        ]
        equivalents = (
            Equivalent(*(np.concatenate([_NONE, *column]) for column in zip(*parts, strict=True)))
            if parts
            else NOTHING
        )
        return Equivalent(
            *(column[np.argsort(equivalents.places, kind="stable")] for column in equivalents)
        )

    def _within(self, concepts: Ints, places: Ints, kind: str | None) -> Equivalent:
        index = self._finder.index
        distinct, inverse = np.unique(concepts[places], return_inverse=True)
        allowed = self._wanted[kind] if kind is not None else None
        if allowed is None or index is None:
            itself = np.arange(len(distinct))
            reached = Equivalent(itself, distinct, np.zeros(len(distinct), dtype=np.int64))
        else:
            reached = index.equivalents.within(distinct, allowed)
        reached = concatenate(reached, self._namesakes.of(distinct))
        reached = sort_equivalents(reached if allowed is None else select_rows(reached, allowed))
        starts = np.searchsorted(reached.places, np.arange(len(distinct) + 1))
        owners, rows = expand_ranges(starts[inverse], starts[inverse + 1])
        return Equivalent(places[owners], reached.rows[rows], reached.distance[rows])
