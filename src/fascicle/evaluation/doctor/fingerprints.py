"""Fingerprints of texts: only letters and digits are compared, not case, spaces, punctuation or
tokenisation.

The *normal form* of a text is NFKC, case-folded, without everything but letters and digits. Its
*normal words* are the longest runs of these; each Chinese character and each kana is a word of its
own. Its *shingles* are the sets of hashes of three normal words in a row (Broder 1997).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Ints, int_array

Hashes = NDArray[np.uint64]
_SHINGLE: Final = 3  # words
_ALONE: Final = "\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD: Final = re.compile(rf"[{_ALONE}]|[^\W_{_ALONE}]+")
# odd, any others would do
_FACTORS: Final = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)


def normal_words(text: str) -> list[str]:
    """Returns the normal words of a text; joined, they are its normal form."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def digest(words: Sequence[str]) -> bytes:
    """Returns a digest of the normal form, 128 bits."""
    return hashlib.blake2b("".join(words).encode(), digest_size=16).digest()


def shingles(words: Sequence[str]) -> Hashes:
    """Returns the distinct shingles of a text, sorted; none where it has fewer than three words.

    They are 64-bit hashes, the same in every process: which of equally rare ones come first decides
    what is compared where not everything can be. Among 10 million shingles, that any two be
    mistaken for one another has a chance of about one in 400,000.
    """
    count = len(words) - _SHINGLE + 1
    if count < 1:
        return np.zeros(0, dtype=np.uint64)
    hashes = np.fromiter(map(_hash, words), dtype=np.uint64, count=len(words))
    sums = np.zeros(count, dtype=np.uint64)
    for place, factor in enumerate(_FACTORS):
        sums += hashes[place : place + count] * np.uint64(factor)
    return np.unique(sums)


@lru_cache(maxsize=1 << 16)
def _hash(word: str) -> int:
    """Returns a hash of 64 bits; unlike those of ``hash``, it is the same in every process."""
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")


ANCHOR: Final = 24  # letters; a shorter sentence is not sought
_BASE: Final = 0x9E3779B97F4A7C15
_SLICE: Final = 1 << 20  # windows that are hashed together


