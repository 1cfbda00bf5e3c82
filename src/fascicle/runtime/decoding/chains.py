"""Linear chains, exact, for a padded batch at once: the best path, and probabilities of tags and of
whole mentions.

The recursions run on probabilities that are rescaled at every unit, which turns each step into one
matrix product. That is exact as long as no sum falls below a floor under which lost terms could
matter; the rows in which one does (scores hundreds of nats apart that forbidden transitions force
the path through) are computed again on logarithms.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.core.tags import TagScheme

_TINY: Final = np.finfo(np.float64).tiny


class ChainScores(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The learned scores of a CRF: `transitions` `[C, C]` (from, to), `start` `[C]` and `end`
    `[C]`.
    """

    transitions: NDArray[Any]
    start: NDArray[Any]
    end: NDArray[Any]

    def wide(self) -> ChainScores:
        """Returns the same in float64."""
        return ChainScores(
            **{
                name: np.asarray(part, dtype=np.float64)
                for name, part in msgspec.structs.asdict(self).items()
            }
        )


def constrain(chain: ChainScores, *, legal: Bools, legal_start: Bools) -> ChainScores:
    """Forbids tag pairs by giving them the score minus infinity.

    Args:
        chain: scores of all pairs.
        legal: Which tag may follow which, `[C, C]`.
        legal_start: Which tag may come first, `[C]`.

    Returns:
        New scores, float64.
    """
    wide = chain.wide()
    transitions, start = (
        np.where(legal, wide.transitions, -np.inf),
        np.where(legal_start, wide.start, -np.inf),
    )
    return ChainScores(transitions=transitions, start=start, end=wide.end)


def viterbi(emissions: NDArray[Any], lengths: ArrayLike, chain: ChainScores) -> tuple[Ints, Floats]:
    """Finds the highest-scoring tag path of every row.

    The score of a path is `start[y_1] + sum_t E[t, y_t] + sum_t A[y_t-1, y_t] + end[y_n]`.
    Forbidden tags and pairs have the score minus infinity (see `constrain`). Among equal paths the
    choice is deterministic, and a constraint does not change a path that was legal without it.
    Values under the padding, NaN included, have no influence.

    Args:
        emissions: Scores `[B, T, C]`; computed in float64 whatever the type.
        lengths: Units in each row, `[B]`, from 0 to `T`.
        chain: Its transitions are `A`.

    Returns:
        The tags `[B, T]`, -1 under the padding, and the scores `[B]`: 0 for a row without units,
        minus infinity (and an arbitrary path) where every path is forbidden.

    Raises:
        ValueError: If the shapes do not agree or a length is out of range.
    """
    sizes, chain = _checked_lengths(emissions, lengths), chain.wide()
    rows, steps, _ = emissions.shape
    tags = np.full((rows, steps), -1, dtype=np.int64)
    if rows == 0 or not sizes.any():
        return tags, np.zeros(rows)
    best = _best_prefixes(emissions, sizes, chain.transitions, chain.start)
    last = np.maximum(sizes - 1, 0)
    final = best[last, :, np.arange(rows)] + chain.end
    path = _trace_back(best, last, chain.transitions, final.argmax(axis=1))
    inside = np.arange(steps) < sizes[:, None]
    tags[inside] = path[inside]
    return tags, np.where(sizes > 0, final.max(axis=1), 0.0)


def _checked_lengths(emissions: NDArray[Any], lengths: ArrayLike) -> Ints:
    """Checks emissions `[B, T, C]` against lengths `[B]`; returns the lengths, raises
    `ValueError`.
    """
    sizes = np.asarray(lengths, dtype=np.int64)
    if emissions.ndim != 3 or sizes.shape != emissions.shape[:1]:
        raise ValueError(
            f"emissions [B, T, C] and lengths [B] do not agree: {emissions.shape} and {sizes.shape}"
        )
    if sizes.size and (sizes.min() < 0 or sizes.max() > emissions.shape[1]):
        raise ValueError(
            f"lengths must lie between 0 and {emissions.shape[1]}, got {sizes.min()} to "
            f"{sizes.max()}"
        )
    return sizes


