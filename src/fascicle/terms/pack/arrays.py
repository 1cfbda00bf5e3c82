"""Arrays and sorted strings of a pack, and the look-up of many strings at once by their hashes."""

from __future__ import annotations

import mmap
import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Bools, Ints, lengths_of
from fascicle.errors import InputError

Array = NDArray[Any]
_BUFFER: Final = 1 << 16  # values that are written together
_MOST: Final = (1 << 32) - 1  # what an offset can say
BYTES: Final = ".bytes.u1"
OFFSETS: Final = ".offsets.u4"
HASHES: Final = ".hashes.u4"
ROWS: Final = ".rows.u4"
Hasher = Callable[[Sequence[bytes]], Array]


class ColumnWriter:
    """Writes one array piece by piece; the end of the file name says what the values are, such as
    ``.u4``.

    The file is open only while a piece is written, so that a build which fails leaves none open.
    """

    def __init__(self, path: Path) -> None:
        """Creates the file."""
        self._path, self._dtype = path, file_dtype(path.name)
        self._values: list[int] = []
        path.write_bytes(b"")

    def add(self, value: int) -> None:
        """Adds a value."""
        self._values.append(value)
        if len(self._values) >= _BUFFER:
            self.close()

    def extend(self, values: Array) -> None:
        """Adds several, behind those that were added one by one."""
        if self._values:
            self.close()
        with self._path.open("ab") as stream:
            stream.write(values.astype(self._dtype).tobytes())

    def close(self) -> None:
        """Writes what is left."""
        values, self._values = self._values, []
        if values:
            self.extend(np.array(values, dtype=self._dtype))


class StringsWriter:
    """Writes concatenated strings, and the offset of each.

    Attributes:
        count: of the strings so far.
    """

    def __init__(self, folder: Path, name: str) -> None:
        """Creates the files."""
        self._name, self._path = name, folder / f"{name}{BYTES}"
        self._offsets = ColumnWriter(folder / f"{name}{OFFSETS}")
        self._offsets.add(0)
        self._waiting: list[bytes] = []
        self._end = 0
        self.count = 0
        self._path.write_bytes(b"")

    def add(self, content: bytes) -> int:
        """Adds one, and returns its number."""
        self.extend([content])
        return self.count - 1

    def extend(self, contents: Sequence[bytes]) -> None:
        """Adds several."""
        self._waiting += contents
        self.count += len(contents)
        if len(self._waiting) >= _BUFFER:
            self.close()

    def close(self) -> None:
        """Writes what is left.

        Raises:
            InputError: there are more bytes than a pack can hold.
        """
        waiting, self._waiting = self._waiting, []
        ends = np.cumsum(lengths_of(waiting)) + self._end
        if len(ends):
            self._end = int(ends[-1])
        if self._end > _MOST:
            raise InputError(
                f"the {self._name} of a pack have more than 4 GiB; divide its sources into two "
                "packs"
            )
        with self._path.open("ab") as stream:
            stream.write(b"".join(waiting))
        self._offsets.extend(ends)


def file_dtype(name: str) -> np.dtype[Any]:
    """Returns the data type of the values of a file, by the suffix of its name."""
    return np.dtype(f"<{name.rpartition('.')[2]}")


def write_array(path: Path, values: Array) -> None:
    """Writes an array as the end of the file name says."""
    path.write_bytes(np.ascontiguousarray(values, dtype=file_dtype(path.name)).tobytes())


def map_array(path: Path) -> Array:
    """Maps an array of a file into memory; pages are read when they are needed, and shared by
    all processes.
    """
    dtype = file_dtype(path.name)
    with path.open("rb") as stream:
        stream.seek(0, 2)
        if not stream.tell():
            return np.empty(0, dtype)
        return np.frombuffer(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ), dtype)


def shortest_decimals(values: Array) -> list[float]:
    """Returns four-byte floats in their shortest decimal form: 0.95, and not 0.949999988079071."""
    return list(map(float, values.astype(str).tolist()))


