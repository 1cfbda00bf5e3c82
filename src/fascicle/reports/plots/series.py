"""Several systems in one picture: how each looks, how many can be told apart, and their names below it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from fascicle.reports.plots.canvas import STYLES, style
from fascicle.reports.plots.drawing import Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

MOST_SERIES: Final = 2 * len(STYLES)  # each look once with filled and once with open marks


def look(number: int) -> dict[str, Any]:
    """The look of a series of points that a line joins."""
    found = style(number)
    face = found.colour if number < len(STYLES) else "white"
    return {"color": found.colour, "marker": found.marker, "linestyle": found.line, "markerfacecolor": face}


def too_many(series: int) -> Drawing | None:
    """What stands for a picture of more systems than one can show."""
    if series <= MOST_SERIES:
        return None
    return Drawing(missing=f"{series} systems cannot be told apart in one picture, {MOST_SERIES} can")


def legend(figure: FigureBase, axes: Axes, names: Iterable[str], *, count: int) -> None:
    """Names of the series below the picture, if there are several."""
    if count < 2:
        return
    listed = list(names)
    columns = max(1, min(count, 58 // (max(map(len, listed)) + 8)))
    handles = [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
    figure.legend(handles, listed, loc="outside lower center", ncols=columns, fontsize=8, handlelength=3.2)
