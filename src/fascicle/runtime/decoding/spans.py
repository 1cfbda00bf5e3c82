"""Score tables of a span head into candidate spans: every span whose best class is a type, with its
probability.

The logit of class `c` for the span of units `i` to `i + w`, both included, of window `b` is

    starts[b, i, c] + ends[b, i + w, c] + widths[w, c] + spans[b, i, w, c]

added in this order; a table that is not there counts as 0. Class 0 is None, class `t + 1` is type
`t`. A span classifier on the concatenated states of the first and the last unit splits into
`starts` and `ends` exactly, so nothing of the size of the band `[B, U, L, C]` is needed, neither
there nor here (SpanPred, comparing-and-combining §4.3).

Scores of a bi-encoder into spans: every pair of a span and a type that exceeds the threshold of the
type.

The rule is Algorithm 1 of *binder*, without the choice among overlapping spans, which is
`decoding.selection`. With it a span exceeds its threshold strictly; its first and last unit, where
they are asked too, need only reach theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any, Final

import msgspec
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.core.lazy import cached_property

# Each table's axes, in the order in which the terms of a logit are added.
_AXES: Final = {"starts": "BUC", "ends": "BUC", "widths": "LC", "spans": "BULC"}
_SLICE: Final = 1 << 19  # numbers of the band [*, L, C]: 2 MB of float32


class SpanScores(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Spans that a head takes for mentions, nested and crossing ones included, in order of row,
    start, end and type.

    Attributes:
        rows: The window of each span, `[m]`.
        spans: `(start, end, type index)` in units of the window, `[m, 3]`, half-open.
        ranks: By which some of them are selected, `[m]`.
        scores: The probability of that type, `[m]`.
    """

    rows: Ints
    spans: Ints
    ranks: Floats
    scores: Floats


