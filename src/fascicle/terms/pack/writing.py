"""Writer of the names of a pack, in the order of their keys."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints, unique_values
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
from fascicle.terms.terms import NAME_KINDS

# bytes that a row takes beside its content: the object, its place in a list, and rounding
_OVERHEAD: Final = 72
_LEAST_BLOCK: Final = 1 << 16
_BATCH: Final = 1 << 14  # rows


class SortedSpill:
    """External sort of rows of bytes; rows that do not fit into memory are kept in a temporary
    folder.

    Rows that are equal come back as often as they were added.
    """

    def __init__(self, folder: Path, *, memory: int) -> None:
        """Starts without rows.

        Args:
            folder: for the runs; it is made when it is needed, and removed when all rows were given
                back.
            memory: bytes for rows, about.
        """
        self._folder, self._memory = folder, memory
        self._rows: list[bytes] = []
        self._size = 0
        self._runs: list[Path] = []

    def add(self, row: bytes) -> None:
        """Adds a row."""
        self._rows.append(row)
        self._size += len(row) + _OVERHEAD
        if self._size > self._memory:
            self._spill()

    def batches(self, *, again: bool = False) -> Iterator[list[bytes]]:
        """Yields all rows in order, some thousand at a time; to be called after the last row.

        Args:
            again: whether they will be read once more; the last time frees memory and disk.
        """
        if not self._runs:
            rows = self._rows
            rows.sort()
            self._rows = rows if again else []
            for start in range(0, len(rows), _BATCH):
                yield rows[start : start + _BATCH]
            return
        if self._rows:
            self._spill()
        block = max(_LEAST_BLOCK, self._memory // (3 * len(self._runs)))
        yield from _merged([_blocks(run, block) for run in self._runs])
        if not again:
            for run in self._runs:
                run.unlink()
            self._folder.rmdir()

    def _spill(self) -> None:
        self._folder.mkdir(exist_ok=True)
        path = self._folder / f"{len(self._runs)}.run"
        self._rows.sort()
        with path.open("wb") as stream:
            for start in range(0, len(self._rows), _BATCH):
                rows = self._rows[start : start + _BATCH]
                lengths = np.fromiter(map(len, rows), dtype="<u4", count=len(rows))
                stream.write(np.array([len(rows), int(lengths.sum())], dtype="<u8").tobytes())
                stream.write(lengths.tobytes())
                stream.write(b"".join(rows))
        self._runs.append(path)
        self._rows, self._size = [], 0


def _blocks(path: Path, least: int) -> Iterator[list[bytes]]:
    """Yields the rows of a run in pieces of at least so many bytes; no file stays open, for
    there may be many runs.
    """
    place, end = 0, path.stat().st_size
    while place < end:
        rows: list[bytes] = []
        size = 0
        with path.open("rb") as stream:
            stream.seek(place)
            while place < end and size < least:
                count, length = np.frombuffer(stream.read(16), dtype="<u8").tolist()
                ends = np.cumsum(
                    np.frombuffer(stream.read(4 * count), dtype="<u4"), dtype=np.int64
                ).tolist()
                content = stream.read(length)
                rows += [content[a:b] for a, b in zip([0, *ends], ends, strict=False)]
                place, size = stream.tell(), size + length + _OVERHEAD * count
        yield rows


def _merged(runs: list[Iterator[list[bytes]]]) -> Iterator[list[bytes]]:
    """Merges by pieces: of each run what is not above the least last row in memory; sorting such
    a piece is a merge.
    """
    streams = [(rows, run) for run in runs if (rows := next(run, None))]
    while streams:
        pivot = min(rows[-1] for rows, _ in streams)
        piece: list[bytes] = []
        remaining = []
        for rows, run in streams:
            cut = bisect_right(rows, pivot)
            piece += rows[:cut]
            rest = rows[cut:] if cut < len(rows) else next(run, None)
            if rest:
                remaining.append((rest, run))
        streams = remaining
        piece.sort()
        yield piece


# Numbers of a name on its way; big-endian, so that rows are sorted by concept and language behind
# key and surface.
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
_SHOWN_LABEL: Final = 128  # a flag of names on their way: the label that is shown for the concept
_LABEL: Final = NAME_KINDS.index("label")
_WEIGHTS: Final = tuple(WEIGHTS[kind] for kind in NAME_KINDS)
_ANY_CASE: Final = -1
OnProgress = Callable[[str, int], None]


def encode_name(
    key: str, surface: str, concept: int, numbers: tuple[int, int, int, int, int], *, is_label: bool
) -> bytes:
    """Returns a name of a concept as a row to be sorted, for `NamesWriter`.

    Args:
        key: of the name, without NUL characters.
        surface: the name, without them too.
        concept: number of the concept.
        numbers: of language, kind, set of sources, flags and rule.
        is_label: whether it is the label of its concept.
    """
    language, kind, several, flags, rule = numbers
    if is_label:
        flags |= _SHOWN_LABEL
    tail = (
        (concept << 72) | (language << 64) | (kind << 56) | (several << 40) | (flags << 32) | rule
    )
    return b"%b\0%b\0%b" % (key.encode(), surface.encode(), tail.to_bytes(13, "big"))


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
            spill: rows that `encode_name` made.
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
        keys, surfaces, tails = zip(*[row.split(b"\0", 2) for row in rows], strict=True)
        numbers = np.frombuffer(b"".join(tails), dtype=_TAIL)
        first_of_key, first_of_surface = _firsts(keys), _firsts(surfaces)
        first_of_surface |= first_of_key
        places = np.flatnonzero(first_of_surface).tolist()
        cases, symbols, probabilities = zip(
            *[judge_name(surfaces[place].decode()) for place in places], strict=True
        )
        of_surface = np.cumsum(first_of_surface) - 1
        surface_rows = of_surface + self._surfaces.count
        styles = (numbers["flags"] & layout.STYLE) // layout.STYLE_UNIT
        symbolic = styles == NameStyle.symbols
        styles[symbolic & ~_labels(of_surface, symbolic & (numbers["kind"] == _LABEL))] = (
            NameStyle.aliases
        )
        styles[(numbers["flags"] & layout.PREFERRED) > 0] = NameStyle.chosen
        if not self._careful:
            styles[numbers["kind"] == _LABEL] = NameStyle.own
        judged_cases = np.where(
            symbolic, np.array(symbols)[of_surface], np.array(cases)[of_surface]
        )
        flags = _with_cases(numbers["flags"], judged_cases.astype(np.uint8))
        own_case = _own_case([cased_letters(surfaces[place].decode()) for place in places])[
            of_surface
        ]
        own_case[(flags & layout.CASE) < CasePolicy.exact] = _ANY_CASE
        weights = np.array(_WEIGHTS)[numbers["kind"]] * np.where(
            (flags & layout.PREFERRED) > 0, PREFERRED, 1.0
        )
        shares = _shares(
            np.cumsum(first_of_key) - 1, numbers["concept"].astype(np.int64), weights, own_case
        )
        self._keys.extend([keys[place] for place in np.flatnonzero(first_of_key).tolist()])
        self._surfaces.extend([surfaces[place] for place in places])
        columns = self._columns
        columns[layout.STARTS].extend(np.flatnonzero(first_of_key) + self.terms)
        columns[layout.CONCEPT].extend(numbers["concept"])
        columns[layout.SURFACE].extend(surface_rows)
        columns[layout.NAME_KIND].extend(numbers["kind"])
        columns[layout.LANGUAGE].extend(numbers["language"])
        columns[layout.FLAGS].extend(flags & ~np.uint8(_SHOWN_LABEL | layout.STYLE))
        columns[layout.SET].extend(numbers["set"])
        columns[layout.PRIOR].extend(np.array(probabilities)[of_surface, styles] * shares)
        ruled = np.flatnonzero(numbers["rule"])
        columns[layout.RULED[0]].extend(ruled + self.terms)
        columns[layout.RULED[1]].extend(numbers["rule"][ruled])
        labels = np.flatnonzero(flags & _SHOWN_LABEL)
        silent = layout.LIMIT if self._table == layout.SILENT else 0
        self._labels[numbers["concept"][labels]] = surface_rows[labels] | silent
        self.terms += len(rows)


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
    return np.array(
        [numbers.setdefault(spelling, len(numbers)) for spelling in cases], dtype=np.int64
    )


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
    shares_by_row = _among(keys, concepts, weights)
    cased = np.flatnonzero(own_case != _ANY_CASE)
    pairs = np.unique(np.stack([keys[cased], own_case[cased]]), axis=1)
    for key in unique_values(pairs[0][1:][pairs[0][1:] == pairs[0][:-1]]).tolist():
        start, end = np.searchsorted(keys, [key, key + 1])
        own = own_case[start:end]
        for case in unique_values(own[own != _ANY_CASE]).tolist():
            rows = start + np.flatnonzero((own == case) | (own == _ANY_CASE))
            shares = _among(np.zeros(len(rows), dtype=np.int64), concepts[rows], weights[rows])
            same = own_case[rows] == case
            shares_by_row[rows[same]] = shares[same]
    return shares_by_row


def _among(keys: Ints, concepts: Ints, weights: Floats) -> Floats:
    """Returns the weight of the strongest name of each concept, of all of its key."""
    distinct, owners = np.unique((keys << 32) | concepts, return_inverse=True)
    strongest = np.zeros(len(distinct))
    np.maximum.at(strongest, owners, weights)
    totals = np.bincount(distinct >> 32, weights=strongest)
    shares: Floats = strongest[owners] / totals[keys]
    return shares
