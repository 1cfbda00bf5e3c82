"""Recipes of the papers as somebody meets them who lacks their data: what is missing is said,
and how to get it.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from fascicle.cli import COMMANDS, main
from fascicle.core.files.tree import path_exists
from fascicle.settings.recipes.any import read_recipe

FOLDER = Path(__file__).resolve().parents[2] / "recipes"
RECIPES = sorted((FOLDER / "papers").glob("*.toml"))
VARIABLES = (
    "FASCICLE_DATA",
    "FASCICLE_GENIA",
    "FASCICLE_TYPING",
    "FASCICLE_LICENSED",
    "FASCICLE_TINYBERN2",
)


def comments(path: Path) -> str:
    return "\n".join(re.findall(r"#.*", path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_training_without_the_data_says_in_one_sentence_what_is_lacking(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    verb = "distill" if path.stem == "tinybern2-general" else "train"
    assert main([verb, str(path), "-o", str(tmp_path / "run")]) == 2
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert re.search(r"names the environment variable FASCICLE_\w+, which is not set", said)
    for name in VARIABLES:
        monkeypatch.setenv(name, str(tmp_path))
    assert main([verb, str(path), "-o", str(tmp_path / "run")]) == 2
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert re.search(
        rf"(corpus|parts\.\w+)\.train of the recipe is {tmp_path}|text\.files\.0 .*{tmp_path}", said
    )
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_files_that_are_no_corpus_are_made_by_a_command_that_exists(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    made = set(re.findall(r"\$(FASCICLE_\w+)", re.sub("#.*", "", text))) - {"FASCICLE_DATA"}
    modules = re.findall(r"python -m ([\w.]+)", comments(path))
    verbs = re.findall(r"\bfascicle (\w+)", comments(path))
    assert all(importlib.util.find_spec(module) is not None for module in modules)
    assert set(verbs) <= set(COMMANDS)
    assert bool(modules or verbs) == bool(made)
    parts = re.search(
        r'^(train|dev|test) = "\$FASCICLE_(GENIA|TYPING|LICENSED)', text, re.MULTILINE
    )
    assert bool(modules) == bool(parts)


@pytest.mark.slow
@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_the_corpus_of_a_recipe_is_among_the_data_or_it_says_where_it_comes_from(
    path: Path, fascicle_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FASCICLE_DATA", str(fascicle_data))
    # from the data, and from what nobody may pass on
    made, lacking = tmp_path / "made", tmp_path / "lacking"
    for name in VARIABLES[1:]:
        monkeypatch.setenv(
            name, str(made if name in ("FASCICLE_GENIA", "FASCICLE_TYPING") else lacking)
        )
    files = [
        file
        for file in read_recipe(path).files().values()
        if file and not file.startswith(str(made))
    ]
    assert all(map(path_exists, files)) != ("see studies/docs/paper-recipes.md" in comments(path))
