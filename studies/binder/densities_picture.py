"""Similarity densities of a bi-encoder (*binder* Figures 2 and 3): entity, non-entity and threshold
spans.

A densities file is one JSON object::

    {"fascicle_densities": 1,
     "similarity": "cosine / temperature",
     "panels": [{"title": "PER", "edges": [-14.0, -13.5, ...], "counts": {"entity": [0, 3, ...],
     "non-entity": [...]}}]}

``edges`` are the n + 1 borders of n bins, rising; ``counts`` says of each group how many
similarities fell into each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
import numpy as np
from msgspec import Meta

from fascicle.core.arrays import Floats
from fascicle.core.files.source import file_bytes
from fascicle.errors import FormatError
from fascicle.evaluation.reports.plots.canvas import STYLES, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCHEMA: Final = 1
_MOST_PANELS: Final = 24
ZOOM: Final = 0.1  # the lower row shows so much of the height of the upper one
_ACROSS: Final = 4
_GROUPS: Final = ("entity", "non-entity", "threshold")  # of the paper, each with a look of its own


class Panel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One histogram with several groups.

    Attributes:
        title: what was compared, e.g. a type.
        edges: borders of the bins, rising, ``[n + 1]``.
        counts: group -> how many similarities fell into each bin, ``[n]``.
    """

    title: str
    edges: Annotated[tuple[float, ...], Meta(min_length=2)]
    counts: dict[str, tuple[Annotated[int, Meta(ge=0)], ...]]

    def __post_init__(self) -> None:
        """Refuses what is no histogram."""
        borders = np.array(self.edges)
        if not np.isfinite(borders).all() or not (np.diff(borders) > 0).all():
            raise ValueError(f"the edges of {self.title!r} do not rise")
        for name, counts in self.counts.items():
            if len(counts) != len(self.edges) - 1:
                raise ValueError(
                    f"{self.title!r} has {len(counts)} counts of {name!r} for "
                    f"{len(self.edges) - 1} bins, one for each"
                )
        if not 1 <= len(self.counts) <= len(STYLES):
            raise ValueError(
                f"{self.title!r} has {len(self.counts)} groups; allowed are 1 to {len(STYLES)}"
            )

    def density(self, group: str) -> Floats:
        """Share of a group in each bin over the width of the bin, ``[n]``; 0 for a group without
        similarities.
        """
        counts = np.array(self.counts[group], dtype=np.float64)
        density: Floats = counts / (max(1.0, counts.sum()) * np.diff(self.edges))
        return density


class Densities(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A densities file.

    Attributes:
        fascicle_densities: version of the format.
        similarity: what the numbers of the horizontal axis are.
        panels: at least one.
    """

    fascicle_densities: int
    similarity: str = "similarity"
    panels: Annotated[tuple[Panel, ...], Meta(min_length=1, max_length=_MOST_PANELS)]

    @property
    def groups(self) -> list[str]:
        """Groups of all panels, those of the paper first; a group has the same style in every
        panel.
        """
        groups = {name for panel in self.panels for name in panel.counts}
        return [name for name in _GROUPS if name in groups] + sorted(groups - set(_GROUPS))

    @property
    def note(self) -> str:
        """Groups that have nothing to draw, as a sentence; empty if all have."""
        bare = [
            f"{name} of {p.title}"
            for p in self.panels
            for name, counts in p.counts.items()
            if not sum(counts)
        ]
        return f"no similarity was counted for {', '.join(bare)}" if bare else ""


def load_densities(path: str) -> Densities:
    """Reads a densities file.

    Raises:
        InputError: it cannot be read.
        FormatError: another kind of file, or one that breaks the rules.
    """
    content = file_bytes(path)
    try:
        densities = msgspec.json.decode(content, type=Densities)
        if densities.fascicle_densities != SCHEMA:
            raise ValueError(
                f"densities of schema {densities.fascicle_densities}; this release reads schema "
                f"{SCHEMA}"
            )
        if len(densities.groups) > len(STYLES):
            raise ValueError(
                f"it has {len(densities.groups)} groups; allowed are up to {len(STYLES)}"
            )
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise FormatError(
            f"{path} is not a densities file ({error}); studies/docs/pictures.md shows its form",
            file=path,
        ) from None
    return densities


def size(data: Densities) -> tuple[float, float]:
    """Returns width and height of the sheet, in inches."""
    down, across = _shape(data)
    return max(4.8, 2.6 * across), 0.6 + 3.8 * down


def _shape(data: Densities) -> tuple[int, int]:
    """Returns the rows and columns of panels."""
    return -(-len(data.panels) // _ACROSS), min(_ACROSS, len(data.panels))


def draw_densities(figure: Figure, data: Densities) -> None:
    """Draws each panel twice: whole, and below it the lowest tenth, where the groups overlap."""
    down, across = _shape(data)
    grid = figure.subplots(2 * down, across, squeeze=False)
    for number in range(down * across):
        row, column = divmod(number, across)
        whole, zoomed = grid[2 * row][column], grid[2 * row + 1][column]
        if number >= len(data.panels):
            whole.set_axis_off()
            zoomed.set_axis_off()
            continue
        _draw_twice(whole, zoomed, data.panels[number], data)
        if column == 0:
            whole.set_ylabel("density")
            zoomed.set_ylabel("lowest tenth")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), 4))


def _draw_twice(whole: Axes, zoomed: Axes, panel: Panel, data: Densities) -> None:
    top = max(float(panel.density(name).max()) for name in panel.counts) or 1.0
    for axes, height in ((whole, 1.05 * top), (zoomed, ZOOM * top)):
        _panel(axes, panel, data.groups)
        axes.set_ylim(0, height)
    whole.set_title(panel.title)
    zoomed.set_xlabel(data.similarity)


def _panel(axes: Axes, panel: Panel, groups: list[str]) -> None:
    for number, name in enumerate(groups):
        look = style(number)
        heights = panel.density(name) if name in panel.counts else np.zeros(len(panel.edges) - 1)
        axes.stairs(
            heights, panel.edges, color=look.colour, linestyle=look.line, linewidth=1.4, label=name
        )
        shade: dict[str, Any] = {
            "facecolor": look.colour,
            "edgecolor": look.colour,
            "hatch": look.hatch,
        }
        axes.stairs(heights, panel.edges, fill=True, alpha=0.25, linewidth=0, **shade)
    axes.set_xlim(panel.edges[0], panel.edges[-1])
