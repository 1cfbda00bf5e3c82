"""Batches of similar length, bounded in the two quantities that cost memory and time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Ints

# Of a network that does not say what it takes best, such as one of torch, where each call has a cost of its own.
MAX_TOKENS = 1024
# For each thread of ONNX Runtime. A piece costs the same in batches of 256 as of 1,024 (a 6-layer, 384-wide encoder in
# int8), and small batches have less padding: 2 % in place of 7 % on sentences (benchmarks/speed/levers.py).
TOKENS_A_THREAD = 256
# One float32 attention table of 12 heads over this area is 24 MB.
MAX_AREA = 512 * 1024


def length_sorted_batches(
    lengths: Sequence[int] | NDArray[np.integer],
    *,
    max_tokens: int = MAX_TOKENS,
    max_area: int = MAX_AREA,
) -> Iterator[NDArray[np.intp]]:
    """Group items of similar length, so that padding is rare and every batch is bounded.

    Items are taken from the shortest to the longest, ties in their given order, so the batches depend on nothing but
    the arguments. A batch of ``n`` items whose longest has ``t`` pieces keeps ``n * t <= max_tokens`` (what the dense
    layers cost) and ``n * t * t <= max_area`` (what attention costs). An item that exceeds a bound on its own is a
    batch of one: nothing is dropped.

    Args:
        lengths: Number of pieces of each item, specials included. Shape: ``[N]``.
        max_tokens: Upper bound of the padded pieces in a batch.
        max_area: Upper bound of the padded piece pairs in a batch.

    Yields:
        Positions in ``lengths``, each exactly once over all batches, by rising length.

    Raises:
        ValueError: A length is negative, ``lengths`` is not one-dimensional, or a bound is below 1.
    """
    sizes = np.asarray(lengths, dtype=np.int64)
    _check(sizes, max_tokens, max_area)
    order = np.argsort(sizes, kind="stable")
    start = 0
    for stop in range(1, len(order) + 1):
        if stop == len(order) or not _fits(stop + 1 - start, int(sizes[order[stop]]), max_tokens, max_area):
            yield order[start:stop]
            start = stop


def _fits(count: int, longest: int, max_tokens: int, max_area: int) -> bool:
    return count * longest <= max_tokens and count * longest * longest <= max_area


def _check(sizes: Ints, max_tokens: int, max_area: int) -> None:
    if sizes.ndim != 1:
        raise ValueError(f"lengths must be one-dimensional, got {sizes.ndim} dimensions")
    if sizes.size and sizes.min() < 0:
        raise ValueError(f"lengths must not be negative, got {sizes.min()}")
    if max_tokens < 1 or max_area < 1:
        raise ValueError(f"max_tokens and max_area must be at least 1, got {max_tokens} and {max_area}")
