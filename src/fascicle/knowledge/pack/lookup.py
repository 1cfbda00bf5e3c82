"""Finding many strings at once among the sorted strings of a pack, by their hashes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Final, Self

import numpy as np

from fascicle.core.arrays import Ints
from fascicle.knowledge.pack.arrays import Array, Strings, mapped, write_array

HASHES: Final = ".hashes.u4"
ROWS: Final = ".rows.u4"
_CHUNK: Final = 1 << 16
Hasher = Callable[[Sequence[bytes]], Array]


def hashes_of(strings: Sequence[bytes]) -> Array:
    """32 bits of each string, the same everywhere. Of 10 million strings some 23,000 share theirs with another."""
    return np.frombuffer(b"".join([blake2b(one, digest_size=4).digest() for one in strings]), dtype="<u4")


class Lookup:
    """Rows of distinct strings. Two strings of one hash are told apart by comparing them.

    Attributes:
        strings: by row.
        hashes: sorted.
        rows: of the strings, in the order of the hashes.
    """

    def __init__(self, strings: Strings, hashes: Array, rows: Array, *, hasher: Hasher = hashes_of) -> None:
        """Takes the arrays."""
        self.strings, self.hashes, self.rows = strings, hashes, rows
        self._hasher = hasher

    @classmethod
    def write(cls, folder: Path, name: str, *, hasher: Hasher = hashes_of) -> Self:
        """Makes the files for strings that `StringsWriter` wrote, and opens them."""
        strings = Strings.open(folder, name)
        hashes = np.empty(len(strings), dtype="<u4")
        for start in range(0, len(strings), _CHUNK):
            end = min(start + _CHUNK, len(strings))
            hashes[start:end] = hasher([bytes(strings.raw(row)) for row in range(start, end)])
        order = np.argsort(hashes, kind="stable").astype("<u4")
        write_array(folder / f"{name}{HASHES}", hashes[order])
        write_array(folder / f"{name}{ROWS}", order)
        return cls.open(folder, name, hasher=hasher)

    @classmethod
    def open(cls, folder: Path, name: str, *, strings: Strings | None = None, hasher: Hasher = hashes_of) -> Self:
        """Maps the files; the strings may lie elsewhere."""
        hashes, rows = mapped(folder / f"{name}{HASHES}"), mapped(folder / f"{name}{ROWS}")
        return cls(strings if strings is not None else Strings.open(folder, name), hashes, rows, hasher=hasher)

    def find(self, asked: Sequence[str]) -> Ints:
        """The row of each string; -1 where there is none."""
        encoded = [one.encode("utf-8", "surrogatepass") for one in asked]
        found = np.full(len(encoded), -1, dtype=np.int64)
        hashes = self._hasher(encoded)
        order = np.argsort(hashes)  # neighbours in the file are asked for one after the other
        places = np.empty(len(encoded), dtype=np.int64)
        places[order] = np.searchsorted(self.hashes, hashes[order])
        left = np.arange(len(encoded))
        while len(left):
            left = left[places[left] < len(self.hashes)]
            left = left[self.hashes[places[left]] == hashes[left]]
            rows = self.rows[places[left]].astype(np.int64)
            equal = self.strings.equal(rows, [encoded[i] for i in left.tolist()])
            found[left[equal]] = rows[equal]
            left = left[~equal]
            places[left] += 1
        return found
