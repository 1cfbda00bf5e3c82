"""Set of ids that saves memory: few ids are stored as text, many as hashes in tables."""

from __future__ import annotations

import struct
from array import array
from hashlib import blake2b
from typing import Final

_FEW: Final = 1 << 16  # ids that are stored as text
_TABLES: Final = 256  # they grow one after the other, so that no growth needs twice the memory
_FIRST: Final = 64  # places in a new table
_HALVES: Final = struct.Struct("<QQ")


class Seen:
    """Set of ids with 21 to 32 bytes per id if there are many; a Python set takes about 110 for PMIDs.

    If there are many, ids with the same hash of 128 bits count as equal; among 38 million ids this happens with a
    probability of 2 in 10^24 (birthday bound, n^2 / 2^129).
    """

    def __init__(self, *, few: int = _FEW) -> None:
        """Creates an empty set.

        Args:
            few: number of ids that are stored as text.
        """
        self._limit = few
        self._few: set[str] = set()
        self._tables: tuple[_Table, ...] = ()

    def add(self, identifier: str) -> bool:
        """Adds an id.

        Returns:
            True if it was not in the set before.
        """
        if self._tables:
            return self._note(identifier)
        if identifier in self._few:
            return False
        self._few.add(identifier)
        if len(self._few) > self._limit:
            self._tables = tuple(_Table() for _ in range(_TABLES))
            while self._few:
                self._note(self._few.pop())
        return True

    def _note(self, identifier: str) -> bool:
        digest = blake2b(identifier.encode("utf-8", "surrogatepass"), digest_size=_HALVES.size).digest()
        pair: tuple[int, int] = _HALVES.unpack(digest)
        return self._tables[pair[0] % _TABLES].add(*pair)


class _Table:
    """Hash table of pairs of numbers in an array, with open addressing: at the place of the hash or the next free."""

    def __init__(self) -> None:
        self._cells = array("Q", bytes(_HALVES.size * _FIRST))
        self._count = 0

    def add(self, high: int, low: int) -> bool:
        """Adds a pair; returns true if it is new."""
        if not self._put(high, low):
            return False
        self._count += 1
        size = len(self._cells) // 2
        if 4 * self._count > 3 * size:
            old, self._cells = self._cells, array("Q", bytes(_HALVES.size * (size + size // 2)))
            for at in range(0, len(old), 2):
                if old[at] or old[at + 1]:
                    self._put(old[at], old[at + 1])
        return True

    def _put(self, high: int, low: int) -> bool:
        cells = self._cells
        at = 2 * (low % (len(cells) // 2))
        while cells[at] or cells[at + 1]:
            if cells[at] == high and cells[at + 1] == low:
                return False
            at += 2
            if at == len(cells):
                at = 0
        cells[at], cells[at + 1] = high, low
        return True
