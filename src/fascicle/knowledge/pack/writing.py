"""Writing the arrays of a pack: concepts in the order of their CURIEs, then names in the order of their keys."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar

import msgspec
import numpy as np

from fascicle.core.arrays import Ints
from fascicle.errors import InputError
from fascicle.knowledge.pack import layout
from fascicle.knowledge.pack.arrays import (
    Array,
    ColumnWriter,
    Strings,
    StringsWriter,
    grouped,
    mapped,
    write_array,
)
from fascicle.knowledge.pack.lookup import Lookup
from fascicle.knowledge.pack.merging import Merged
from fascicle.knowledge.pack.priors import name_probability, weight_of
from fascicle.knowledge.pack.spill import SortedSpill
from fascicle.knowledge.terms import NAME_KINDS

# Of a name on its way: concept, number of the language, number of the kind, number of the set, flags, rule.
_TAIL: Final = struct.Struct(">IBBHBI")
_SHOWN_LABEL: Final = 128  # a flag of names on their way: the label that is shown for the concept
_EVERY: Final = 100_000
_CHUNK: Final = 1 << 16
T = TypeVar("T")
Told = Callable[[str, int], None]


class Numbers(Generic[T]):
    """Gives a number to each distinct value, in the order in which they come."""

    def __init__(self, what: str, *, most: int, first: Iterable[T] = ()) -> None:
        """Begins with some values.

        Args:
            what: values of this kind are counted in an error.
            most: of them that a pack can have.
            first: values that have the first numbers.
        """
        self._what, self._most = what, most
        self._numbers: dict[T, int] = {value: number for number, value in enumerate(first)}

    def of(self, value: T) -> int:
        """The number of a value.

        Raises:
            InputError: too many distinct values.
        """
        found = self._numbers.setdefault(value, len(self._numbers))
        if found >= self._most:
            raise InputError(f"a pack can have {self._most:,} {self._what}; divide its sources into two packs")
        return found

    def values(self) -> tuple[T, ...]:
        """All values by number."""
        return tuple(self._numbers)


class Named(NamedTuple):
    """A name of a concept on its way into a table; see `layout` for the numbers."""

    key: str
    surface: str
    concept: int
    language: int
    kind: int
    set: int
    flags: int
    rule: int

    def row(self, *, shown: bool) -> bytes:
        """As a row to be sorted: by key, surface, concept and language."""
        flags = self.flags | (_SHOWN_LABEL if shown else 0)
        tail = _TAIL.pack(self.concept, self.language, self.kind, self.set, flags, self.rule)
        return b"%b\0%b\0%b" % (self.key.encode(), self.surface.encode(), tail)


class ConceptsWriter:
    """Writes the columns of concepts; `close` adds the look-up and the hierarchy."""

    def __init__(self, folder: Path, work: Path) -> None:
        """Opens the files.

        Args:
            folder: of the pack.
            work: for what is needed until the pack is complete.
        """
        self._folder, self._work = folder, work
        self.types = Numbers[str]("types", most=1 << 16)
        self.ranks = Numbers[str]("ranks of taxa", most=1 << 8, first=[""])
        self.sets = Numbers[tuple[int, ...]]("sets of sources", most=1 << 16)
        self._taxa = Numbers[str]("taxa", most=layout.NONE, first=[""])
        self._columns = {  # that of labels is written when the names are sorted
            name: ColumnWriter(folder / name) for name in layout.CONCEPT_COLUMNS if name != layout.LABEL
        }
        self._curies, self._facts = StringsWriter(folder, layout.CURIES), StringsWriter(folder, layout.FACTS)
        self._parents, self._children = StringsWriter(work, "parents"), ColumnWriter(work / "children.u4")

    def add(self, concept: Merged) -> int:
        """Writes a concept, and returns its number."""
        columns = self._columns
        columns[layout.TYPE].add(self.types.of(concept.type))
        columns[layout.TAXON].add(self._taxa.of(concept.taxon))
        columns[layout.RANK].add(self.ranks.of(concept.rank))
        columns[layout.CONCEPT_FLAGS].add(layout.OBSOLETE if concept.obsolete else 0)
        columns[layout.CONCEPT_SET].add(self.sets.of(concept.sources))
        self._facts.add(_facts(concept))
        row = self._curies.add(concept.curie.encode())
        for parent in concept.parents:
            self._parents.add(parent.encode())
            self._children.add(row)
        return row

    def close(self, counts: Counter[str]) -> int:
        """Ends the files; returns the number of concepts.

        Args:
            counts: gets the numbers of parents, and of those that the pack does not have.
        """
        for writer in (*self._columns.values(), self._curies, self._facts, self._parents, self._children):
            writer.close()
        taxa = StringsWriter(self._folder, layout.TAXA)
        for taxon in self._taxa.values():
            taxa.add(taxon.encode())
        taxa.close()
        count = self._curies.count
        lookup = Lookup.write(self._folder, layout.CURIES)
        children, parents = _edges(lookup, Strings.open(self._work, "parents"), mapped(self._work / "children.u4"))
        counts["parents"], counts["parents that are no concept of the pack"] = (
            len(parents),
            self._parents.count - len(parents),
        )
        for places, owners, others in ((layout.PARENTS, children, parents), (layout.CHILDREN, parents, children)):
            starts, order = grouped(owners, count)
            write_array(self._folder / places[0], starts)
            write_array(self._folder / places[1], others[order])
        return count


def _facts(concept: Merged) -> bytes:
    """What is rarely asked of a concept; empty if there is nothing."""
    references: dict[str, tuple[str, ...]] = {}
    for one in concept.references:
        references[one.predicate] = (*references.get(one.predicate, ()), one.curie)
    facts = layout.Facts(concept.definition, concept.replaced_by, references)
    return msgspec.msgpack.encode(facts) if any(msgspec.structs.astuple(facts)) else b""


def _edges(lookup: Lookup, parents: Strings, children: Array) -> tuple[Ints, Ints]:
    """Child and parent of each edge between concepts of the pack, sorted by child and parent."""
    found = [np.empty(0, dtype=np.int64)]
    for start in range(0, len(parents), _CHUNK):
        rows = np.arange(start, min(start + _CHUNK, len(parents)))
        above = lookup.find(parents.take(rows))
        known = above >= 0
        found.append((children[rows[known]].astype(np.int64) << 32) | above[known])
    edges = np.sort(np.concatenate(found))
    return edges >> 32, edges & layout.NONE


class NamesWriter:
    """Writes one of the two tables of names from sorted rows."""

    def __init__(self, folder: Path, table: str, labels: Array) -> None:
        """Opens the files.

        Args:
            folder: of the pack.
            table: `layout.ACTIVE` or `layout.SILENT`.
            labels: gets the number of the surface that is the label of each concept.
        """
        self._folder, self._table, self._labels = folder, table, labels
        self._silent = table == layout.SILENT
        self._keys = StringsWriter(folder, layout.in_table(table, layout.KEYS))
        self._surfaces = StringsWriter(folder, layout.in_table(table, layout.SURFACES))
        names = (layout.STARTS, *layout.COLUMNS, *layout.RULED)
        self._columns = {name: ColumnWriter(folder / layout.in_table(table, name)) for name in names}
        self.terms = 0

    def write(self, spill: SortedSpill, told: Told) -> None:
        """Writes all names.

        Args:
            spill: rows of `Named`.
            told: is called with the number of names written, now and then.
        """
        for key, group in _by_key(spill):
            self._add(key, group)
            if self.terms // _EVERY > (self.terms - len(group)) // _EVERY:
                told(self._table, self.terms)
        self._columns[layout.STARTS].add(self.terms)
        for column in self._columns.values():
            column.close()
        self._keys.close()
        self._surfaces.close()
        told(self._table, self.terms)

    def close(self, concepts: int) -> Lookup:
        """Adds what is made from the files: the look-up of keys, and the terms of each concept."""
        owners = mapped(self._folder / layout.in_table(self._table, layout.CONCEPT))
        for name, values in zip(layout.OF_CONCEPT, grouped(owners, concepts), strict=True):
            write_array(self._folder / layout.in_table(self._table, name), values)
        return Lookup.write(self._folder, layout.in_table(self._table, layout.KEYS))

    def _add(self, key: bytes, group: list[tuple[bytes, tuple[int, ...]]]) -> None:
        """Writes the terms of a key."""
        columns = self._columns
        self._keys.add(key)
        columns[layout.STARTS].add(self.terms)
        weights: dict[int, float] = {}
        for _, (concept, _, kind, _, flags, _) in group:
            weight = weight_of(NAME_KINDS[kind], preferred=bool(flags & layout.PREFERRED))
            weights[concept] = max(weight, weights.get(concept, 0.0))
        total = sum(weights.values())
        last, number, probability = b"", -1, 0.0
        for surface, (concept, language, kind, several, flags, rule) in group:
            if surface != last or number < 0:
                last, number = surface, self._surfaces.add(surface)
                probability = name_probability(surface.decode())
            columns[layout.CONCEPT].add(concept)
            columns[layout.SURFACE].add(number)
            columns[layout.NAME_KIND].add(kind)
            columns[layout.LANGUAGE].add(language)
            columns[layout.FLAGS].add(flags & ~_SHOWN_LABEL)
            columns[layout.SET].add(several)
            columns[layout.PRIOR].add(probability * weights[concept] / total)
            if rule:
                columns[layout.RULED[0]].add(self.terms)
                columns[layout.RULED[1]].add(rule)
            if flags & _SHOWN_LABEL:
                self._labels[concept] = number | (layout.LIMIT if self._silent else 0)
            self.terms += 1
        if self.terms >= layout.LIMIT:
            raise InputError("a pack can have 2,147,483,647 names; divide its sources into two packs")


def _by_key(spill: SortedSpill) -> Iterator[tuple[bytes, list[tuple[bytes, tuple[int, ...]]]]]:
    """Each key with its surfaces and numbers, in order."""
    current, group = b"", list[tuple[bytes, tuple[int, ...]]]()
    for batch in spill.batches():
        for row in batch:
            key, _, rest = row.partition(b"\0")
            surface, _, tail = rest.partition(b"\0")
            if key != current and group:
                yield current, group
                group = []
            current = key
            group.append((surface, _TAIL.unpack(tail)))
    if group:
        yield current, group
