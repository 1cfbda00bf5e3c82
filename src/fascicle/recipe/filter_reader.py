"""The strict reader of recipes of filters: as ``recipe/reader.py``, with a table ``members`` and no family."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from fascicle.errors import RecipeError
from fascicle.recipe.filter import FilterRecipe
from fascicle.recipe.strict import converted, read_toml, resolved


def is_filter_recipe(path: str | os.PathLike[str]) -> bool:
    """Whether a recipe names members, as only that of a filter does; what cannot be read is none."""
    try:
        return "members" in read_toml(Path(path))
    except RecipeError:
        return False


def read_filter_recipe(path: str | os.PathLike[str]) -> FilterRecipe:
    """Reads one recipe of a filter; paths are resolved as ``recipe.reader.read_recipe`` does.

    Raises:
        RecipeError: no such file, not TOML, an unknown key (the nearest valid one is named), a wrong type, a value that
            is not allowed, an environment variable that is not set.
    """
    path = Path(path)
    return resolve_filter_paths(parse_filter_recipe(read_toml(path), origin=str(path)), path)


def parse_filter_recipe(values: Mapping[str, Any], *, origin: str) -> FilterRecipe:
    """Turns plain values into a recipe.

    Args:
        values: what a TOML file holds.
        origin: name of the file, for messages.

    Raises:
        RecipeError: see ``read_filter_recipe``.
    """
    return converted(values, FilterRecipe, origin=origin)


def resolve_filter_paths(recipe: FilterRecipe, recipe_path: Path) -> FilterRecipe:
    """Makes all paths absolute: of the corpus, and of the members.

    Args:
        recipe: with the paths as they are written.
        recipe_path: the file that they are written in.

    Raises:
        RecipeError: an environment variable that is not set.
    """
    found = {key: resolved(given, recipe_path, key=key) for key, given in recipe.files().items()}
    of_corpus = {key.partition(".")[2]: path for key, path in found.items() if key.startswith("corpus.")}
    members = {
        part: tuple(path for key, path in found.items() if key.startswith(f"members.{part}."))
        for part in ("dev", "train")
    }
    return msgspec.structs.replace(
        recipe,
        corpus=msgspec.structs.replace(recipe.corpus, **of_corpus),
        members=msgspec.structs.replace(recipe.members, **members),
    )
