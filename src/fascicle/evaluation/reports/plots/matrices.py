"""Matrices of confused types: counts in the cells of one system; differences of two systems as a
heat map.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fascicle.core.arrays import Floats, Ints
from fascicle.evaluation.report_parts import Errors, Report, SystemPart
from fascicle.evaluation.reports.page.html import points
from fascicle.evaluation.reports.plots.canvas import (
    MOST_VECTORS,
    Drawing,
    PictureLabels,
    make_labels,
    style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase
    from matplotlib.patches import Rectangle

_MOST_TYPES: Final = 12
_NOTHING: Final = "(nothing)"
_OTHERS: Final = "(others)"
_SAME_TYPE: Final = (
    "merged",
    "split",
    "boundary-left",
    "boundary-right",
    "boundary-both",
    "boundary-inside",
)


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Predictions by their type and by what the gold has there.

    Attributes:
        types: of the rows and columns.
        counts: shape ``[types + 1, types + 1]``: gold type by predicted type. The diagonal holds
            the predictions that are right; the last row those where the gold has nothing, the last
            column gold mentions where nothing was predicted.
        near: shape ``[types]``: predictions of the right type at other characters than their gold
            mention.

    Over the rows, and with ``near``, a column adds up to the predictions of its type, unless rare
    pairs of types are left out of the report.
    """

    types: tuple[str, ...]
    counts: Ints
    near: Ints


