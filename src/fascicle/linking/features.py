"""Features of candidates: their name, the rest of the text, and their species."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.core.document import Document
from fascicle.linking.asking import WAYS, Unit
from fascicle.linking.candidates import CANONICAL, DENSE, SUPPLEMENTARY, TIERS, Candidates
from fascicle.linking.equivalents import ABOVE, EXACTLY, NAMESAKE, REFERRED, TWICE
from fascicle.linking.families import Families
from fascicle.linking.pairs import join_pairs
from fascicle.linking.species import NearbySpecies, Species, agreement, to_species
from fascicle.linking.words import ConceptWords
from fascicle.terms.keys.characters import case_fits
from fascicle.terms.keys.key import key
from fascicle.terms.pack import layout
from fascicle.terms.pack.pack import Pack

_OF_SPECIES: Final = (
    "species: likely",
    "species: nearest",
    "species: in the sentence",
    "species: share in the document",
    "species: human by default",
    "species: human",
    "species: unknown",
)
LIKELY: Final = _OF_SPECIES.index("species: likely")
_OF_FAMILY: Final = np.array([1.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0])
RARE_SHORT_FORM: Final = "rare short form"
_RARE: Final = 0.03  # sum of the priors of a name of two to five letters that is hardly ever meant
_UNDEFINED: Final = re.compile(r"(?=(?:[^A-Z]*[A-Z]){2})[A-Za-z0-9]{2,5}")
_SYMBOLS: Final = ("Gene", "CellLine")  # types whose names look like short forms
FEATURES: Final = (
    "any candidate",
    *(f"tier: {tier}" for tier in TIERS[:DENSE]),
    "similarity",
    *(f"found by: {way}" for way in WAYS),
    "by an exact match of vocabularies",
    "by a reference of vocabularies",
    "by two references",
    "by a parent",
    "by a namesake",
    "prior",
    "share of prior",
    "candidates",
    "names",
    "case",
    "label",
    "label of another",
    "distinctive",
    "agrees",
    "remembered",
    "share of remembered",
    "another name in the document",
    "parent or child in the document",
    "words around",
    RARE_SHORT_FORM,
    "species: in the name",
    *_OF_SPECIES,
)
# of linkers with vectors alone
OF_DENSE: Final = (f"tier: {TIERS[DENSE]}", "similarity of vectors")
_CERTAIN: Final = 0.3  # sum of the priors of the candidates of a certain mention


class FeatureExtractor:
    """Computes the features of candidates of one pack; for one thread."""

    def __init__(self, pack: Pack, *, dense: bool) -> None:
        """Sets the open pack, and whether its names are also found by vectors."""
        self.pack, self._dense = pack, dense
        self._words = ConceptWords(pack)
        self._taxa = [to_species(taxon) for taxon in pack.taxa.take(np.arange(len(pack.taxa)))]
        self._families = Families(pack)
        self._known = frozenset(self._taxa) - {""}

    def features(
        self, candidates: Candidates, documents: Sequence[Document], species: Floats
    ) -> Floats:
        """Returns the features of candidates, in two passes over each document: certain mentions
        first.

        Args:
            candidates: candidates of units.
            documents: the documents that the units are of.
            species: their features of `of_species`.

        Returns:
            ``[n, FEATURES]``, and of linkers with vectors those of `OF_DENSE` behind them.
        """
        columns = self._of_names(candidates)
        columns += self._of_document(candidates, species[:, LIKELY] > 0)
        columns += [self._around(candidates, documents), self._is_rare(candidates)]
        columns += [candidates.hinted.astype(np.float64), *species.T]
        if self._dense:
            columns += [
                candidates.tiers == DENSE,
                _similarity(candidates, candidates.tiers == DENSE),
            ]
        return np.stack(columns, axis=1)

    def _of_names(self, candidates: Candidates) -> list[Floats]:
        units = len(candidates.units)
        families = self._families.are(candidates.concepts)
        highest = np.zeros(units)
        np.maximum.at(highest, candidates.owners, np.where(families, 0.0, candidates.priors))
        first = np.maximum(highest[candidates.owners], candidates.priors)
        counts = np.bincount(candidates.owners, minlength=units)[candidates.owners]
        return [
            np.ones(len(candidates.owners)),
            *((candidates.tiers == tier).astype(np.float64) for tier in range(DENSE)),
            _similarity(candidates, candidates.tiers != DENSE),
            *((candidates.ways >> way & 1).astype(np.float64) for way in range(len(WAYS))),
            *(
                (candidates.distance == distance).astype(np.float64)
                for distance in (EXACTLY, REFERRED, TWICE, ABOVE, NAMESAKE)
            ),
            np.log(np.maximum(candidates.priors, 1e-4)),
            np.log(np.maximum(candidates.priors, 1e-4) / np.maximum(first, 1e-4)),
            np.log(np.maximum(counts, 1)),
            np.log(np.maximum(candidates.names, 1)),
            self._case(candidates),
            (candidates.labels & ~families).astype(np.float64),  # a label of genes is a symbol
            self._of_another(candidates),
            candidates.distinctive.astype(np.float64),
            candidates.agrees,
            np.log1p(candidates.remembered),
            candidates.remembered / np.maximum(candidates.remembered_all, 1),
        ]

    def _is_rare(self, candidates: Candidates) -> Floats:
        """Returns whether a short form that the text does not define has a concept that it seldom
        means.

        Hardly ever is it meant at all, or the concept is one of the 300,000 supplementary records
        of MeSH: ``DA`` is dopamine, and not alpha-aspartylalanine. A label is what is meant.
        """
        undefined = np.array([_is_undefined(unit) for unit in candidates.units], dtype=np.bool_)
        rows = np.flatnonzero(undefined[candidates.owners] & ~candidates.labels)
        values = np.zeros(len(candidates.owners))
        if len(rows):
            curies = self.pack.curies.strings.take(candidates.concepts[rows])
            supplementary = np.array(
                [curie.startswith(SUPPLEMENTARY) for curie in curies], dtype=np.bool_
            )
            prior_sums = np.bincount(
                candidates.owners, weights=candidates.priors, minlength=len(candidates.units)
            )[candidates.owners[rows]]
            values[rows] = (prior_sums < _RARE) | supplementary
        return values

    def _of_another(self, candidates: Candidates) -> Floats:
        """Returns whether a name of a gene is not its symbol, but that of another candidate in
        its species.
        """
        taxa = self.pack.taxon_rows[candidates.concepts].astype(np.int64)
        _, inverse = np.unique(join_pairs(candidates.owners, taxa), return_inverse=True)
        has_label = np.bincount(inverse, weights=candidates.labels) > 0
        return ((taxa > 0) & has_label[inverse] & ~candidates.labels).astype(np.float64)

    def _case(self, candidates: Candidates) -> Floats:
        """Returns whether the name has the required case; true for a name that was not found by
        its own words.
        """
        active = self.pack.active
        own = np.flatnonzero((candidates.tiers <= CANONICAL) & (candidates.terms >= 0))
        terms = candidates.terms[own]
        numbers: dict[int, int] = {}
        queries = [unit.query for unit in candidates.units]
        query_numbers = np.array(
            [numbers.setdefault(id(one), len(numbers)) for one in queries], dtype=np.int64
        )
        surfaces, cases = active.surface[terms].astype(np.int64), active.flags[terms] & layout.CASE
        # The species of a gene have one symbol: each is compared with a name once.
        whole = (query_numbers[candidates.owners[own]] * len(active.surfaces) + surfaces) * (
            layout.CASE + 1
        ) + cases
        _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
        names = active.surfaces.take(surfaces[first])
        units = candidates.owners[own[first]].tolist()
        fitting = [
            any(case_fits(one.surface, name, case) for one in queries[unit].strings)
            for unit, name, case in zip(units, names, cases[first].tolist(), strict=True)
        ]
        values = np.ones(len(candidates.owners))
        values[own] = np.array(fitting, dtype=np.float64)[inverse]
        return values

    def _of_document(self, candidates: Candidates, likely: Bools) -> list[Floats]:
        """Returns whether a certain mention of the document has the concept by another name, or
        its parent or child.
        """
        surfaces: dict[str, int] = {}
        simple = {name: key(name, 1) for name in {unit.query.name for unit in candidates.units}}
        names = (simple[unit.query.name] for unit in candidates.units)
        of_unit = np.array(
            [surfaces.setdefault(name, len(surfaces)) for name in names], dtype=np.int64
        )
        documents = np.array([unit.document for unit in candidates.units], dtype=np.int64)
        certain = _certain(candidates, likely)
        rows = len(self.pack)
        places = documents[candidates.owners] * rows + candidates.concepts
        name_numbers = of_unit[candidates.owners]
        pairs = (
            places * len(surfaces) + name_numbers
        )  # a number for each pair, in the order of the places
        sure = np.sort(pairs[certain])
        sure_places = sure // max(1, len(surfaces))
        other_names = _count(sure_places, places) - _count(sure, pairs)
        leads = self.pack.leads
        owners, parents = self.pack.parent_rows.take(candidates.concepts)
        parents = leads.of(parents)
        near = np.zeros(len(places), dtype=np.bool_)
        near[
            owners[np.isin(documents[candidates.owners[owners]] * rows + parents, sure_places)]
        ] = True
        # fewer than the children of all candidates
        owners, parents = self.pack.parent_rows.take(sure_places % rows)
        near |= np.isin(places, sure_places[owners] // rows * rows + leads.of(parents))
        return [(other_names > 0).astype(np.float64), near.astype(np.float64)]

    def _around(self, candidates: Candidates, documents: Sequence[Document]) -> Floats:
        """Returns the share of the words of a concept that occur in the document, where there is
        a choice.
        """
        values = np.zeros(len(candidates.owners))
        counts = np.bincount(candidates.owners, minlength=len(candidates.units))
        contested = np.flatnonzero(counts[candidates.owners] > 1)
        if len(contested):
            several, owners = np.unique(candidates.owners[contested], return_inverse=True)
            units = [candidates.units[unit] for unit in several.tolist()]
            # words of the other form of a pair say nothing new
            queries = [unit.query for unit in units]
            values[contested] = self._words.shares(
                candidates.concepts[contested],
                np.array([unit.document for unit in units], dtype=np.int64)[owners],
                texts=[document.text for document in documents],
                name_of=owners,
                names=[
                    " ".join((query.name, *(form.surface for form in query.short)))
                    for query in queries
                ],
            )
        return values

    def of_species(
        self,
        candidates: Candidates,
        documents: Sequence[Document],
        stated: Mapping[str, str] = MappingProxyType({}),
    ) -> Floats:
        """Returns the features of the species of candidates; 0 for units none of whose candidates
        has a species.

        Args:
            candidates: candidates of units.
            documents: the documents that the units are of.
            stated: species of the genes of a type, in place of those that a text names.

        Returns:
            One column for each feature that starts with ``species: ``, but for ``species: in the
            name``. A family without a gene of the likely species beside it is of this one, as its
            members are.
        """
        rows = self.pack.taxon_rows[candidates.concepts].astype(np.int64)
        values = np.zeros((len(rows), len(_OF_SPECIES)))
        is_gene = np.bincount(candidates.owners[rows > 0], minlength=len(candidates.units)) > 0
        families, genes = (
            self._families.are(candidates.concepts),
            np.flatnonzero(is_gene[candidates.owners]),
        )
        if not len(genes):
            values[families] = _OF_FAMILY
            return values
        # Many places of a document have the same species around them.
        around: dict[tuple[int | str, NearbySpecies], int] = {}
        species: dict[int | str, Species] = {
            taxon: Species(taxon=taxon) for taxon in stated.values()
        }
        of_unit = np.zeros(len(candidates.units), dtype=np.int64)
        for unit in np.flatnonzero(is_gene).tolist():
            document: int | str = stated.get(
                candidates.units[unit].type, candidates.units[unit].document
            )
            if isinstance(document, int) and document not in species:
                species[document] = Species(documents[document])
            near = species[document].near(candidates.units[unit].places[0])
            of_unit[unit] = around.setdefault((document, near), len(around))
        pairs, inverse = np.unique(
            of_unit[candidates.owners[genes]] * len(self._taxa) + rows[genes], return_inverse=True
        )
        places = list(around)
        table = [
            agreement(species[places[place][0]], places[place][1], self._taxa[row], self._known)
            for place, row in (divmod(pair, len(self._taxa)) for pair in pairs.tolist())
        ]
        values[genes] = np.array(table)[inverse]
        likely = np.bincount(
            candidates.owners,
            weights=values[:, LIKELY] * (rows > 0),
            minlength=len(candidates.units),
        )
        alone = families & (likely[candidates.owners] == 0)
        values[alone] = np.maximum(values[alone], _OF_FAMILY)
        return values


def _is_undefined(unit: Unit) -> bool:
    """True for a name that looks like a short form, and has no long form in its text."""
    return (
        unit.type not in _SYMBOLS
        and not unit.query.short
        and bool(_UNDEFINED.fullmatch(unit.surface))
    )


def _count(ordered: Ints, values: Ints) -> Ints:
    """Returns how often each value occurs among others in rising order."""
    return np.searchsorted(ordered, values, side="right") - np.searchsorted(
        ordered, values, side="left"
    )


def _similarity(candidates: Candidates, selected: Bools) -> Floats:
    """Returns the feature of the similarity of some candidates, 0 for the others."""
    return np.where(selected, (candidates.similarity - 1.0) * 4.0, 0.0)


def _certain(candidates: Candidates, likely: Bools) -> Bools:
    """Returns candidates that are the only ones at the best tier of their unit, by an unambiguous
    name.

    Args:
        candidates: candidates.
        likely: whether each is of the likely species; only such ones are certain where a unit has
            one.
    """
    some = np.bincount(candidates.owners, weights=likely, minlength=len(candidates.units)) > 0
    rank = (
        candidates.tiers * 8
        + candidates.distance
        + np.where(some[candidates.owners] & ~likely, 100, 0)
    )
    least = np.full(len(candidates.units), 1 << 20)
    np.minimum.at(least, candidates.owners, rank)
    best = rank == least[candidates.owners]
    alone = np.bincount(candidates.owners, weights=best, minlength=len(candidates.units)) == 1
    probable = (
        np.bincount(candidates.owners, weights=candidates.priors, minlength=len(candidates.units))
        >= _CERTAIN
    )
    certain: Bools = best & (alone & probable)[candidates.owners] & (candidates.tiers <= CANONICAL)
    return certain
