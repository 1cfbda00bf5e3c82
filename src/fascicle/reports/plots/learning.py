"""Learning curves of run folders: the training loss, and the F1 on dev with the epoch that was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fascicle.errors import UsageError
from fascicle.reports.plots.canvas import STYLES, shown, style
from fascicle.reports.plots.runs import RunCurves, read_run

_MARKS = 12  # on a curve of many places

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def load_runs(folders: Sequence[str]) -> list[RunCurves]:
    """Reads run folders.

    Raises:
        UsageError: more of them than one picture can tell apart, or runs that count different things.
        InputError: see `reports.plots.runs.read_run`.
    """
    if len(folders) > len(STYLES):
        raise UsageError(
            f"{len(folders)} run folders were given; one picture can tell {len(STYLES)} apart, draw several"
        )
    runs = [read_run(folder) for folder in folders]
    other = next((run for run in runs if run.unit != runs[0].unit), None)
    if other is not None:
        raise UsageError(f"{runs[0].name} counts {runs[0].unit}s and {other.name} {other.unit}s; draw them apart")
    return runs


def size(runs: Sequence[RunCurves]) -> tuple[float, float]:
    """Width and height of the sheet, in inches: every curve has a line below the picture."""
    return 6.4, 4.4 + 0.2 * sum(max(1, len(run.heads)) for run in runs)


def draw_learning(figure: Figure, runs: Sequence[RunCurves]) -> None:
    """The loss above, F1 below; a run has one look, the other head of a bundle has hollow marks and a thinner line."""
    if runs[0].unit == "update":
        _draw_loss(figure, runs)
    else:
        _draw_loss_and_f1(figure, runs)


def _draw_loss(figure: Figure, runs: Sequence[RunCurves]) -> None:
    """The loss alone: a span typer looks at no dev part while it trains."""
    axes = figure.subplots()
    for number, run in enumerate(runs):
        every = max(1, len(run.places) // _MARKS)
        name = f"{shown(run.name)}{'' if run.finished else ', so far'}"
        axes.plot(run.places, run.loss, **style(number).of_line, markevery=every, label=name)
    axes.set_ylabel("mean training loss")
    axes.set_xlabel(runs[0].unit)
    axes.set_ylim(bottom=0)
    figure.legend(loc="outside lower center", ncols=2)


def _draw_loss_and_f1(figure: Figure, runs: Sequence[RunCurves]) -> None:
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 3))
    for number, run in enumerate(runs):
        marks = style(number).of_line
        above.plot(run.places, run.loss, **marks)
        for head in run.heads:
            other = bool(head.head)
            best = head.f1[run.places.index(head.best)]
            name = f"{run.name}, head {head.head}" if other else run.name
            thin = {"markerfacecolor": "white", "linewidth": 0.9} if other else {}
            label = f"{shown(name)}: {100 * best:.1f} at {run.unit} {head.best}{'' if run.finished else ' so far'}"
            below.plot(run.places, head.f1, label=label, **marks, **thin)
            below.scatter([head.best], [best], marker="o", s=110, facecolors="none", edgecolors="black", zorder=4)
    above.set_ylabel("training loss")
    below.set_ylabel("micro F1 on dev")
    below.set_xlabel(runs[0].unit)
    below.xaxis.get_major_locator().set_params(integer=True)
    below.margins(y=0.1)
    circle = f"chosen {runs[0].unit}" if all(run.finished for run in runs) else f"chosen {runs[0].unit}, or best so far"
    below.scatter([], [], marker="o", s=110, facecolors="none", edgecolors="black", label=circle)
    figure.legend(loc="outside lower center", ncols=1 if max(len(r.name) for r in runs) > 16 else 2)