def _best_prefixes(emissions: NDArray[Any], sizes: Ints, pairs: Floats, start: Floats) -> Floats:
    """The score `[T, C, B]` of the best path that ends in each tag; rows last, so that every
    inner loop is long.
    """
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
    """Follows the best path of each row backwards from its own last unit, `[B, T]`.

    Only one tag per row is asked for its predecessor, so searching again is cheaper than storing
    back-pointers. The sums are the same ones as on the way forward, hence the same maxima to the
    last bit.
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


class Lattice(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Results of forward-backward for a padded batch; all scores are natural logarithms in float64.

    Attributes:
        emissions: Scores `[B, T, C]`, 0 under the padding.
        lengths: Units in each row, `[B]`.
        chain: The scores of the tags and pairs.
        arrival: `[B, T, C]`, log sum over all prefixes that arrive at a tag, its own emission left
            out.
        departure: `[B, T, C]`, log sum over all suffixes that leave a tag, its own emission left
            out.
        log_partition: `[B]`, log sum over all paths; 0 for a row without units.
    """

    emissions: Floats
    lengths: Ints
    chain: ChainScores
    arrival: Floats
    departure: Floats
    log_partition: Floats

    def token_marginals(self) -> Floats:
        """Returns the probability of every tag at every unit, `[B, T, C]`; 0 under the padding."""
        total = self.arrival + self.emissions + self.departure - self.log_partition[:, None, None]
        inside = np.arange(total.shape[1]) < self.lengths[:, None]
        marginals: Floats = np.exp(np.where(inside[:, :, None], np.minimum(total, 0.0), -np.inf))
        return marginals


def forward_backward(emissions: NDArray[Any], lengths: ArrayLike, chain: ChainScores) -> Lattice:
    """Sums over all tag paths of every row, in both directions.

    Args:
        emissions: Scores `[B, T, C]`, finite or minus infinity; whatever lies under the padding has
            no influence.
        lengths: Units in each row, `[B]`, from 0 to `T`.
        chain: Minus infinity where something is forbidden, see `constrain`.

    Returns:
        The lattice. At least one path of every row must be allowed, else its numbers are minus
        infinity or NaN.

    Raises:
        ValueError: If the shapes do not agree or a length is out of range.
    """
    sizes, chain = _checked_lengths(emissions, lengths), chain.wide()
    steps = np.arange(emissions.shape[1])
    inside = (steps < sizes[:, None])[:, :, None]
    scores = np.where(inside, emissions, 0.0).astype(np.float64, copy=False)
    arrival = _arrivals(scores, sizes, pairs=chain.transitions, first=chain.start)
    departure = _departures(scores, sizes, chain)
    total = _log_sum(arrival[:, :1] + scores[:, :1] + departure[:, :1], axis=2).sum(axis=1)
    return Lattice(
        emissions=scores,
        lengths=sizes,
        chain=chain,
        arrival=arrival,
        departure=departure,
        log_partition=np.where(sizes > 0, total, 0.0),
    )


def _departures(scores: Floats, sizes: Ints, chain: ChainScores) -> Floats:
    """Returns `[B, T, C]`: log sum over the suffixes that leave each tag, without the emission
    there; the arrivals in the mirror image of each row.
    """
    steps = np.arange(scores.shape[1])
    mirror = np.where(steps < sizes[:, None], sizes[:, None] - 1 - steps, steps)[:, :, None]
    mirrored = np.take_along_axis(scores, mirror, axis=1)
    backwards = _arrivals(mirrored, sizes, pairs=chain.transitions.T, first=chain.end)
    return np.take_along_axis(backwards, mirror, axis=1)


