"""The picture of what grows with the number of documents."""

from __future__ import annotations

import json
from pathlib import Path

from matplotlib.figure import Figure

from studies.speed import scale_picture

SIZES = {"1000": {"planning_cpu_seconds": 0.5, "finishing_cpu_seconds": 0.1, "seconds": 3.0}}
SIZES |= {"2000": {"planning_cpu_seconds": 1.0, "finishing_cpu_seconds": 0.2, "seconds": 6.0}}


def test_a_line_for_each_part() -> None:
    figure = Figure()
    scale_picture.draw(figure, SIZES)
    (axes,) = figure.axes
    drawn = {
        line.get_label(): (list(line.get_xdata()), list(line.get_ydata()))
        for line in axes.get_lines()
    }
    assert drawn == {
        "planning": ([1000, 2000], [0.5, 1.0]),
        "finishing": ([1000, 2000], [0.1, 0.2]),
    }


def test_it_is_written_where_there_are_results(tmp_path: Path) -> None:
    assert scale_picture.main(tmp_path / "p.svg", tmp_path) == 2
    (tmp_path / "scale.json").write_text(
        json.dumps({"parts": {"grown": {"sizes": SIZES}}}), encoding="utf-8"
    )
    assert scale_picture.main(tmp_path / "p.svg", tmp_path) == 0
    assert (tmp_path / "p.svg").read_text(encoding="utf-8").startswith("<svg")
