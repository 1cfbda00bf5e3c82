"""Recipes of the span typer: paths, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fascicle.errors import RecipeError
from fascicle.settings.recipes.any import parse_any, read_recipe
from fascicle.settings.recipes.typer import SpanTyperSettings

GOOD: dict[str, Any] = {"name": "a", "corpus": {"train": "t"}, "vectors": {"path": "v"}}


def test_the_defaults_are_those_of_the_paper() -> None:
    settings = parse_any(GOOD, origin="a.toml").typer
    assert (settings.hidden, settings.updates, settings.learning_rate, settings.nothing) == (
        200,
        600,
        0.001,
        False,
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"typer": {"update": 3}}, "unknown key typer.update; did you mean typer.updates?"),
        ({"vector": {}}, "unknown key vector; did you mean vectors?"),
        ({"typer": {"hidden": 0}}, "typer.hidden = 0 is not allowed"),
        ({"typer": {"width": 3}}, "width = 3 has no effect with nothing = false"),
        ({"name": "gold"}, 'a model cannot be named "gold"'),
        ({"vectors": {}}, "vectors: object missing required field `path`"),
    ],
)
def test_what_is_not_allowed_is_named(change: dict[str, Any], said: str) -> None:
    with pytest.raises(RecipeError) as error:
        parse_any(GOOD | change, origin="a.toml")
    assert said in str(error.value)


def test_paths_begin_at_the_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.toml"
    path.write_text(
        'name = "a"\n[corpus]\ntrain = "$PLACE/t"\n[vectors]\npath = "v.vec"\ncache = "maps"\n'
    )
    with pytest.raises(RecipeError, match="PLACE, which is not set"):
        read_recipe(path)
    monkeypatch.setenv("PLACE", str(tmp_path / "x"))
    recipe = read_recipe(path)
    assert recipe.corpus.train == str(tmp_path / "x" / "t")
    assert (recipe.vectors.path, recipe.vectors.cache) == (
        str(tmp_path / "v.vec"),
        str(tmp_path / "maps"),
    )
    with pytest.raises(RecipeError, match="there is no recipe"):
        read_recipe(tmp_path / "b.toml")


def test_settings_are_frozen() -> None:
    with pytest.raises(AttributeError):
        SpanTyperSettings().hidden = 3  # type: ignore[misc]