def candidate_spans(
    tables: Mapping[str, NDArray[Any]], counts: ArrayLike, *, longest: int, slice_size: int = _SLICE
) -> SpanScores:
    """Finds the spans whose best class is a type: one with a logit above that of None, the lower
    type among equals.

    Args:
        tables: Some of `starts` `[B, U, C]`, `ends` `[B, U, C]`, `widths` `[L, C]` and `spans` `[B,
            U, L, C]`, at least one of them with units; numbers or minus infinity. What lies behind
            the units of a window has no influence.
        counts: Units in each window, `[B]`, from 0 to `U`.
        longest: Units in the longest span; read only where neither `widths` nor `spans` says it
            (`L`).
        slice_size: How many numbers of the band `[*, L, C]` may be in memory at a time. It changes
            no result.

    Returns:
        The candidates. Their logits are added in the type of the tables, at least float32.

    Raises:
        ValueError: If names, shapes or counts do not agree, or a logit is NaN or plus infinity.
    """
    windows, most, longest, classes = _check_shape(tables, longest)
    line = _Line.of(tables, _check_counts(counts, windows, most), longest)
    step = max(1, slice_size // (longest * classes))
    parts = [
        _best(line, *line.promising(first, first + step))
        for first in range(0, max(1, len(line.rows)), step)
    ]
    position, width, kind, scores = (np.concatenate(part) for part in zip(*parts, strict=True))
    start = line.units[position]
    spans = np.stack([start, start + width + 1, kind], axis=1)
    return SpanScores(rows=line.rows[position], spans=spans, ranks=scores, scores=scores)


def _check_counts(counts: ArrayLike, windows: int, most: int) -> Ints:
    """Returns the units in each window after a check that they are possible."""
    sizes = np.asarray(counts, dtype=np.int64)
    if sizes.shape != (windows,) or (sizes < 0).any() or (sizes > most).any():
        raise ValueError(
            f"counts must be [{windows}], each from 0 to {most}; got {sizes.shape}: "
            f"{sizes.tolist()}"
        )
    return sizes


def span_distributions(
    tables: Mapping[str, NDArray[Any]], rows: Ints, spans: Ints, *, longest: int, shift: float = 0.0
) -> Floats:
    """Returns the softmax over None and the types of spans that are given.

    Args:
        tables: As in `candidate_spans`.
        rows: The window of each span, `[m]`.
        spans: `(start, end)` in units of the window, `[m, 2]`, half-open, none empty, inside their
            windows, of at most `L` units.
        longest: As in `candidate_spans`.
        shift: Added to the logits of None.

    Returns:
        `[m, C]`, None first; each row sums to 1.

    Raises:
        ValueError: If names or shapes do not agree, or the logits of a span are NaN, plus infinity,
            or all minus infinity.
    """
    _check_shape(tables, longest)
    start, last = spans[:, 0], spans[:, 1] - 1
    place = {
        "starts": (rows, start),
        "ends": (rows, last),
        "widths": (last - start,),
        "spans": (rows, start, last - start),
    }
    kind = _float_type(tables)
    terms = [tables[name][place[name]].astype(kind, copy=False) for name in _AXES if name in tables]
    logits = reduce(np.add, terms).astype(np.float64)
    logits[:, 0] += shift
    peaks = logits.max(axis=1, keepdims=True)
    if not np.isfinite(peaks).all():
        raise ValueError("the logits of a span are NaN, plus infinity or all minus infinity")
    weights = np.exp(logits - peaks)
    shares: Floats = weights / weights.sum(axis=1, keepdims=True)
    return shares


def _float_type(tables: Mapping[str, NDArray[Any]]) -> np.dtype[Any]:
    return np.result_type(np.float32, *(table.dtype for table in tables.values()))


def _check_shape(tables: Mapping[str, NDArray[Any]], longest: int) -> tuple[int, int, int, int]:
    """Returns the sizes `(B, U, L, C)` after a check that all tables agree about them."""
    if not tables.keys() <= _AXES.keys() or not tables.keys() - {"widths"}:
        raise ValueError(
            f"a span head has the tables {', '.join(_AXES)}, one with units at least; got "
            f"{[*tables]}"
        )
    sizes: dict[str, set[int]] = {axis: set() for axis in "BULC"}
    for name, table in tables.items():
        for axis, size in zip(_AXES[name], table.shape, strict=False):
            sizes[axis].add(size)
    sizes["L"] = sizes["L"] or {longest}
    fit = all(table.ndim == len(_AXES[name]) for name, table in tables.items())
    if not fit or any(len(values) != 1 for values in sizes.values()):
        raise _shape_error(tables, longest)
    rows, units, widths, classes = (min(sizes[axis]) for axis in "BULC")
    if widths < 1 or classes < 2:
        raise _shape_error(tables, longest)
    return rows, units, widths, classes


def _shape_error(tables: Mapping[str, NDArray[Any]], longest: int) -> ValueError:
    expected = ", ".join(f"{name} [{', '.join(axes)}]" for name, axes in _AXES.items())
    actual = ", ".join(f"{name} {table.shape}" for name, table in tables.items())
    return ValueError(
        f"tables must be {expected} with one B, U, L >= 1 and C >= 2; got {actual}, longest "
        f"{longest}"
    )


class _Line(msgspec.Struct, frozen=True, kw_only=True, eq=False, dict=True):
    """The units of all windows laid end to end, without the padding; N of them.

    Attributes:
        tables: As given.
        rows: The window of each unit, `[N]`.
        units: Its place there, `[N]`.
        room: Units from it to the end of its window, itself included, `[N]`.
        longest: `L`.
    """

    tables: Mapping[str, NDArray[Any]]
    rows: Ints
    units: Ints
    room: Ints
    longest: int

    @classmethod
    def of(cls, tables: Mapping[str, NDArray[Any]], sizes: Ints, longest: int) -> _Line:
        """Lays the units of windows of these sizes end to end."""
        rows = np.repeat(np.arange(len(sizes)), sizes)
        units = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        room = sizes[rows] - units
        return cls(tables=tables, rows=rows, units=units, room=room, longest=longest)

    @cached_property
    def small(self) -> dict[str, NDArray[Any]]:
        """The tables without the `spans`: `starts` and `ends` `[N, C]`, `widths` `[L, C]`."""
        kind, live = _float_type(self.tables), (self.rows, self.units)
        tables = {name: table for name, table in self.tables.items() if name != "spans"}
        return {
            name: (table if name == "widths" else table[live]).astype(kind, copy=False)
            for name, table in tables.items()
        }

    @cached_property
    def peaks(self) -> dict[str, NDArray[Any]]:
        """The best type in each place of the small tables; the ends prolonged, so that `L` units
        follow each.
        """
        return {
            name: self._prolonged(name, table[:, 1:].max(axis=1))
            for name, table in self.small.items()
        }

    @cached_property
    def nones(self) -> dict[str, NDArray[Any]]:
        """The same places of None."""
        return {name: self._prolonged(name, table[:, 0]) for name, table in self.small.items()}

    def _prolonged(self, name: str, values: NDArray[Any]) -> NDArray[Any]:
        return (
            np.append(values, np.zeros(self.longest, dtype=values.dtype))
            if name == "ends"
            else values
        )

    def promising(self, first: int, stop: int) -> tuple[Ints, Ints]:
        """The spans from the units `first` to `stop` that may be candidates: positions `[m]` and
        widths - 1 `[m]`.

        No type of a span can beat None if not even the sum of the best type of each table does.
        That holds for the rounded sums too, because rounding is monotone and both are added in the
        same order. So two planes `[n, L]` take the place of `C`, and hardly anything but the
        candidates of a trained head is left to be looked at.
        """
        room = self.room[first:stop]
        peaks, nones = self._planes(first, first + len(room))
        # from what a table holds behind the units of a window
        with np.errstate(invalid="ignore", over="ignore"):
            # not where NaN is, which must come to light
            hopeless = reduce(np.add, peaks) <= reduce(np.add, nones)
        hits = np.flatnonzero(~hopeless & (np.arange(self.longest) < room[:, None]))
        position, width = np.divmod(hits, self.longest)
        return position + first, width

    def _planes(self, first: int, stop: int) -> tuple[list[NDArray[Any]], list[NDArray[Any]]]:
        """Returns the terms of both sums, each broadcasting to `[n, L]`."""
        peaks, nones = ([*self._terms(values, first, stop)] for values in (self.peaks, self.nones))
        if "spans" in self.tables:
            block = self.tables["spans"][self.rows[first:stop], self.units[first:stop]]
            block = np.moveaxis(block.astype(_float_type(self.tables), copy=False), -1, 0)
            peaks.append(reduce(np.maximum, block[1:]))
            nones.append(block[0])
        return peaks, nones

    def _terms(
        self, values: dict[str, NDArray[Any]], first: int, stop: int
    ) -> Iterator[NDArray[Any]]:
        if "starts" in values:
            yield values["starts"][first:stop, None]
        if "ends" in values:
            yield sliding_window_view(values["ends"], self.longest)[first:stop]
        if "widths" in values:
            yield values["widths"]

    def logits(self, position: Ints, width: Ints) -> NDArray[Any]:
        """Returns the logits `[m, C]` of the spans with these first units and widths - 1."""
        place = {"starts": position, "ends": position + width, "widths": width}
        terms = [
            np.take(self.small[name], where, axis=0)
            for name, where in place.items()
            if name in self.small
        ]
        if "spans" in self.tables:
            block = self.tables["spans"][self.rows[position], self.units[position], width]
            terms.append(block.astype(_float_type(self.tables), copy=False))
        return reduce(np.add, terms)


def _best(line: _Line, position: Ints, width: Ints) -> tuple[Ints, Ints, Ints, Floats]:
    """Returns the spans whose best class is a type: positions, widths - 1, types and
    probabilities, `[m]` each.
    """
    logits = line.logits(position, width)
    if not (logits < np.inf).all():
        raise ValueError(
            "the score tables of a span head hold NaN or plus infinity; the model that made them "
            "is broken"
        )
    kind = logits[:, 1:].argmax(axis=1)
    best = np.take_along_axis(logits, kind[:, None] + 1, axis=1)
    keep = np.flatnonzero(best[:, 0] > logits[:, 0])
    below = logits[keep].astype(np.float64) - best[keep]
    return position[keep], width[keep], kind[keep], 1 / np.exp(below).sum(axis=1)


def match_spans(
    tables: Mapping[str, NDArray[Any]], counts: ArrayLike, *, shift: ArrayLike = 0.0
) -> SpanScores:
    """Finds the pairs whose score is above the threshold.

    Args:
        tables: `spans` `[B, U, L, K]` by first unit and units - 1, and `span_threshold` `[B, K]`,
            without which all thresholds are 0. With `starts` and `ends` `[B, U, K]`, and then
            `start_threshold` and `end_threshold` `[B, K]` too, a span also needs a start and an end
            that are not below theirs. What lies behind the units of a window has no influence.
        counts: Units in each window, `[B]`, from 0 to `U`.
        shift: Added to the thresholds of spans; one number, or `[K]`.

    Raises:
        ValueError: If names, shapes or counts do not agree, or the score of a span is NaN.
    """
    _check_tables(tables)
    spans = tables["spans"]
    rows, units, longest, _ = spans.shape
    sizes = _check_counts(counts, rows, units)
    limits = _limits(tables, shift)
    room = sizes[:, None] - np.arange(units)
    inside = np.arange(longest) < room[:, :, None]
    if np.isnan(spans[inside]).any() or np.isnan(limits).any():
        raise ValueError("the score of a span or of a threshold is NaN")
    hits = (spans > limits[:, None, None]) & inside[..., None] & _joint_hits(tables, longest)
    row, start, width, kind = np.nonzero(hits)
    ranks = spans[hits].astype(np.float64)
    triples = np.stack([start, start + width + 1, kind], axis=1)
    return SpanScores(
        rows=row, spans=triples, ranks=ranks, scores=margin_scores(ranks - limits[row, kind])
    )


def _limits(tables: Mapping[str, NDArray[Any]], shift: ArrayLike) -> NDArray[Any]:
    """Returns the threshold of each type in each window, `[B, K]`."""
    spans = tables["spans"]
    zeros = np.zeros((spans.shape[0], spans.shape[3]), dtype=spans.dtype)
    limits: NDArray[Any] = tables.get("span_threshold", zeros) + np.asarray(shift, spans.dtype)
    return limits


def _joint_hits(tables: Mapping[str, NDArray[Any]], longest: int) -> Bools:
    """Returns which spans have a start and an end not below the thresholds, to be broadcast."""
    if "starts" not in tables:
        return np.ones((1, 1, 1, 1), dtype=np.bool_)
    starts = tables["starts"] >= tables["start_threshold"][:, None]
    ends = tables["ends"] >= tables["end_threshold"][:, None]
    return np.asarray(starts[:, :, None] & _by_last(ends, longest))


def match_distributions(
    tables: Mapping[str, NDArray[Any]], rows: Ints, spans: Ints, *, shift: ArrayLike = 0.0
) -> Floats:
    """Returns probabilities of a bi-encoder for each type of given spans: one logistic number each,
    no distribution.

    The types do not compete, so the numbers of a span may sum to anything from 0 to `K`; that of
    none is the product of what each type leaves, as if the types were independent. Starts and ends
    have no part in it.

    Args:
        tables: As in `match_spans`.
        rows: The window of each span, `[m]`.
        spans: `(start, end)` in units of the window, `[m, 2]`, half-open, none empty, inside their
            windows, of at most `L` units.
        shift: Added to the thresholds of spans; one number, or `[K]`.

    Returns:
        `[m, 1 + K]`, none first.

    Raises:
        ValueError: If names or shapes do not agree, or the score of a span is NaN.
    """
    table = tables["spans"]
    _check_tables(tables)
    limits = _limits(tables, shift)
    margins = (
        table[rows, spans[:, 0], spans[:, 1] - spans[:, 0] - 1].astype(np.float64) - limits[rows]
    )
    if np.isnan(margins).any():
        raise ValueError("the score of a span or of a threshold is NaN")
    none = -np.logaddexp(0.0, margins).sum(axis=1)
    numbers: Floats = np.exp(np.column_stack([none, -np.logaddexp(0.0, -margins)]))
    return numbers


def margin_scores(margins: Floats) -> Floats:
    """Returns a number above 0.5 and below 1 for each margin above 0."""
    return 1.0 / (1.0 + np.exp(-margins))


def _by_last(ends: Bools, longest: int) -> Bools:
    """Rearranges values of last units `[B, U, K]` by first unit and units - 1, `[B, U, L, K]`."""
    units = ends.shape[1]
    padded = np.pad(ends, ((0, 0), (0, longest), (0, 0)))
    values: Bools = padded[:, np.arange(units)[:, None] + np.arange(longest)]
    return values


def _check_tables(tables: Mapping[str, NDArray[Any]]) -> None:
    spans = tables.get("spans")
    if spans is None or spans.ndim != 4:
        raise ValueError(f"a bi-encoder has the table spans [B, U, L, K]; got {', '.join(tables)}")
    rows, units, _, kinds = spans.shape
    expected: dict[str, tuple[int, ...]] = {
        "starts": (rows, units, kinds),
        "ends": (rows, units, kinds),
    }
    expected |= {f"{name}_threshold": (rows, kinds) for name in ("start", "end", "span")}
    joint = [name for name in tables if name.startswith(("start", "end"))]
    wrong = {
        name: table.shape
        for name, table in tables.items()
        if name != "spans" and table.shape != expected.get(name)
    }
    if wrong or len(joint) not in (0, 4):
        actual = ", ".join(f"{name} {table.shape}" for name, table in tables.items())
        raise ValueError(f"the tables of a bi-encoder do not agree: {actual}")
