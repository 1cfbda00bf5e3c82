"""Concepts that may be answered: those in the vocabularies of a type, and how names of others
lead to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Ints
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
_NONE: Final = np.empty(0, dtype=np.int64)


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
            kind: self._with_member(np.isin(pack.prefixes, wanted)[pack.prefix_rows])
            for kind, wanted in vocabularies.items()
            if wanted
        }
        self._namesakes = Namesakes(pack)

    def may_be(self, kind: str, row: int) -> bool:
        """True if a concept may be answered for a mention of a type."""
        return kind not in self._wanted or bool(self._wanted[kind][row])

    def _with_member(self, chosen: Bools) -> Bools:
        """Returns whether the set of each concept has a chosen concept."""
        leads = self._finder.pack.leads.of(np.arange(len(chosen)))
        found = np.zeros(len(chosen), dtype=np.bool_)
        found[leads[chosen]] = True
        wanted: Bools = found[leads]
        return wanted

    def labelled_elsewhere(self, units: Sequence[Unit]) -> Ints:
        """Returns the units whose name is the label of a concept without a species that may not
        be answered.
        """
        asked = [at for at, unit in enumerate(units) if unit.type in self._wanted]
        kinds = [units[at].type for at in asked]
        found = self._finder.find([units[at].question.name for at in asked], kinds)
        active, concepts = self._finder.pack.active, self._finder.pack.active.concept[found.terms]
        labels = (found.tiers <= FOLDED) & (active.kind[found.terms] == _LABEL)
        labels &= self._finder.pack.taxon_rows[concepts] == 0
        answered = [
            self._wanted[kinds[at]][row] for at, row in zip(found.places, concepts, strict=True)
        ]
        labels &= ~np.array(answered, dtype=np.bool_)
        named: Ints = np.array(asked, dtype=np.int64)[found.places[labels]]
        return named

    def reached(self, types: Sequence[str], found: FoundTerms) -> Equivalent:
        """Returns the equivalents of terms in the vocabularies of their types; places are
        numbers of terms.
        """
        concepts = self._finder.pack.active.concept[found.terms].astype(np.int64)
        numbers: dict[str | None, int] = {
            kind: number for number, kind in enumerate((None, *self._wanted))
        }
        of_term = np.array([numbers.get(kind, 0) for kind in types], dtype=np.int64)[found.places]
        parts = [
            self._within(concepts, places, kind)
            for kind, number in numbers.items()
            if len(places := np.flatnonzero(of_term == number))
        ]
        joined = (
            Equivalent(*(np.concatenate([_NONE, *one]) for one in zip(*parts, strict=True)))
            if parts
            else NOTHING
        )
        return Equivalent(*(one[np.argsort(joined.places, kind="stable")] for one in joined))

    def _within(self, concepts: Ints, places: Ints, kind: str | None) -> Equivalent:
        index = self._finder.index
        distinct, inverse = np.unique(concepts[places], return_inverse=True)
        wanted = self._wanted[kind] if kind is not None else None
        if wanted is None or index is None:
            itself = np.arange(len(distinct))
            reached = Equivalent(itself, distinct, np.zeros(len(distinct), dtype=np.int64))
        else:
            reached = index.equivalents.within(distinct, wanted)
        reached = concatenate(reached, self._namesakes.of(distinct))
        reached = sort_equivalents(reached if wanted is None else select_rows(reached, wanted))
        starts = np.searchsorted(reached.places, np.arange(len(distinct) + 1))
        owners, rows = expand_ranges(starts[inverse], starts[inverse + 1])
        return Equivalent(places[owners], reached.rows[rows], reached.distance[rows])
