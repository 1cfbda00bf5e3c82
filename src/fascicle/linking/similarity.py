"""Similarity of strings by their longest common subsequence, for thousands of pairs at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Bools, Floats, Ints, lengths_of
from fascicle.terms.pack.arrays import expand_ranges

LONGEST: Final = 256  # bytes of a string that is compared
_WORD: Final = 64
_COUNTED: Final = 512  # strings of the first kind
_Words = NDArray[np.uint64]


class _Letters(NamedTuple):
    """Strings as an array.

    Attributes:
        letters: bytes of each, with any others behind them, ``[n, longest]``.
        sizes: how many bytes each has, ``[n]``.
    """

    letters: NDArray[np.uint8]
    sizes: Ints


def similarities(first: Sequence[bytes], second: _Letters, owners: Ints) -> Floats:
    """Returns the share of two strings that is a common subsequence: twice its length, divided by
    the length of both.

    This is one minus the normalised distance of insertions and deletions. The longest common
    subsequence is found by bits (Hyyrö, "Bit-parallel LCS-length computation revisited", 2004), for
    all pairs side by side.

    Args:
        first: strings of at most `LONGEST` bytes.
        second: others, each of which is compared with one of the first.
        owners: for each of ``second`` the number of that one, in order, ``[n]``.

    Returns:
        For each of ``second`` a value from 0 to 1, ``[n]``; 1 for two empty strings.

    Raises:
        ValueError: a string is too long.
    """
    if max(max(map(len, first), default=0), int(second.sizes.max(initial=0))) > LONGEST:
        raise ValueError(f"strings of at most {LONGEST} bytes can be compared")
    values = np.zeros(len(owners), dtype=np.float64)
    for start in range(0, len(first), _COUNTED):
        low, high = np.searchsorted(owners, (start, start + _COUNTED)).tolist()
        chunk = first[start : start + _COUNTED]
        compared = _Letters(second.letters[low:high], second.sizes[low:high])
        common = _common(chunk, compared, owners[low:high] - start)
        sizes = lengths_of(chunk)[owners[low:high] - start] + compared.sizes
        values[low:high] = np.where(sizes > 0, 2.0 * common / np.maximum(sizes, 1), 1.0)
    return values


def to_letters(content: NDArray[np.uint8], starts: Ints, sizes: Ints) -> _Letters:
    """Returns the bytes of strings in one array.

    Args:
        content: the bytes.
        starts: where each string begins, ``[n]``.
        sizes: how many bytes each has, ``[n]``.
    """
    if not sizes.any():
        return _Letters(np.zeros((len(sizes), 0), dtype=np.uint8), sizes)
    places = starts[:, None] + np.arange(int(sizes.max()))
    return _Letters(content[np.minimum(places, len(content) - 1)], sizes)


def _common(first: Sequence[bytes], second: _Letters, owners: Ints) -> Ints:
    """Returns the length of the longest common subsequence of each pair."""
    lengths = lengths_of(first)
    words = max(1, -(-int(lengths.max(initial=0)) // _WORD))
    masks = _masks(first, words)
    order = np.argsort(-second.sizes, kind="stable")  # pairs that are done are at the end
    letters = np.ascontiguousarray(second.letters[order].T)
    owners, sizes = owners[order], second.sizes[order]
    unmatched = np.full((len(order), words), ~np.uint64(0), dtype=np.uint64)
    rows = owners * 256
    going = np.searchsorted(-sizes, -np.arange(int(sizes.max(initial=0))), side="left").tolist()
    for place, count in enumerate(going):
        _step(unmatched[:count], masks[rows[:count] + letters[place, :count]])
    common = np.empty(len(order), dtype=np.int64)
    common[order] = _zeros(unmatched, lengths[owners])
    return common


def _step(unmatched: _Words, match: _Words) -> None:
    """Processes one letter of the second strings; the words of a number follow each other, the
    lowest first.
    """
    carry: Bools = np.zeros(len(unmatched), dtype=np.bool_)
    for word in range(unmatched.shape[1]):
        now, hit = unmatched[:, word], match[:, word]
        total = now + (now & hit)
        over = total < now
        total += carry
        carry = over | (carry & (total == 0))
        unmatched[:, word] = total | (now & ~hit)


def _masks(strings: Sequence[bytes], words: int) -> _Words:
    """Returns, for each string and byte, the positions of the byte as bits, ``[256 strings,
    words]``.
    """
    masks = np.zeros((256 * len(strings), words), dtype=np.uint64)
    lengths = lengths_of(strings)
    owners, places = expand_ranges(np.zeros_like(lengths), lengths)
    letters = np.frombuffer(b"".join(strings), dtype=np.uint8)
    bits = np.uint64(1) << (places % _WORD).astype(np.uint64)
    np.bitwise_or.at(masks, (256 * owners + letters, places // _WORD), bits)
    return masks


def _zeros(numbers: _Words, lengths: Ints) -> Ints:
    """Returns how many of the lowest bits of each number are 0."""
    bits = np.unpackbits(numbers.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    inside = np.arange(bits.shape[1]) < lengths[:, None]
    zeros: Ints = np.count_nonzero((bits == 0) & inside, axis=1)
    return zeros