def _most_frequent_first(rows: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the types of a table of scores, ordered by their mentions in the gold."""
    return tuple(
        sorted(rows, key=lambda name: (-rows[name]["gold"], -rows[name]["predicted"], name))
    )


def confusion_matrix(system: SystemPart) -> Matrix:
    """Returns the matrix of one system.

    Args:
        system: an entry of ``"systems"`` of a report.
    """
    strict, errors = system["scores"]["rules"]["strict"]["types"], system["errors"]
    types = _most_frequent_first(strict)
    places = {name: at for at, name in enumerate(types)}
    counts = np.zeros((len(types) + 1, len(types) + 1), dtype=np.int64)
    near = np.zeros(len(types), dtype=np.int64)
    for name, at in places.items():
        counts[at, at] = strict[name]["tp"]
        near[at] = sum(_count_errors(errors, kind, name)[0] for kind in _SAME_TYPE)
        counts[-1, at] = _count_errors(errors, "spurious", name)[0]
        counts[at, -1] = _count_errors(errors, "missed", name)[1]
    for row in errors["confusions"]:
        cell = places[row["gold"]], places[row["predicted"]]
        counts[cell] += row["same_span"] + row["overlapping"]
    return Matrix(types=types, counts=counts, near=near)


def _count_errors(errors: Errors, kind: str, name: str) -> Sequence[int]:
    """Returns the false positives and false negatives of a type in a class of errors."""
    return errors["classes"][kind]["types"].get(name, (0, 0))


def fold_last_types(matrix: Matrix, *, at_most: int = _MOST_TYPES) -> Matrix:
    """Returns the matrix with its last types taken together as one, so that it has at most so
    many.
    """
    if len(matrix.types) <= at_most:
        return matrix
    last = at_most - 1
    group = [min(at, last) for at in range(len(matrix.types))] + [at_most]
    sums = np.zeros((at_most + 1, len(group)), dtype=np.int64)
    np.add.at(sums, group, matrix.counts)
    counts = np.zeros((at_most + 1, at_most + 1), dtype=np.int64)
    np.add.at(counts.T, group, sums.T)
    # Among the types taken together, those taken for one another are not right.
    right = matrix.counts.diagonal()[last:-1].sum()
    near = np.append(matrix.near[:last], matrix.near[last:].sum() + counts[last, last] - right)
    counts[last, last] = right
    return Matrix(types=(*matrix.types[:last], _OTHERS), counts=counts, near=near)


def draw_confusion(system: SystemPart) -> Drawing:
    """Returns the matrix of a system as a picture, with at most twelve types."""
    whole = confusion_matrix(system)
    if not whole.types:
        return Drawing(missing="there is no mention, so there is no type")
    matrix = fold_last_types(whole)
    names = make_labels(matrix.types, kind="type")
    notes = list(names.notes)
    if len(whole.types) > len(matrix.types):
        rest = len(whole.types) - len(matrix.types) + 1
        notes.append(
            f"{_OTHERS}: {rest} rarer types taken together, after + also those taken for one "
            "another."
        )
    if system["errors"]["more_confusions"]:
        notes.append("Rare pairs of types, which the report leaves out, are not in it.")
    size = len(matrix.types) + 1
    longest = max(len(name) for name in (*names.names, _NOTHING))
    cell = 0.78 if size < 7 else 0.56
    return Drawing(
        title="Gold types by predicted types",
        width=max(3.6, 0.5 + 0.075 * longest + cell * size),
        height=0.9 + 0.36 * size + 0.03 * longest,
        draw=partial(_draw, matrix=matrix, names=names.names),
        notes=tuple(notes),
    )


def _draw(figure: FigureBase, *, matrix: Matrix, names: Sequence[str]) -> None:
    size = len(names) + 1
    ticks = (*names, _NOTHING)
    axes = figure.add_subplot()
    shares = matrix.counts / np.maximum(matrix.counts.sum(axis=1, keepdims=True), 1)
    axes.imshow(
        shares, cmap="Greys", vmin=0, vmax=1.25, aspect="auto", rasterized=size**2 > MOST_VECTORS
    )
    _numbers(axes, matrix, shares)
    turned = max(map(len, ticks)) > 9 or size > 6
    axes.set_xticks(
        range(size),
        ticks,
        rotation=40 if turned else 0,
        ha="right" if turned else "center",
        fontsize=8,
    )
    axes.set_yticks(range(size), ticks, fontsize=8)
    axes.axhline(size - 1.5, color="#59616b", linewidth=0.8)
    axes.axvline(size - 1.5, color="#59616b", linewidth=0.8)
    axes.set_xlabel("predicted")
    axes.set_ylabel("gold")
    axes.grid(visible=False)
    axes.tick_params(length=0)


def _numbers(axes: Axes, matrix: Matrix, shares: Floats) -> None:
    size = len(matrix.types) + 1
    small = 8 if size < 7 else 6
    for row in range(size):
        for column in range(size):
            if row == column == size - 1:
                continue
            count = int(matrix.counts[row, column])
            colour = "white" if shares[row, column] > 0.55 else "black" if count else "#8a9099"
            near = f"\n+ {matrix.near[row]:,}" if row == column and matrix.near[row] else ""
            axes.text(
                column,
                row,
                f"{count:,}{near}",
                ha="center",
                va="center",
                fontsize=small,
                color=colour,
            )


_LEAST: Final = 0.01  # share of the gold that a bucket needs to count for the colour scale
_STRONGEST: Final = 0.62  # of a colour, so that black numbers can be read on it
_Grid = list[
    list[tuple[str, float | None]]
]  # for each attribute its intervals, each with the difference


def heat_maps(report: Report, names: PictureLabels) -> dict[str, Drawing]:
    """Returns a map for each system after the first: attributes below each other, their intervals
    side by side.

    The same difference has the same colour in all maps of a report.

    Args:
        report: the value of ``fascicle.evaluation.report.build_report``.
        names: of the systems.

    Returns:
        ``"differences-N"`` -> its picture.
    """
    attributes = {
        name: attribute["title"]
        for name, attribute in report["attributes"].items()
        if "undefined" not in attribute
    }
    first, *rest = report["systems"]
    baseline = [first["buckets"][name] for name in attributes]
    grids = [_grid(system, first, attributes) for system in rest]
    full = _full_colour(grids, baseline, gold=report["gold"]["mentions"])
    titles = list(attributes.values())
    return {
        f"differences-{number}": _heat_map(
            grid,
            titles=titles,
            full=full,
            title=f"F1 of {names.names[number]} less that of {names.names[0]} in each bucket",
        )
        for number, grid in enumerate(grids, start=1)
    }


def _heat_map(grid: _Grid, *, titles: Sequence[str], full: float, title: str) -> Drawing:
    if all(gap is None for line in grid for _, gap in line):
        return Drawing(missing="all attributes are undefined, or their buckets empty")
    return Drawing(
        title=title,
        width=1.75 + 0.75 * max(map(len, grid)),
        height=0.25 + 0.44 * len(grid),
        draw=partial(_draw_heat, titles=titles, grid=grid, full=full),
        notes=(
            f"The colour is strongest from {100 * full:.2f} points on; – is undefined, or a "
            "bucket without gold.",
        ),
    )


def _grid(system: SystemPart, baseline: SystemPart, attributes: Iterable[str]) -> _Grid:
    return [_gaps(system["buckets"][name], baseline["buckets"][name]) for name in attributes]


def _gaps(
    of: Sequence[Mapping[str, Any]], baseline: Sequence[Mapping[str, Any]]
) -> list[tuple[str, float | None]]:
    """Returns the intervals of an attribute, each with the F1 of one system less that of
    another.
    """
    pairs = [
        (a["interval"], a["gold"], a["f1"], b["f1"]) for a, b in zip(of, baseline, strict=True)
    ]
    return [
        (interval, None if not gold or None in (a, b) else a - b) for interval, gold, a, b in pairs
    ]


def _full_colour(
    grids: Sequence[_Grid], baseline: Sequence[Sequence[Mapping[str, Any]]], *, gold: int
) -> float:
    """Returns the difference from which on the colour is strongest: the largest in a bucket that is
    not tiny.
    """
    counts = [bucket["gold"] for row in baseline for bucket in row]
    largest = 0.001
    for grid in grids:
        gaps = [gap for line in grid for _, gap in line]
        for gap, count in zip(gaps, counts, strict=True):
            if gap is not None and count >= _LEAST * gold:
                largest = max(largest, abs(gap))
    return largest


def _draw_heat(figure: FigureBase, *, titles: Sequence[str], grid: _Grid, full: float) -> None:
    columns = max(map(len, grid))
    axes = figure.add_subplot()
    pixels = len(grid) * columns > MOST_VECTORS
    for line, row in enumerate(grid):
        for column, (interval, gap) in enumerate(row):
            _cell(axes, (column, line), gap, full=full, pixels=pixels)
            axes.text(
                column,
                line + 0.26,
                interval,
                ha="center",
                va="center",
                fontsize=6.6,
                color="#30363d",
            )
    axes.set_xlim(-0.5, columns - 0.5)
    axes.set_ylim(len(grid) - 0.5, -0.5)
    axes.set_yticks(range(len(grid)), titles, fontsize=8.5)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def _cell(
    axes: Axes, place: tuple[int, int], gap: float | None, *, full: float, pixels: bool
) -> None:
    """Draws a difference, with a hatched left edge where the system is worse."""
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Rectangle

    column, line = place
    strength = 0.0 if gap is None else _STRONGEST * min(1.0, abs(gap) / full)
    colour = to_rgb(style(0 if gap is None or gap >= 0 else 1).colour)
    face = tuple(1 - strength * (1 - part) for part in colour)
    label = "–" if gap is None else points(gap)
    worse = label.startswith("\u2212")
    axes.add_patch(
        Rectangle(
            (column - 0.5, line - 0.5), 1, 1,
            facecolor=face, edgecolor="white", linewidth=1.5, rasterized=pixels,
        )
    )  # fmt: skip
    if worse:
        axes.add_patch(_stroke(column, line, pixels=pixels))
    weight = "bold" if worse else "normal"
    axes.text(column, line - 0.12, label, ha="center", va="center", fontsize=9, fontweight=weight)


def _stroke(column: int, line: int, *, pixels: bool) -> Rectangle:
    """Returns a stroke along the left edge of a cell, which is seen without colour too."""
    from matplotlib.patches import Rectangle

    return Rectangle(
        (column - 0.48, line - 0.46), 0.05, 0.92,
        facecolor="white", edgecolor=style(1).colour, hatch="/////",
        linewidth=0.5, rasterized=pixels,
    )  # fmt: skip
