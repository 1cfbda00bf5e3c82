"""Similarity densities: the bars are the counts of the file, as densities."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fascicle.errors import FormatError, InputError
from fascicle.evaluation.reports.plots.canvas import open_sheet
from studies.binder.densities_picture import ZOOM, draw_densities, load_densities, size

PANEL: dict[str, Any] = {
    "title": "PER",
    "edges": [-2.0, -1.0, 0.0, 4.0],
    "counts": {"threshold": [0, 0, 0], "entity": [0, 1, 3], "non-entity": [90, 10, 0]},
}


def written(path: Path, *panels: Any, **other: Any) -> str:
    value = {"fascicle_densities": 1, "similarity": "cosine", "panels": panels} | other
    path.write_text(json.dumps(value), encoding="utf-8")
    return str(path)


def test_what_is_drawn_is_what_was_counted(tmp_path: Path) -> None:
    data = load_densities(
        written(tmp_path / "d.json", *[PANEL | {"title": str(i)} for i in range(5)])
    )
    assert data.groups == ["entity", "non-entity", "threshold"]
    assert "threshold of 0" in data.note
    with open_sheet(width=size(data)[0], height=size(data)[1]) as figure:
        draw_densities(figure, data)
        assert len(figure.axes) == 4 * 4
        whole, zoomed = figure.axes[0], figure.axes[4]
        steps = [patch.get_data() for patch in whole.patches if not patch.get_fill()]
        assert zoomed.get_ylim()[1] == pytest.approx(ZOOM * 0.9)
        assert figure.axes[8].get_title() == "4"
    expected = ([0, 0.25, 0.1875], [0.9, 0.1, 0], [0, 0, 0])
    for drawn, heights in zip(steps, expected, strict=True):
        np.testing.assert_allclose(drawn.values, heights)
        np.testing.assert_array_equal(drawn.edges, PANEL["edges"])
        assert sum(np.diff(drawn.edges) * drawn.values) == pytest.approx(float(any(heights)))


@pytest.mark.parametrize(
    ("panel", "said"),
    [
        (PANEL | {"edges": [0.0, 0.0, 1.0, 2.0]}, "do not rise"),
        (PANEL | {"edges": [0.0, 1.0]}, "3 counts of 'threshold' for 1 bins"),
        (PANEL | {"counts": {}}, "0 groups"),
        (PANEL | {"counts": {"entity": [1, -1, 0]}}, ">= 0"),
        ({}, "missing required field"),
    ],
)
def test_panels_that_are_no_histograms(tmp_path: Path, panel: Any, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        load_densities(written(tmp_path / "d.json", panel))


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_densities(str(tmp_path / "nothing.json"))
    for path in (
        written(tmp_path / "a.json"),
        written(tmp_path / "b.json", PANEL, fascicle_densities=2),
        written(tmp_path / "c.json", PANEL, more=1),
    ):
        with pytest.raises(FormatError, match="not a densities file"):
            load_densities(path)
