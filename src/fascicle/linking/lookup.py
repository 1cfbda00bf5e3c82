"""Lookup of the strings of units: in the names of a pack, and in those of annotated texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

import numpy as np

from fascicle.core.arrays import Ints, int_array
from fascicle.linking.answerable import Answerable
from fascicle.linking.asking import WAYS, LookupString, Unit
from fascicle.linking.candidates import REMEMBERED, FoundConcepts, take_rows
from fascicle.linking.finding import FoundTerms
from fascicle.linking.gold import Memory
from fascicle.terms.keys.key import key
from fascicle.terms.pack.arrays import expand_ranges
from fascicle.terms.pack.pack import Pack

WAY: Final = {way: number for number, way in enumerate(WAYS)}
_REMEMBERED_WAYS: Final = ("own", "short", "part")
_NO_SPECIES: Final = -1  # of a string that names none
_UNKNOWN_SPECIES: Final = 0  # of the pack
Excluded = Mapping[int, Mapping[tuple[str, str], Collection[str]]]
Find = Callable[[Sequence[str], Sequence[str]], FoundTerms]
Lookup = tuple[int, LookupString]  # number of a unit, and what is looked up for it


class ConceptLookup:
    """Looks up strings in a pack, and returns the concepts that may be answered."""

    def __init__(self, pack: Pack, answerable: Answerable) -> None:
        """Sets the open pack and the concepts that may be answered."""
        self._pack, self._answerable = pack, answerable
        self._taxa = {
            taxon: row for row, taxon in enumerate(pack.taxa.take(np.arange(len(pack.taxa))))
        }

    def __call__(
        self, lookups: Sequence[Lookup], units: Sequence[Unit], find: Find
    ) -> FoundConcepts:
        """Looks up strings for units; equal strings of one type are looked up once.

        Args:
            lookups: what is looked up.
            units: all of them.
            find: how, a method of `Finder`.
        """
        distinct: dict[tuple[LookupString, str], int] = {}
        pairs = ((string, units[unit].type) for unit, string in lookups)
        numbers = np.array([distinct.setdefault(pair, len(distinct)) for pair in pairs], np.int64)
        strings, types = [string for string, _ in distinct], [kind for _, kind in distinct]

        terms = find([string.surface for string in strings], types)
        reached = self._answerable.reached(types, terms)
        starts = np.searchsorted(terms.places[reached.places], np.arange(len(distinct) + 1))

        # Each lookup gets all rows of its string.
        of_row, rows = expand_ranges(starts[numbers], starts[numbers + 1])
        of_term, of_string = reached.places[rows], numbers[of_row]
        concepts = reached.rows[rows]
        return _whole_first(
            FoundConcepts(
                owners=np.array([unit for unit, _ in lookups], np.int64)[of_row],
                concepts=concepts,
                terms=terms.terms[of_term],
                tiers=terms.tiers[of_term],
                similarity=terms.similarity[of_term],
                ways=np.array([WAY[string.way] for string in strings], np.int64)[of_string],
                distance=reached.distance[rows],
                hinted=self._hints(self._pack.taxon_rows[concepts], strings, of_string),
            )
        )

    def _hints(self, taxa: Ints, strings: Sequence[LookupString], of_string: Ints) -> Ints:
        """Returns 1 for concepts of the species that the string names, -1 for those of another."""
        stated = np.array(
            [
                self._taxa.get(string.taxon, _UNKNOWN_SPECIES) if string.taxon else _NO_SPECIES
                for string in strings
            ],
            np.int64,
        )[of_string]
        return np.where(stated == _NO_SPECIES, 0, np.where(taxa == stated, 1, -1))


def _whole_first(rows: FoundConcepts) -> FoundConcepts:
    """Returns rows without those of names without a species, as ``ERG`` for ``hERG``, where the
    whole name is one.
    """
    is_whole = rows.hinted == 0
    if is_whole.all():
        return rows
    has_whole = np.isin(rows.owners, rows.owners[is_whole])
    return take_rows(rows, np.flatnonzero(is_whole | ~has_whole))


class MemoryLookup:
    """Looks up the names of units among those that annotated texts gave to concepts."""

    def __init__(self, pack: Pack, answerable: Answerable, memory: Memory) -> None:
        """Sets the open pack, the concepts that may be answered, and the memory."""
        self._pack, self._answerable, self._memory = pack, answerable, memory

    def __call__(
        self, units: Sequence[Unit], without: Excluded
    ) -> tuple[FoundConcepts, dict[tuple[int, int], int]]:
        """Looks up all units.

        Args:
            units: of all documents.
            without: what is ignored, see `CandidateGenerator.gather`.

        Returns:
            The concepts; and for each unit and row, the number of documents that name it so.
        """
        annotations = list(self._annotations(units, without))
        leads = self._pack.concept_rows([curie for _, curie, _, _ in annotations])
        leads[leads >= 0] = self._pack.leads.of(leads[leads >= 0])

        counts: dict[tuple[int, int], int] = {}
        rows = []
        for (unit, _, count, way), row in zip(annotations, leads.tolist(), strict=True):
            if row >= 0 and self._answerable.may_be(units[unit].type, row):
                counts[unit, row] = max(counts.get((unit, row), 0), count)
                rows.append((unit, row, -1, REMEMBERED, 1, way, 0, 0))
        return FoundConcepts(*int_array(rows).reshape(-1, 8).T), counts

    def has(self, unit: Unit, without: Excluded) -> bool:
        """True if annotated texts gave a name of a unit to a concept."""
        return bool(self._memory.counts and self([unit], without)[1])

    def _annotations(
        self, units: Sequence[Unit], without: Excluded
    ) -> Iterator[tuple[int, str, int, int]]:
        """Yields the unit, a CURIE, the number of documents that name it so, and the way."""
        simple = cache(lambda surface: key(surface, 1))
        for number, unit in enumerate(units if self._memory.counts else ()):
            ignored = without.get(unit.document, {})
            for string in unit.query.strings:
                if string.way not in _REMEMBERED_WAYS:
                    continue
                name = (unit.type, simple(string.surface))
                for curie, count in self._memory.of_key(*name, ignored.get(name, ())).items():
                    yield number, curie, count, WAY[string.way]


def own_lookups(units: Sequence[Unit], numbers: Iterable[int]) -> list[Lookup]:
    """Returns the strings of some units, without those that are only looked up if these fail."""
    return [(number, string) for number in numbers for string in units[number].query.strings]


def missing_units(units: Sequence[Unit], matches: Sequence[FoundConcepts]) -> list[int]:
    """Returns the numbers of units that have no row."""
    is_missing = np.ones(len(units), dtype=np.bool_)
    for rows in matches:
        is_missing[rows.owners] = False
    return np.flatnonzero(is_missing).tolist()
