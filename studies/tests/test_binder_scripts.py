"""What 8 bits cost a trained bi-encoder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.runs import finish

from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.experiments.grid import GridRun
from studies.speed import int8_heads

Maker = Callable[..., Recipe]


@pytest.fixture(scope="module")
def binder(tiny_recipe: Maker, toy_corpus: Path, toy_types: Path) -> Callable[..., Recipe]:
    def make(**corpus: Any) -> Recipe:
        model = {"family": "binder", "type_view": "description", "types": str(toy_types)}
        return tiny_recipe(
            model=model, corpus={"test": str(toy_corpus), **corpus}, training={"epochs": 6}
        )

    return make


@pytest.fixture(scope="module")
def trained(
    binder: Callable[..., Recipe], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Recipe, Path]:
    recipe, folder = binder(), tmp_path_factory.mktemp("binder") / "run"
    finish(recipe, folder)
    return recipe, folder


@pytest.mark.slow
def test_eight_bits(trained: tuple[Recipe, Path], tmp_path: Path) -> None:
    recipe, folder = trained
    run = GridRun(recipe=recipe, origin=tmp_path / "grid.toml", tier="cpu")
    found = int8_heads.compared(run, folder)
    scores = json.loads((folder / "scores.json").read_text(encoding="utf-8"))["test"]
    assert found["f1"] == scores["micro"]["f1"]
    assert (
        found["difference"]["low"] <= found["difference"]["estimate"] <= found["difference"]["high"]
    )
    assert found["difference"]["estimate"] == pytest.approx(found["int8_f1"] - found["f1"])
