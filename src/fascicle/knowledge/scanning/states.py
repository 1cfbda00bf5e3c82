"""Beginnings of names as numbers: the hash of one token more is made of that of the tokens before it."""

from __future__ import annotations

from typing import Final

import numpy as np

from fascicle.knowledge.keys.forms import Hashes

BITS: Final = 64
KEPT: Final = 40  # bits of the states in a table; the rest is 0, so that it takes no room in a wheel
_START: Final = np.uint64(0x243F6A8885A308D3)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)


def first_states(count: int) -> Hashes:
    """The states of so many empty sequences."""
    return np.full(count, _START, dtype=np.uint64)


def next_states(states: Hashes, hashes: Hashes, *, bits: int = BITS) -> Hashes:
    """The states of sequences that are one token longer.

    The last steps are the finaliser of SplitMix64 (Steele, Lea and Flood 2014, section 5), a bijection.

    Args:
        states: of the sequences, ``[n]``.
        hashes: of the tokens that come next, ``[n]``.
        bits: of a state that are kept, the rest is 0; fewer than 64 only make more states equal.
    """
    mixed = states * _FIRST + hashes
    mixed ^= mixed >> np.uint64(30)
    mixed *= _FIRST
    mixed ^= mixed >> np.uint64(27)
    mixed *= _SECOND
    mixed ^= mixed >> np.uint64(31)
    return mixed if bits >= BITS else mixed & ~np.uint64((1 << (BITS - bits)) - 1)


def filter_bits(states: Hashes, mask: np.uint64, *, bits: int) -> Hashes:
    """The numbers of states in the filter: their last bits among those that are kept.

    Args:
        states: ``[n]``.
        mask: of the size of the filter in bits, a power of two, less one.
        bits: as of `next_states`.
    """
    return (states >> np.uint64(min(BITS - bits, BITS - 1))) & mask
