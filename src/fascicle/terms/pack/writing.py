"""Writer of the names of a pack, in the order of their keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from struct import Struct
from typing import Final, NamedTuple

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints, int_array, unique_values
from fascicle.core.pairs import join_pairs, split_pairs
from fascicle.errors import InputError
from fascicle.terms.keys.characters import CasePolicy, cased_letters
from fascicle.terms.pack import layout
from fascicle.terms.pack.arrays import (
    Array,
    ColumnWriter,
    Lookup,
    StringsWriter,
    map_array,
    rows_by_owner,
    write_array,
)
from fascicle.terms.pack.priors import PREFERRED, WEIGHTS, NameStyle, judge_name
from fascicle.terms.pack.sorting import SortedSpill
from fascicle.terms.terms import NAME_KINDS

# What follows key and surface in a row on its way to `NamesWriter`. Big-endian, so that rows, which
# are sorted as bytes, are in the order of concepts and languages behind these.
_TAIL: Final = np.dtype(
    [
        ("concept", ">u4"),
        ("language", "u1"),
        ("kind", "u1"),
        ("set", ">u2"),
        ("flags", "u1"),
        ("rule", ">u4"),
    ]
)
_PACK_TAIL: Final = Struct(">IBBHBI").pack  # the same fields
_SHOWN_LABEL: Final = 128  # a flag of names on their way: the label that is shown for the concept
_LABEL: Final = NAME_KINDS.index("label")
_WEIGHTS: Final = tuple(WEIGHTS[kind] for kind in NAME_KINDS)
_ANY_CASE: Final = -1
OnProgress = Callable[[str, int], None]


class NameEntry(NamedTuple):
    """Name of a concept on its way to `NamesWriter`.

    Attributes:
        surface: the name, without NUL characters.
        concept: number of the concept.
        language: number of the language.
        kind: number in `NAME_KINDS`.
        set: number of the set of its sources.
        flags: of `layout`.
        rule: number of the text of the rules about it.
        is_label: whether it is the label of its concept.
    """

    surface: str
    concept: int
    language: int
    kind: int
    set: int
    flags: int
    rule: int
    is_label: bool

    def encode(self, key: str) -> bytes:
        """Returns a row to be sorted.

        Args:
            key: of the name, without NUL characters.
        """
        flags = self.flags | (_SHOWN_LABEL if self.is_label else 0)
        tail = _PACK_TAIL(self.concept, self.language, self.kind, self.set, flags, self.rule)
        return b"%b\0%b\0%b" % (key.encode(), self.surface.encode(), tail)


class NamesWriter:
    """Writes one of the two tables of names from sorted rows.

    Attributes:
        terms: how many are written.
    """

    def __init__(self, folder: Path, table: str, labels: Array, *, careful: bool) -> None:
        """Opens the files.

        Args:
            folder: of the pack.
            table: `layout.ACTIVE` or `layout.SILENT`.
            labels: gets the number of the surface that is the label of each concept.
            careful: whether a label may be too common or too short to be looked for.
        """
        self._folder, self._table, self._labels, self._careful = folder, table, labels, careful
        self._keys = StringsWriter(folder, layout.table_file(table, layout.KEYS))
        self._surfaces = StringsWriter(folder, layout.table_file(table, layout.SURFACES))
        self._columns = {
            name: ColumnWriter(folder / layout.table_file(table, name))
            for name in (layout.STARTS, *layout.COLUMNS, *layout.RULED)
        }
        self.terms = 0

    def write(self, spill: SortedSpill, on_progress: OnProgress) -> None:
        """Writes all names.

        Args:
            spill: rows of `NameEntry.encode`.
            on_progress: progress callback, called with the number of names written, now and then.
        """
        for rows in _by_whole_keys(spill):
            self._write(rows)
            on_progress(self._table, self.terms)
        self._columns[layout.STARTS].add(self.terms)
        for column in self._columns.values():
            column.close()
        self._keys.close()
        self._surfaces.close()

    def close(self, concepts: int) -> Lookup:
        """Adds the files that are derived from others: the look-up of keys, and the terms of
        each concept.
        """
        owners = map_array(self._folder / layout.table_file(self._table, layout.CONCEPT))
        for name, values in zip(layout.OF_CONCEPT, rows_by_owner(owners, concepts), strict=True):
            write_array(self._folder / layout.table_file(self._table, name), values)
        return Lookup.write(self._folder, layout.table_file(self._table, layout.KEYS))

    def _write(self, rows: list[bytes]) -> None:
        """Writes rows; rows with the same key are in the same call."""
        if self.terms + len(rows) >= layout.LIMIT:
            raise InputError(
                "a pack can have 2,147,483,647 names; divide its sources into two packs"
            )
        names = _SortedNames.of(rows)
        surfaces = [surface.decode() for surface in names.surfaces]
        cases, symbols, probabilities = (
            np.array(column) for column in zip(*map(judge_name, surfaces), strict=True)
        )
        policies = np.where(names.symbolic, symbols[names.of_surface], cases[names.of_surface])
        flags = _with_cases(names.numbers["flags"], policies.astype(np.uint8))
        styles = names.styles(careful=self._careful)
        priors = probabilities[names.of_surface, styles] * names.shares(surfaces, flags)
        self._extend(names, flags, priors)
        self.terms += len(rows)

    def _extend(self, names: _SortedNames, flags: Array, priors: Floats) -> None:
        """Adds names to the columns, and those that are shown to the labels of the concepts."""
        numbers = names.numbers
        surfaces = names.of_surface + self._surfaces.count
        ruled = np.flatnonzero(numbers["rule"])
        columns = {
            layout.STARTS: names.key_starts + self.terms,
            layout.CONCEPT: numbers["concept"],
            layout.SURFACE: surfaces,
            layout.NAME_KIND: numbers["kind"],
            layout.LANGUAGE: numbers["language"],
            layout.FLAGS: flags & ~np.uint8(_SHOWN_LABEL | layout.STYLE),
            layout.SET: numbers["set"],
            layout.PRIOR: priors,
            layout.RULED[0]: ruled + self.terms,
            layout.RULED[1]: numbers["rule"][ruled],
        }
        for name, values in columns.items():
            self._columns[name].extend(values)
        self._keys.extend(names.keys)
        self._surfaces.extend(names.surfaces)
        labels = np.flatnonzero(flags & _SHOWN_LABEL)
        silent = layout.LIMIT if self._table == layout.SILENT else 0
        self._labels[numbers["concept"][labels]] = surfaces[labels] | silent


@dataclass(frozen=True, kw_only=True)
class _SortedNames:
    """Rows of names, with all rows of each of their keys.

    Attributes:
        keys: distinct keys.
        surfaces: distinct surfaces of each key.
        numbers: those of each row, see `_TAIL`.
        key_starts: first row of each key.
        of_key: number of the key of each row.
        of_surface: number of the surface of each row.
    """

    keys: list[bytes]
    surfaces: list[bytes]
    numbers: Array
    key_starts: Ints
    of_key: Ints
    of_surface: Ints

    @classmethod
    def of(cls, rows: list[bytes]) -> _SortedNames:
        """Takes rows of `NameEntry.encode` apart."""
        keys, surfaces, tails = zip(*[row.split(b"\0", 2) for row in rows], strict=True)
        first_of_key = _firsts(keys)
        first_of_surface = first_of_key | _firsts(surfaces)
        key_starts = np.flatnonzero(first_of_key)
        return cls(
            keys=[keys[row] for row in key_starts.tolist()],
            surfaces=[surfaces[row] for row in np.flatnonzero(first_of_surface).tolist()],
            numbers=np.frombuffer(b"".join(tails), dtype=_TAIL),
            key_starts=key_starts,
            of_key=np.cumsum(first_of_key) - 1,
            of_surface=np.cumsum(first_of_surface) - 1,
        )

    @property
    def symbolic(self) -> Bools:
        """Whether each name is of a type whose names are symbols."""
        symbolic: Bools = self._type_styles == NameStyle.symbols
        return symbolic

    @property
    def _type_styles(self) -> Array:
        return (self.numbers["flags"] & layout.STYLE) // layout.STYLE_UNIT

    @property
    def _preferred(self) -> Bools:
        preferred: Bools = (self.numbers["flags"] & layout.PREFERRED) > 0
        return preferred

    def styles(self, *, careful: bool) -> Array:
        """Returns the `NameStyle` of each name."""
        styles, is_label = self._type_styles, self.numbers["kind"] == _LABEL
        symbolic = self.symbolic
        styles[symbolic & ~_labels(self.of_surface, symbolic & is_label)] = NameStyle.aliases
        styles[self._preferred] = NameStyle.chosen
        if not careful:
            styles[is_label] = NameStyle.own
        return styles

    def shares(self, surfaces: list[str], flags: Array) -> Floats:
        """Returns the share of the concept of each name among those of its key.

        Names for linking alone are compared where the type is known: they share among themselves,
        so that the genes of a name take nothing from the cell line.
        """
        own_case = _own_case([cased_letters(surface) for surface in surfaces])[self.of_surface]
        own_case[(flags & layout.CASE) < CasePolicy.exact] = _ANY_CASE
        weights = np.array(_WEIGHTS)[self.numbers["kind"]]
        weights *= np.where(self._preferred, PREFERRED, 1.0)
        keys, concepts = self.of_key, self.numbers["concept"].astype(np.int64)
        shares = _shares(keys, concepts, weights, own_case)
        off = np.flatnonzero(flags & layout.OFF)
        shares[off] = _shares(keys[off], concepts[off], weights[off], own_case[off])
        return shares


def _by_whole_keys(spill: SortedSpill) -> Iterator[list[bytes]]:
    """Yields the rows in pieces; no key is in two of them."""
    rows: list[bytes] = []
    for batch in spill.batches():
        rows += batch
        last = rows[-1][: rows[-1].index(b"\0") + 1]
        cut = len(rows) - 1
        while cut and rows[cut - 1].startswith(last):
            cut -= 1
        if cut:
            yield rows[:cut]
            del rows[:cut]
    if rows:
        yield rows


def _firsts(values: tuple[bytes, ...]) -> Bools:
    """Returns which values differ from the one before."""
    differs = np.ones(len(values), dtype=np.bool_)
    differs[1:] = [before != value for before, value in pairwise(values)]
    return differs


def _labels(surfaces: Ints, labels: Bools) -> Bools:
    """Returns whether the surface of each row is a label in any of the rows."""
    is_label = np.zeros(int(surfaces[-1]) + 1, dtype=np.bool_)
    is_label[surfaces[labels]] = True
    return is_label[surfaces]


def _with_cases(flags: Array, cases: Array) -> Array:
    """Returns flags with the case policy of the name where no rule set another."""
    open_ = (flags & layout.CASE) == layout.CASE
    return np.where(open_, (flags & ~np.uint8(layout.CASE)) | cases, flags)


def _own_case(cases: list[str]) -> Ints:
    """Returns a number for each spelling of a name, equal for equal ones."""
    numbers: dict[str, int] = {}
    return int_array([numbers.setdefault(spelling, len(numbers)) for spelling in cases])


def _shares(keys: Ints, concepts: Ints, weights: Floats, own_case: Ints) -> Floats:
    """Returns the share of the concept of each row among those of its key: the weight of its
    strongest name there.

    A name that counts as it is written has no share with one that is written otherwise: ``ACE`` in
    a text never means a gene that is only called ``Ace``.

    Args:
        keys: number of the key of each row, rising.
        concepts: of the rows.
        weights: of the rows.
        own_case: how the name of each row must be written, or `_ANY_CASE`.
    """
    shares = _share_among(keys, concepts, weights)
    cased = np.flatnonzero(own_case != _ANY_CASE)
    spellings = split_pairs(unique_values(join_pairs(keys[cased], own_case[cased])))[0]
    several = unique_values(spellings[1:][spellings[1:] == spellings[:-1]])
    for key in several.tolist():
        rows = slice(*np.searchsorted(keys, [key, key + 1]).tolist())
        shares[rows] = _shares_by_case(concepts[rows], weights[rows], own_case[rows])
    return shares


def _shares_by_case(concepts: Ints, weights: Floats, own_case: Ints) -> Floats:
    """Returns `_shares` of the rows of one key: each spelling competes with itself and with the
    names that count in any case, and these compete with all.
    """
    shares = _share_among(np.zeros_like(concepts), concepts, weights)
    for case in unique_values(own_case[own_case != _ANY_CASE]).tolist():
        same = own_case == case
        rivals = same | (own_case == _ANY_CASE)
        own = _share_among(np.zeros_like(concepts[rivals]), concepts[rivals], weights[rivals])
        shares[same] = own[same[rivals]]
    return shares


def _share_among(keys: Ints, concepts: Ints, weights: Floats) -> Floats:
    """Returns the weight of the strongest name of each concept, of all of its key."""
    pairs, owners = np.unique(join_pairs(keys, concepts), return_inverse=True)
    strongest = np.zeros(len(pairs))
    np.maximum.at(strongest, owners, weights)
    totals = np.bincount(split_pairs(pairs)[0], weights=strongest)
    shares: Floats = strongest[owners] / totals[keys]
    return shares
