"""Concepts of a pack that are equal in several vocabularies, by the cross-references of the sources."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import numpy as np

from fascicle.core.arrays import Bools, Ints, different
from fascicle.terms.pack import layout
from fascicle.terms.pack.arrays import Lists, mapped, write_array
from fascicle.terms.pack.pack import Pack
from fascicle.terms.terms import NAME_KINDS

STARTS: Final = "equal.starts.u4"
ROWS: Final = "equal.rows.u4"
EXACT: Final = "equal.exact.u1"
FILES: Final = (STARTS, ROWS, EXACT)
ITSELF, EXACTLY, REFERRED, TWICE, ABOVE, NAMESAKE = range(6)
_LABEL: Final = NAME_KINDS.index("label")
_CHUNK: Final = 1 << 14  # concepts
_EXACT: Final = frozenset({"skos:exactMatch", "owl:equivalentClass", "semapv:crossSpeciesExactMatch"})
_OTHER: Final = frozenset({"oboInOwl:hasDbXref"})  # says that they belong together, and mostly that they are the same


class Equivalent(NamedTuple):
    """Concepts that were reached from others by references.

    Attributes:
        places: number of the concept that was given, ``[n]``.
        rows: of the concepts, ``[n]``; each concept is equivalent to itself too.
        distance: `ITSELF`, `EXACTLY` by an exact match, `REFERRED` by another reference, `TWICE` by two references,
            `ABOVE` by a parent or a reference of one, `NAMESAKE` by the same label in another species, ``[n]``.
    """

    places: Ints
    rows: Ints
    distance: Ints


_NONE: Final = np.empty(0, dtype=np.int64)
NOTHING: Final = Equivalent(_NONE, _NONE, _NONE)


def write_equivalents(folder: Path, pack: Pack) -> None:
    """Writes which concepts of one type refer to each other, in either direction."""
    edges = [(a, b, exact) for one, other, exact in _edges(pack) for a, b in ((one, other), (other, one))]
    table = np.array(sorted(set(edges)), dtype=np.int64).reshape(-1, 3)
    last = np.ones(len(table), dtype=np.bool_)  # of two references between the same, the exact one is the last
    last[:-1] = (table[1:, :2] != table[:-1, :2]).any(axis=1)
    table = table[last]
    counts = np.bincount(table[:, 0], minlength=len(pack))
    write_array(folder / STARTS, np.concatenate([[0], np.cumsum(counts)]))
    write_array(folder / ROWS, table[:, 1])
    write_array(folder / EXACT, table[:, 2])


def _edges(pack: Pack) -> Iterator[tuple[int, int, bool]]:
    for start in range(0, len(pack), _CHUNK):
        asked = list(_references(pack, range(start, min(start + _CHUNK, len(pack)))))
        found = pack.concept_rows([curie for _, curie, _ in asked])
        for (row, _, exact), other in zip(asked, found.tolist(), strict=True):
            if other >= 0 and other != row and pack.type_rows[row] == pack.type_rows[other]:
                yield row, other, exact


def _references(pack: Pack, rows: range) -> Iterator[tuple[int, str, bool]]:
    decoder = msgspec.msgpack.Decoder(layout.Facts)
    for row in rows:
        raw = pack.facts.raw(row)
        if not len(raw):
            continue
        for predicate, curies in decoder.decode(raw).references.items():
            if predicate in _EXACT or predicate in _OTHER:
                yield from ((row, curie, predicate in _EXACT) for curie in curies)


class Equivalents:
    """Cross-references between equivalent concepts, open for reading."""

    def __init__(self, folder: Path, parents: Lists) -> None:
        """Maps the files.

        Args:
            folder: that `write_equivalents` wrote into.
            parents: of each concept of the pack.
        """
        starts, self._exact = mapped(folder / STARTS), mapped(folder / EXACT)
        self._rows, self._parents = Lists(starts, mapped(folder / ROWS)), parents
        self._edges = Lists(starts, np.arange(len(self._exact)))

    def fits(self, concepts: int) -> bool:
        """True if the files may be those of a pack with so many concepts."""
        rows = self._rows.values
        return self._rows.fits(concepts) and len(self._exact) == len(rows) and int(rows.max(initial=0)) < concepts

    def of(self, rows: Ints) -> Equivalent:
        """Returns the equivalents of some concepts that are one reference away."""
        places, others = self._rows.take(rows)
        _, edges = self._edges.take(rows)
        itself = np.arange(len(rows))
        found = Equivalent(
            np.concatenate([itself, places]),
            np.concatenate([rows, others]),
            np.concatenate([np.full(len(rows), ITSELF), np.where(self._exact[edges] != 0, EXACTLY, REFERRED)]),
        )
        return ordered(found)

    def within(self, rows: Ints, wanted: Bools) -> Equivalent:
        """Returns equivalents in some vocabularies: one reference away, else two, else those of a parent.

        Args:
            rows: of concepts.
            wanted: whether each concept of the pack is of one of the vocabularies.
        """
        near = _wanted(self.of(rows), wanted)
        return ordered(both(near, self._farther(rows, wanted, near)))

    def _farther(self, rows: Ints, wanted: Bools, near: Equivalent) -> Equivalent:
        left = np.setdiff1d(np.arange(len(rows)), near.places)
        if not len(left):
            return NOTHING
        first = self.of(rows[left])
        twice = _wanted(self._onward(left[first.places], first.rows, TWICE), wanted)
        left = np.setdiff1d(left, twice.places)
        places, parents = self._parents.take(rows[left])
        return both(twice, _wanted(self._onward(left[places], parents, ABOVE), wanted))

    def _onward(self, places: Ints, rows: Ints, distance: int) -> Equivalent:
        """Returns the concepts one reference away from those reached, with the given distance."""
        found = self.of(rows)
        return _distinct(places[found.places], found.rows, distance)


def both(first: Equivalent, second: Equivalent) -> Equivalent:
    """Concatenates two results."""
    return Equivalent(*(np.concatenate(pair) for pair in zip(first, second, strict=True)))


def ordered(found: Equivalent) -> Equivalent:
    """Sorts by place and distance."""
    order = np.argsort((found.places << 3 | found.distance) << 32 | found.rows)
    return Equivalent(*(one[order] for one in found))


def _distinct(places: Ints, rows: Ints, distance: int) -> Equivalent:
    """Returns each row of a place once, in order."""
    pairs = different(places << 32 | rows)
    return Equivalent(pairs >> 32, pairs & 0xFFFFFFFF, np.full(len(pairs), distance))


def _wanted(found: Equivalent, wanted: Bools) -> Equivalent:
    kept = wanted[found.rows]
    return Equivalent(*(one[kept] for one in found))


class Namesakes:
    """Concepts of several species with one label; orthologous genes usually share their symbol."""

    def __init__(self, pack: Pack) -> None:
        """Sets the open pack."""
        self._pack, self._names = pack, pack.active
        self._types = np.flatnonzero(np.bincount(pack.type_rows[pack.taxon_rows > 0]))

    def of(self, rows: Ints) -> Equivalent:
        """Returns the namesakes of concepts, without themselves; of concepts of a type without species none."""
        asked = np.flatnonzero(np.isin(self._pack.type_rows[rows], self._types))
        if not len(asked):
            return NOTHING
        places, terms = self._names.of_concept.take(rows[asked])
        labels = self._names.kind[terms] == _LABEL
        places, terms = asked[places[labels]], terms[labels]
        keys = np.searchsorted(self._names.starts, terms, side="right") - 1
        owners, others = self._names.of_key_rows(keys)
        labels = self._names.kind[others] == _LABEL
        places, found = places[owners[labels]], self._names.concept[others[labels]].astype(np.int64)
        kept = (found != rows[places]) & (self._pack.type_rows[found] == self._pack.type_rows[rows[places]])
        return _distinct(places[kept], found[kept], NAMESAKE)
