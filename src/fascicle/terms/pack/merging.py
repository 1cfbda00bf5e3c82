"""Merging of the concepts of all sources of a pack, and the writer of the concepts and of their
hierarchy.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import msgspec
import numpy as np

from fascicle.core.arrays import Ints, int_array
from fascicle.core.pairs import join_pairs, split_pairs
from fascicle.errors import InputError
from fascicle.terms.pack import layout
from fascicle.terms.pack.arrays import (
    Array,
    ColumnWriter,
    Lookup,
    Strings,
    StringsWriter,
    map_array,
    row_chunks,
    rows_by_owner,
    write_array,
)
from fascicle.terms.pack.sorting import SortedSpill
from fascicle.terms.terms import NAME_KINDS, SAME, ConceptRecord, Name, NameKind

# others call them synonyms
_RANK: Final = {kind: rank for rank, kind in enumerate(NAME_KINDS)} | {"previous": 0.5}
_EVERY: Final = 10_000  # records between two calls of the progress callback
_SAME: Final = tuple(predicate.encode() for predicate in sorted(SAME))
_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(ConceptRecord)
Records = Callable[[], Iterable[ConceptRecord]]
_T = TypeVar("_T")


class MergedName(Name, frozen=True, gc=False):
    """Name of a concept, merged over all sources.

    Its kind is the strongest that a source gives (see `_RANK`); a concept has one label in each
    language.

    Attributes:
        sources: numbers of the sources that have it, in order.
    """

    sources: tuple[int, ...] = ()


class Merged(ConceptRecord, frozen=True, kw_only=True, gc=False):
    """Concept, merged over all sources.

    Attributes:
        names: of all sources.
        sources: numbers of the sources that have it, in order.
    """

    names: tuple[MergedName, ...]
    sources: tuple[int, ...]


@dataclass(kw_only=True)
class Gathered:
    """Records of all sources, in the order of their concepts.

    Attributes:
        spill: the rows: concept, number of the record, number of the source, and the record.
        read: records and names of each source.
        losses: what was left out, by reason.
    """

    spill: SortedSpill
    read: list[Counter[str]] = field(default_factory=list)
    losses: Counter[str] = field(default_factory=Counter)

    def add(self, record: ConceptRecord, number: int, source: int) -> None:
        """Adds a record, or counts the reason why it cannot be in a pack."""
        try:
            content = _ENCODER.encode(record)
        except UnicodeEncodeError:
            self.losses["record with characters that no text has"] += 1
            return
        if not record.curie or "\0" in record.curie:
            self.losses["concept without a usable id"] += 1
            return
        place = number.to_bytes(6, "big") + source.to_bytes(2, "big")
        self.spill.add(b"%b\0%b%b" % (record.curie.encode(), place, content))


def gather(
    sources: Sequence[tuple[str, str | None, Records]],
    folder: Path,
    *,
    memory: int,
    watch: Callable[[str, int], None],
) -> Gathered:
    """Reads all sources.

    Args:
        sources: name, type of concepts without one, and records of each; no type for one that only
            adds names.
        folder: for what does not fit into memory.
        memory: bytes, about.
        watch: function that is called with the name of a source and the number of records read of
            it, now and then.

    Raises:
        InputError: a concept with names has no type.
    """
    gathered = Gathered(spill=SortedSpill(folder, memory=memory))
    number = 0
    for source, (name, kind, records) in enumerate(sources):
        counts = Counter[str](records=0, names=0)
        gathered.read.append(counts)
        for record in records():
            number += 1
            counts["records"] += 1
            counts["names"] += len(record.names)
            if counts["records"] % _EVERY == 0:
                watch(name, counts["records"])
            if not record.type and kind is not None:
                record = _give_type(record, kind, name)
            gathered.add(record, number, source)
        watch(name, counts["records"])
    return gathered


def _give_type(record: ConceptRecord, kind: str, source: str) -> ConceptRecord:
    if kind:
        return msgspec.structs.replace(record, type=kind)
    if record.names:
        raise InputError(
            f'the source {source} gives no type to {record.curie}; add type = "..." to its table',
            key=source,
        )
    return record


def merge(gathered: Gathered, whole: Collection[int] = ()) -> Iterator[Merged]:
    """Yields the concepts in the order of their CURIEs.

    Those without a name are left out and counted, but for those that another one replaced and those
    that are the same as a concept with a name: they are its identifiers in other vocabularies.

    Args:
        gathered: all records.
        whole: numbers of sources of which no concept is left out.
    """
    same = _match_named(gathered.spill)
    for curie, rows in _group_by_concept(gathered.spill.batches()):
        concept = _merge([_decode_row(row) for row in rows])
        if not concept.type and (concept.names or curie in same):
            gathered.losses["concept that sources only add to"] += 1
        elif (
            concept.names
            or concept.replaced_by
            or curie in same
            or not {*concept.sources}.isdisjoint(whole)
        ):
            yield concept
        else:
            gathered.losses["concept without a name"] += 1


def _group_by_concept(batches: Iterable[list[bytes]]) -> Iterator[tuple[bytes, list[bytes]]]:
    """Yields the CURIE of each concept, and its rows."""
    for curie, rows in groupby(
        chain.from_iterable(batches), key=lambda row: row[: row.index(b"\0")]
    ):
        yield curie, list(rows)


def _decode_row(row: bytes) -> tuple[int, ConceptRecord]:
    """Returns the number of the source of a row, and its record."""
    end = row.index(b"\0") + 7
    return int.from_bytes(row[end : end + 2], "big"), _DECODER.decode(memoryview(row)[end + 2 :])


def _match_named(spill: SortedSpill) -> set[bytes]:
    """Returns the concepts that have a name, or match one with a name, in one step or several.

    Only concepts with such matches are held in memory.
    """
    neighbours: defaultdict[bytes, list[bytes]] = defaultdict(list)
    named: list[bytes] = []
    for curie, rows in _group_by_concept(spill.batches(again=True)):
        if not any(predicate in row for row in rows for predicate in _SAME):
            continue
        records = [_decode_row(row)[1] for row in rows]
        for other in _matching_concepts(records):
            neighbours[curie].append(other)
            neighbours[other].append(curie)
        if any(record.names for record in records):
            named.append(curie)
    return _reach(named, neighbours)


def _matching_concepts(records: Sequence[ConceptRecord]) -> Iterator[bytes]:
    references = chain.from_iterable(record.references for record in records)
    return (cross.curie.encode() for cross in references if cross.predicate in SAME)


def _reach(starts: Iterable[bytes], neighbours: Mapping[bytes, list[bytes]]) -> set[bytes]:
    reached = set(starts)
    waiting = [*reached]
    while waiting:
        new = {*neighbours.get(waiting.pop(), ())} - reached
        reached |= new
        waiting += new
    return reached


def _merge(statements: Sequence[tuple[int, ConceptRecord]]) -> Merged:
    records = [record for _, record in statements]
    naming = [source for source, record in statements if record.names]
    first = ("type", "taxon", "rank", "definition", "label")  # that is not empty
    fields: dict[str, Any] = {
        name: next(filter(None, map(attrgetter(name), records)), "") for name in first
    }
    for name in ("parents", "replaced_by", "references"):
        fields[name] = tuple(dict.fromkeys(chain.from_iterable(map(attrgetter(name), records))))
    return Merged(
        curie=records[0].curie,
        names=_names(statements),
        sources=tuple(dict.fromkeys(naming or (source for source, _ in statements))),
        obsolete=any(record.obsolete for record in records),
        **fields,
    )


def _names(statements: Sequence[tuple[int, ConceptRecord]]) -> tuple[MergedName, ...]:
    """Returns each distinct name once per language, with its strongest kind; only the first
    label stays a label.
    """
    kinds: dict[tuple[str, str], NameKind] = {}
    sources: dict[tuple[str, str], dict[int, None]] = {}
    labels: dict[str, str] = {}
    for source, record in statements:
        for name in record.names:
            kind: NameKind = name.kind
            if kind == "label" and labels.setdefault(name.language, name.surface) != name.surface:
                kind = "exact"
            key = (name.surface, name.language)
            before = kinds.get(key)
            if before is None or _RANK[kind] < _RANK[before]:
                kinds[key] = kind
            sources.setdefault(key, {})[source] = None
    return tuple(
        MergedName(surface, kind, language, tuple(sources[surface, language]))
        for (surface, language), kind in kinds.items()
    )


class Numbers(Generic[_T]):
    """Numbers distinct values in the order in which they are added."""

    def __init__(self, what: str, *, most: int, first: Iterable[_T] = ()) -> None:
        """Starts with some values.

        Args:
            what: values of this kind are counted in an error.
            most: of them that a pack can have.
            first: values that have the first numbers.
        """
        self._what, self._most = what, most
        self._numbers: dict[_T, int] = {value: number for number, value in enumerate(first)}

    def of(self, value: _T) -> int:
        """Returns the number of a value.

        Raises:
            InputError: too many distinct values.
        """
        number = self._numbers.setdefault(value, len(self._numbers))
        if number >= self._most:
            raise InputError(
                f"a pack can have {self._most:,} {self._what}; divide its sources into two packs"
            )
        return number

    def values(self) -> tuple[_T, ...]:
        """Returns all values by number."""
        return tuple(self._numbers)


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
            name: ColumnWriter(folder / name)
            for name in layout.CONCEPT_COLUMNS
            if name != layout.LABEL
        }
        self._curies, self._facts = (
            StringsWriter(folder, layout.CURIES),
            StringsWriter(folder, layout.FACTS),
        )
        self._parents, self._children = (
            StringsWriter(work, "parents"),
            ColumnWriter(work / "children.u4"),
        )

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
        for parent in dict.fromkeys(concept.parents):
            if parent != concept.curie:
                self._parents.add(parent.encode())
                self._children.add(row)
        return row

    def close(self, counts: Counter[str]) -> int:
        """Ends the files; returns the number of concepts.

        Args:
            counts: gets the numbers of parents, and of those that the pack does not have.
        """
        for column in (*self._columns.values(), self._children):
            column.close()
        for strings in (self._curies, self._facts, self._parents):
            strings.close()
        taxa = StringsWriter(self._folder, layout.TAXA)
        taxa.extend([taxon.encode() for taxon in self._taxa.values()])
        taxa.close()
        count = self._curies.count
        lookup = Lookup.write(self._folder, layout.CURIES)
        children, parents = _edges(
            lookup, Strings.open(self._work, "parents"), map_array(self._work / "children.u4")
        )
        counts["parents"] = len(parents)
        counts["parents that are no concept of the pack"] = self._parents.count - len(parents)
        for places, owners, values in (
            (layout.PARENTS, children, parents),
            (layout.CHILDREN, parents, children),
        ):
            starts, order = rows_by_owner(owners, count)
            write_array(self._folder / places[0], starts)
            write_array(self._folder / places[1], values[order])
        return count


def _facts(concept: Merged) -> bytes:
    """Returns the rarely used fields of a concept as bytes; empty if there are none."""
    references: dict[str, tuple[str, ...]] = {}
    for reference in concept.references:
        if reference.curie not in references.get(reference.predicate, ()):
            references[reference.predicate] = (
                *references.get(reference.predicate, ()),
                reference.curie,
            )
    facts = layout.ConceptFacts(
        concept.definition, tuple(dict.fromkeys(concept.replaced_by)), references
    )
    return msgspec.msgpack.encode(facts) if any(msgspec.structs.astuple(facts)) else b""


def _edges(lookup: Lookup, parents: Strings, children: Array) -> tuple[Ints, Ints]:
    """Returns child and parent of each edge between concepts of the pack, sorted by child and
    parent.
    """
    edges_by_chunk = [int_array([])]
    for rows in row_chunks(len(parents)):
        above = lookup.find(parents.take(rows))
        present = above >= 0
        edges_by_chunk.append(join_pairs(children[rows[present]].astype(np.int64), above[present]))
    return split_pairs(np.sort(np.concatenate(edges_by_chunk)))
