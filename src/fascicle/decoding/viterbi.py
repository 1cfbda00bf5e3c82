"""The best tag path of each text under a linear chain, exact, for a padded batch at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fascicle.core.arrays import Bools, Floats, Ints


def constrain(transitions: ArrayLike, start: ArrayLike, *, legal: Bools, legal_start: Bools) -> tuple[Floats, Floats]:
    """Forbid tag pairs by giving them the score minus infinity.

    Args:
        transitions: Scores `[C, C]` (from, to).
        start: Scores `[C]` of the first tag.
        legal: Which tag may follow which, `[C, C]`.
        legal_start: Which tag may come first, `[C]`.

    Returns:
        New `transitions` and `start`, float64.
    """
    pairs = np.where(legal, np.asarray(transitions, dtype=np.float64), -np.inf)
    return pairs, np.where(legal_start, np.asarray(start, dtype=np.float64), -np.inf)


def viterbi(
    emissions: NDArray[Any],
    lengths: ArrayLike,
    *,
    transitions: ArrayLike,
    start: ArrayLike,
    end: ArrayLike,
) -> tuple[Ints, Floats]:
    """Find the highest-scoring tag path of every row.

    The score of a path is `start[y_1] + sum_t E[t, y_t] + sum_t A[y_t-1, y_t] + end[y_n]`. Forbidden tags and pairs
    have the score minus infinity (see `constrain`). Among equal paths the choice is deterministic, and a constraint
    does not change a path that was legal without it. Values under the padding, NaN included, have no influence.

    Args:
        emissions: Scores `[B, T, C]`; computed in float64 whatever the type.
        lengths: Units in each row, `[B]`, from 0 to `T`.
        transitions: `A`, `[C, C]` (from, to).
        start: Scores `[C]` of the first tag.
        end: Scores `[C]` of the last tag.

    Returns:
        The tags `[B, T]`, -1 under the padding, and the scores `[B]`: 0 for a row without units, minus infinity
        (and an arbitrary path) where every path is forbidden.

    Raises:
        ValueError: If the shapes do not agree or a length is out of range.
    """
    sizes = checked_lengths(emissions, lengths)
    pairs = np.asarray(transitions, dtype=np.float64)
    rows, steps, _ = emissions.shape
    tags = np.full((rows, steps), -1, dtype=np.int64)
    if rows == 0 or not sizes.any():
        return tags, np.zeros(rows)
    best = _best_prefixes(emissions, sizes, pairs, np.asarray(start, dtype=np.float64))
    last = np.maximum(sizes - 1, 0)
    final = best[last, :, np.arange(rows)] + np.asarray(end, dtype=np.float64)
    path = _trace_back(best, last, pairs, final.argmax(axis=1))
    inside = np.arange(steps) < sizes[:, None]
    tags[inside] = path[inside]
    return tags, np.where(sizes > 0, final.max(axis=1), 0.0)


def checked_lengths(emissions: NDArray[Any], lengths: ArrayLike) -> Ints:
    """Check emissions `[B, T, C]` against lengths `[B]`; returns the lengths, raises `ValueError`."""
    sizes = np.asarray(lengths, dtype=np.int64)
    if emissions.ndim != 3 or sizes.shape != emissions.shape[:1]:
        raise ValueError(f"emissions [B, T, C] and lengths [B] do not agree: {emissions.shape} and {sizes.shape}")
    if sizes.size and (sizes.min() < 0 or sizes.max() > emissions.shape[1]):
        raise ValueError(f"lengths must lie between 0 and {emissions.shape[1]}, got {sizes.min()} to {sizes.max()}")
    return sizes


def _best_prefixes(emissions: NDArray[Any], sizes: Ints, pairs: Floats, start: Floats) -> Floats:
    """The score `[T, C, B]` of the best path that ends in each tag; rows last, so that every inner loop is long."""
    rows, steps, tags = emissions.shape
    inside = np.arange(steps)[:, None, None] < sizes
    best = np.where(inside, emissions.transpose(1, 2, 0), 0.0).astype(np.float64, copy=False)
    best[0] += start[:, None]
    arrivals, column = np.empty((tags, tags, rows)), pairs[:, :, None]
    ahead = np.empty((tags, rows))
    for step in range(1, int(sizes.max())):
        np.add(best[step - 1][:, None, :], column, out=arrivals)
        np.maximum.reduce(arrivals, axis=0, out=ahead)
        best[step] += ahead
    return best


def _trace_back(best: Floats, last: Ints, pairs: Floats, final: Ints) -> Ints:
    """Follow the best path of each row backwards from its own last unit, `[B, T]`.

    Only one tag per row is asked for its predecessor, so searching again is cheaper than storing back-pointers.
    The sums are the same ones as on the way forward, hence the same maxima to the last bit.
    """
    steps, tags, rows = best.shape
    ended = np.arange(steps)[:, None] >= last
    path = np.empty((steps, rows), dtype=np.int64)
    into, scores = np.ascontiguousarray(pairs.T), best.transpose(0, 2, 1)
    tag = path[int(last.max())] = final
    arrivals = np.empty((rows, tags))
    for step in range(int(last.max()) - 1, -1, -1):
        np.take(into, tag, axis=0, out=arrivals, mode="clip")
        arrivals += scores[step]
        tag = arrivals.argmax(axis=1, out=path[step])
        np.copyto(tag, final, where=ended[step])
    return path.T
