"""A picture that is not drawn yet: for a page, for a file of its own, or beside others on one sheet; its series."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from fascicle.evaluation.reports.page.html import Picture
from fascicle.evaluation.reports.plots.canvas import STYLES, sheet, style, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

_WIDEST: Final = 11.0  # inches of a sheet with several pictures
_TITLE: Final = 0.3  # inches of a line of a title
_LETTERS: Final = 13  # of a title in an inch
_SMALL_LETTERS: Final = 15  # of the words on how to read it


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """Drawing and its size in print; or the reason why there is nothing to draw.

    Attributes:
        title: what it shows, for readers who cannot see it.
        width: of the sheet in inches.
        height: of the sheet in inches.
        draw: on a sheet, or a part of one, of this size; ``None`` if there is no picture.
        missing: why there is none.
        notes: what else is to be said about it, a sentence each.
    """

    title: str = ""
    width: float = 0.0
    height: float = 0.0
    draw: Callable[[FigureBase], None] | None = None
    missing: str = ""
    notes: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """The notes, one after the other."""
        return " ".join(self.notes)

    def picture(self) -> Picture:
        """It as a part of a page.

        Raises:
            MissingExtraError: Matplotlib is not installed.
        """
        if self.draw is None:
            return Picture(missing=self.missing)
        with sheet(width=self.width, height=self.height) as figure:
            self.draw(figure)
            return Picture(svg=svg(figure, title=self.title), notes=self.notes)


def side_by_side(named: Sequence[tuple[str, Drawing]], *, key: str = "") -> Drawing:
    """Joins several drawings, each under its name, row by row; what cannot be drawn is left out and noted.

    Args:
        named: at least one; of an empty name nothing is written.
        key: how to read all of them, written below.

    Returns:
        One without a picture if none of them has one.
    """
    shown = [(name, one, one.draw) for name, one in named if one.draw is not None]
    bare = [(name, one.missing) for name, one in named if one.draw is None]
    if not shown:
        reasons = {f"{name}: {why}" if name else why for name, why in bare}
        return Drawing(missing="; ".join(sorted(reasons)))
    width = max(one.width for _, one, _ in shown)
    across = max(1, min(len(shown), int(_WIDEST / width)))
    titles = [textwrap.fill(name, int(_LETTERS * width)) for name, _, _ in shown]
    high = [one.height + _TITLE * (title.count("\n") + 1) for (_, one, _), title in zip(shown, titles, strict=True)]
    heights = [max(high[at : at + across]) for at in range(0, len(high), across)]
    below = textwrap.fill(key, int(_SMALL_LETTERS * width * across))

    def draw(figure: FigureBase) -> None:
        parts = figure.subfigures(len(heights), across, squeeze=False, height_ratios=heights)
        for part, (_, _, drawn), title in zip(parts.flat, shown, titles, strict=False):
            drawn(part)
            if title:
                part.suptitle(title, fontsize=9)
        if below:
            figure.supxlabel(below, fontsize=7.5)

    said = (note for _, one, _ in shown for note in one.notes)
    left_out = (f"No picture of {name}: {why}." for name, why in bare)
    return Drawing(
        title="; ".join(one.title for _, one, _ in shown),
        width=width * across,
        height=sum(heights) + 0.2 * (below.count("\n") + 1 if below else 0),
        draw=draw,
        notes=tuple(dict.fromkeys((*left_out, *said))),
    )


MOST_SERIES: Final = 2 * len(STYLES)  # each look once with filled and once with open marks


def look(number: int) -> dict[str, Any]:
    """Returns the look of a series of points that a line joins."""
    found = style(number)
    return found.of_line | {"markerfacecolor": found.colour if number < len(STYLES) else "white"}


def too_many(series: int) -> Drawing | None:
    """Returns a drawing that refuses more systems than one picture can show; ``None`` if it can show all."""
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
