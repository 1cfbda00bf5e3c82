"""The page on pretraining shows the recipe of its example; ``tests/docs/test_code_blocks.py`` runs its commands."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from tests.pages import blocks

from fascicle.settings.recipes.any import read_recipe
from fascicle.settings.recipes.pretraining import PretrainingRecipe

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "pretraining" / "recipe.toml"
PAGE = (ROOT / "docs" / "how-to-pretrain.md").read_text(encoding="utf-8")


def test_what_the_page_shows_is_what_the_example_holds() -> None:
    (shown,) = map(tomllib.loads, blocks(PAGE, "toml"))
    assert shown == tomllib.loads(EXAMPLE.read_text(encoding="utf-8"))


def test_recipes_of_the_study_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASCICLE_DATA", "/data")
    folder = ROOT / "benchmarks" / "studies" / "pretraining"
    recipes = {path.stem: read_recipe(path) for path in sorted(folder.glob("*.toml"))}
    assert set(recipes) == {"minilm", "minilm-words"}
    plain, words = recipes["minilm"], recipes["minilm-words"]
    assert isinstance(plain, PretrainingRecipe)
    assert isinstance(words, PretrainingRecipe)
    assert (plain.text, plain.training, plain.masking) == (words.text, words.training, words.masking)
    assert words.vocabulary.is_changed
    assert not plain.vocabulary.is_changed
