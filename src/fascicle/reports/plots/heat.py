"""Heat maps of what one system has over another in each bucket, like *bundling-learning*, Table 6."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from fascicle.evaluation.report_parts import Report
from fascicle.reports.page.html import points
from fascicle.reports.plots.canvas import MOST_VECTORS, style
from fascicle.reports.plots.drawing import Drawing
from fascicle.reports.plots.labels import Labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

_LEAST: Final = 0.01  # share of the gold that a bucket needs to have a say in how strong colours are
_STRONGEST: Final = 0.62  # of a colour, so that black numbers can be read on it
_Grid = list[list[tuple[str, float | None]]]  # for each attribute its intervals, each with the difference


def heat_maps(report: Report, names: Labels) -> dict[str, Drawing]:
    """A map for each system after the first: attributes below each other, their intervals side by side.

    The same difference has the same colour in all maps of a report.

    Args:
        report: the value of ``fascicle.evaluation.report.build_report``.
        names: of the systems.

    Returns:
        ``"differences-N"`` -> its picture.
    """
    shown = [name for name, attribute in report["attributes"].items() if "undefined" not in attribute]
    titles = [report["attributes"][name]["title"] for name in shown]
    baseline, *others = ([one["buckets"][name] for name in shown] for one in report["systems"])
    grids = [[_gaps(*rows) for rows in zip(one, baseline, strict=True)] for one in others]
    full = _full_colour(grids, baseline, gold=report["gold"]["mentions"])
    drawn = {}
    for at, grid in enumerate(grids, start=1):
        if all(gap is None for line in grid for _, gap in line):
            drawn[f"differences-{at}"] = Drawing(missing="all attributes are undefined, or their buckets empty")
            continue
        drawn[f"differences-{at}"] = Drawing(
            title=f"F1 of {names.names[at]} less that of {names.names[0]} in each bucket",
            width=1.75 + 0.75 * max(map(len, grid)),
            height=0.25 + 0.44 * len(grid),
            draw=partial(_draw, titles=titles, grid=grid, full=full),
            notes=(
                f"The colour is strongest from {100 * full:.2f} points on; – is undefined, or a bucket without gold.",
            ),
        )
    return drawn


def _gaps(of: Sequence[Mapping[str, Any]], baseline: Sequence[Mapping[str, Any]]) -> list[tuple[str, float | None]]:
    """The intervals of an attribute, each with the F1 of one system less that of another."""
    pairs = [(a["interval"], a["gold"], a["f1"], b["f1"]) for a, b in zip(of, baseline, strict=True)]
    return [(interval, None if not gold or None in (a, b) else a - b) for interval, gold, a, b in pairs]


def _full_colour(grids: Sequence[_Grid], baseline: Sequence[Sequence[Mapping[str, Any]]], *, gold: int) -> float:
    """The difference from which on the colour is strongest: the largest in a bucket that is not tiny."""
    counts = [bucket["gold"] for row in baseline for bucket in row]
    known = [
        (abs(gap), count)
        for grid in grids
        for gap, count in zip((gap for line in grid for _, gap in line), counts, strict=True)
        if gap is not None
    ]
    largest = max((gap for gap, count in known if count >= _LEAST * gold), default=0.0)
    return max(largest, 0.001)


def _draw(figure: FigureBase, *, titles: Sequence[str], grid: _Grid, full: float) -> None:
    columns = max(map(len, grid))
    axes = figure.add_subplot()
    pixels = len(grid) * columns > MOST_VECTORS
    for line, row in enumerate(grid):
        for column, (interval, gap) in enumerate(row):
            _cell(axes, (column, line), gap, full=full, pixels=pixels)
            axes.text(column, line + 0.26, interval, ha="center", va="center", fontsize=6.6, color="#30363d")
    axes.set_xlim(-0.5, columns - 0.5)
    axes.set_ylim(len(grid) - 0.5, -0.5)
    axes.set_yticks(range(len(grid)), titles, fontsize=8.5)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def _cell(axes: Axes, place: tuple[int, int], gap: float | None, *, full: float, pixels: bool) -> None:
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Rectangle

    column, line = place
    strength = 0.0 if gap is None else _STRONGEST * min(1.0, abs(gap) / full)
    colour = to_rgb(style(0 if gap is None or gap >= 0 else 1).colour)
    face = tuple(1 - strength * (1 - part) for part in colour)
    worse = gap is not None and points(gap).startswith("\u2212")
    axes.add_patch(
        Rectangle(
            (column - 0.5, line - 0.5), 1, 1,
            facecolor=face, edgecolor="white", linewidth=1.5, rasterized=pixels,
        )
    )  # fmt: skip
    if worse:  # a stroke along the left edge, which is there without colour too
        axes.add_patch(
            Rectangle(
                (column - 0.48, line - 0.46), 0.05, 0.92,
                facecolor="white", edgecolor=style(1).colour, hatch="/////", linewidth=0.5, rasterized=pixels,
            )
        )  # fmt: skip
    told = "–" if gap is None else points(gap)
    axes.text(column, line - 0.12, told, ha="center", va="center", fontsize=9, fontweight="bold" if worse else "normal")
