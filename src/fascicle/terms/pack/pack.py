"""Open pack: concepts, their names and their hierarchy, memory-mapped from the files and shared
by processes.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Self

import msgspec
import numpy as np

from fascicle.core.arrays import Ints, int_array, unique_values
from fascicle.core.document import Event, link_event
from fascicle.core.lazy import cached_property
from fascicle.core.mention import Link
from fascicle.core.type_names import read_vocabulary
from fascicle.core.wording import near_hint
from fascicle.errors import InputError
from fascicle.settings.folders.vocabularies import find_pack
from fascicle.terms.keys.characters import CasePolicy
from fascicle.terms.keys.key import NORMALISER
from fascicle.terms.pack import layout
from fascicle.terms.pack.arrays import (
    Array,
    ConceptSets,
    Lists,
    Lookup,
    Strings,
    map_array,
    shortest_decimals,
)
from fascicle.terms.pack.layout import (
    Names,
    PackManifest,
    check_files,
    check_normaliser,
    damage_errors,
    read_manifest,
)
from fascicle.terms.scanning.table import NameTable
from fascicle.terms.terms import NAME_KINDS, CrossReference, NameKind, ShortTerm

_FACTS = msgspec.msgpack.Decoder(layout.ConceptFacts)
References = Mapping[str, tuple[str, ...]]  # predicate -> CURIEs


class _Defined(msgspec.Struct, frozen=True, array_like=True):
    definition: str = ""  # the first of the facts


_DEFINED = msgspec.msgpack.Decoder(_Defined)


class Term(msgspec.Struct, frozen=True, kw_only=True):
    """Name of a concept.

    Attributes:
        surface: the name as the sources write it.
        concept: CURIE.
        kind: of the name.
        language: code.
        case: which case the name may have in a text.
        off: whether it is not looked for in texts.
        silent: whether it is kept out altogether: its concept is obsolete, or a rule dropped it.
        prior: probability that the name means the concept where it occurs in a text.
        sources: the sources that have it.
        rule: of curation that touched it; empty for none.
    """

    surface: str
    concept: str
    kind: NameKind
    language: str
    case: CasePolicy
    off: bool
    silent: bool
    prior: float
    sources: tuple[str, ...]
    rule: str


class Concept(msgspec.Struct, frozen=True, kw_only=True):
    """Concept of a pack.

    Attributes:
        curie: its identifier.
        label: its preferred name; the CURIE if it has none that a pack can hold.
        type: canonical name.
        taxon: CURIE of its species, or empty.
        rank: of a taxon, or empty.
        obsolete: such a concept never matches.
        replaced_by: CURIEs.
        definition: or empty.
        references: to other vocabularies, grouped by predicate.
        sources: the sources that name it.
    """

    curie: str
    label: str
    type: str
    taxon: str
    rank: str
    obsolete: bool
    replaced_by: tuple[str, ...]
    definition: str
    references: tuple[CrossReference, ...]
    sources: tuple[str, ...]


class Pack:
    """Term pack; made by `Pack.open`.

    Attributes:
        folder: where it is.
        manifest: of the pack.
        full_name: name and hash; see `Manifest.full_name`.
        types: names of types, by number.
        table: file of the table by which texts are scanned for the keys of `active`.
        active: the terms that are found.
        silent: the terms that are kept out.
        curies: rows of concepts.
    """

    def __init__(self, folder: Path, manifest: PackManifest) -> None:
        """Maps the files, which must be those of the manifest."""
        self.folder, self.manifest = folder, manifest
        self.full_name, self.types, self.table = (
            manifest.full_name,
            manifest.types,
            folder / layout.TABLE,
        )
        self.active, self.silent = (
            Names(folder, table) for table in (layout.ACTIVE, layout.SILENT)
        )
        self.curies = Lookup.open(folder, layout.CURIES)
        (
            self.label_rows,
            self.type_rows,
            self.taxon_rows,
            self.rank_rows,
            self.flag_rows,
            self.set_rows,
        ) = (map_array(folder / name) for name in layout.CONCEPT_COLUMNS)
        self.facts, self.taxa, self.rules = (
            Strings.open(folder, name) for name in (layout.FACTS, layout.TAXA, layout.RULES)
        )
        self.parent_rows, self.child_rows = (
            Lists(map_array(folder / starts), map_array(folder / rows))
            for starts, rows in (layout.PARENTS, layout.CHILDREN)
        )

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, normaliser: str = NORMALISER) -> Self:
        """Opens a pack, and checks its files; `verifying.verify` checks their content.

        Args:
            folder: the folder that the builder wrote, or the name of a shipped pack, such as
                ``"basic"``.
            normaliser: version of the keys that the pack must have; that of this release by
                default.

        Raises:
            PackError: no pack, one of another format or normaliser, a file that is missing or was
                changed.
        """
        place = find_pack(folder)
        manifest = read_manifest(place)
        check_normaliser(place, manifest, normaliser)
        check_files(place, manifest)
        with damage_errors(place):
            return cls(place, manifest)

    def __len__(self) -> int:
        """Returns the number of concepts."""
        return len(self.type_rows)

    def open_table(self) -> NameTable:
        """Returns the table by which texts are scanned for the names."""
        return NameTable.open(self.table)

    def rows(self, keys: Sequence[str]) -> tuple[Ints, Ints]:
        """Returns the terms of keys, without those that are excluded.

        Args:
            keys: any strings.

        Returns:
            For each term the place in ``keys`` of its key, and its row in `active`.
        """
        return self.active.of_keys(keys)

    def covers(self, kind: str) -> bool:
        """True if the pack has concepts of a type; see `own_type`."""
        return self.own_type(kind) in self.types

    @cached_property
    def own_type(self) -> Callable[[str], str]:
        """Function that gives the name of a type in the pack; a type that the pack does not have
        stays as it is.
        """
        names, types = read_vocabulary(), self.types
        return cache(lambda name: names.among(name, types))

    @cached_property
    def _ends(self) -> list[tuple[str, int]]:
        """Prefix of each vocabulary, and the first row behind its concepts, in the order of
        CURIEs.
        """
        ends: list[tuple[str, int]] = []
        row = 0
        while row < len(self):
            prefix = self.curie(row).partition(":")[0]
            # the sign behind a colon
            row = bisect_left(range(len(self)), f"{prefix};", lo=row, key=self.curie)
            ends.append((prefix, row))
        return ends

    @cached_property
    def prefixes(self) -> tuple[str, ...]:
        """Prefixes of the vocabularies of the pack, in the order of CURIEs."""
        return tuple(prefix for prefix, _ in self._ends)

    @cached_property
    def prefix_rows(self) -> Array:
        """Number of the prefix of each concept, ``[concepts]``."""
        sizes = np.diff([end for _, end in self._ends], prepend=0)
        return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)

    def concept_rows(self, curies: Sequence[str]) -> Ints:
        """Returns the row of each concept; -1 where the pack has none."""
        return self.curies.find(curies)

    def curie(self, row: int) -> str:
        """Returns the CURIE of a concept."""
        return self.curies.strings[row]

    def concept(self, curie: str) -> Concept:
        """Returns a concept by its CURIE.

        Raises:
            InputError: the pack does not have it.
        """
        return self.concept_at(self.row(curie))

    def row(self, curie: str) -> int:
        """Returns the row of a concept.

        Raises:
            InputError: the pack does not have it.
        """
        row = int(self.concept_rows([curie])[0])
        if row < 0:
            raise InputError(
                f"the pack {self.folder} has no concept "
                f"{curie!r}{near_hint(curie, self._neighbours(curie))}; write "
                "its CURIE as the pack does, such as MESH:D003920",
                key=curie,
                code="unknown-name",
            )
        return row

    def concept_at(self, row: int) -> Concept:
        """Returns a concept by its row."""
        facts = (
            _FACTS.decode(self.facts.raw(row))
            if len(self.facts.raw(row))
            else layout.ConceptFacts()
        )
        return Concept(
            curie=self.curie(row),
            label=self.label_at(row),
            type=self.types[self.type_rows[row]],
            taxon=self.taxa[int(self.taxon_rows[row])],
            rank=self.manifest.ranks[self.rank_rows[row]],
            obsolete=bool(self.flag_rows[row] & layout.OBSOLETE),
            replaced_by=facts.replaced_by,
            definition=facts.definition,
            references=tuple(
                CrossReference(other, what)
                for what, several in facts.references.items()
                for other in several
            ),
            sources=self._source_names(int(self.set_rows[row])),
        )

    def date_at(self, row: int) -> str:
        """Returns the date of the vocabulary that has a concept, by its row; empty if its source
        states none.
        """
        return self._dates[int(self.set_rows[row])]

    def origins(self, documents: Sequence[Sequence[Link]], *, step: str) -> list[tuple[Event, ...]]:
        """Returns the event of each document that has links other than NIL: their vocabularies, and
        the age of these.

        Args:
            documents: the links of each, which are of this pack.
            step: the step that gave the links.
        """
        curies = [{link.curie for link in links if link.curie} for links in documents]
        distinct = sorted(set().union(*curies))
        rows = self.concept_rows(distinct).tolist()
        of = {
            curie: (curie.partition(":")[0], self.date_at(row))
            for curie, row in zip(distinct, rows, strict=True)
        }
        name = self.manifest.name
        return [
            (link_event(name, (of[curie] for curie in several), step=step),) if several else ()
            for several in curies
        ]

    @cached_property
    def _dates(self) -> list[str]:
        sources = self.manifest.sources
        # Of the sources that have a concept, the first one made it; later ones added names. A table
        # of own names has no address, and its date is not that of a vocabulary.
        first = [
            min(numbers, key=lambda number: (not sources[number].url, number), default=-1)
            for numbers in self.manifest.sets
        ]
        return [sources[number].date if number >= 0 else "" for number in first]

    @cached_property
    def leads(self) -> ConceptSets:
        """Sets of concepts that are equal in several vocabularies; a pack of an older release
        has none.
        """
        has_sets = layout.LEAD in self.manifest.files
        return ConceptSets(
            map_array(self.folder / layout.LEAD) if has_sets else np.empty(0, dtype=np.uint32)
        )

    def definitions_at(self, rows: Ints) -> list[str]:
        """Returns the definitions of concepts by their rows; empty where there is none."""
        return [
            _DEFINED.decode(raw).definition if len(raw) else "" for raw in self.facts.raws(rows)
        ]

    def label_at(self, row: int) -> str:
        """Returns the label of a concept by its row."""
        return self._label(int(self.label_rows[row]), row)

    def answer_at(self, row: int) -> tuple[str, str, tuple[str, ...]]:
        """Returns CURIE and label of the leading concept of a set, and the CURIEs of the others of
        the set.

        Args:
            row: of the concept, whose label replaces that of a leading concept without a name.
        """
        lead, *members = self.leads.members(row)
        label = self.label_at(row if self.label_rows[lead] == layout.NONE else lead)
        return self.curie(lead), label, tuple(map(self.curie, members))

    def labels_at(self, rows: Ints) -> list[str]:
        """Returns the labels of several concepts."""
        numbers = self.label_rows[rows]
        usual = np.flatnonzero(numbers < layout.LIMIT)
        labels = iter(self.active.surfaces.take(numbers[usual]))
        return [
            next(labels) if number < layout.LIMIT else self._label(number, row)
            for number, row in zip(numbers.tolist(), rows.tolist(), strict=True)
        ]

    def _label(self, number: int, row: int) -> str:
        if number == layout.NONE:
            return self.curie(row)
        table = self.silent if number & layout.LIMIT else self.active
        return table.surfaces[number & ~layout.LIMIT]

    def names(self, curie: str) -> tuple[Term, ...]:
        """Returns all names of a concept, those that are excluded at the end.

        Raises:
            InputError: the pack does not have the concept.
        """
        row = self.row(curie)
        return tuple(
            self.term(names, term)
            for names in (self.active, self.silent)
            for term in names.of_concept[row].tolist()
        )

    def term(self, names: Names, row: int) -> Term:
        """Returns a term by its row in one of the tables."""
        flags = int(names.flags[row])
        return Term(
            surface=names.surfaces[int(names.surface[row])],
            concept=self.curie(int(names.concept[row])),
            kind=NAME_KINDS[names.kind[row]],
            language=self.manifest.languages[names.language[row]],
            case=CasePolicy(flags & layout.CASE),
            off=bool(flags & layout.OFF),
            silent=names.table == layout.SILENT,
            prior=shortest_decimals(names.prior[row : row + 1])[0],
            sources=self._source_names(int(names.sources[row])),
            rule=self.rules[names.rule_of(row)],
        )

    def short_terms(self, rows: Ints) -> list[ShortTerm]:
        """Returns the data to find terms in texts, by their rows in `active`."""
        names = self.active
        surfaces, curies = (
            names.surfaces.take(names.surface[rows]),
            self.curies.strings.take(names.concept[rows]),
        )
        flags = names.flags[rows]
        cases, off = (flags & layout.CASE).tolist(), ((flags & layout.OFF) != 0).tolist()
        return list(
            map(ShortTerm, surfaces, curies, cases, off, shortest_decimals(names.prior[rows]))
        )

    def parents(self, curie: str) -> tuple[str, ...]:
        """Returns the concepts above one, sorted."""
        return self._curies(self.parent_rows[self.row(curie)])

    def children(self, curie: str) -> tuple[str, ...]:
        """Returns the concepts below one, sorted."""
        return self._curies(self.child_rows[self.row(curie)])

    def ancestors(self, curie: str) -> tuple[str, ...]:
        """Returns all concepts above one, at any distance, without itself; sorted. The hierarchy
        may have cycles.
        """
        return self._curies(self._reach(self.parent_rows, self.row(curie)))

    def descendants(self, curie: str) -> tuple[str, ...]:
        """Returns all concepts below one, at any distance, without itself; sorted."""
        return self._curies(self._reach(self.child_rows, self.row(curie)))

    def _reach(self, edges: Lists, row: int) -> Ints:
        visited = np.zeros(len(self), dtype=np.bool_)
        front = int_array([row])
        while len(front):
            visited[front] = True
            front = unique_values(edges.take(front)[1])
            front = front[~visited[front]]
        visited[row] = False
        rows: Ints = np.flatnonzero(visited)
        return rows

    def _curies(self, rows: Ints) -> tuple[str, ...]:
        return tuple(self.curies.strings.take(rows))

    def _source_names(self, number: int) -> tuple[str, ...]:
        return tuple(self.manifest.sources[source].name for source in self.manifest.sets[number])

    def _neighbours(self, curie: str) -> Iterator[str]:
        """Yields other spellings of an identifier that the pack may have: with another prefix or
        another case.
        """
        local = curie.rpartition(":")[2]
        prefixes = sorted(
            {
                self.curie(row).partition(":")[0]
                for row in range(0, len(self), max(1, len(self) // 1_000))
            }
        )
        spelt = [
            f"{prefix}:{spelling}" for prefix in prefixes for spelling in (local, local.upper())
        ]
        for spelling, row in zip(spelt, self.concept_rows(spelt).tolist(), strict=True):
            if row >= 0:
                yield spelling
