"""The picture of annotated text holds the whole text and the mentions that the shipped model
finds.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

import fascicle
from fascicle import Document, Mention
from fascicle.settings.folders.shipped import shipped_models

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "annotated.svg"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "annotated_picture", ROOT / "docs/_scripts/annotated_picture.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def words(picture: str) -> list[str]:
    return [
        text.text or ""
        for text in ElementTree.fromstring(picture).iter(f"{SVG}text")
        if "class" not in text.attrib
    ]


def test_a_mention_that_is_broken_has_a_box_in_each_line(script: ModuleType) -> None:
    text = f"{'a ' * (script.COLUMNS // 2 - 3)}renal failure & more"
    start = text.index("renal")
    document = Document(id="x", text=text, mentions=(Mention(((start, start + 13),), "Disease"),))
    shown = script.svg(document)
    assert " ".join(part.strip() for part in words(shown)).split() == text.split()
    boxes = [
        r
        for r in ElementTree.fromstring(shown).iter(f"{SVG}rect")
        if "stroke-dasharray" in r.attrib
    ]
    labels = [
        t.text for t in ElementTree.fromstring(shown).iter(f"{SVG}text") if "class" in t.attrib
    ]
    assert (len(boxes), labels) == (2, ["Disease"])


@pytest.mark.skipif(not shipped_models(), reason="no model comes with this checkout")
def test_the_picture_is_what_the_model_finds(script: ModuleType) -> None:
    (document,) = fascicle.load("biomed", threads=1).annotate(script.TEXT)
    kept = ElementTree.fromstring(PICTURE.read_text(encoding="utf-8"))
    listed = (kept.findtext(f"{SVG}desc") or "").split("; ")
    found = [f"{m.type}: {m.text_in(document.text)}" for m in document.mentions]
    assert len(set(found) ^ set(listed)) <= 1  # 8-bit products differ a little between processors
    assert "".join(words(PICTURE.read_text(encoding="utf-8"))).split()
