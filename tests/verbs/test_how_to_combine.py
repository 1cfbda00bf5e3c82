"""The pages on combining and filtering are followed literally: commands, map, Python, recipe."""

from __future__ import annotations

import contextlib
import io
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.pages import blocks

from fascicle.runtime.combination.rules import RULES
from fascicle.runtime.combination.type_names import parse_map
from fascicle.settings.recipes.any import parse_any

ROOT = Path(__file__).parents[2]
PAGE, FILTER = (
    (ROOT / "docs" / f"how-to-{name}.md").read_text(encoding="utf-8")
    for name in ("combine", "filter")
)


def test_the_walk(cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    walk, *_ = blocks(PAGE, "sh")
    said = []
    for line in walk.splitlines():
        words = [
            w
            for word in shlex.split(line)
            for w in (sorted(map(str, Path().glob(word))) if "*" in word else [word])
        ]
        result = cli(*words[1:])
        assert result.code == 0, result.err
        said.append(result.out)
    assert len(said) == 3
    # what the second line does was chosen by the first
    assert "fascicle combine majority" in said[0]
    assert (
        "A is better than B, C and D at the level of 5% by both tests, corrected for 6 pairs"
        in said[2]
    )
    assert Path("report.md").read_text(encoding="utf-8").startswith("# Systems compared on")


def test_the_map_and_the_python() -> None:
    (table,) = blocks(PAGE, "toml")
    assert parse_map(tomllib.loads(table), origin="page").of("rules") == {
        "CHEMICAL": "Chemical",
        "Species": "",
        "Drug": "Chemical",
    }
    (code,) = blocks(PAGE, "python")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(code, "how-to-combine.md", "exec"), {})
    assert "score=0.8, source='majority'" in said.getvalue()


def test_the_recipe_of_the_filter() -> None:
    (recipe,) = blocks(FILTER, "toml")
    found = parse_any(tomllib.loads(recipe), origin="page")
    assert (found.filter.held_out, found.filter.threshold_part) == (0.15, 0.2)


def test_every_rule_is_explained() -> None:
    assert all(f"| `{rule}" in PAGE for rule in RULES)
