"""Sets that are nearly the same: an exact join by Jaccard similarity, with an inverted index of few elements each.

Of two sets with a similarity of at least t, the first ``n - ceil(t n) + 1`` elements of each, in one order of all
elements, have one in common (prefix filtering, Chaudhuri et al. 2006, Bayardo et al. 2007). The order is from rare to
frequent, so that few pairs need be compared in full. Nothing is estimated, and no pair is missed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from fascicle.core.arrays import Ints
from fascicle.doctor.copies.fingerprints import Hashes

_AT_ONCE: Final = 1 << 21  # elements of sets that are looked up together
_MOST: Final = 1 << 19


@dataclass(frozen=True, kw_only=True)
class NearPair:
    """A probe and a set of the index that are alike.

    Attributes:
        probe: index among the probes.
        member: index among the sets of the index.
        similarity: Jaccard.
    """

    probe: int
    member: int
    similarity: Fraction


class NearIndex:
    """Finds the sets that are like another one."""

    def __init__(self, sets: Sequence[Hashes], *, threshold: Fraction, most: int | None = None) -> None:
        """Orders the elements and indexes the first ones of each set.

        Args:
            sets: sorted, without repeats.
            threshold: least similarity, above 0 and at most 1.
            most: pairs that are compared in full; a probe with more candidates than are left of these is not compared,
                and ``left`` counts it. By default half a million and four for each set: corpora that are not made from
                a template need less than one for each.
        """
        self._threshold = threshold
        self._most = self._budget = _MOST + 4 * len(sets) if most is None else most
        self.left = 0
        self._sizes = np.array([len(s) for s in sets], dtype=np.int64)
        flat = np.concatenate(sets) if sets else np.zeros(0, dtype=np.uint64)
        self._known, inverse, counts = np.unique(flat, return_inverse=True, return_counts=True)
        self._place = np.empty(len(self._known), dtype=np.int64)
        self._place[np.argsort(counts, kind="stable")] = np.arange(len(self._known))
        owner = np.repeat(np.arange(len(sets)), self._sizes)
        # One sorted array of (set, place) holds all sets, each from its rarest element.
        self._keys = np.sort(owner * self._stride + self._place[inverse])
        first = _positions(self._sizes) < np.repeat(self._prefix(self._sizes), self._sizes)
        members, places = np.divmod(self._keys[first], self._stride)
        by_place = np.argsort(places, kind="stable")
        self._members = members[by_place]
        self._starts = np.searchsorted(places[by_place], np.arange(self._stride + 1))

    @property
    def _stride(self) -> int:
        return max(1, len(self._known))

    def renew(self) -> None:
        """Allows as many pairs again as at the beginning: for probes that are a work of their own."""
        self._budget = self._most

    def pairs(self, probes: Sequence[Hashes], *, own: bool = False) -> Iterator[NearPair]:
        """Streams what is like the probes, probe by probe.

        Args:
            probes: sorted, without repeats.
            own: the probes are the sets of the index, and each pair of them is wanted once.
        """
        for number, probe in enumerate(probes):
            places = self._places(probe)
            candidates = self._candidates(places, size=len(probe))
            if own:
                candidates = candidates[candidates > number]
            if not len(candidates):
                continue
            if self._budget < len(candidates):
                self.left += 1
                continue
            self._budget -= len(candidates)
            yield from self._alike(number, places[places >= 0], candidates, size=len(probe))

    def _prefix(self, sizes: Ints) -> Ints:
        numerator, denominator = self._threshold.as_integer_ratio()
        least: Ints = sizes - -(-numerator * sizes // denominator) + 1
        prefix: Ints = np.minimum(least, sizes)
        return prefix

    def _places(self, probe: Hashes) -> Ints:
        """Places of the elements in order; -1 for those that no set of the index has, which are the rarest."""
        if not len(self._known):
            return np.full(len(probe), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self._known, probe), len(self._known) - 1)
        return np.sort(np.where(self._known[at] == probe, self._place[at], -1))

    def _candidates(self, places: Ints, *, size: int) -> Ints:
        """Sets that share one of the first elements and are neither too small nor too large."""
        first = places[: int(self._prefix(np.array([size]))[0])]
        found = [self._members[self._starts[p] : self._starts[p + 1]] for p in first[first >= 0].tolist()]
        if not found:
            return np.zeros(0, dtype=np.int64)
        members: Ints = np.unique(np.concatenate(found))
        numerator, denominator = self._threshold.as_integer_ratio()
        sizes = self._sizes[members]
        fits = (numerator * sizes <= denominator * size) & (numerator * size <= denominator * sizes)
        fitting: Ints = members[fits]
        return fitting

    def _alike(self, number: int, places: Ints, candidates: Ints, *, size: int) -> Iterator[NearPair]:
        for part in np.array_split(candidates, -(-len(candidates) * len(places) // _AT_ONCE)):
            wanted = (part[:, None] * self._stride + places[None, :]).ravel()
            at = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
            shared = (self._keys[at] == wanted).reshape(len(part), -1).sum(axis=1)
            for member, common in zip(part.tolist(), shared.tolist(), strict=True):
                similarity = Fraction(common, size + int(self._sizes[member]) - common)
                if similarity >= self._threshold:
                    yield NearPair(probe=number, member=member, similarity=similarity)


def _positions(sizes: Ints) -> Ints:
    """``0 .. n - 1`` for each size n in turn."""
    ends = np.cumsum(sizes)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes)
