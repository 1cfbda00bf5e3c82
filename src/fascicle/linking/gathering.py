"""Candidate generation: concepts that mentions may mean, with the features of their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Final

import numpy as np
from msgspec.structs import asdict, astuple, replace

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.linking.answerable import Answerable
from fascicle.linking.asking import WAYS, LookupString, Unit, make_query
from fascicle.linking.candidates import (
    CANONICAL,
    ELSEWHERE,
    EXACT,
    FOLDED,
    REMEMBERED,
    SUPPLEMENTARY,
    TIERS,
    Candidates,
    FoundConcepts,
    label_precedence,
    limit_candidates,
    shared_priors,
)
from fascicle.linking.equivalents import (
    ABOVE,
    ITSELF,
)
from fascicle.linking.families import Families
from fascicle.linking.finding import Finder, FoundTerms, ShortFormFeatures
from fascicle.linking.gold import Memory
from fascicle.terms.keys.key import key
from fascicle.terms.pack.arrays import expand_ranges
from fascicle.terms.terms import NAME_KINDS

_HALF: Final = 0.5  # of the words of a long form, that the names of its concept have at least
_LABEL: Final = NAME_KINDS.index("label")
_GENE: Final = "Gene"
_MESH: Final = "MESH"
_DESCRIPTOR: Final = f"{_MESH}:D"
_PLACEHOLDER: Final = re.compile(r"LOC\d+")  # symbol of a gene that has none yet
_Find = Callable[[Sequence[str], Sequence[str]], FoundTerms]
_Lookup = tuple[int, LookupString]  # the number of a unit, and what is looked up for it
_WAY: Final = {way: number for number, way in enumerate(WAYS)}
_SHORT: Final = 1 << _WAY["short"]
_NONE: Final = np.empty(0, dtype=np.int64)
Excluded = Mapping[int, Mapping[tuple[str, str], Collection[str]]]


class CandidateGenerator:
    """Generates candidates; for one thread.

    Attributes:
        finder: of the pack.
    """

    def __init__(
        self,
        finder: Finder,
        memory: Memory,
        vocabularies: Mapping[str, Sequence[str]],
        allowed: Callable[[Candidates, Bools], Bools],
    ) -> None:
        """Sets the finder and the other parts of the search.

        Args:
            finder: of an open pack.
            memory: names that annotated texts gave to concepts.
            vocabularies: of types, prefixes of the concepts that may be answered, with all of their
                sets; all of the pack by default.
            allowed: returns which candidates count, given those that count here.
        """
        self.finder, self.memory, pack = finder, memory, finder.pack
        self._allowed = allowed
        self._answerable, self._agreeing = (
            Answerable(finder, vocabularies),
            ShortFormFeatures(pack, finder.reader),
        )
        self._families = Families(pack)
        taxa = pack.taxa
        self._taxa = {taxa[row]: row for row in range(len(taxa))}

    def gather(self, asked: Iterable[Unit], *, without: Excluded | None = None) -> Candidates:
        """Returns the candidates of units by equal names, else by word order, parts, similar names
        or vectors.

        Args:
            asked: units of all documents.
            without: by the number of a document, by type and key of level 1 the concepts that the
                memory has from it; see `Memory.of_key`.
        """
        units = self._by_symbol(self._induced(list(asked)))
        found = [self._look(_lookups(units, range(len(units))), units, self.finder.find)]
        found.append(
            self._look(_lookups(units, _missing(units, found)), units, self.finder.find_reordered)
        )
        units, found = self._divided(units, found)
        missing = _missing(units, found)
        found.append(self._look(_lookups(units, missing), units, self.finder.find_near))
        less = [(number, one) for number in missing for one in units[number].question.shorter]
        found.append(self._look(less, units, self.finder.find))
        families = self._families_of(units, range(len(units)))
        named = set(families.owners.tolist())
        missing = [number for number in missing if number not in named]
        units, by_short = self._by_short(units, missing, without or {})
        short = [number for number in missing if units[number].question.short]
        found += [families, by_short, self._families_of(units, short)]
        if (dense := self.finder.dense) is not None:
            missing = _missing(units, found, below=dense.manifest.below)
            found.append(self._look(_lookups(units, missing), units, self.finder.find_dense))
        return self._best(units, found, without or {})

    def _induced(self, units: list[Unit]) -> list[Unit]:
        """Asks for ``drug-induced fever`` where a text that has ``heparin-induced fever`` says
        ``fever``.
        """
        asked = [(at, question) for at, unit in enumerate(units) for question in unit.induced]
        known = self.known(
            list(dict.fromkeys(pair for _, question in asked for pair in question.needs))
        )
        for at, question in reversed(asked):
            if known.issuperset(question.needs):
                units[at] = units[at]._replace(question=question)
        return units

    def _look(
        self, lookups: Sequence[_Lookup], units: Sequence[Unit], find: _Find
    ) -> FoundConcepts:
        """Looks up strings for units; equal strings of one type are looked up once."""
        distinct: dict[tuple[LookupString, str], int] = {}
        pairs = ((asked, units[number].type) for number, asked in lookups)
        which = np.array(
            [distinct.setdefault(pair, len(distinct)) for pair in pairs], dtype=np.int64
        )
        types = [kind for _, kind in distinct]
        found = find([asked.surface for asked, _ in distinct], types)
        reached = self._answerable.reached(types, found)
        starts = np.searchsorted(found.places[reached.places], np.arange(len(distinct) + 1))
        lookup, places = expand_ranges(starts[which], starts[which + 1])
        owners = np.array([number for number, _ in lookups], dtype=np.int64)[lookup]
        ways = np.array([_WAY[asked.way] for asked, _ in distinct], dtype=np.int64)
        taxa = np.array(
            [self._taxa.get(asked.taxon, 0) if asked.taxon else -1 for asked, _ in distinct],
            np.int64,
        )
        concepts, by, which = reached.rows[places], reached.places[places], which[lookup]
        taxa = taxa[which]
        agrees = np.where(self.finder.pack.taxon_rows[concepts] == taxa, 1, -1)
        rows = FoundConcepts(
            owners,
            concepts,
            found.terms[by],
            found.tiers[by],
            found.similarity[by],
            ways[which],
            reached.distance[places],
            np.where(taxa < 0, 0, agrees),
        )
        return _whole_first(rows)

    def _families_of(self, units: Sequence[Unit], numbers: Iterable[int]) -> FoundConcepts:
        named = (number for number in numbers if units[number].type in self._families.kinds)
        return self._look(_lookups(units, named), units, self.finder.find_families)

    def _by_short(
        self, units: list[Unit], missing: Sequence[int], without: Excluded
    ) -> tuple[list[Unit], FoundConcepts]:
        """Looks up the short forms of pairs whose long forms name neither a concept nor a
        family.
        """
        paired = [number for number in missing if units[number].question.short]
        if self.memory.counts:
            paired = [
                number for number in paired if not self._remembered([units[number]], without)[1]
            ]
        units = units.copy() if paired else units
        for number in paired:
            question = units[number].question
            units[number] = units[number]._replace(
                question=question._replace(asked=question.asked + question.short)
            )
        short = [(number, asked) for number in paired for asked in units[number].question.short]
        return units, self._look(short, units, self.finder.find)

    def _by_symbol(self, units: list[Unit]) -> list[Unit]:
        """Asks for a symbol in place of its long form where it is official, and no gene of the long
        form has it.

        ``Cytochrome P450 2D6`` is a name of a record that waits for its symbol, and not of
        ``CYP2D6``. The gene of ``thrombopoietin (TPO)`` has the symbol as an alias, so there the
        long form decides; so it does for a symbol that is short for much else, such as ``CS``.
        """
        paired = [
            at for at, unit in enumerate(units) if unit.question.distinctive and unit.type == _GENE
        ]
        if not paired:
            return units
        symbols = self._look(
            [(at, one) for at in paired for one in units[at].question.short if not one.taxon],
            units,
            self.finder.find,
        )
        names = self._look(_lookups(units, paired), units, self.finder.find)
        official = (symbols.tiers == EXACT) & (
            self.finder.pack.active.kind[symbols.terms] == _LABEL
        )
        met = np.isin(symbols.owners << 32 | symbols.concepts, names.owners << 32 | names.concepts)
        shared = np.flatnonzero(met)
        labels = self.finder.pack.labels_at(symbols.concepts[shared])
        met[shared] = [not _PLACEHOLDER.fullmatch(label) for label in labels]
        wanted = set(symbols.owners[official & (symbols.distance == ITSELF)].tolist()) - set(
            symbols.owners[met].tolist()
        )
        units = units.copy() if wanted else units
        # without names, the short form is asked for anyway
        for at in wanted & set(names.owners.tolist()):
            units[at] = units[at]._replace(
                question=make_query(units[at].question.short[0].surface, _GENE)
            )
        return units

    def _divided(
        self, units: list[Unit], found: list[FoundConcepts]
    ) -> tuple[list[Unit], list[FoundConcepts]]:
        """Replaces units without candidates by their parts, where each part of a reading is a
        name.
        """
        split = self._parts(units, _missing(units, found))
        if not split:
            return units, found
        divided: list[Unit] = []
        numbers = np.zeros(len(units), dtype=np.int64)
        parts: list[int] = []
        for number, unit in enumerate(units):
            numbers[number] = len(divided)
            for part in split.get(number, ()):
                parts.append(len(divided))
                divided.append(part)
            if number not in split:
                divided.append(unit)
        renumbered = [replace(rows, owners=numbers[rows.owners]) for rows in found]
        return divided, [
            *renumbered,
            self._look(_lookups(divided, parts), divided, self.finder.find),
        ]

    def _parts(self, units: Sequence[Unit], numbers: Sequence[int]) -> dict[int, tuple[Unit, ...]]:
        read = [
            (number, reading) for number in numbers for reading in units[number].question.readings
        ]
        pairs = list(
            dict.fromkeys(
                (part.name, units[number].type) for number, reading in read for part in reading
            )
        )
        known = self.known(pairs)
        split: dict[int, tuple[Unit, ...]] = {}
        for number, reading in read:
            unit = units[number]
            if all((part.name, unit.type) in known for part in reading):
                parts = (
                    unit._replace(part=at, surface=part.name, question=part)
                    for at, part in enumerate(reading)
                )
                split.setdefault(number, tuple(parts))
        return split

    def known(self, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Returns those pairs of a name and a type of which the pack has a concept with this
        name.
        """
        found = self.finder.find([name for name, _ in pairs], [kind for _, kind in pairs])
        return {pairs[place] for place in found.places.tolist()}

    def _best(
        self, units: list[Unit], found: Sequence[FoundConcepts], without: Excluded
    ) -> Candidates:
        """Returns the candidates, by the best of the names that lead to them."""
        pack = self.finder.pack
        active, leads = pack.active, pack.leads
        seen, counts = self._remembered(units, without)
        rows = FoundConcepts(
            *map(np.concatenate, zip(*(astuple(one) for one in (*found, seen)), strict=True))
        )
        priors = np.full(len(rows.terms), 0.5)
        priors[rows.terms >= 0] = active.prior[rows.terms[rows.terms >= 0]]
        better = ((rows.tiers * 8 + rows.distance) * 8 + rows.ways) * 4 - rows.hinted
        order = np.lexsort(
            (rows.terms, -priors, better, rows.owners << 32 | leads.of(rows.concepts))
        )
        rows, priors = _at(rows, order), priors[order]
        pairs = rows.owners << 32 | leads.of(rows.concepts)
        first = np.flatnonzero(np.diff(pairs, prepend=-1))
        if len(leads):
            # names of one key have it by turns
            by_key = np.where(rows.tiers <= CANONICAL, EXACT, rows.tiers)
            how = (by_key * 8 + rows.distance) * 8 + rows.ways
            priors[first] = shared_priors(first, rows.concepts, how, priors)
        ways = np.bitwise_or.reduceat(1 << rows.ways, first) if len(first) else _NONE
        best, names = _at(rows, first), np.diff(first, append=len(pairs))
        concepts = pairs[first] & 0xFFFFFFFF
        labels = (rows.terms >= 0) & (rows.distance == np.repeat(best.distance, names))
        labels[labels] = active.kind[rows.terms[labels]] == _LABEL
        written = (
            labels
            & (rows.tiers <= FOLDED)
            & (rows.distance == ITSELF)
            & (rows.ways <= _WAY["long"])
        )
        written &= pack.taxon_rows[rows.concepts] == 0  # species tell genes of one label apart
        if len(first):
            labels, written = (np.logical_or.reduceat(one, first) for one in (labels, written))
        remembered = np.zeros(len(first), dtype=np.int64)
        places = np.array([unit << 32 | row for unit, row in counts], dtype=np.int64)
        remembered[np.searchsorted(pairs[first], places)] = list(counts.values())
        totals = np.bincount(best.owners, weights=remembered, minlength=len(units)).astype(np.int64)
        distinctive, agrees = self._agreement(units, best.owners, concepts, ways)
        gathered = Candidates(
            **asdict(best) | {"concepts": concepts, "ways": ways},
            units=units,
            names=names,
            priors=priors[first],
            labels=labels,
            distinctive=distinctive,
            agrees=agrees,
            remembered=remembered,
            remembered_all=totals[best.owners],
            precedence=label_precedence(
                best.owners,
                written,
                priors[first],
                pack.prefix_rows[concepts],
                pack.type_rows[concepts],
                units=len(units),
            ),
        )
        loose = (
            (gathered.precedence == 0)
            & (best.tiers <= CANONICAL)
            & np.isin(best.distance, (ITSELF, ABOVE))
        )
        gathered.precedence[
            loose & np.isin(best.owners, self._answerable.labelled_elsewhere(units))
        ] = ELSEWHERE
        allowed = (ways != _SHORT) | distinctive | (agrees >= _HALF)
        allowed[self._families.strangers(gathered)] = False
        allowed[self._supplementary(gathered)] = False
        return limit_candidates(gathered, self._allowed(gathered, allowed))

    def _supplementary(self, found: Candidates) -> Ints:
        """Returns supplementary records of MeSH with another label, where a descriptor has the name
        as well.

        Theirs are mostly names of a parent or a mixture: ``Retinoic acid`` of retinoyl glucuronide.
        """
        counts = np.bincount(found.owners, minlength=len(found.units))
        pack = self.finder.pack
        of_mesh = pack.prefix_rows[found.concepts] == (
            pack.prefixes.index(_MESH) if _MESH in pack.prefixes else -1
        )
        rows = np.flatnonzero((counts[found.owners] > 1) & of_mesh)
        curies = pack.curies.strings.take(found.concepts[rows])
        records, descriptors = (
            np.array([one.startswith(prefix) for one in curies], dtype=np.bool_)
            for prefix in (SUPPLEMENTARY, _DESCRIPTOR)
        )
        best = np.full(len(found.units), len(TIERS))
        np.minimum.at(best, found.owners[rows[descriptors]], found.tiers[rows[descriptors]])
        loose = records & ~found.labels[rows] & (found.tiers[rows] >= best[found.owners[rows]])
        less: Ints = rows[loose]
        return less

    def _agreement(
        self, units: Sequence[Unit], owners: Ints, concepts: Ints, ways: Ints
    ) -> tuple[Bools, Floats]:
        """Returns features of candidates that were found by short forms: see `Candidates`."""
        distinctive, agrees = np.zeros(len(ways), dtype=np.bool_), np.zeros(len(ways))
        short = np.flatnonzero(ways & _SHORT)
        if len(short):
            questions = [units[unit].question for unit in owners[short].tolist()]
            distinctive[short], agrees[short] = self._agreeing(
                owners[short], concepts[short], questions
            )
        return distinctive, agrees

    def _remembered(
        self, units: Sequence[Unit], without: Excluded
    ) -> tuple[FoundConcepts, dict[tuple[int, int], int]]:
        """Returns candidates from annotated texts, and the number of documents of each."""
        simple = cache(lambda surface: key(surface, 1))
        seen = []
        for number, unit in enumerate(units if self.memory.counts else ()):
            own = without.get(unit.document, {})
            for asked in unit.question.asked:
                if asked.way not in ("own", "short", "part"):
                    continue
                name = (unit.type, simple(asked.surface))
                counts_of = self.memory.of_key(*name, own.get(name, ()))
                seen += [
                    (number, curie, count, _WAY[asked.way]) for curie, count in counts_of.items()
                ]
        rows = self.finder.pack.concept_rows([curie for _, curie, _, _ in seen])
        rows[rows >= 0] = self.finder.pack.leads.of(rows[rows >= 0])
        known = [
            (one, row)
            for one, row in zip(seen, rows.tolist(), strict=True)
            if row >= 0 and self._answerable.may_be(units[one[0]].type, row)
        ]
        counts: dict[tuple[int, int], int] = {}
        for (number, _, count, _), row in known:
            counts[number, row] = max(counts.get((number, row), 0), count)
        columns = [
            (number, row, -1, REMEMBERED, 1, way, 0, 0) for (number, _, _, way), row in known
        ]
        return FoundConcepts(*np.array(columns, dtype=np.int64).reshape(-1, 8).T), counts


def _at(rows: FoundConcepts, which: Ints) -> FoundConcepts:
    """Returns the given rows, in the given order."""
    return FoundConcepts(*(column[which] for column in astuple(rows)))


def _whole_first(rows: FoundConcepts) -> FoundConcepts:
    """Returns rows without those of names without a species, as ``ERG`` for ``hERG``, where the
    whole name is one.
    """
    whole = np.isin(rows.owners, rows.owners[rows.hinted == 0])
    return (
        _at(rows, np.flatnonzero((rows.hinted == 0) | ~whole)) if (rows.hinted != 0).any() else rows
    )


def _lookups(units: Sequence[Unit], numbers: Iterable[int]) -> list[_Lookup]:
    return [(number, asked) for number in numbers for asked in units[number].question.asked]


def _missing(
    units: Sequence[Unit], found: Sequence[FoundConcepts], *, below: float = 0.0
) -> list[int]:
    """Returns the numbers of units that have no row, or only rows below the required similarity."""
    none = np.ones(len(units), dtype=np.bool_)
    for rows in found:
        none[rows.owners[rows.similarity >= below]] = False
    return np.flatnonzero(none).tolist()
