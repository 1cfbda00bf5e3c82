"""Candidate generation: what is looked up for units, in which order, until each has a concept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from msgspec.structs import replace

from fascicle.core.pairs import join_pairs
from fascicle.linking.answerable import Answerable
from fascicle.linking.asking import Query, Unit, make_query
from fascicle.linking.candidates import EXACT, Candidates, FoundConcepts
from fascicle.linking.equivalents import ITSELF
from fascicle.linking.finding import Finder
from fascicle.linking.gold import Memory
from fascicle.linking.induced import INDUCES
from fascicle.linking.lookup import (
    ConceptLookup,
    Excluded,
    MemoryLookup,
    missing_units,
    own_lookups,
)
from fascicle.linking.merging import Allow, CandidateMerger
from fascicle.terms.terms import NAME_KINDS

_LABEL: Final = NAME_KINDS.index("label")
_GENE: Final = "Gene"
_PLACEHOLDER: Final = re.compile(r"LOC\d+")  # symbol of a gene that has none yet


class CandidateGenerator:
    """Generates candidates; for one thread.

    Attributes:
        finder: of the pack.
        memory: names that annotated texts gave to concepts.
    """

    def __init__(
        self,
        finder: Finder,
        memory: Memory,
        vocabularies: Mapping[str, Sequence[str]],
        allow: Allow,
    ) -> None:
        """Sets the finder and the other parts of the search.

        Args:
            finder: of an open pack.
            memory: names that annotated texts gave to concepts.
            vocabularies: of types, prefixes of the concepts that may be answered, with all of their
                sets; all of the pack by default.
            allow: returns which candidates count, given those that count here.
        """
        self.finder, self.memory, pack = finder, memory, finder.pack
        answerable = Answerable(finder, vocabularies)
        self._look = ConceptLookup(pack, answerable)
        self._remember = MemoryLookup(pack, answerable, memory)
        self._merger = CandidateMerger(pack, finder.reader, answerable, allow)

    def gather(self, units: Iterable[Unit], *, without: Excluded | None = None) -> Candidates:
        """Returns the candidates of units by equal names, else by word order, parts or similar
        names.

        Args:
            units: of all documents.
            without: by the number of a document, by type and key of level 1 the concepts that the
                memory has from it; see `Memory.of_key`.
        """
        without, units = without or {}, list(units)
        _replace_queries(units, self._induced(units))
        _replace_queries(units, self._symbols(units))

        matches = [self._look(own_lookups(units, range(len(units))), units, self.finder.find)]
        missing = own_lookups(units, missing_units(units, matches))
        matches.append(self._look(missing, units, self.finder.find_reordered))
        units, matches = self._divide(units, matches)
        matches += self._look_loosely(units, missing_units(units, matches), without)

        remembered, documents = self._remember(units, without)
        return self._merger.merge(units, [*matches, remembered], documents)

    def names_in_pack(self, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Returns those pairs of a name and a type of which the pack has a concept with this
        name.
        """
        terms = self.finder.find([name for name, _ in pairs], [kind for _, kind in pairs])
        return {pairs[place] for place in terms.places.tolist()}

    def _induced(self, units: Sequence[Unit]) -> dict[int, Query]:
        """Returns the query for ``drug-induced fever`` where a text that has ``heparin-induced
        fever`` says ``fever``; not where ``heparin-induced fever`` is a name of a concept.
        """
        induced = [(number, query) for number, unit in enumerate(units) for query in unit.induced]
        own = {
            number: (name, units[number].type)
            for number, _ in induced
            if INDUCES in (name := units[number].query.name)
        }
        pairs = dict.fromkeys(pair for _, query in induced for pair in query.needs)
        names = self.names_in_pack([*pairs, *own.values()])
        # reversed: the first query of a unit is the best
        return {
            number: query
            for number, query in reversed(induced)
            if names.issuperset(query.needs) and own.get(number) not in names
        }

    def _symbols(self, units: Sequence[Unit]) -> dict[int, Query]:
        """Returns queries for symbols in place of their long forms, where a symbol is official, and
        no gene of the long form has it.

        ``Cytochrome P450 2D6`` is a name of a record that waits for its symbol, and not of
        ``CYP2D6``. The gene of ``thrombopoietin (TPO)`` has the symbol as an alias, so there the
        long form decides; so it does for a symbol that is short for much else, such as ``CS``.
        """
        paired = [
            number
            for number, unit in enumerate(units)
            if unit.query.distinctive and unit.type == _GENE
        ]
        if not paired:
            return {}
        lookups = [
            (number, string)
            for number in paired
            for string in units[number].query.short
            if not string.taxon
        ]
        symbols = self._look(lookups, units, self.finder.find)
        names = self._look(own_lookups(units, paired), units, self.finder.find)
        # without names, the short form is looked up anyway
        numbers = self._official(symbols, names) & set(names.owners.tolist())
        return {
            number: make_query(units[number].query.short[0].surface, _GENE) for number in numbers
        }

    def _official(self, symbols: FoundConcepts, names: FoundConcepts) -> set[int]:
        """Returns the units of official symbols whose genes are not those of the names."""
        pack = self.finder.pack
        official = (symbols.tiers == EXACT) & (symbols.distance == ITSELF)
        official &= pack.active.kind[symbols.terms] == _LABEL

        shared = np.isin(
            join_pairs(symbols.owners, symbols.concepts), join_pairs(names.owners, names.concepts)
        )
        rows = np.flatnonzero(shared)
        labels = pack.labels_at(symbols.concepts[rows])
        shared[rows] = [not _PLACEHOLDER.fullmatch(label) for label in labels]
        return set(symbols.owners[official].tolist()) - set(symbols.owners[shared].tolist())

    def _divide(
        self, units: list[Unit], matches: list[FoundConcepts]
    ) -> tuple[list[Unit], list[FoundConcepts]]:
        """Replaces units without candidates by their parts, where each part of a reading is a
        name.
        """
        parts_of = self._parts(units, missing_units(units, matches))
        if not parts_of:
            return units, matches
        divided: list[Unit] = []
        new: list[int] = []
        numbers = np.zeros(len(units), dtype=np.int64)
        for number, unit in enumerate(units):
            numbers[number] = len(divided)
            parts = parts_of.get(number, ())
            new += range(len(divided), len(divided) + len(parts))
            divided += parts or (unit,)
        renumbered = [replace(rows, owners=numbers[rows.owners]) for rows in matches]
        rows = self._look(own_lookups(divided, new), divided, self.finder.find)
        return divided, [*renumbered, rows]

    def _parts(self, units: Sequence[Unit], numbers: Sequence[int]) -> dict[int, tuple[Unit, ...]]:
        readings = [
            (number, reading) for number in numbers for reading in units[number].query.readings
        ]
        pairs = dict.fromkeys(
            (part.name, units[number].type) for number, reading in readings for part in reading
        )
        names = self.names_in_pack(list(pairs))
        parts_of: dict[int, tuple[Unit, ...]] = {}
        for number, reading in readings:
            unit = units[number]
            if all((part.name, unit.type) in names for part in reading):
                parts = (
                    unit._replace(part=place, surface=part.name, query=part)
                    for place, part in enumerate(reading)
                )
                parts_of.setdefault(number, tuple(parts))
        return parts_of

    def _look_loosely(
        self, units: list[Unit], missing: Sequence[int], without: Excluded
    ) -> list[FoundConcepts]:
        """Looks up similar names, names with fewer words, families and, behind all of them, short
        forms; units get the queries that were looked up.
        """
        find = self.finder.find
        near = self._look(own_lookups(units, missing), units, self.finder.find_near)
        lookups = [(number, string) for number in missing for string in units[number].query.shorter]
        shorter = self._look(lookups, units, find)
        families = self._look_for_families(units, range(len(units)))
        of_family = set(families.owners.tolist())
        short = [
            number for number in missing if number not in of_family and units[number].query.short
        ]

        # Short forms of pairs whose long forms name neither a concept nor a family.
        paired = [number for number in short if not self._remember.has(units[number], without)]
        lookups = [(number, string) for number in paired for string in units[number].query.short]
        _replace_queries(units, {number: _with_short(units[number].query) for number in paired})
        by_short = self._look(lookups, units, find)
        return [near, shorter, families, by_short, self._look_for_families(units, short)]

    def _look_for_families(self, units: Sequence[Unit], numbers: Iterable[int]) -> FoundConcepts:
        kinds = self._merger.families.kinds
        lookups = own_lookups(units, (number for number in numbers if units[number].type in kinds))
        return self._look(lookups, units, self.finder.find_families)


def _with_short(query: Query) -> Query:
    return query._replace(strings=query.strings + query.short)


def _replace_queries(units: list[Unit], queries: Mapping[int, Query]) -> None:
    for number, query in queries.items():
        units[number] = units[number]._replace(query=query)
