"""Features of the species of candidates, beside those that the text names around a mention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.core.document import Document
from fascicle.linking.candidates import Candidates
from fascicle.linking.families import Families
from fascicle.linking.species import (
    NearbySpecies,
    Species,
    agreement,
    is_given_to_species,
    to_species,
)
from fascicle.terms.pack.pack import Pack

SPECIES_FEATURES: Final = (
    "species: likely",
    "species: nearest",
    "species: in the sentence",
    "species: share in the document",
    "species: human by default",
    "species: human",
    "species: unknown",
)
LIKELY: Final = SPECIES_FEATURES.index("species: likely")
_AGREE: Final = [
    SPECIES_FEATURES.index(f"species: {name}")
    for name in ("share in the document", "human by default", "unknown")
]
# not yeast, viruses and bacteria: texts that name these often mean genes of people
_ANIMALS: Final = frozenset(
    f"NCBITaxon:{number}" for number in (7227, 7955, 9031, 8355, 9913, 9823, 6239)
)
_OF_FAMILY: Final = np.array([1.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0])


class SpeciesFeatures:
    """Computes `SPECIES_FEATURES` of candidates of one pack."""

    def __init__(self, pack: Pack) -> None:
        """Sets the open pack."""
        self._pack, self._families = pack, Families(pack)
        self._taxa = [to_species(taxon) for taxon in pack.taxa.take(np.arange(len(pack.taxa)))]
        self._named = frozenset(self._taxa) - {""}

    def __call__(
        self,
        candidates: Candidates,
        documents: Sequence[Document],
        stated: Mapping[str, str] = MappingProxyType({}),
    ) -> Floats:
        """Returns the features of candidates; 0 for units none of whose candidates has a species.

        Args:
            candidates: candidates of units.
            documents: the documents that the units are of.
            stated: species of the genes of a type, in place of those that a text names.

        Returns:
            One column for each of `SPECIES_FEATURES`. A family without a gene of the likely species
            beside it is of this one, as its members are.
        """
        owners, units = candidates.owners, len(candidates.units)
        rows = self._pack.taxon_rows[candidates.concepts].astype(np.int64)
        values = np.zeros((len(rows), len(SPECIES_FEATURES)))
        has_gene = np.bincount(owners[rows > 0], minlength=units) > 0
        genes = np.flatnonzero(has_gene[owners])
        if len(genes):
            around = _SpeciesAround(candidates, documents, stated, has_gene)
            values[genes] = self._agreement(around, around.of_unit[owners[genes]], rows[genes])
        likely = np.bincount(owners, weights=values[:, LIKELY] * (rows > 0), minlength=units)
        alone = self._families.are(candidates.concepts) & (likely[owners] == 0)
        values[alone] = np.maximum(values[alone], _OF_FAMILY)
        return values

    def are_foreign(
        self, candidates: Candidates, documents: Sequence[Document], values: Floats
    ) -> Bools:
        """Returns whether each unit is a gene that the text gives to an animal, in a document that
        names only animals of which the pack has no genes, ``[units]``.

        Args:
            candidates: candidates of units.
            documents: the documents that the units are of.
            values: features of the candidates.
        """
        owners, units = candidates.owners, candidates.units
        genes = self._pack.taxon_rows[candidates.concepts] > 0
        agree = (values[:, _AGREE].sum(axis=1) > 0) | (candidates.hinted > 0)
        foreign = np.bincount(owners[genes], minlength=len(units)) > 0
        foreign[owners[agree]] = False
        by_document: dict[int, bool] = {}
        for number in np.flatnonzero(foreign).tolist():
            document = units[number].document
            if not is_given_to_species(documents[document].text, units[number].places[0]):
                foreign[number] = False
                continue
            if document not in by_document:
                taxa = Species(documents[document]).shares.keys()
                by_document[document] = bool(taxa) and taxa <= _ANIMALS - self._named
            foreign[number] = by_document[document]
        return foreign

    def _agreement(self, around: _SpeciesAround, places: Ints, rows: Ints) -> Floats:
        """Returns the features of species at places; each species is compared once with each
        distinct place.
        """
        pairs, inverse = np.unique(places * len(self._taxa) + rows, return_inverse=True)
        table = []
        for pair in pairs.tolist():
            place, row = divmod(pair, len(self._taxa))
            species, near = around.distinct[place]
            table.append(agreement(species, near, self._taxa[row], self._named))
        return np.array(table)[inverse]


class _SpeciesAround:
    """Species that texts name around the mentions of units; many places of a document have the
    same ones around them.

    Attributes:
        distinct: species of a document, and those near a place of it.
        of_unit: number of the distinct place of each unit with a gene, ``[units]``.
    """

    def __init__(
        self,
        candidates: Candidates,
        documents: Sequence[Document],
        stated: Mapping[str, str],
        has_gene: Bools,
    ) -> None:
        """Reads the documents of units with genes."""
        species: dict[int | str, Species] = {
            taxon: Species(taxon=taxon) for taxon in stated.values()
        }
        numbers: dict[tuple[int | str, NearbySpecies], int] = {}
        self.of_unit = np.zeros(len(candidates.units), dtype=np.int64)
        for number in np.flatnonzero(has_gene).tolist():
            unit = candidates.units[number]
            source: int | str = stated.get(unit.type, unit.document)
            if isinstance(source, int) and source not in species:
                species[source] = Species(documents[source])
            near = species[source].near(unit.places[0])
            self.of_unit[number] = numbers.setdefault((source, near), len(numbers))
        self.distinct = [(species[source], near) for source, near in numbers]
