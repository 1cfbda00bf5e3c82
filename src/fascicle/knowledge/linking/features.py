"""What speaks for a candidate and against it: its name, what the text says elsewhere, and its species."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Floats
from fascicle.core.document import Document
from fascicle.core.mention import Mention
from fascicle.knowledge.keys.case import fits
from fascicle.knowledge.keys.key import key
from fascicle.knowledge.linking.asking import WAYS
from fascicle.knowledge.linking.equivalents import ABOVE, EXACTLY, NAMESAKE, REFERRED, TWICE
from fascicle.knowledge.linking.finding import CANONICAL
from fascicle.knowledge.linking.gathering import ALL_TIERS, Gathered
from fascicle.knowledge.linking.taxa import Species, agreement, one_taxon
from fascicle.knowledge.pack import layout
from fascicle.knowledge.pack.pack import Pack
from fascicle.knowledge.pack.priors import common_words

_TAXON: Final = (
    "species: likely",
    "species: nearest",
    "species: in the sentence",
    "species: share in the document",
    "species: human by default",
    "species: human",
    "species: unknown",
)
FEATURES: Final = (
    "any candidate",
    *(f"tier: {tier}" for tier in ALL_TIERS),
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
    "remembered",
    "share of remembered",
    "another name in the document",
    "parent or child in the document",
    "words around",
    "species: in the name",
    *_TAXON,
)
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_CERTAIN: Final = 0.3  # sum of the priors of the candidates of a certain mention
_MOST_NAMES: Final = 20  # whose words are compared with the text
_REMEMBERED: Final = 1 << 15  # concepts whose words are kept at hand


class Describer:
    """Makes the features of candidates of one pack; for one thread."""

    def __init__(self, pack: Pack) -> None:
        """Takes the open pack."""
        self.pack = pack
        self._words: dict[int, frozenset[str]] = {}
        self._taxa = frozenset(one_taxon(pack.taxa[row]) for row in range(len(pack.taxa)) if pack.taxa[row])

    def features(self, found: Gathered, documents: Sequence[Document], mentions: Sequence[Sequence[Mention]]) -> Floats:
        """The features of candidates, in two passes over each document: certain mentions first.

        Args:
            found: candidates of units.
            documents: that the units are of.
            mentions: of each document, as they were gathered.

        Returns:
            ``[n, FEATURES]``.
        """
        columns = [*self._of_names(found)]
        taxon = self._taxon(found, documents, mentions)
        columns += self._of_document(found, taxon[:, 0] > 0 if taxon is not None else None)
        columns.append(self._around(found, documents))
        columns.append(found.hinted.astype(np.float64))
        others = taxon if taxon is not None else np.zeros((len(found.owners), len(_TAXON)))
        return np.concatenate([np.stack(columns, axis=1), others], axis=1)

    def _of_names(self, found: Gathered) -> list[Floats]:
        units = len(found.units)
        highest = np.zeros(units)
        np.maximum.at(highest, found.owners, found.priors)
        counts = np.bincount(found.owners, minlength=units)[found.owners]
        return [
            np.ones(len(found.owners)),
            *((found.tiers == tier).astype(np.float64) for tier in range(len(ALL_TIERS))),
            (found.similarity - 1.0) * 4.0,
            *((found.ways >> way & 1).astype(np.float64) for way in range(len(WAYS))),
            *(
                (found.distance == distance).astype(np.float64)
                for distance in (EXACTLY, REFERRED, TWICE, ABOVE, NAMESAKE)
            ),
            np.log(np.maximum(found.priors, 1e-4)),
            np.log(np.maximum(found.priors, 1e-4) / np.maximum(highest[found.owners], 1e-4)),
            np.log(np.maximum(counts, 1)),
            np.log(np.maximum(found.names, 1)),
            self._case(found),
            found.labels.astype(np.float64),
            np.log1p(found.remembered),
            found.remembered / np.maximum(found.remembered_all, 1),
        ]

    def _case(self, found: Gathered) -> Floats:
        """Whether the name has the case that it must have; of a name that was not found by its own words, it has."""
        active = self.pack.active
        own = np.flatnonzero((found.tiers <= CANONICAL) & (found.terms >= 0))
        terms = found.terms[own]
        names = active.surfaces.take(active.surface[terms])
        cases = (active.flags[terms] & layout.CASE).tolist()
        values = np.ones(len(found.owners))
        owners = found.owners[own].tolist()
        values[own] = [
            float(any(fits(asked.surface, name, case) for asked in found.units[owner].asked))
            for owner, name, case in zip(owners, names, cases, strict=True)
        ]
        return values

    def _of_document(self, found: Gathered, likely: Bools | None) -> list[Floats]:
        """Whether the document has a certain mention of the concept by another name, or of a concept next to it."""
        surfaces: dict[str, int] = {}
        of_unit = np.array([surfaces.setdefault(key(one.surface, 1), len(surfaces)) for one in found.units], np.int64)
        documents = np.array([unit.document for unit in found.units], dtype=np.int64)
        certain = _certain(found, likely)
        rows = len(self.pack)
        places = documents[found.owners] * rows + found.concepts
        named = of_unit[found.owners]
        pairs = np.unique(np.stack([places[certain], named[certain]], axis=1), axis=0).reshape(-1, 2)
        starts, ends = (np.searchsorted(pairs[:, 0], places, side=side) for side in ("left", "right"))
        several = ends - starts
        own = np.isin(places * len(surfaces) + named, pairs[:, 0] * len(surfaces) + pairs[:, 1])
        known = np.unique(pairs[:, 0])
        near = np.zeros(len(places), dtype=np.bool_)
        for edges in (self.pack.parent_rows, self.pack.child_rows):
            owners, others = edges.take(found.concepts)
            near[owners[np.isin(documents[found.owners[owners]] * rows + others, known)]] = True
        return [(several - own > 0).astype(np.float64), near.astype(np.float64)]

    def _around(self, found: Gathered, documents: Sequence[Document]) -> Floats:
        """The share of the words of a concept that stand in the document, where there is a choice."""
        values = np.zeros(len(found.owners))
        counts = np.bincount(found.owners, minlength=len(found.units))
        chosen = np.flatnonzero(counts[found.owners] > 1)
        texts: dict[int, frozenset[str]] = {}
        for at, owner, concept in zip(
            chosen.tolist(), found.owners[chosen].tolist(), found.concepts[chosen].tolist(), strict=True
        ):
            number = found.units[owner].document
            if number not in texts:
                texts[number] = _words_of(documents[number].text)
            words = self._words_of(concept) - _words_of(found.units[owner].surface)
            values[at] = len(words & texts[number]) / (len(words) + 3)
        return values

    def _words_of(self, concept: int) -> frozenset[str]:
        known = self._words.get(concept)
        if known is None:
            if len(self._words) >= _REMEMBERED:
                self._words.clear()
            active = self.pack.active
            surfaces = active.surface[active.of_concept[concept][:_MOST_NAMES]]
            text = " ".join([*active.surfaces.take(surfaces), self.pack.concept_at(concept).definition])
            known = self._words[concept] = _words_of(text)
        return known

    def _taxon(
        self, found: Gathered, documents: Sequence[Document], mentions: Sequence[Sequence[Mention]]
    ) -> Floats | None:
        """Agreement of species, of the candidates of units that have one with a species."""
        rows = self.pack.taxon_rows[found.concepts].astype(np.int64)
        genes = np.unique(found.owners[rows > 0])
        if not len(genes):
            return None
        values = np.zeros((len(rows), len(_TAXON)))
        species: dict[int, Species] = {}
        known: dict[tuple[int, int, int], tuple[float, ...]] = {}
        chosen = np.flatnonzero(np.isin(found.owners, genes))
        for at, owner, row in zip(chosen.tolist(), found.owners[chosen].tolist(), rows[chosen].tolist(), strict=True):
            unit = found.units[owner]
            place = (unit.document, unit.mention, row)
            if place not in known:
                if unit.document not in species:
                    species[unit.document] = Species(documents[unit.document])
                start = mentions[unit.document][unit.mention].start
                known[place] = agreement(species[unit.document], start, self.pack.taxa[row], self._taxa)
            values[at] = known[place]
        return values


def _certain(found: Gathered, likely: Bools | None) -> Bools:
    """Candidates that are the only ones at the best tier of their unit, by a name that is rarely anything else.

    Args:
        found: candidates.
        likely: whether each is of the likely species; only such ones are certain where a unit has one.
    """
    rank = found.tiers * 8 + found.distance
    if likely is not None:
        some = np.bincount(found.owners, weights=likely, minlength=len(found.units)) > 0
        rank = rank + np.where(some[found.owners] & ~likely, 100, 0)
    least = np.full(len(found.units), 1 << 20)
    np.minimum.at(least, found.owners, rank)
    best = rank == least[found.owners]
    alone = np.bincount(found.owners, weights=best, minlength=len(found.units)) == 1
    meant = np.bincount(found.owners, weights=found.priors, minlength=len(found.units)) >= _CERTAIN
    certain: Bools = best & (alone & meant)[found.owners] & (found.tiers <= CANONICAL)
    return certain


def _words_of(text: str) -> frozenset[str]:
    """Words of four letters or more, without those that are common."""
    common = common_words()
    return frozenset(word for word in _WORD.findall(text.lower()) if word not in common)