def _arrivals(scores: Floats, sizes: Ints, *, pairs: Floats, first: Floats) -> Floats:
    """Returns `[B, T, C]`: log sum over the prefixes that arrive at each tag, without the
    emission there.
    """
    arrival, exact = _scaled_arrivals(scores, sizes, pairs=pairs, first=first)
    if not exact.all():
        arrival[~exact] = _log_arrivals(scores[~exact], pairs=pairs, first=first)
    return arrival


def _scaled_arrivals(
    scores: Floats, sizes: Ints, *, pairs: Floats, first: Floats
) -> tuple[Floats, Bools]:
    """Runs the recursion on rescaled probabilities; also returns the rows `[B]` in which underflow
    lost nothing.

    Every column of the transitions is rescaled too, so a tag that is always hard to enter costs no
    precision.
    """
    column = pairs.max(axis=0)
    column[np.isneginf(column)] = 0.0
    potentials = scores.transpose(1, 0, 2) + column
    potentials[:1] += first - column
    peaks = potentials.max(axis=2, keepdims=True)
    sums, scales = _rescaled_sums(np.exp(potentials - peaks), np.exp(pairs - column), sizes)
    offsets = np.cumsum(peaks + np.log(scales), axis=0)
    with np.errstate(divide="ignore"):
        arrival = np.log(sums) + column
    arrival[:1] = first
    arrival[1:] += offsets[:-1]
    return np.ascontiguousarray(arrival.transpose(1, 0, 2)), _are_exact(sums, sizes)


def _are_exact(sums: Floats, sizes: Ints) -> Bools:
    """Returns the rows in which no sum was so small that underflow lost a part of it."""
    steps, _, tags = sums.shape
    padding = np.arange(steps)[:, None] >= sizes
    floor = tags * _TINY / np.finfo(np.float64).eps
    exact: Bools = ((sums.min(axis=2, initial=1.0) >= floor) | padding).all(axis=0)
    return exact


def _rescaled_sums(local: Floats, weights: Floats, sizes: Ints) -> tuple[Floats, Floats]:
    """Sums the weights of the prefixes that arrive at each tag, `[T, B, C]`, each step divided by
    its scale, `[T, B, 1]`.
    """
    sums, scales = np.ones(local.shape), np.ones((*local.shape[:2], 1))
    state = local[:1].sum(axis=0)
    for step in range(1, int(sizes.max(initial=0))):
        np.matmul(state, weights, out=sums[step])
        state = sums[step] * local[step]
        np.maximum(state.max(axis=1, keepdims=True), _TINY, out=scales[step])
        state /= scales[step]
    return sums, scales


def _log_arrivals(scores: Floats, *, pairs: Floats, first: Floats) -> Floats:
    """Runs the same recursion on logarithms: slower, but exact for any scores."""
    arrival = np.empty_like(scores)
    arrival[:, 0] = first
    for step in range(1, scores.shape[1]):
        before = arrival[:, step - 1] + scores[:, step - 1]
        arrival[:, step] = _log_sum(before[:, :, None] + pairs, axis=1)
    return arrival


def _log_sum(values: Floats, *, axis: int) -> Floats:
    """Computes the log of the sum of exponentials; minus infinity where every value is."""
    peak = values.max(axis=axis, keepdims=True, initial=-np.inf)
    peak[np.isneginf(peak)] = 0.0
    with np.errstate(divide="ignore"):
        total: Floats = np.log(np.exp(values - peak).sum(axis=axis))
    total += peak.squeeze(axis)
    return total


