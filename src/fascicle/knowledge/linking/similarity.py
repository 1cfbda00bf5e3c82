"""How alike strings are, for thousands of pairs at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.knowledge.pack.arrays import spread

LONGEST: Final = 256  # bytes of a string that is compared
_WORD: Final = 64
_TOGETHER: Final = 512  # strings of the first kind
Words = NDArray[np.uint64]


def similarities(first: Sequence[bytes], second: Sequence[bytes], owners: Ints) -> Floats:
    """The share of two strings that is a common subsequence: twice its length, divided by the length of both.

    This is one minus the normalised distance of insertions and deletions. The longest common subsequence is found
    by bits (Hyyrö, "Bit-parallel LCS-length computation revisited", 2004), for all pairs side by side.

    Args:
        first: strings of at most `LONGEST` bytes.
        second: others, each of which is compared with one of the first.
        owners: for each of ``second`` the number of that one, in order, ``[n]``.

    Returns:
        For each of ``second`` a value from 0 to 1, ``[n]``; 1 for two empty strings.

    Raises:
        ValueError: a string is too long.
    """
    if max(map(len, (*first, *second)), default=0) > LONGEST:
        raise ValueError(f"strings of at most {LONGEST} bytes can be compared")
    found = np.zeros(len(second), dtype=np.float64)
    for start in range(0, len(first), _TOGETHER):
        low, high = np.searchsorted(owners, (start, start + _TOGETHER)).tolist()
        chunk = first[start : start + _TOGETHER]
        common = _common(chunk, second[low:high], owners[low:high] - start)
        sizes = _lengths(chunk)[owners[low:high] - start] + _lengths(second[low:high])
        found[low:high] = np.where(sizes > 0, 2.0 * common / np.maximum(sizes, 1), 1.0)
    return found


def _common(first: Sequence[bytes], second: Sequence[bytes], owners: Ints) -> Ints:
    """The length of the longest common subsequence of each pair."""
    lengths, others = _lengths(first), _lengths(second)
    words = max(1, -(-int(lengths.max(initial=0)) // _WORD))
    masks = _masks(first, words)
    order = np.argsort(-others, kind="stable")  # pairs that are done are at the end
    letters = _padded(second)[order]
    owners, others = owners[order], others[order]
    unmatched = np.full((len(second), words), ~np.uint64(0), dtype=np.uint64)
    for place in range(letters.shape[1]):
        going = int(np.searchsorted(-others, -place, side="left"))
        _step(unmatched[:going], masks[owners[:going], letters[:going, place]])
    found = np.empty(len(second), dtype=np.int64)
    found[order] = _zeros(unmatched, lengths[owners])
    return found


def _step(unmatched: Words, match: Words) -> None:
    """One letter of the second strings; the words of a number follow each other, the lowest first."""
    carry: Bools = np.zeros(len(unmatched), dtype=np.bool_)
    for word in range(unmatched.shape[1]):
        now, hit = unmatched[:, word], match[:, word]
        total = now + (now & hit)
        over = total < now
        total += carry
        carry = over | (carry & (total == 0))
        unmatched[:, word] = total | (now & ~hit)


def _masks(strings: Sequence[bytes], words: int) -> Words:
    """For each string and byte, the places of the byte as bits, ``[strings, 256, words]``."""
    masks = np.zeros((len(strings), 256, words), dtype=np.uint64)
    lengths = _lengths(strings)
    owners, places = spread(np.zeros_like(lengths), lengths)
    letters = np.frombuffer(b"".join(strings), dtype=np.uint8)
    bits = np.uint64(1) << (places % _WORD).astype(np.uint64)
    np.bitwise_or.at(masks, (owners, letters, places // _WORD), bits)
    return masks


def _padded(strings: Sequence[bytes]) -> NDArray[np.uint8]:
    longest = max(map(len, strings), default=0)
    joined = b"".join(one.ljust(longest, b"\0") for one in strings)
    return np.frombuffer(joined, dtype=np.uint8).reshape(len(strings), longest)


def _zeros(numbers: Words, lengths: Ints) -> Ints:
    """How many of the lowest bits of each number are 0."""
    bits = np.unpackbits(numbers.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    inside = np.arange(bits.shape[1]) < lengths[:, None]
    found: Ints = np.count_nonzero((bits == 0) & inside, axis=1)
    return found


def _lengths(strings: Sequence[bytes]) -> Ints:
    return np.fromiter(map(len, strings), dtype=np.int64, count=len(strings))
