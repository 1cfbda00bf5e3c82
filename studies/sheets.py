"""Pictures of one sheet for pages of ``studies/docs``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fascicle.evaluation.reports.plots.canvas import open_sheet, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def write_sheet(out: Path, draw: Callable[[Figure], None]) -> None:
    """Draws a sheet, and writes it over the one before."""
    with open_sheet(height=3.2) as figure:
        draw(figure)
        save_figure(figure, out, overwrite=True)


def make_logarithmic(axes: Axes, *names: str) -> None:
    """Sets logarithmic scales with plain numbers: sheets do not set formulas, such as powers of
    ten.

    Args:
        axes: of the sheet.
        names: ``"x"``, ``"y"`` or both.
    """
    for name in names:
        axes.set(**{f"{name}scale": "log"})
        axis = getattr(axes, f"{name}axis")
        axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        axis.set_minor_formatter("")