class Strings:
    """Strings of a pack, by their numbers.

    Attributes:
        content: the bytes of all of them.
        offsets: where each begins, and where the last one ends.
    """

    def __init__(self, content: Array, offsets: Array) -> None:
        """Sets the arrays."""
        self.content, self.offsets = content, offsets
        self._view = memoryview(content.data) if len(content) else memoryview(b"")

    @classmethod
    def open(cls, folder: Path, name: str) -> Self:
        """Maps the files that `StringsWriter` wrote."""
        return cls(map_array(folder / f"{name}{BYTES}"), map_array(folder / f"{name}{OFFSETS}"))

    def __len__(self) -> int:
        """Returns the number of strings."""
        return max(len(self.offsets) - 1, 0)

    def __getitem__(self, row: int) -> str:
        """Returns one string."""
        return str(self.raw(row), "utf-8")

    def raw(self, row: int) -> memoryview:
        """Returns the bytes of one string."""
        return self._view[int(self.offsets[row]) : int(self.offsets[row + 1])]

    def has_match(self, pattern: re.Pattern[bytes]) -> bool:
        """True if a pattern matches somewhere in the bytes."""
        return pattern.search(self._view) is not None

    def take(self, rows: Ints | Sequence[int]) -> list[str]:
        """Returns several strings."""
        return [str(raw, "utf-8") for raw in self.raws(rows)]

    def raws(self, rows: Ints | Sequence[int]) -> Iterator[memoryview]:
        """Yields the bytes of several strings, one by one: many views at once would slow the
        garbage collector.
        """
        rows = np.asarray(rows, dtype=np.int64)
        starts, ends = self.offsets[rows].tolist(), self.offsets[rows + 1].tolist()
        view = self._view
        return (view[a:b] for a, b in zip(starts, ends, strict=True))

    def equal(self, rows: Ints, queries: Sequence[bytes]) -> Bools:
        """Returns whether the string of each row equals the given string, byte by byte."""
        starts = self.offsets[rows].astype(np.int64)
        lengths = self.offsets[rows + 1].astype(np.int64) - starts
        equal: Bools = lengths == lengths_of(queries)
        candidates = np.flatnonzero(equal)
        lengths = lengths[candidates]
        if not lengths.sum():
            return equal
        content = np.frombuffer(b"".join(queries[i] for i in candidates.tolist()), dtype=np.uint8)
        before = np.cumsum(lengths) - lengths
        places = np.repeat(starts[candidates] - before, lengths) + np.arange(len(content))
        wrong = np.flatnonzero(self.content[places] != content)
        equal[candidates[np.searchsorted(before + lengths, wrong, side="right")]] = False
        return equal


class Lists:
    """Lists of numbers, by the number of the list.

    Attributes:
        starts: where each begins among the values, and where the last one ends.
        values: of all lists.
    """

    def __init__(self, starts: Array, values: Array) -> None:
        """Sets the arrays."""
        self.starts, self.values = starts, values

    def __getitem__(self, row: int) -> Array:
        """Returns one list."""
        return self.values[int(self.starts[row]) : int(self.starts[row + 1])]

    def fits(self, count: int) -> bool:
        """True if there are so many lists, each of them within the values; always true for
        undamaged files.
        """
        starts = self.starts
        return (
            len(starts) == count + 1
            and (int(starts[0]), int(starts[-1])) == (0, len(self.values))
            and bool((starts[:-1] <= starts[1:]).all())
        )

    def take(self, rows: Ints) -> tuple[Ints, Ints]:
        """Returns several lists, concatenated.

        Returns:
            For each value the place in ``rows`` of the list that it is from, and the values.
        """
        starts = self.starts[rows].astype(np.int64)
        return expand_ranges(starts, self.starts[rows + 1].astype(np.int64), self.values)


def expand_ranges(starts: Ints, ends: Ints, values: Array | None = None) -> tuple[Ints, Ints]:
    """Returns ranges as one list: the number of the range of each element, and the element (of
    ``values``, if given).

    Raises:
        IndexError: a range leads out of the values; nothing of its size is then allocated.
    """
    if values is not None and ends.max(initial=0) > len(values):
        raise IndexError("a range leads out of the values")
    lengths = ends - starts
    owners = np.repeat(np.arange(len(starts)), lengths)
    places = np.arange(len(owners)) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    return owners, places if values is None else values[places].astype(np.int64)


def row_chunks(count: int, size: int = 1 << 14) -> Iterator[Ints]:
    """Yields the numbers of so many rows in their order, some thousand at a time."""
    for start in range(0, count, size):
        yield np.arange(start, min(start + size, count))


def rows_by_owner(owners: Array, count: int) -> tuple[Array, Array]:
    """Turns the owner of each row into the rows of each owner.

    Args:
        owners: number of the owner of each row.
        count: of owners.

    Returns:
        Starts and values of `Lists`; the rows of an owner are in order.
    """
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(owners, minlength=count), out=starts[1:])
    return starts, np.argsort(owners, kind="stable")


