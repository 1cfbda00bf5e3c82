"""The labels of logarithmic scales are numbers that a reader can read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from studies.sheets import make_logarithmic, write_sheet

pytest.importorskip("matplotlib", reason="matplotlib, which draws, is not installed")


@pytest.mark.parametrize(
    ("low", "high", "told"), [(0.3, 20, {"1", "10"}), (2e5, 1e6, {"1,000,000"})]
)
def test_no_label_is_a_formula(tmp_path: Path, low: float, high: float, told: set[str]) -> None:
    from matplotlib.figure import Figure

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.plot([low, high], [low, high])
        make_logarithmic(axes, "x", "y")

    out = tmp_path / "sheet.svg"
    write_sheet(out, draw)
    said = set(re.findall(r"<!-- (.*?) -->", out.read_text(encoding="utf-8")))
    assert told <= said
    assert not [one for one in said if "$" in one or "e+" in one]
