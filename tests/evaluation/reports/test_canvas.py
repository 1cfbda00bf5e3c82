"""Pictures as files: formats, look, and that nothing of the caller is touched."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import matplotlib as mpl
import pytest
from PIL import Image

from fascicle.errors import MissingExtraError, OutputError
from fascicle.evaluation.reports.plots.canvas import STYLES, open_sheet, save_figure, style, svg


def drawn(path: Path, **options: bool) -> None:
    with open_sheet() as figure:
        axes = figure.add_subplot()
        for number in range(3):
            axes.plot(
                [0, 1], [0, number], marker=style(number).marker, linestyle=style(number).line
            )
        save_figure(figure, path, **options)


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_a_picture_is_written_twice_with_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    drawn(first)
    drawn(second)
    assert first.read_bytes() == second.read_bytes()
    assert first.stat().st_size > 1000


def test_an_svg_can_stand_in_a_page() -> None:
    with open_sheet() as figure:
        figure.add_subplot().plot([1, 2])
        element = svg(figure, title='recall < 1 & "more"')
    root = ElementTree.fromstring(element)
    assert root.attrib["aria-label"] == 'recall < 1 & "more"'
    assert element.startswith("<svg ")
    assert "<?xml" not in element
    assert "<!DOCTYPE" not in element
    assert "metadata" not in element


def test_what_the_caller_has_set_for_matplotlib_stays() -> None:
    with mpl.rc_context({"font.size": 31, "axes.grid": False}):
        with open_sheet() as figure:
            assert mpl.rcParams["font.size"] == 9
            svg(figure)
        assert mpl.rcParams["font.size"] == 31
        assert mpl.rcParams["axes.grid"] is False


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    drawn(path)
    with pytest.raises(OutputError):
        drawn(path)
    drawn(path, overwrite=True)


def test_another_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"\.svg, \.png, \.pdf"):
        drawn(tmp_path / "a.gif")
    assert not list(tmp_path.iterdir())


def test_series_differ_in_grey_too(tmp_path: Path) -> None:
    for part in ("colour", "marker", "line", "hatch"):
        assert len({getattr(one, part) for one in STYLES}) == len(STYLES)
    assert style(len(STYLES)) == STYLES[0]


def test_a_png_is_a_picture_with_something_on_it(tmp_path: Path) -> None:
    drawn(tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as image:
        assert image.size == (960, 600)
        low, high = image.convert("L").getextrema()
    assert low < 100 < high


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"fascicle\[plots\]"), open_sheet():
        pass
