"""Draws what planning and finishing of a run cost, from ``results/scale.json``.

usage: python -m studies.speed.scale_picture

Writes ``studies/docs/scale.svg``: CPU seconds by documents, on logarithmic scales.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fascicle.evaluation.reports.plots.canvas import legend, line_look
from studies.common import HERE, RESULTS, result
from studies.sheets import make_logarithmic, write_sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OUT = HERE / "docs" / "scale.svg"
_PARTS: Final = {"planning_cpu_seconds": "planning", "finishing_cpu_seconds": "finishing"}


def draw(figure: Figure, sizes: Mapping[str, Mapping[str, float]]) -> None:
    """One sheet of axes.

    Args:
        figure: empty.
        sizes: number of documents -> seconds of each part.
    """
    axes = figure.subplots()
    for number, (part, name) in enumerate(_PARTS.items()):
        axes.plot(
            list(map(int, sizes)),
            [one[part] for one in sizes.values()],
            label=name,
            **line_look(number),
        )
    make_logarithmic(axes, "x", "y")
    axes.set_xlabel("documents")
    axes.set_ylabel("CPU seconds")
    legend(figure, axes, _PARTS.values(), count=len(_PARTS))


def main(out: Path = OUT, results: Path = RESULTS) -> int:
    """Reads, draws, writes."""
    sizes: Any = result("scale", results).get("parts", {}).get("grown", {}).get("sizes")
    if not sizes:
        sys.stderr.write("what grows was not measured: run studies.speed.scale\n")
        return 2
    write_sheet(out, lambda figure: draw(figure, sizes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
