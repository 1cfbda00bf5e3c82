"""Species of mentions that are linked together with the genes of their text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final

import numpy as np

from fascicle.core.arrays import Floats
from fascicle.linking.asking import Unit
from fascicle.linking.candidates import Candidates, take_units
from fascicle.linking.finding import Finder
from fascicle.linking.ranking import Ranked
from fascicle.linking.species import SPECIES, to_species
from fascicle.linking.species_features import SPECIES_FEATURES
from fascicle.linking.strategies import Strategies

# Microbes and parasites live in hosts, whose genes a text has as often: only animals, plants and
# fungi count. Clades have no names of two words, and no genes.
_HOSTS: Final = frozenset(("NCBITaxon:33208", "NCBITaxon:33090", "NCBITaxon:4751"))
_BINOMIAL: Final = re.compile(r"[A-Z][a-z]+ [a-z]{2}(?!.*(?:virus|phage)).*")
Places = dict[int, str]


class SpeciesMentions:
    """Species that mentions name in texts where nothing else names one."""

    def __init__(
        self,
        finder: Finder,
        strategies: Strategies,
        rank: Callable[[Candidates, Floats], Ranked],
    ) -> None:
        """Sets the parts.

        Args:
            finder: of an open pack.
            strategies: describe concepts.
            rank: ranks candidates, given their `SPECIES_FEATURES`.
        """
        self._finder, self._strategies, self._rank = finder, strategies, rank

    def places(self, candidates: Candidates, documents: Collection[int]) -> Mapping[int, Places]:
        """Returns the species of some documents by their places.

        Args:
            candidates: of the units of all documents.
            documents: numbers of those that are read.
        """
        kind = self._finder.pack.own_type(SPECIES)
        numbers = [
            number
            for number, unit in enumerate(candidates.units)
            if unit.type == kind and unit.document in documents
        ]
        if not numbers:
            return {}
        own = take_units(candidates, numbers)
        ranked = self._rank(own, np.zeros((len(own.owners), len(SPECIES_FEATURES))))
        places: defaultdict[int, Places] = defaultdict(dict)
        for unit, curie, label in self._answers(ranked):
            if self._counts(curie, label):
                places[unit.document] |= dict.fromkeys(unit.places, to_species(curie))
        return places

    def _answers(self, ranked: Ranked) -> Iterator[tuple[Unit, str, str]]:
        """Yields units with CURIE and label of their concept, where they have one."""
        candidates = ranked.candidates
        first = np.flatnonzero(np.diff(candidates.owners, prepend=-1))
        first = first[ranked.answered[candidates.owners[first]] == 1]
        described = self._strategies.describe(candidates, ranked.order[first])
        for owner, (curie, label, _) in zip(candidates.owners[first], described, strict=True):
            yield candidates.units[owner], curie, label

    def _counts(self, curie: str, label: str) -> bool:
        """True for a species of a known or unknown lineage that is no microbe."""
        if not curie.startswith("NCBITaxon:") or not _BINOMIAL.fullmatch(label):
            return False
        ancestors = self._finder.pack.ancestors(curie) or self._lineage_of_genus(label.split()[0])
        return not ancestors or not _HOSTS.isdisjoint(ancestors)

    def _lineage_of_genus(self, genus: str) -> set[str]:
        """Returns all concepts above a genus, as the pack has no hierarchy of some species."""
        pack = self._finder.pack
        terms = self._finder.find([genus], [pack.own_type(SPECIES)]).terms
        curies = pack.curies.strings.take(pack.active.concept[terms])
        return {ancestor for curie in curies for ancestor in pack.ancestors(curie)}