def string_hashes(strings: Sequence[bytes]) -> Array:
    """Returns a stable 32-bit hash of each string. Of 10 million strings some 23,000 share
    theirs with another.
    """
    return np.frombuffer(
        b"".join([blake2b(text, digest_size=4).digest() for text in strings]), dtype="<u4"
    )


class Lookup:
    """Rows of distinct strings. Two strings of one hash are told apart by comparing them.

    Attributes:
        strings: by row.
        hashes: sorted.
        rows: of the strings, in the order of the hashes.
    """

    def __init__(
        self, strings: Strings, hashes: Array, rows: Array, *, hasher: Hasher = string_hashes
    ) -> None:
        """Sets the arrays."""
        self.strings, self.hashes, self.rows = strings, hashes, rows
        self._hasher = hasher

    @classmethod
    def write(cls, folder: Path, name: str, *, hasher: Hasher = string_hashes) -> Self:
        """Creates the files for strings that `StringsWriter` wrote, and opens them."""
        strings = Strings.open(folder, name)
        hashes = np.empty(len(strings), dtype="<u4")
        for some in row_chunks(len(strings)):
            hashes[some] = hasher(list(map(bytes, strings.raws(some))))
        order = np.argsort(hashes, kind="stable").astype("<u4")
        write_array(folder / f"{name}{HASHES}", hashes[order])
        write_array(folder / f"{name}{ROWS}", order)
        return cls.open(folder, name, hasher=hasher)

    @classmethod
    def open(
        cls,
        folder: Path,
        name: str,
        *,
        strings: Strings | None = None,
        hasher: Hasher = string_hashes,
    ) -> Self:
        """Maps the files; the strings may lie elsewhere."""
        hashes, rows = map_array(folder / f"{name}{HASHES}"), map_array(folder / f"{name}{ROWS}")
        return cls(
            strings if strings is not None else Strings.open(folder, name),
            hashes,
            rows,
            hasher=hasher,
        )

    def find(self, queries: Sequence[str]) -> Ints:
        """Returns the row of each string; -1 where there is none."""
        encoded = [query.encode("utf-8", "surrogatepass") for query in queries]
        result = np.full(len(encoded), -1, dtype=np.int64)
        hashes = self._hasher(encoded)
        order = np.argsort(hashes)  # neighbours in the file are asked for one after the other
        places = np.empty(len(encoded), dtype=np.int64)
        places[order] = np.searchsorted(self.hashes, hashes[order])
        open_ = np.arange(len(encoded))
        while len(open_):
            open_ = open_[places[open_] < len(self.hashes)]
            open_ = open_[self.hashes[places[open_]] == hashes[open_]]
            rows = self.rows[places[open_]].astype(np.int64)
            equal = self.strings.equal(rows, [encoded[i] for i in open_.tolist()])
            result[open_[equal]] = rows[equal]
            open_ = open_[~equal]
            places[open_] += 1
        return result


class ConceptSets:
    """Sets of a pack. Each concept is in one set with one leading concept; most sets have one
    concept.

    Attributes:
        column: row of the leading concept of each; empty for a pack without sets.
    """

    def __init__(self, column: Array) -> None:
        """Sets the column of leading concepts."""
        self.column = column
        led = np.flatnonzero(column != np.arange(len(column), dtype=column.dtype))
        order = np.argsort(column[led], kind="stable")
        self._rows = led[order]
        self._owners = column[self._rows].astype(np.int64)

    def __len__(self) -> int:
        """Returns the number of concepts that have another leading concept."""
        return len(self._rows)

    def of(self, rows: Ints) -> Ints:
        """Returns the leading concepts of some rows."""
        if not len(self._rows):
            return rows
        leads: Ints = self.column[rows].astype(np.int64)
        return leads

    def led(self, rows: Ints) -> tuple[Ints, Ints]:
        """Returns the other concepts of the sets that these lead: the index in ``rows`` of each,
        and the row.
        """
        starts, ends = (
            np.searchsorted(self._owners, rows, side=side) for side in ("left", "right")
        )
        return expand_ranges(starts, ends, self._rows)

    def members(self, row: int) -> list[int]:
        """Returns all concepts of the set of a concept, the leading one first."""
        lead = int(self.column[row]) if len(self._rows) else row
        first, last = self._owners.searchsorted((lead, lead + 1)).tolist()
        return [lead, *self._rows[first:last].tolist()]
