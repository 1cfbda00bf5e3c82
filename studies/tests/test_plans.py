"""The plans of the studies can be read, also where their corpora are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from fascicle.settings.recipes.any import read_recipe
from fascicle.settings.recipes.distil import DistilRecipe
from fascicle.settings.recipes.pretraining import PretrainingRecipe
from fascicle.training.experiments.grid import read_grid
from studies.common import GRIDS, HERE, RESULTS

PLANS = sorted(GRIDS.glob("*.toml"))


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_grids(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # a plan can be read where its corpora are not
    monkeypatch.delenv("FASCICLE_DATA", raising=False)
    grid = read_grid(path)
    assert grid.name == path.stem
    assert grid.results == RESULTS / path.stem
    assert len({run.name for run in grid.runs}) == len(grid.runs) > 0


def test_recipes_of_pretraining(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASCICLE_DATA", "/data")
    folder = HERE / "pretraining"
    recipes = {path.stem: read_recipe(path) for path in sorted(folder.glob("*.toml"))}
    assert set(recipes) == {"minilm", "minilm-words"}
    plain, words = recipes["minilm"], recipes["minilm-words"]
    assert isinstance(plain, PretrainingRecipe)
    assert isinstance(words, PretrainingRecipe)
    assert (plain.text, plain.training, plain.masking) == (
        words.text,
        words.training,
        words.masking,
    )
    assert words.vocabulary.is_changed
    assert not plain.vocabulary.is_changed


def test_recipes_of_distillation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASCICLE_DATA", "/data")
    folder = HERE / "distillation"
    recipes = {path.stem: read_recipe(path) for path in sorted(folder.glob("*.toml"))}
    assert set(recipes) == {"general-3x384", "general-4x312", "general-4x384", "general-6x384"}
    assert all(isinstance(recipe, DistilRecipe) and recipe.layers for recipe in recipes.values())
