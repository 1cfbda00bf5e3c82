"""Selection among candidate spans: all of them, or a flat set of spans that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fascicle.core.arrays import Bools, Floats, Ints, unique_values
from fascicle.settings.decision import Calibration, TemperatureCurve

CLIP: Final = 1e-6  # a score of exactly 0 or 1 has no finite logit
_DIGITS: Final = 6


def round_scores(scores: NDArray[Any]) -> Floats:
    """Scores as mentions have them: from 0 to 1, with six decimals.

    What is fitted on the predictions in a file is thereby fitted on the same numbers that a
    predictor sees.
    """
    result: Floats = np.clip(np.asarray(scores, dtype=np.float64), 0.0, 1.0).round(_DIGITS)
    return result


def calibrate_scores(scores: Floats, calibration: Calibration) -> Floats:
    """The scores that a calibration gives, shape as given; the order never turns, and near ones may
    become equal.

    Args:
        scores: of ``round_scores``.
        calibration: of a model.
    """
    curve = calibration.curve
    if curve is None:
        return scores
    if isinstance(curve, TemperatureCurve):
        return round_scores(apply_temperature(scores, curve.temperature))
    return round_scores(interpolate_scores(scores, curve.scores, curve.values))


def type_thresholds(calibration: Calibration, types: Sequence[str]) -> Floats:
    """Returns the least score of a mention of each type, shape ``[types]``."""
    return np.array(
        [calibration.thresholds.get(name, calibration.threshold) for name in types],
        dtype=np.float64,
    )


def apply_temperature(scores: Floats, temperature: float) -> Floats:
    """Scores with their logits divided by a temperature, shape as given."""
    return sigmoid(logits(scores) / temperature)


def interpolate_scores(scores: Floats, knots: Sequence[float], values: Sequence[float]) -> Floats:
    """Scores through a function that is linear between knots and level beyond them, shape as
    given.
    """
    result: Floats = np.interp(scores, np.array(knots), np.array(values))
    return result


def logits(scores: Floats) -> Floats:
    """Computes log odds; those of 0 and 1 are finite."""
    clipped = np.clip(scores, CLIP, 1.0 - CLIP)
    result: Floats = np.log(clipped) - np.log1p(-clipped)
    return result


def sigmoid(values: Floats) -> Floats:
    """Computes the logistic function without overflow."""
    small = np.exp(-np.abs(values))
    result: Floats = np.where(values >= 0, 1.0 / (1.0 + small), small / (1.0 + small))
    return result


SpanDecoding = Literal["nested", "greedy", "optimal"]


def select(
    spans: ArrayLike,
    scores: ArrayLike,
    *,
    decoding: SpanDecoding,
    owners: ArrayLike | None = None,
    across_types: bool = False,
) -> Ints:
    """Choose among candidate spans; the order in which they are given has no influence.

    `"nested"` keeps every span, nested and crossing ones too. `"greedy"` is the heuristic decoding
    of bundling-learning §3.2.3 as an exact rule: go through the spans by falling score, equal ones
    by start, end and type, and accept each that is disjoint from all accepted before. (The released
    SpanNER routine depends on the order of enumeration and leaves overlaps.) `"optimal"` takes, of
    all sets of disjoint spans, one with the greatest sum of scores; of several, the one that holds
    the earliest span, by start, end and type, in which they differ. No span can be added to what
    either of these two keeps.

    Args:
        spans: `(start, end, type index)`, `[m, 3]`, half-open, none empty.
        scores: `[m]`, finite and not negative.
        decoding: The rule.
        owners: The number of the text that each span belongs to, `[m]`; spans of different texts
            never compete. Without it, all belong to one.
        across_types: Spans of different types never compete either: what stays is flat within each
            type.

    Returns:
        Indices of the spans that stay, in order of owner, start, end and type. Of spans that differ
        in nothing but the score only the best can stay, by all three rules.

    Raises:
        ValueError: If the rule is unknown, shapes do not agree, a span is empty or a score is no
            weight.
    """
    if decoding not in get_args(SpanDecoding):
        raise ValueError(
            f"unknown span decoding {decoding!r}; choose 'nested', 'greedy' or 'optimal'"
        )
    table, weights, texts = _checked(spans, scores, owners)
    if not across_types:
        return _select(table, weights, texts, decoding)
    # each type of a text is a text of its own, and what stays is put in order again
    pairs = np.column_stack([texts, table[:, 2]])
    lines = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1)
    stay = _select(table, weights, lines, decoding)
    return stay[np.lexsort((table[stay, 2], table[stay, 1], table[stay, 0], texts[stay]))]


def _select(table: Ints, weights: Floats, texts: Ints, decoding: SpanDecoding) -> Ints:
    """Selects among checked spans, see `select`."""
    order = np.lexsort((-weights, table[:, 2], table[:, 1], table[:, 0], texts))
    keys = np.column_stack([texts, table])[order]
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    order, keys = order[fresh], keys[fresh]
    if decoding == "nested" or not len(order):
        return order
    starts, ends = _on_one_line(keys)
    cuts = _cluster_cuts(starts, ends)
    crowded = np.repeat(np.diff(cuts) > 1, np.diff(cuts))
    keep = ~crowded
    members = np.flatnonzero(crowded)
    choose = _greedy if decoding == "greedy" else _optimal
    keep[members] = choose(starts[members], ends[members], weights[order[members]])
    return order[keep]


def _checked(
    spans: ArrayLike, scores: ArrayLike, owners: ArrayLike | None
) -> tuple[Ints, Floats, Ints]:
    table: NDArray[Any] = np.asarray(spans)
    weights = np.asarray(scores, dtype=np.float64)
    texts: NDArray[Any] = (
        np.zeros(weights.shape, dtype=np.int64) if owners is None else np.asarray(owners)
    )
    shapes = f"spans {table.shape}, scores {weights.shape}, owners {texts.shape}"
    if table.shape != (*weights.shape, 3) or weights.ndim != 1 or texts.shape != weights.shape:
        raise ValueError(f"spans [m, 3], scores [m] and owners [m] do not agree: {shapes}")
    if len(table) and (table.dtype.kind not in "iu" or texts.dtype.kind not in "iu"):
        raise ValueError(f"spans and owners must be integers, got {table.dtype} and {texts.dtype}")
    if (table[:, 0] >= table[:, 1]).any():
        raise ValueError(
            f"a span must end after its start, got {table[table[:, 0] >= table[:, 1]][0].tolist()}"
        )
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError("the score of a span must be finite and not negative")
    return table.astype(np.int64, copy=False), weights, texts.astype(np.int64, copy=False)


def _on_one_line(keys: Ints) -> tuple[Ints, Ints]:
    """Starts and ends `[m]` with the texts laid end to end, for spans `(owner, start, end,
    type)` sorted by owner.
    """
    first, last = keys[:, 1].min(), keys[:, 2].max()
    text = np.cumsum(np.diff(keys[:, 0], prepend=keys[0, 0]) != 0)
    shift = text * (last - first) - first
    return keys[:, 1] + shift, keys[:, 2] + shift


def _cluster_cuts(starts: Ints, ends: Ints) -> Ints:
    """Returns the index of each span that no earlier span overlaps, in spans sorted by start;
    and `m` at the end.
    """
    reach = np.maximum.accumulate(ends)
    return np.append(np.flatnonzero(np.append(True, starts[1:] >= reach[:-1])), len(starts))


def _greedy(starts: Ints, ends: Ints, weights: Floats) -> Bools:
    """Returns which spans the greedy rule accepts, `[m]`; they are sorted by start, end and
    type.
    """
    borders = unique_values(np.append(starts, ends))
    firsts, right = (
        np.searchsorted(borders, starts).tolist(),
        np.searchsorted(borders, ends).tolist(),
    )
    occupied, accepted = bytearray(len(borders)), np.zeros(len(starts), dtype=np.bool_)
    for index in np.argsort(-weights, kind="stable").tolist():
        begin, stop = firsts[index], right[index]
        if occupied.find(1, begin, stop) < 0:
            occupied[begin:stop] = b"\1" * (stop - begin)
            accepted[index] = True
    return accepted


def _optimal(starts: Ints, ends: Ints, weights: Floats) -> Bools:
    """Returns which spans make up the heaviest disjoint set, `[m]`; they are sorted by start, end
    and type.

    Weighted interval scheduling from the right: the best of the spans from `i` on is the better of
    leaving `i` out and of taking it with the best from the first span behind it. Each cluster of
    overlapping spans is summed for itself, so that what is chosen in one cannot depend on the
    rounding of another.
    """
    selection = np.zeros(len(starts), dtype=np.bool_)
    after, gains = np.searchsorted(starts, ends).tolist(), weights.tolist()
    cuts = _cluster_cuts(starts, ends).tolist() if len(starts) else []
    heaviest, take = [0.0] * (len(gains) + 1), [False] * len(gains)
    for begin, stop in pairwise(cuts):
        for i in range(stop - 1, begin - 1, -1):  # heaviest[right] is still 0
            gain = gains[i] + heaviest[after[i]]
            take[i] = gain >= heaviest[i + 1]
            heaviest[i] = gain if take[i] else heaviest[i + 1]
        i = begin
        while i < stop:
            selection[i] = take[i]
            i = after[i] if take[i] else i + 1
    return selection