def span_marginals(lattice: Lattice, spans: ArrayLike, *, scheme: TagScheme) -> Floats:
    """Returns the probability that the tag path holds exactly this mention.

    In BIO: B of the type on the first unit, I of the type on the others, and no such I behind them.
    In IO: I of the type on all units, and on neither neighbour. It is the sum over all paths that
    decode to a set of mentions with this one in it, whatever else they hold.

    Args:
        lattice: The texts. For constrained decoding, build it with the constrained transitions.
        spans: `(row, start, end, type index)` per mention, `[m, 4]`, half-open, none empty, inside
            their rows.
        scheme: The scheme of the tag ids.

    Returns:
        Probabilities `[m]`.
    """
    table = np.asarray(spans, dtype=np.int64).reshape(-1, 4)
    row, begin, stop, kind = table.T
    opener = 1 + scheme.width * kind
    inside = opener + scheme.width - 1
    total = _opening(lattice, row, begin, opener=opener, inside=inside)
    for offset in range(1, int((stop - begin).max(initial=0))):
        live = np.flatnonzero(stop - begin > offset)
        previous = (opener if offset == 1 else inside)[live]
        total[live] += lattice.chain.transitions[previous, inside[live]]
        total[live] += lattice.emissions[row[live], begin[live] + offset, inside[live]]
    last = np.where(stop - begin > 1, inside, opener)
    total += _closing(lattice, row, stop, last=last, inside=inside)
    probability: Floats = np.exp(np.minimum(total - lattice.log_partition[row], 0.0))
    return probability


def _opening(lattice: Lattice, row: Ints, begin: Ints, *, opener: Ints, inside: Ints) -> Floats:
    """Computes the log sum over the paths up to the first unit of each mention, `[m]`."""
    emission = lattice.emissions[row, begin, opener]
    # only in IO can the unit before belong to the same run
    joins = (opener == inside) & (begin > 0)
    total: Floats = lattice.arrival[row, begin, opener].copy()
    rows, at, tag = row[joins], begin[joins] - 1, inside[joins]
    before = (
        lattice.arrival[rows, at]
        + lattice.emissions[rows, at]
        + lattice.chain.transitions[:, tag].T
    )
    before[np.arange(len(tag)), tag] = -np.inf
    total[joins] = _log_sum(before, axis=1)
    return total + emission


def _closing(lattice: Lattice, row: Ints, stop: Ints, *, last: Ints, inside: Ints) -> Floats:
    """Computes the log sum over the paths behind the last unit of each mention, `[m]`."""
    total: Floats = lattice.chain.end[last]
    more = stop < lattice.lengths[row]
    right, at, tag = row[more], stop[more], inside[more]
    after = (
        lattice.chain.transitions[last[more]]
        + lattice.emissions[right, at]
        + lattice.departure[right, at]
    )
    after[np.arange(len(tag)), tag] = -np.inf
    total[more] = _log_sum(after, axis=1)
    return total


def log_softmax(emissions: NDArray[Any]) -> Floats:
    """Computes log probabilities over the last axis, float64, same shape."""
    shifted = np.asarray(emissions, dtype=np.float64)
    shifted = shifted - shifted.max(axis=-1, keepdims=True, initial=-np.inf)
    normalised: Floats = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return normalised


def geometric_mean(emissions: NDArray[Any], tags: Ints, *, spans: Ints) -> Floats:
    """Returns the score of a mention under a softmax head: the geometric mean of its chosen tags'
    probabilities.

    Args:
        emissions: Logits `[n, C]`.
        tags: The chosen tag of each unit, `[n]`.
        spans: `(start, end, ...)` per mention, `[m, 2 or more]`, half-open, in order, not
            overlapping.

    Returns:
        Scores in [0, 1], `[m]`.
    """
    if not len(spans):
        return np.zeros(0)
    start, width = spans[:, 0], spans[:, 1] - spans[:, 0]
    # where each mention begins among the units that lie in any mention
    firsts = np.cumsum(width) - width
    units = np.arange(width.sum()) + np.repeat(start - firsts, width)
    logs = log_softmax(emissions[units])[np.arange(len(units)), tags[units]]
    scores: Floats = np.exp(np.add.reduceat(logs, firsts) / width)
    return scores
