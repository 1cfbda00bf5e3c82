"""Recipes of filters: strict, with paths resolved, and the shipped ones valid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fascicle.errors import ModelError, RecipeError
from fascicle.settings.recipes.any import parse_any, read_recipe
from fascicle.settings.recipes.filter import FilterRecipe, read_filter_manifest

RECIPES = sorted((Path(__file__).resolve().parents[2] / "recipes" / "filters").rglob("*.toml"))
PLAIN: dict[str, Any] = {
    "corpus": {"train": "train.tsv", "dev": "dev.tsv"},
    "members": {"dev": ["runs/a", "b.tsv"], "train": ["c.tsv"]},
    "model": {"encoder": "x"},
}


@pytest.mark.parametrize("path", RECIPES, ids=[path.stem for path in RECIPES])
def test_the_recipes_are_valid(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FASCICLE_DATA", str(tmp_path))
    monkeypatch.setenv("FASCICLE_GENIA", str(tmp_path))
    recipe = read_recipe(path)
    assert isinstance(recipe, FilterRecipe)
    assert recipe.name == path.stem
    assert all(Path(found).is_absolute() for found in recipe.files().values())


def test_the_recipe_of_the_paper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FASCICLE_DATA", str(tmp_path))
    recipe = read_recipe(next(path for path in RECIPES if path.stem == "meta-paper"))
    training, settings = recipe.training, recipe.filter
    assert (training.batch_size, training.epochs, training.optimizer, training.learning_rate) == (
        8,
        15,
        "adam",
        1e-5,
    )
    assert (settings.select, settings.threshold, settings.positives, settings.held_out) == (
        "accuracy",
        "half",
        0,
        0.15,
    )
    assert (settings.correct_weight, settings.incorrect_weight, recipe.members.epochs) == (
        1.0,
        1.0,
        "all",
    )
    assert (recipe.model.pool, recipe.model.start_marker, recipe.model.end_marker) == (
        "cls",
        "<e>",
        "</e>",
    )


def test_paths_are_of_the_folder_of_the_recipe(tmp_path: Path) -> None:
    text = (
        '[corpus]\ntrain = "t.tsv"\ndev = "d.tsv"\n[members]\ndev = ["r", '
        '"$R/x.tsv"]\n[model]\nencoder = "e"\n'
    )
    (tmp_path / "f.toml").write_text(text, encoding="utf-8")
    with pytest.raises(
        RecipeError, match=r"members\.dev\.1 = '\$R/x\.tsv' names the environment variable R"
    ):
        read_recipe(tmp_path / "f.toml")
    (tmp_path / "f.toml").write_text(text.replace("$R/", ""), encoding="utf-8")
    recipe = read_recipe(tmp_path / "f.toml")
    assert recipe.members.dev == (str(tmp_path / "r"), str(tmp_path / "x.tsv"))
    assert recipe.corpus.train == str(tmp_path / "t.tsv")
    assert recipe.corpus.test == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"membres": {}}, "x.toml: unknown key membres; did you mean members?"),
        ({"timer": {}}, "x.toml: unknown key timer; allowed are "),  # filter and members are far
        (
            {"filter": {"epochs": 3}},
            "x.toml: unknown key filter.epochs; did you mean members.epochs?",
        ),
        (
            {"filter": {"positve": 3}},
            "x.toml: unknown key filter.positve; did you mean filter.positives?",
        ),
        (
            {"filter": {"select": "f2"}},
            "x.toml: filter.select = 'f2' is not allowed: allowed are 'f1', 'accuracy'",
        ),
        (
            {"filter": {"threshold": "recall"}},
            'x.toml: filter: threshold = "recall" needs a floor above 0',
        ),
        (
            {"filter": {"floor": 0.5}},
            'x.toml: filter: threshold = "f1" takes no floor, but floor = 0.5',
        ),
        (
            {"filter": {"held_out": 0.7, "threshold_part": 0.3}},
            "x.toml: filter: held_out and threshold_part together",
        ),
        (
            {"members": {"dev": []}},
            "x.toml: members.dev = [] is not allowed: expected `array` of length >= 1",
        ),
        ({"members": {"dev": ["a", "a"]}}, "x.toml: members: 'a' is named twice: name it once"),
        (
            {"model": {"encoder": "x", "start_marker": "[a b]"}},
            "x.toml: model.start_marker = '[a b]' is not allowed",
        ),
        (
            {"model": {"encoder": "x", "end_marker": "<e>"}},
            "x.toml: model: start_marker and end_marker are both '<e>'",
        ),
        (
            {"training": {"optimizer": "adam"}},
            'x.toml: training: optimizer = "adam" takes no weight decay',
        ),
        ({"training": {"hidden_pieces": 0.1}}, "x.toml: training.hidden_pieces is for recognisers"),
        ({"name": "gold"}, 'x.toml: a model cannot be named "gold"'),
    ],
)
def test_what_is_not_allowed(change: dict[str, Any], said: str) -> None:
    with pytest.raises(RecipeError) as raised:
        parse_any(PLAIN | change, origin="x.toml")
    assert str(raised.value).startswith(said)


def test_a_folder_that_is_no_filter(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"holds no filter\.json"):
        read_filter_manifest(tmp_path)
    (tmp_path / "filter.json").write_text('{"format": 7}', encoding="utf-8")
    with pytest.raises(ModelError, match="has format 7; this release reads format 1"):
        read_filter_manifest(tmp_path)
    (tmp_path / "filter.json").write_text('{"format": 1}', encoding="utf-8")
    with pytest.raises(ModelError, match="describes no filter"):
        read_filter_manifest(tmp_path)
