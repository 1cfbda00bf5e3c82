"""Draws what wrong labels cost each family, from the results of ``studies/grids/noise.toml``.

usage: python -m studies.noise.curves

Writes ``studies/docs/noise.svg``: a row for each corpus, a column for each kind of noise, test F1
of the first seed by the share of training mentions that are wrong, with 95 % intervals over test
documents. What is not run is not drawn.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fascicle.evaluation.reports.plots.canvas import legend, line_look, open_sheet, save_figure
from fascicle.training.experiments.grid import Grid, read_grid
from studies.binder.tables import NAMES, NOISED, Found, noises
from studies.common import GRIDS, ROOT
from studies.noise.labels import SHARES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OUT = ROOT / "docs" / "studies" / "noise.svg"
KINDS = {"drop": "dropped", "shift": "shifted by a word", "flip": "given another type"}
SEED = 1  # all that the cpu tier has


@dataclass(frozen=True, kw_only=True)
class Point:
    """One trained model.

    Attributes:
        share: of the training mentions that are wrong.
        f1: on test, in points.
        low: end of its interval.
        high: the other end.
    """

    share: float
    f1: float
    low: float
    high: float


Curves = dict[tuple[str, str], dict[str, list[Point]]]


def curves(grid: Grid, clean: Grid) -> Curves:
    """(corpus, kind of noise) -> system -> points, from no noise to most; corpora without a
    noisy run are not there.
    """
    noisy, without = Found(grid), Found(clean)
    found: Curves = {}
    for corpus in noises(noisy):
        of = {
            (corpus, kind): {
                system: [
                    *_points(without, corpus, system, 0.0),
                    *(
                        p
                        for share in SHARES
                        for p in _points(noisy, f"{corpus}-{kind}-{share}", system, share)
                    ),
                ]
                for system in NOISED
            }
            for kind in KINDS
        }
        if any(
            point.share
            for systems in of.values()
            for points in systems.values()
            for point in points
        ):
            found |= of
    return found


def _points(found: Found, corpus: str, system: str, share: float) -> list[Point]:
    """The point of a run, if it is done."""
    row = found.row(corpus, system)
    value = row.found.get(SEED) if row else None
    if value is None:
        return []
    f1 = value["test_f1_interval"]
    return [Point(share=share, f1=100 * f1["estimate"], low=100 * f1["low"], high=100 * f1["high"])]


def draw(figure: Figure, of: Curves) -> None:
    """A panel for each corpus and kind; panels of a corpus share their scale."""
    corpora = list(dict.fromkeys(corpus for corpus, _ in of))
    grid = figure.subplots(len(corpora), len(KINDS), sharex=True, sharey="row", squeeze=False)
    for (corpus, kind), systems in of.items():
        axes = grid[corpora.index(corpus), list(KINDS).index(kind)]
        for number, (system, points) in enumerate(systems.items()):
            seen = line_look(number)
            # Side by side, so that no bar hides another.
            shares = [point.share + 0.006 * (number - 1) for point in points]
            axes.plot(shares, [point.f1 for point in points], label=NAMES[system], **seen)
            ends = [p.low for p in points], [p.high for p in points]
            axes.vlines(shares, *ends, colors=seen["color"], linewidths=0.8)
        axes.set_title(f"{corpus}: {KINDS[kind]}", fontsize=9)
        axes.set_xticks([0.0, *SHARES])
    for row in grid:
        row[0].set_ylabel("test F1")
    for axes in grid[-1]:
        axes.set_xlabel("share of training mentions")
    legend(figure, grid[0, 0], [NAMES[system] for system in NOISED], count=len(NOISED))


def main(out: Path = OUT) -> int:
    """Reads, draws, writes."""
    of = curves(read_grid(GRIDS / "noise.toml"), read_grid(GRIDS / "binder.toml"))
    if not of:
        sys.stderr.write(
            "no run of studies/grids/noise.toml is done; run some with `fascicle bench`\n"
        )
        return 2
    with open_sheet(width=9.0, height=0.8 + 2.6 * len({corpus for corpus, _ in of})) as figure:
        draw(figure, of)
        save_figure(figure, out, overwrite=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
