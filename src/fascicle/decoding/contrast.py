"""Scores of a bi-encoder into spans: every pair of a span and a type that exceeds the threshold of the type.

The rule is Algorithm 1 of *binder*, without the choice among overlapping spans, which is `decoding.selection`. With it
a span exceeds its threshold strictly; its first and last unit, where they are asked too, need only reach theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fascicle.core.arrays import Bools, Floats, Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class Matches:
    """Pairs of a span and a type, nested and crossing spans included, in order of row, start, end and type.

    Attributes:
        rows: The window of each, `[m]`.
        spans: `(start, end, type index)` in units of the window, `[m, 3]`, half-open.
        scores: Of the spans, as they are, `[m]`.
        margins: By how much they exceed the threshold, `[m]`, above 0.
    """

    rows: Ints
    spans: Ints
    scores: Floats
    margins: Floats


def matches(tables: Mapping[str, NDArray[Any]], counts: ArrayLike, *, shift: ArrayLike = 0.0) -> Matches:
    """Find the pairs whose score is above the threshold.

    Args:
        tables: `spans` `[B, U, L, K]` by first unit and units - 1, and `span_threshold` `[B, K]`, without which all
            thresholds are 0. With `starts` and `ends` `[B, U, K]`, and then `start_threshold` and `end_threshold`
            `[B, K]` too, a span also needs a start and an end that are not below theirs. What lies behind the units of
            a window has no influence.
        counts: Units in each window, `[B]`, from 0 to `U`.
        shift: Added to the thresholds of spans; one number, or `[K]`.

    Raises:
        ValueError: If names, shapes or counts do not agree, or the score of a span is NaN.
    """
    sizes = np.asarray(counts, dtype=np.int64)
    _check(tables, sizes)
    spans = tables["spans"]
    rows, units, longest, kinds = spans.shape
    limits = tables.get("span_threshold", np.zeros((rows, kinds), dtype=spans.dtype)) + np.asarray(shift, spans.dtype)
    room = sizes[:, None] - np.arange(units)
    inside = np.arange(longest) < room[:, :, None]
    if np.isnan(spans[inside]).any() or np.isnan(limits).any():
        raise ValueError("the score of a span or of a threshold is NaN")
    found = (spans > limits[:, None, None]) & inside[..., None]
    if "starts" in tables:
        found &= (tables["starts"] >= tables["start_threshold"][:, None])[:, :, None]
        found &= _by_last(tables["ends"] >= tables["end_threshold"][:, None], longest)
    row, start, width, kind = np.nonzero(found)
    scores = spans[found].astype(np.float64)
    return Matches(
        rows=row,
        spans=np.stack([start, start + width + 1, kind], axis=1),
        scores=scores,
        margins=scores - limits[row, kind],
    )


def match_distributions(
    tables: Mapping[str, NDArray[Any]], rows: Ints, spans: Ints, *, shift: ArrayLike = 0.0
) -> Floats:
    """How sure a bi-encoder is of each type of spans that are given: one logistic number for each, no distribution.

    The types do not compete, so the numbers of a span may sum to anything from 0 to `K`; that of none is the product of
    what each type leaves, as if the types were independent. Starts and ends have no part in it.

    Args:
        tables: As in `matches`.
        rows: The window of each span, `[m]`.
        spans: `(start, end)` in units of the window, `[m, 2]`, half-open, none empty, inside their windows, of at most
            `L` units.
        shift: Added to the thresholds of spans; one number, or `[K]`.

    Returns:
        `[m, 1 + K]`, none first.

    Raises:
        ValueError: If names or shapes do not agree, or the score of a span is NaN.
    """
    table = tables["spans"]
    _check(tables, np.zeros(len(table), dtype=np.int64))
    limits = tables.get("span_threshold", np.zeros((len(table), table.shape[3]), dtype=table.dtype))
    limits = limits + np.asarray(shift, table.dtype)
    margins = table[rows, spans[:, 0], spans[:, 1] - spans[:, 0] - 1].astype(np.float64) - limits[rows]
    if np.isnan(margins).any():
        raise ValueError("the score of a span or of a threshold is NaN")
    none = -np.logaddexp(0.0, margins).sum(axis=1)
    found: Floats = np.exp(np.column_stack([none, -np.logaddexp(0.0, -margins)]))
    return found


def logistic(margins: Floats) -> Floats:
    """A number above 0.5 and below 1 for each margin above 0."""
    return 1.0 / (1.0 + np.exp(-margins))


def _by_last(ends: Bools, longest: int) -> Bools:
    """What is said of last units `[B, U, K]` by first unit and units - 1, `[B, U, L, K]`."""
    units = ends.shape[1]
    padded = np.pad(ends, ((0, 0), (0, longest), (0, 0)))
    found: Bools = padded[:, np.arange(units)[:, None] + np.arange(longest)]
    return found


def _check(tables: Mapping[str, NDArray[Any]], sizes: Ints) -> None:
    spans = tables.get("spans")
    if spans is None or spans.ndim != 4:
        raise ValueError(f"a bi-encoder has the table spans [B, U, L, K]; got {', '.join(tables)}")
    rows, units, _, kinds = spans.shape
    wanted: dict[str, tuple[int, ...]] = {"starts": (rows, units, kinds), "ends": (rows, units, kinds)}
    wanted |= {f"{name}_threshold": (rows, kinds) for name in ("start", "end", "span")}
    joint = [name for name in tables if name.startswith(("start", "end"))]
    wrong = {name: table.shape for name, table in tables.items() if name != "spans" and table.shape != wanted.get(name)}
    if wrong or len(joint) not in (0, 4):
        given = ", ".join(f"{name} {table.shape}" for name, table in tables.items())
        raise ValueError(f"the tables of a bi-encoder do not agree: {given}")
    if sizes.shape != (rows,) or (sizes < 0).any() or (sizes > units).any():
        raise ValueError(f"counts must be [{rows}], each from 0 to {units}; got {sizes.shape}: {sizes.tolist()}")
