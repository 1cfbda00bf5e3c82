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
        family alone has the name as written, or but for case, and no gene is a member by its
        symbol. So ``cyclin`` is not PCNA, nor ``FSH`` BRD2, nor ``Erk`` MAPK1, but ``Akt`` may be
        AKT1, and ``Notch`` NOTCH1.
        """
        families = np.flatnonzero(candidates.labels & self.are(candidates.concepts))
        strangers = [_NONE]
        for at, label in zip(
            families.tolist(), self._pack.labels_at(candidates.concepts[families]), strict=True
        ):
            strangers += self._strangers_to(candidates, at, label)
        return np.concatenate(strangers)

    def _strangers_to(self, candidates: Candidates, family: int, label: str) -> list[Ints]:
        """Returns the strangers to one family, by its row and its label."""
        starts = np.searchsorted(candidates.owners, candidates.owners[family] + np.arange(2))
        own = np.arange(*starts)
        genes, aliases = own[~self.are(candidates.concepts[own])], own[~candidates.labels[own]]
        prior = candidates.priors[family]
        loose = aliases[
            (candidates.priors[aliases] <= prior / 2) | (candidates.distance[aliases] == NAMESAKE)
        ]
        member = self._are_members(candidates.concepts[loose], label)
        loose = loose[~member | (candidates.priors[loose] <= prior / 6)]
        looser = aliases[self._have_other_case(candidates, aliases, family)]
        looser = looser[~self._are_members(candidates.concepts[looser], label, by_symbol=True)]
        # a gene that is left would take the share of those that go
        is_alone = np.isin(genes, np.concatenate([loose, looser])).all()
        return [loose, looser] if is_alone else [loose]

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
