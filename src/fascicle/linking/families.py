"""Families and complexes of genes: which concepts are one, and which genes may be meant by the
name of one.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Ints, int_array
from fascicle.linking.candidates import CANONICAL, FAMILY_TYPES, Candidates
from fascicle.linking.equivalents import NAMESAKE
from fascicle.terms.keys.characters import cased_letters
from fascicle.terms.pack.pack import Pack
from fascicle.terms.terms import NAME_KINDS

_LABEL: Final = NAME_KINDS.index("label")
_SHORT: Final = 4  # letters and digits of a name whose first letter is large at any place
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
        species, and the gene is no member by its names; or it is six times as probable; or the
        family alone has the name as written, or but for case, and the gene is no member by its
        symbol. So ``cyclin`` is not PCNA, nor ``FSH`` BRD2, nor ``Erk`` MAPK1, but ``Akt`` may be
        AKT1, and ``Notch`` NOTCH1.
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
            looser = own[~candidates.labels[own] & self._have_other_case(candidates, own, at)]
            strangers.append(
                looser[~self._are_members(candidates.concepts[looser], label, by_symbol=True)]
            )
            own = own[~candidates.labels[own] & loose]
            member = self._are_members(candidates.concepts[own], label)
            strangers.append(own[~member | (candidates.priors[own] <= candidates.priors[at] / 6)])
        return np.concatenate(strangers)

    def _have_other_case(self, candidates: Candidates, genes: Ints, family: int) -> Bools:
        """Returns whether genes have the name of their unit by a later tier than a family: in
        another case, or without the ``s`` of a plural. A longer word may begin a sentence.
        """
        names, tiers = self._pack.active, candidates.tiers[genes]
        own = cased_letters(candidates.units[candidates.owners[family]].surface)
        spellings = map(cased_letters, names.surfaces.take(names.surface[candidates.terms[genes]]))
        differs = [
            other[len(own) > _SHORT :] != own[len(own) > _SHORT :]
            and other.lower() in (own.lower(), own.lower().removesuffix("s"))
            for other in spellings
        ]
        later = (tiers > candidates.tiers[family]) & (tiers <= CANONICAL)
        looser: Bools = later & np.array(differs, dtype=np.bool_)
        return looser

    def _are_members(self, genes: Ints, family: str, *, by_symbol: bool = False) -> Bools:
        """Returns whether a longer name of each gene begins with that of a family: a symbol if
        there is one, or ``by_symbol``.

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
                owners,
                weights=symbols if by_symbol or symbols.any() else longer_names,
                minlength=len(genes),
            )
            > 0
        )
        return members