class Passages:
    """Index of sentences: finds those that occur in other texts, however these are split into
    sentences or words.

    Each window of `ANCHOR` letters of a text is hashed (Karp and Rabin 1987) and looked up among
    the beginnings of the sentences. What is found is then compared letter by letter.
    """

    def __init__(self, sentences: Sequence[str]) -> None:
        """Indexes sentences by their first letters.

        Args:
            sentences: normal forms of at least `ANCHOR` letters, no two the same.
        """
        self._powers, self._inverses = _powers(_BASE), _powers(pow(_BASE, -1, 1 << 64))
        # beginning -> length -> sentence -> its number
        self._by_start: defaultdict[str, defaultdict[int, dict[str, int]]] = defaultdict(
            lambda: defaultdict(dict)
        )
        for number, sentence in enumerate(sentences):
            self._by_start[sentence[:ANCHOR]][len(sentence)][sentence] = number
        starts = _codes("".join(self._by_start)).reshape(-1, ANCHOR)
        self._anchors = np.unique((starts * self._powers[:ANCHOR]).sum(axis=1, dtype=np.uint64))

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Streams ``(number of the sentence, first letter)`` for each place of the text where one
        stands.

        Args:
            text: a normal form, or several with a character between them that is no letter or
                digit.
        """
        if not len(self._anchors):
            return
        for start in range(0, max(0, len(text) - ANCHOR + 1), _SLICE):
            windows = self._windows(text[start : start + _SLICE + ANCHOR - 1])
            at = np.minimum(np.searchsorted(self._anchors, windows), len(self._anchors) - 1)
            for place in (np.flatnonzero(self._anchors[at] == windows) + start).tolist():
                for length, sentences in self._by_start.get(
                    text[place : place + ANCHOR], {}
                ).items():
                    number = sentences.get(text[place : place + length])
                    if number is not None:
                        yield number, place

    def _windows(self, text: str) -> Hashes:
        """Returns the hash of each window of a text of at most `_SLICE` windows."""
        codes = _codes(text)
        sums = np.zeros(len(codes) + 1, dtype=np.uint64)
        np.cumsum(codes * self._powers[: len(codes)], out=sums[1:])
        count = len(codes) - ANCHOR + 1
        hashes: Hashes = (sums[ANCHOR:] - sums[:count]) * self._inverses[:count]
        return hashes


def _codes(text: str) -> Hashes:
    return np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)


def _powers(base: int) -> Hashes:
    """``base ** 0 .. base ** (n - 1)`` modulo 2**64."""
    factors = np.full(_SLICE + ANCHOR - 1, base, dtype=np.uint64)
    factors[0] = 1
    powers: Hashes = np.cumprod(factors, dtype=np.uint64)
    return powers


_AT_ONCE: Final = 1 << 21  # elements of sets that are looked up together
_MOST: Final = 1 << 19


class _NearPair(NamedTuple):
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
    """Exact join of sets by their Jaccard similarity, with an inverted index of few elements of
    each set.

    Of two sets with a similarity of at least t, the first ``n - ceil(t n) + 1`` elements of each,
    in one order of all elements, have one in common (prefix filtering, Chaudhuri et al. 2006,
    Bayardo et al. 2007). The order is from rare to frequent, so that few pairs are compared in
    full. Nothing is estimated, and no pair is missed.
    """

    def __init__(
        self, sets: Sequence[Hashes], *, threshold: Fraction, most: int | None = None
    ) -> None:
        """Orders the elements and indexes the first ones of each set.

        Args:
            sets: sorted, without repeats.
            threshold: least similarity, above 0 and at most 1.
            most: pairs that are compared in full; a probe with more candidates than are left of
                these is not compared, and ``skipped`` counts it. By default half a million and four
                for each set: corpora that are not made from a template need less than one for each.
        """
        self._threshold = threshold
        self._most = self._budget = _MOST + 4 * len(sets) if most is None else most
        self.skipped = 0
        self._sizes = int_array([len(s) for s in sets])
        flat = np.concatenate(sets) if sets else np.zeros(0, dtype=np.uint64)
        self._known, inverse, counts = np.unique(flat, return_inverse=True, return_counts=True)
        self._place = np.empty(len(self._known), dtype=np.int64)
        self._place[np.argsort(counts, kind="stable")] = np.arange(len(self._known))
        owner = np.repeat(np.arange(len(sets)), self._sizes)
        # One sorted array of (set, place) holds all sets, each from its rarest element.
        self._keys = np.sort(owner * self._stride + self._place[inverse])
        self._members, self._starts = self._index_prefixes()

    def _index_prefixes(self) -> tuple[Ints, Ints]:
        """Returns the sets that have each place among their first elements, place by place, and
        where each place begins.
        """
        first = _positions(self._sizes) < np.repeat(self._prefix(self._sizes), self._sizes)
        members, places = np.divmod(self._keys[first], self._stride)
        by_place = np.argsort(places, kind="stable")
        starts = np.searchsorted(places[by_place], np.arange(self._stride + 1))
        return members[by_place], starts

    @property
    def _stride(self) -> int:
        return max(1, len(self._known))

    def renew(self) -> None:
        """Allows as many pairs again as at the beginning: for probes that are a work of their
        own.
        """
        self._budget = self._most

    def pairs(self, probes: Sequence[Hashes], *, own: bool = False) -> Iterator[_NearPair]:
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
                self.skipped += 1
                continue
            self._budget -= len(candidates)
            yield from self._compare(number, places[places >= 0], candidates, size=len(probe))

    def _prefix(self, sizes: Ints) -> Ints:
        numerator, denominator = self._threshold.as_integer_ratio()
        least: Ints = sizes - -(-numerator * sizes // denominator) + 1
        prefix: Ints = np.minimum(least, sizes)
        return prefix

    def _places(self, probe: Hashes) -> Ints:
        """Places of the elements in order; -1 for those that no set of the index has, which are
        the rarest.
        """
        if not len(self._known):
            return np.full(len(probe), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self._known, probe), len(self._known) - 1)
        return np.sort(np.where(self._known[at] == probe, self._place[at], -1))

    def _candidates(self, places: Ints, *, size: int) -> Ints:
        """Sets that share one of the first elements and are neither too small nor too large."""
        first = places[: int(self._prefix(np.array([size]))[0])]
        members_by_place = [
            self._members[self._starts[p] : self._starts[p + 1]] for p in first[first >= 0].tolist()
        ]
        if not members_by_place:
            return int_array([])
        members: Ints = np.unique(np.concatenate(members_by_place))
        numerator, denominator = self._threshold.as_integer_ratio()
        sizes = self._sizes[members]
        fits = (numerator * sizes <= denominator * size) & (numerator * size <= denominator * sizes)
        fitting: Ints = members[fits]
        return fitting

    def _compare(
        self, number: int, places: Ints, candidates: Ints, *, size: int
    ) -> Iterator[_NearPair]:
        for part in np.array_split(candidates, -(-len(candidates) * len(places) // _AT_ONCE)):
            keys = (part[:, None] * self._stride + places[None, :]).ravel()
            at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            shared = (self._keys[at] == keys).reshape(len(part), -1).sum(axis=1)
            for member, common in zip(part.tolist(), shared.tolist(), strict=True):
                similarity = Fraction(common, size + int(self._sizes[member]) - common)
                if similarity >= self._threshold:
                    yield _NearPair(number, member, similarity)


def _positions(sizes: Ints) -> Ints:
    """``0 .. n - 1`` for each size n in turn."""
    ends = np.cumsum(sizes)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes)
