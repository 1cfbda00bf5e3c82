"""Writing the concepts of a pack, in the order of their CURIEs, and their hierarchy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec
import numpy as np

from fascicle.core.arrays import Ints
from fascicle.errors import InputError
from fascicle.knowledge.pack import layout
from fascicle.knowledge.pack.arrays import Array, ColumnWriter, Strings, StringsWriter, grouped, mapped, write_array
from fascicle.knowledge.pack.lookup import Lookup
from fascicle.knowledge.pack.merging import Merged

_CHUNK: Final = 1 << 16
T = TypeVar("T")


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
        if one.curie not in references.get(one.predicate, ()):
            references[one.predicate] = (*references.get(one.predicate, ()), one.curie)
    facts = layout.Facts(concept.definition, tuple(dict.fromkeys(concept.replaced_by)), references)
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
