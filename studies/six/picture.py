"""Draws quality against speed of the models that ship, from ``results/six-dial.json`` and
``results/six-rows.json``.

usage: python -m studies.six.picture

Writes ``studies/docs/speed.svg``: mean strict F1 over the rows of Table 2 by sentences a second on
one core. A line joins what a model does with one sentence at a time, with 32, and in bulk. The
Hugging Face pipeline has the weights of ``biomed@1`` before they became 8 bits; it is drawn at the
F1 of these, which it would have with the decisions of Fascicle.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fascicle.evaluation.reports.plots.canvas import legend, line_look
from studies.common import HERE, RESULTS, result
from studies.sheets import make_logarithmic, write_sheet
from studies.six.tables import FULL, OF_SIX, mean_strict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OUT = HERE / "docs" / "speed.svg"
PIPELINE = "Hugging Face pipeline, weights of biomed@1"


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a system stands.

    Attributes:
        rates: sentences a second, slowest first.
        f1: mean strict F1, in points.
    """

    rates: tuple[float, ...]
    f1: float


def places(dial: Mapping[str, Any], rows: Mapping[str, Any]) -> dict[str, Place]:
    """Systems whose speed and every row of F1 are known."""
    found = {}
    for name, one in dial.get("models", {}).items():
        f1 = mean_strict(rows, name)
        if f1 is not None:
            found[name] = Place(rates=tuple(sorted(one["sentences_per_second"].values())), f1=f1)
    f1 = mean_strict(rows, f"{OF_SIX}{FULL}")
    if f1 is not None and "pipeline" in dial.get("all_rounds", {}):
        found[PIPELINE] = Place(rates=(statistics.median(dial["all_rounds"]["pipeline"]),), f1=f1)
    return found


def draw(figure: Figure, of: Mapping[str, Place]) -> None:
    """One sheet of axes; speed has a logarithmic scale."""
    axes = figure.subplots()
    for number, (name, place) in enumerate(of.items()):
        axes.plot(place.rates, [place.f1] * len(place.rates), label=name, **line_look(number))
    make_logarithmic(axes, "x")
    axes.set_xlabel("sentences a second, one core")
    axes.set_ylabel("mean strict F1")
    legend(figure, axes, of, count=len(of))


def main(out: Path = OUT, results: Path = RESULTS) -> int:
    """Reads, draws, writes."""
    of = places(result("six-dial", results), result("six-rows", results))
    if not of:
        sys.stderr.write(
            "no model has both its speed and its rows: run studies.six.dial and .rows\n"
        )
        return 2
    write_sheet(out, lambda figure: draw(figure, of))
    return 0


if __name__ == "__main__":
    sys.exit(main())
