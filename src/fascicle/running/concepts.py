"""How many distinct concepts the mentions of a run are linked to, counted without keeping their identifiers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_BYTES: Final = 8  # of the hash of a concept
_TOGETHER: Final = 1 << 20  # hashes that are merged at once, unless there are more already


def hashed(identifiers: Iterable[str]) -> bytes:
    """A set of concepts: the hash of each, 8 bytes long, one after the other in order.

    Args:
        identifiers: of concepts; one that is there twice counts once.
    """
    hashes = {hashlib.blake2b(one.encode(), digest_size=_BYTES).digest() for one in identifiers}
    return b"".join(sorted(hashes))


class Distinct:
    """Counts the distinct concepts of each type over any number of sets.

    The count is exact unless two concepts have the same hash; of 3 million concepts this happens with a probability of
    one in 4 million (birthday bound, n^2 / 2^65). Memory holds at most 16 bytes for each distinct concept, and 8 MiB
    for each type.
    """

    def __init__(self, *, together: int = _TOGETHER) -> None:
        """Starts at zero.

        Args:
            together: hashes of a type that are merged at once.
        """
        self._together = together
        self._merged: dict[str, NDArray[np.uint64]] = {}
        self._waiting: dict[str, bytearray] = {}

    def add(self, concepts: Mapping[str, bytes]) -> None:
        """Adds sets.

        Args:
            concepts: type -> a set, as of `hashed`.
        """
        for kind, hashes in concepts.items():
            waiting = self._waiting.setdefault(kind, bytearray())
            waiting += hashes
            known: Any = self._merged.get(kind, ())
            if len(waiting) >= _BYTES * max(self._together, len(known)):
                self._merge(kind)

    def counts(self) -> dict[str, int]:
        """Type -> number of its distinct concepts."""
        for kind in self._waiting:
            self._merge(kind)
        return {kind: len(self._merged[kind]) for kind in sorted(self._merged)}

    def _merge(self, kind: str) -> None:
        new = np.frombuffer(bytes(self._waiting[kind]), dtype=np.uint64)
        known = self._merged.get(kind)
        self._merged[kind] = np.unique(new if known is None else np.concatenate([known, new]))
        self._waiting[kind].clear()
