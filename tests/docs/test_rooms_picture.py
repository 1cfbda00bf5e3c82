"""The picture of the rooms is that of today's imports."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "rooms_picture", ROOT / "docs/_scripts/rooms_picture.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def package(folder: Path, **files: str) -> Path:
    """A package of modules, one a room."""
    place = folder / "house"
    place.mkdir()
    for name, text in files.items():
        (place / f"{name}.py").write_text(text, encoding="utf-8")
    return place


def test_the_picture_is_current(script: ModuleType, tmp_path: Path) -> None:
    script.main([str(tmp_path / "rooms.svg")])
    made, kept = (
        path.read_text(encoding="utf-8")
        for path in (tmp_path / "rooms.svg", ROOT / "docs" / "rooms.svg")
    )
    assert made == kept, "run python docs/_scripts/rooms_picture.py"


def test_every_room_is_above_what_it_imports(script: ModuleType, tmp_path: Path) -> None:
    place = package(
        tmp_path,
        __init__="from house.top import x",
        top="from house import middle\nimport house.low",
        middle="def f() -> None:\n    import house.low.inner",
        low="import json",
        aside="",
    )
    counts = script.counts_of(place)
    assert {room: set(own) for room, own in counts.items()} == {
        "fascicle": {"top"},
        "top": {"middle", "low"},
        "middle": {"low"},
        "low": set(),
        "aside": set(),
    }
    picture = ElementTree.fromstring(script.svg(counts))
    height = {text.text: float(text.attrib["y"]) for text in picture.iter(f"{SVG}text")}
    assert height["fascicle"] < height["top"] < height["middle"] < height["low"] == height["aside"]
    assert len(list(picture.iter(f"{SVG}path"))) == 3, (
        "the arrow from top to low follows from two others"
    )


def test_a_single_module_is_drawn_apart_from_rooms(script: ModuleType, tmp_path: Path) -> None:
    place = package(tmp_path, alone="")
    (place / "room").mkdir()
    (place / "room" / "a.py").write_text("import json", encoding="utf-8")
    boxes = ElementTree.fromstring(
        script.svg(script.counts_of(place), modules=script.modules_of(place))
    )
    assert sorted(
        box.attrib["class"] for box in boxes.iter(f"{SVG}rect") if "class" in box.attrib
    ) == [
        "module",
        "room",
    ]


def test_no_import_goes_up(script: ModuleType) -> None:
    """The page says so."""
    assert script.upward(script.counts_of(script.PACKAGE)) == set()


def test_rooms_that_import_each_other_have_a_dashed_arrow(
    script: ModuleType, tmp_path: Path
) -> None:
    place = package(tmp_path, low="from house import upper", other="from house import low")
    (place / "upper").mkdir()
    for name in ("a", "b"):
        (place / "upper" / f"{name}.py").write_text("from house.low import x", encoding="utf-8")
    counts = script.counts_of(place)
    assert script.upward(counts) == {("low", "upper")}
    paths = ElementTree.fromstring(script.svg(counts)).iter(f"{SVG}path")
    assert [path.attrib.get("class") for path in paths].count("up") == 1
