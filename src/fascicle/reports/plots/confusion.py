"""Which types a system takes for which: a matrix with its counts in the cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from fascicle.core.arrays import Floats, Ints
from fascicle.evaluation.report_parts import System
from fascicle.reports.plots.canvas import MOST_VECTORS
from fascicle.reports.plots.drawing import Drawing
from fascicle.reports.plots.labels import labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

_MOST_TYPES: Final = 12
_NOTHING: Final = "(nothing)"
_OTHERS: Final = "(others)"
_SAME_TYPE: Final = ("merged", "split", "boundary-left", "boundary-right", "boundary-both", "boundary-inside")


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Predictions by their type and by what the gold has there.

    Attributes:
        types: of the rows and columns.
        counts: shape ``[types + 1, types + 1]``: gold type by predicted type. The diagonal holds the predictions that
            are right; the last row those where the gold has nothing, the last column gold mentions where nothing was
            predicted.
        near: shape ``[types]``: predictions of the right type at other characters than their gold mention.

    Over the rows, and with ``near``, a column adds up to the predictions of its type, unless rare pairs of types are
    left out of the report.
    """

    types: tuple[str, ...]
    counts: Ints
    near: Ints


def confusion_matrix(system: System) -> Matrix:
    """The matrix of one system.

    Args:
        system: an entry of ``"systems"`` of a report.
    """
    strict, errors = system["scores"]["rules"]["strict"]["types"], system["errors"]
    types = tuple(sorted(strict, key=lambda name: (-strict[name]["gold"], -strict[name]["predicted"], name)))
    place = {name: at for at, name in enumerate(types)}
    counts = np.zeros((len(types) + 1, len(types) + 1), dtype=np.int64)
    near = np.zeros(len(types), dtype=np.int64)
    for name, at in place.items():
        counts[at, at] = strict[name]["tp"]
        near[at] = sum(errors["classes"][kind]["types"].get(name, (0, 0))[0] for kind in _SAME_TYPE)
        counts[-1, at] = errors["classes"]["spurious"]["types"].get(name, (0, 0))[0]
        counts[at, -1] = errors["classes"]["missed"]["types"].get(name, (0, 0))[1]
    for row in errors["confusions"]:
        counts[place[row["gold"]], place[row["predicted"]]] += row["same_span"] + row["overlapping"]
    return Matrix(types=types, counts=counts, near=near)


def folded(matrix: Matrix, *, at_most: int = _MOST_TYPES) -> Matrix:
    """The matrix with its last types taken together as one, so that it has at most so many."""
    if len(matrix.types) <= at_most:
        return matrix
    kept = at_most - 1
    group = [min(at, kept) for at in range(len(matrix.types))] + [at_most]
    sums = np.zeros((at_most + 1, len(group)), dtype=np.int64)
    np.add.at(sums, group, matrix.counts)
    counts = np.zeros((at_most + 1, at_most + 1), dtype=np.int64)
    np.add.at(counts.T, group, sums.T)
    # Among the types taken together, those taken for one another are not right.
    right = matrix.counts.diagonal()[kept:-1].sum()
    near = np.append(matrix.near[:kept], matrix.near[kept:].sum() + counts[kept, kept] - right)
    counts[kept, kept] = right
    return Matrix(types=(*matrix.types[:kept], _OTHERS), counts=counts, near=near)


def confusion(system: System) -> Drawing:
    """The matrix of a system as a picture, with at most twelve types."""
    whole = confusion_matrix(system)
    if not whole.types:
        return Drawing(missing="there is no mention, so there is no type")
    matrix = folded(whole)
    names = labels(matrix.types, kind="type")
    notes = list(names.notes)
    if len(whole.types) > len(matrix.types):
        rest = len(whole.types) - len(matrix.types) + 1
        notes.append(f"{_OTHERS}: {rest} rarer types taken together, after + also those taken for one another.")
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
    axes.imshow(shares, cmap="Greys", vmin=0, vmax=1.25, aspect="auto", rasterized=size**2 > MOST_VECTORS)
    _numbers(axes, matrix, shares)
    turned = max(map(len, ticks)) > 9 or size > 6
    axes.set_xticks(range(size), ticks, rotation=40 if turned else 0, ha="right" if turned else "center", fontsize=8)
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
            axes.text(column, row, f"{count:,}{near}", ha="center", va="center", fontsize=small, color=colour)
