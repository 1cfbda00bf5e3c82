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

    def features(self, found: Candidates, documents: Sequence[Document], species: Floats) -> Floats:
        """Returns the features of candidates, in two passes over each document: certain mentions
        first.

        Args:
            found: candidates of units.
            documents: the documents that the units are of.
            species: their features of `of_species`.

        Returns:
            ``[n, FEATURES]``, and of linkers with vectors those of `OF_DENSE` behind them.
        """
        columns = self._of_names(found)
        columns += self._of_document(found, species[:, LIKELY] > 0)
        columns += [self._around(found, documents), self._is_rare(found)]
        columns += [found.hinted.astype(np.float64), *species.T]
        if self._dense:
            columns += [found.tiers == DENSE, _similarity(found, found.tiers == DENSE)]
        return np.stack(columns, axis=1)

    def _of_names(self, found: Candidates) -> list[Floats]:
        units = len(found.units)
        families = self._families.are(found.concepts)
        highest = np.zeros(units)
        np.maximum.at(highest, found.owners, np.where(families, 0.0, found.priors))
        first = np.maximum(highest[found.owners], found.priors)
        counts = np.bincount(found.owners, minlength=units)[found.owners]
        return [
            np.ones(len(found.owners)),
            *((found.tiers == tier).astype(np.float64) for tier in range(DENSE)),
            _similarity(found, found.tiers != DENSE),
            *((found.ways >> way & 1).astype(np.float64) for way in range(len(WAYS))),
            *(
                (found.distance == distance).astype(np.float64)
                for distance in (EXACTLY, REFERRED, TWICE, ABOVE, NAMESAKE)
            ),
            np.log(np.maximum(found.priors, 1e-4)),
            np.log(np.maximum(found.priors, 1e-4) / np.maximum(first, 1e-4)),
            np.log(np.maximum(counts, 1)),
            np.log(np.maximum(found.names, 1)),
            self._case(found),
            (found.labels & ~families).astype(np.float64),  # a label of genes is a symbol
            self._of_another(found),
            found.distinctive.astype(np.float64),
            found.agrees,
            np.log1p(found.remembered),
            found.remembered / np.maximum(found.remembered_all, 1),
        ]

    def _is_rare(self, found: Candidates) -> Floats:
        """Returns whether a short form that the text does not define has a concept that it seldom
        means.

        Hardly ever is it meant at all, or the concept is one of the 300,000 supplementary records
        of MeSH: ``DA`` is dopamine, and not alpha-aspartylalanine. A label is what is meant.
        """
        undefined = np.array([_is_undefined(unit) for unit in found.units], dtype=np.bool_)
        rows = np.flatnonzero(undefined[found.owners] & ~found.labels)
        values = np.zeros(len(found.owners))
        if len(rows):
            curies = self.pack.curies.strings.take(found.concepts[rows])
            supplementary = np.array(
                [one.startswith(SUPPLEMENTARY) for one in curies], dtype=np.bool_
            )
            meant = np.bincount(found.owners, weights=found.priors, minlength=len(found.units))[
                found.owners[rows]
            ]
            values[rows] = (meant < _RARE) | supplementary
        return values

    def _of_another(self, found: Candidates) -> Floats:
        """Returns whether a name of a gene is not its symbol, but that of another candidate in
        its species.
        """
        taxa = self.pack.taxon_rows[found.concepts].astype(np.int64)
        _, inverse = np.unique(found.owners << 32 | taxa, return_inverse=True)
        has_label = np.bincount(inverse, weights=found.labels) > 0
        return ((taxa > 0) & has_label[inverse] & ~found.labels).astype(np.float64)

    def _case(self, found: Candidates) -> Floats:
        """Returns whether the name has the required case; true for a name that was not found by
        its own words.
        """
        active = self.pack.active
        own = np.flatnonzero((found.tiers <= CANONICAL) & (found.terms >= 0))
        terms = found.terms[own]
        numbers: dict[int, int] = {}
        questions = [unit.question for unit in found.units]
        asked = np.array(
            [numbers.setdefault(id(one), len(numbers)) for one in questions], dtype=np.int64
        )
        surfaces, cases = active.surface[terms].astype(np.int64), active.flags[terms] & layout.CASE
        # The species of a gene have one symbol: each is compared with a name once.
        whole = (asked[found.owners[own]] * len(active.surfaces) + surfaces) * (
            layout.CASE + 1
        ) + cases
        _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
        names = active.surfaces.take(surfaces[first])
        units = found.owners[own[first]].tolist()
        fitting = [
            any(case_fits(one.surface, name, case) for one in questions[unit].asked)
            for unit, name, case in zip(units, names, cases[first].tolist(), strict=True)
        ]
        values = np.ones(len(found.owners))
        values[own] = np.array(fitting, dtype=np.float64)[inverse]
        return values

    def _of_document(self, found: Candidates, likely: Bools) -> list[Floats]:
        """Returns whether a certain mention of the document has the concept by another name, or
        its parent or child.
        """
        surfaces: dict[str, int] = {}
        simple = {name: key(name, 1) for name in {unit.question.name for unit in found.units}}
        names = (simple[unit.question.name] for unit in found.units)
        of_unit = np.array(
            [surfaces.setdefault(name, len(surfaces)) for name in names], dtype=np.int64
        )
        documents = np.array([unit.document for unit in found.units], dtype=np.int64)
        certain = _certain(found, likely)
        rows = len(self.pack)
        places = documents[found.owners] * rows + found.concepts
        named = of_unit[found.owners]
        pairs = places * len(surfaces) + named  # a number for each pair, in the order of the places
        sure = np.sort(pairs[certain])
        known = sure // max(1, len(surfaces))
        others = _count(known, places) - _count(sure, pairs)
        leads = self.pack.leads
        owners, parents = self.pack.parent_rows.take(found.concepts)
        parents = leads.of(parents)
        near = np.zeros(len(places), dtype=np.bool_)
        near[owners[np.isin(documents[found.owners[owners]] * rows + parents, known)]] = True
        # fewer than the children of all candidates
        owners, parents = self.pack.parent_rows.take(known % rows)
        near |= np.isin(places, known[owners] // rows * rows + leads.of(parents))
        return [(others > 0).astype(np.float64), near.astype(np.float64)]

    def _around(self, found: Candidates, documents: Sequence[Document]) -> Floats:
        """Returns the share of the words of a concept that occur in the document, where there is
        a choice.
        """
        values = np.zeros(len(found.owners))
        counts = np.bincount(found.owners, minlength=len(found.units))
        chosen = np.flatnonzero(counts[found.owners] > 1)
        if len(chosen):
            several, owners = np.unique(found.owners[chosen], return_inverse=True)
            units = [found.units[unit] for unit in several.tolist()]
            # words of the other form of a pair say nothing new
            questions = [unit.question for unit in units]
            values[chosen] = self._words.shares(
                found.concepts[chosen],
                np.array([unit.document for unit in units], dtype=np.int64)[owners],
                texts=[document.text for document in documents],
                name_of=owners,
                names=[
                    " ".join((one.name, *(form.surface for form in one.short))) for one in questions
                ],
            )
        return values

    def of_species(
        self,
        found: Candidates,
        documents: Sequence[Document],
        stated: Mapping[str, str] = MappingProxyType({}),
    ) -> Floats:
        """Returns the features of the species of candidates; 0 for units none of whose candidates
        has a species.

        Args:
            found: candidates of units.
            documents: the documents that the units are of.
            stated: species of the genes of a type, in place of those that a text names.

        Returns:
            One column for each feature that starts with ``species: ``, but for ``species: in the
            name``. A family without a gene of the likely species beside it is of this one, as its
            members are.
        """
        rows = self.pack.taxon_rows[found.concepts].astype(np.int64)
        values = np.zeros((len(rows), len(_OF_SPECIES)))
        is_gene = np.bincount(found.owners[rows > 0], minlength=len(found.units)) > 0
        families, chosen = self._families.are(found.concepts), np.flatnonzero(is_gene[found.owners])
        if not len(chosen):
            values[families] = _OF_FAMILY
            return values
        # Many places of a document have the same species around them.
        around: dict[tuple[int | str, NearbySpecies], int] = {}
        species: dict[int | str, Species] = {
            taxon: Species(taxon=taxon) for taxon in stated.values()
        }
        of_unit = np.zeros(len(found.units), dtype=np.int64)
        for unit in np.flatnonzero(is_gene).tolist():
            document: int | str = stated.get(found.units[unit].type, found.units[unit].document)
            if isinstance(document, int) and document not in species:
                species[document] = Species(documents[document])
            near = species[document].near(found.units[unit].places[0])
            of_unit[unit] = around.setdefault((document, near), len(around))
        pairs, inverse = np.unique(
            of_unit[found.owners[chosen]] * len(self._taxa) + rows[chosen], return_inverse=True
        )
        places = list(around)
        table = [
            agreement(species[places[place][0]], places[place][1], self._taxa[row], self._known)
            for place, row in (divmod(pair, len(self._taxa)) for pair in pairs.tolist())
        ]
        values[chosen] = np.array(table)[inverse]
        likely = np.bincount(
            found.owners, weights=values[:, LIKELY] * (rows > 0), minlength=len(found.units)
        )
        alone = families & (likely[found.owners] == 0)
        values[alone] = np.maximum(values[alone], _OF_FAMILY)
        return values


def _is_undefined(unit: Unit) -> bool:
    """True for a name that looks like a short form, and has no long form in its text."""
    return (
        unit.type not in _SYMBOLS
        and not unit.question.short
        and bool(_UNDEFINED.fullmatch(unit.surface))
    )


def _count(ordered: Ints, asked: Ints) -> Ints:
    """Returns how often each value occurs among others in rising order."""
    return np.searchsorted(ordered, asked, side="right") - np.searchsorted(
        ordered, asked, side="left"
    )


def _similarity(found: Candidates, chosen: Bools) -> Floats:
    """Returns the feature of the similarity of some candidates, 0 for the others."""
    return np.where(chosen, (found.similarity - 1.0) * 4.0, 0.0)


def _certain(found: Candidates, likely: Bools) -> Bools:
    """Returns candidates that are the only ones at the best tier of their unit, by an unambiguous
    name.

    Args:
        found: candidates.
        likely: whether each is of the likely species; only such ones are certain where a unit has
            one.
    """
    some = np.bincount(found.owners, weights=likely, minlength=len(found.units)) > 0
    rank = found.tiers * 8 + found.distance + np.where(some[found.owners] & ~likely, 100, 0)
    least = np.full(len(found.units), 1 << 20)
    np.minimum.at(least, found.owners, rank)
    best = rank == least[found.owners]
    alone = np.bincount(found.owners, weights=best, minlength=len(found.units)) == 1
    meant = np.bincount(found.owners, weights=found.priors, minlength=len(found.units)) >= _CERTAIN
    certain: Bools = best & (alone & meant)[found.owners] & (found.tiers <= CANONICAL)
    return certain
