"""Families and complexes of genes: which concepts are one, and which genes may be meant by the
name of one.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Ints, int_array
from fascicle.linking.candidates import FAMILY_TYPES, Candidates
from fascicle.linking.equivalents import NAMESAKE
from fascicle.terms.pack.pack import Pack
from fascicle.terms.terms import NAME_KINDS

_LABEL: Final = NAME_KINDS.index("label")
_NONE: Final = int_array([])


class Families:
    """Families and complexes of a pack.

    Attributes:
        kinds: types of mentions that they may be answers for, as `Gene`.
    """

    def __init__(self, pack: Pack) -> None:
        """Sets the open pack."""
        self._pack = pack
        self.kinds = {kind for kind, family in FAMILY_TYPES.items() if family in pack.types}
        self._rows = [pack.types.index(FAMILY_TYPES[kind]) for kind in self.kinds]

    def are(self, concepts: Ints) -> Bools:
        """Returns whether each concept is one."""
        families: Bools = np.isin(self._pack.type_rows[concepts], self._rows)
        return families

    def strangers(self, candidates: Candidates) -> Ints:
        """Returns the genes that have the label of a family as an alias that hardly ever means
        them.

        The name of the family is at least twice as probable, or that of the gene is of another
        species, and the gene is no member by its names; or it is six times as probable. So
        ``cyclin`` is not PCNA, nor ``FSH`` BRD2, but ``Akt`` may be AKT1.
        """
        families = np.flatnonzero(candidates.labels & self.are(candidates.concepts))
        strangers = [_NONE]
        for at, label in zip(
            families.tolist(), self._pack.labels_at(candidates.concepts[families]), strict=True
        ):
            own = np.arange(
                *np.searchsorted(
                    candidates.owners, [candidates.owners[at], candidates.owners[at] + 1]
                )
            )
            loose = (candidates.priors[own] <= candidates.priors[at] / 2) | (
                candidates.distance[own] == NAMESAKE
            )
            own = own[~candidates.labels[own] & loose]
            member = self._are_members(candidates.concepts[own], label)
            strangers.append(own[~member | (candidates.priors[own] <= candidates.priors[at] / 6)])
        return np.concatenate(strangers)

    def _are_members(self, genes: Ints, family: str) -> Bools:
        """Returns whether a longer name of each gene, a symbol if there is one, begins with that of
        a family.

        Without number, or with 1 or 2, for these are what is named after the family: ``MEK`` is not
        MEK7.
        """
        active = self._pack.active
        owners, terms = active.of_concept.take(genes)
        longer = re.compile(rf"(?ai:{re.escape(family)})(?=.)(?![ -]?(?:[03-9]|\d\d))")
        longs = [bool(longer.match(name)) for name in active.surfaces.take(active.surface[terms])]
        longer_names = np.array(longs, dtype=np.bool_)
        symbols = longer_names & (active.kind[terms] == _LABEL)
        members: Bools = (
            np.bincount(
                owners, weights=symbols if symbols.any() else longer_names, minlength=len(genes)
            )
            > 0
        )
        return members
