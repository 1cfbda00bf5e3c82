"""Features of candidates: their name, the rest of the text, and their species."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints, int_array
from fascicle.core.document import Document
from fascicle.core.pairs import join_pairs, split_pairs
from fascicle.linking.asking import WAYS, Query, Unit
from fascicle.linking.candidates import (
    CANONICAL,
    SUPPLEMENTARY,
    TIERS,
    Candidates,
    are_preferred,
    have_prefix,
    rank_by_tier,
)
from fascicle.linking.equivalents import ABOVE, EXACTLY, NAMESAKE, REFERRED, TWICE
from fascicle.linking.families import Families
from fascicle.linking.species_features import LIKELY, SPECIES_FEATURES
from fascicle.linking.spellings import on_the_line
from fascicle.linking.words import ConceptWords
from fascicle.terms.keys.characters import case_fits
from fascicle.terms.keys.key import key
from fascicle.terms.pack import layout
from fascicle.terms.pack.pack import Pack

RARE_SHORT_FORM: Final = "rare short form"
_RARE: Final = 0.03  # sum of the priors of a name of two to five letters that is hardly ever meant
_UNDEFINED: Final = re.compile(r"(?=(?:[^A-Z]*[A-Z]){2})[A-Za-z0-9]{2,5}")
_SYMBOLS: Final = ("Gene", "CellLine")  # types whose names look like short forms
FEATURES: Final = (
    "any candidate",
    *(f"tier: {tier}" for tier in TIERS),
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
    *SPECIES_FEATURES,
)
_CERTAIN: Final = 0.3  # sum of the priors of the candidates of a certain mention
_LEAST_PRIOR: Final = 1e-4  # lower ones count as this
_Column = Floats | Bools | Ints


class FeatureExtractor:
    """Computes the features of candidates of one pack; for one thread."""

    def __init__(self, pack: Pack) -> None:
        """Sets the open pack."""
        self.pack = pack
        self._words = ConceptWords(pack)
        self._families = Families(pack)

    def features(
        self, candidates: Candidates, documents: Sequence[Document], species: Floats
    ) -> Floats:
        """Returns the features of candidates, in two passes over each document: certain mentions
        first.

        Args:
            candidates: candidates of units.
            documents: the documents that the units are of.
            species: their `SPECIES_FEATURES`.

        Returns:
            ``[n, FEATURES]``.
        """
        columns = [
            np.ones(len(candidates.owners)),
            *_of_lookup(candidates),
            *self._of_names(candidates),
            *self._of_document(candidates, species[:, LIKELY] > 0),
            self._around(candidates, documents),
            self._is_rare(candidates),
            candidates.hinted,
            *species.T,
        ]
        return np.stack(columns, axis=1, dtype=np.float64)

    def _of_names(self, candidates: Candidates) -> list[_Column]:
        owners, units = candidates.owners, len(candidates.units)
        families = self._families.are(candidates.concepts)
        highest = np.zeros(units)
        np.maximum.at(highest, owners, np.where(families, 0.0, candidates.priors))
        first = np.maximum(highest[owners], candidates.priors)
        priors = np.maximum(candidates.priors, _LEAST_PRIOR)
        counts = np.bincount(owners, minlength=units)[owners]
        return [
            np.log(priors),
            np.log(priors / np.maximum(first, _LEAST_PRIOR)),
            np.log(np.maximum(counts, 1)),
            np.log(np.maximum(candidates.names, 1)),
            self._case(candidates),
            candidates.labels & ~families,  # a label of genes is a symbol
            self._of_another(candidates),
            candidates.distinctive,
            candidates.agrees,
            np.log1p(candidates.remembered),
            candidates.remembered / np.maximum(candidates.remembered_all, 1),
        ]

    def _is_rare(self, candidates: Candidates) -> Bools:
        """Returns whether a short form that the text does not define has a concept that it seldom
        means.

        Hardly ever is it meant at all, or the concept is one of the 300,000 supplementary records
        of MeSH: ``DA`` is dopamine, and not alpha-aspartylalanine. A label, or what a rule prefers,
        is meant.
        """
        units, owners = candidates.units, candidates.owners
        is_undefined = np.array([_is_undefined(unit) for unit in units], dtype=np.bool_)
        is_rare = is_undefined[owners] & ~candidates.labels
        rows = np.flatnonzero(is_rare)
        sums = np.bincount(owners, weights=candidates.priors, minlength=len(units))
        is_rare[rows] = (sums[owners[rows]] < _RARE) | have_prefix(
            self.pack, candidates.concepts[rows], SUPPLEMENTARY
        )
        is_rare[rows] &= ~are_preferred(self.pack, candidates.terms[rows])
        return is_rare

    def _of_another(self, candidates: Candidates) -> Bools:
        """Returns whether a name of a gene is not its symbol, but that of another candidate in
        its species.
        """
        taxa = self.pack.taxon_rows[candidates.concepts].astype(np.int64)
        _, inverse = np.unique(join_pairs(candidates.owners, taxa), return_inverse=True)
        has_label = np.bincount(inverse, weights=candidates.labels) > 0
        of_another: Bools = (taxa > 0) & has_label[inverse] & ~candidates.labels
        return of_another

    def _case(self, candidates: Candidates) -> Bools:
        """Returns whether the name has the required case; true for a name that was not found by
        its own words.
        """
        active, units = self.pack.active, candidates.units
        own = np.flatnonzero((candidates.tiers <= CANONICAL) & (candidates.terms >= 0))
        terms, owners = candidates.terms[own], candidates.owners[own]
        surfaces, cases = int_array(active.surface[terms]), active.flags[terms] & layout.CASE

        # The species of a gene have one symbol: each is compared with a name once.
        queries = _numbers([id(unit.query) for unit in units])
        rows = join_pairs(queries[owners] * (layout.CASE + 1) + cases, surfaces)
        _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
        names = active.surfaces.take(surfaces[first])
        compared = zip(owners[first].tolist(), names, cases[first].tolist(), strict=True)
        fits = [_fits(units[unit].query, name, case) for unit, name, case in compared]

        values = np.ones_like(candidates.owners, dtype=bool)
        values[own] = np.array(fits, dtype=bool)[inverse]
        return values

    def _of_document(self, candidates: Candidates, likely: Bools) -> list[_Column]:
        """Returns whether a certain mention of the document has the concept by another name, or
        its parent or child.
        """
        numbers = [unit.document for unit in candidates.units]
        documents = int_array(numbers)[candidates.owners]
        places = join_pairs(documents, candidates.concepts)
        is_certain = _certain(candidates, likely)
        certain = np.sort(places[is_certain])
        return [
            self._by_another_name(candidates, places, is_certain),
            self._near_certain(places, certain),
        ]

    def _by_another_name(self, candidates: Candidates, places: Ints, is_certain: Bools) -> Bools:
        units = candidates.units
        simple = {name: key(name, 1) for name in {unit.query.name for unit in units}}
        names = _numbers([simple[unit.query.name] for unit in units])
        concepts = np.unique(places, return_inverse=True)[1]
        pairs = join_pairs(concepts, names[candidates.owners])
        by_any_name = _count(np.sort(concepts[is_certain]), concepts)
        by_another: Bools = by_any_name > _count(np.sort(pairs[is_certain]), pairs)
        return by_another

    def _near_certain(self, places: Ints, certain: Ints) -> Bools:
        """Returns which concepts are parents or children of certain ones of the document.

        Args:
            places: document and concept of each candidate, as pairs.
            certain: those that are certain, ascending.
        """
        # fewer than the children of all candidates
        near = np.isin(places, self._parents_in_document(certain)[1])
        owners, parents = self._parents_in_document(places)
        near[owners[np.isin(parents, certain)]] = True
        return near

    def _parents_in_document(self, places: Ints) -> tuple[Ints, Ints]:
        documents, concepts = split_pairs(places)
        owners, parents = self.pack.parent_rows.take(concepts)
        return owners, join_pairs(documents[owners], self.pack.leads.of(parents))

    def _around(self, candidates: Candidates, documents: Sequence[Document]) -> Floats:
        """Returns the share of the words of a concept that occur in the document, where there is
        a choice.
        """
        values = np.zeros(len(candidates.owners))
        counts = np.bincount(candidates.owners, minlength=len(candidates.units))
        contested = np.flatnonzero(counts[candidates.owners] > 1)
        if len(contested):
            numbers, owners = np.unique(candidates.owners[contested], return_inverse=True)
            units = [candidates.units[number] for number in numbers.tolist()]
            values[contested] = self._words.shares(
                candidates.concepts[contested],
                int_array([unit.document for unit in units])[owners],
                texts=[document.text for document in documents],
                name_of=owners,
                names=[_both_forms(unit.query) for unit in units],
            )
        return values


def _of_lookup(candidates: Candidates) -> list[_Column]:
    """Returns how the names of candidates lead to their concepts."""
    distances = (EXACTLY, REFERRED, TWICE, ABOVE, NAMESAKE)
    return [
        *(candidates.tiers == tier for tier in range(len(TIERS))),
        (candidates.similarity - 1.0) * 4.0,
        *(candidates.ways >> way & 1 for way in range(len(WAYS))),
        *(candidates.distance == distance for distance in distances),
    ]


def _both_forms(query: Query) -> str:
    """Returns the name with its short forms: words of the other form of a pair say nothing new."""
    return " ".join((query.name, *(string.surface for string in query.short)))


def _fits(query: Query, name: str, case: int) -> bool:
    return any(case_fits(string.surface, name, case) for string in query.strings)


def _numbers(values: Sequence[object]) -> Ints:
    """Returns a number for each value, the same for equal ones."""
    numbers: dict[object, int] = {}
    return int_array([numbers.setdefault(value, len(numbers)) for value in values])


def _is_undefined(unit: Unit) -> bool:
    """True for a name that looks like a short form, and has no long form in its text."""
    return (
        unit.type not in _SYMBOLS
        and not unit.query.short
        and bool(_UNDEFINED.fullmatch(on_the_line(unit.surface)))
    )


def _count(ordered: Ints, values: Ints) -> Ints:
    """Returns how often each value occurs among others in rising order."""
    return np.searchsorted(ordered, values, side="right") - np.searchsorted(
        ordered, values, side="left"
    )


def _certain(candidates: Candidates, likely: Bools) -> Bools:
    """Returns candidates that are the only ones at the best tier of their unit, by an unambiguous
    name.

    Args:
        candidates: of units.
        likely: whether each is of the likely species; only such ones are certain where a unit has
            one.
    """
    owners, units = candidates.owners, len(candidates.units)
    has_likely = np.bincount(owners, weights=likely, minlength=units) > 0
    rank = rank_by_tier(candidates.tiers, candidates.distance)
    rank += np.where(has_likely[owners] & ~likely, 100, 0)
    least = np.full(units, 1 << 20)
    np.minimum.at(least, owners, rank)
    best = rank == least[owners]
    alone = np.bincount(owners, weights=best, minlength=units) == 1
    probable = np.bincount(owners, weights=candidates.priors, minlength=units) >= _CERTAIN
    certain: Bools = best & (alone & probable)[owners] & (candidates.tiers <= CANONICAL)
    return certain
