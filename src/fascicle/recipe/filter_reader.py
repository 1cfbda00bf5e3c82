"""The strict reader of recipes of filters: as ``recipe/reader.py``, with a table ``members`` and no family."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec

from fascicle.errors import RecipeError
from fascicle.recipe.base import Settings, place_of
from fascicle.recipe.filter import FilterRecipe
from fascicle.recipe.reader import read_toml, resolved


def is_filter_recipe(path: str | os.PathLike[str]) -> bool:
    """Whether a recipe names members, as only that of a filter does; what cannot be read is none."""
    try:
        return "members" in tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
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
    _refuse_unknown(values, FilterRecipe, origin=origin, prefix="")
    try:
        return msgspec.convert(values, FilterRecipe)
    except msgspec.ValidationError as error:
        raise RecipeError(f"{origin}: {_explain(error, values)}") from None


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


def _refuse_unknown(values: Mapping[str, Any], schema: type[Settings], *, origin: str, prefix: str) -> None:
    hints = get_type_hints(schema)
    for key, value in values.items():
        if key not in hints:
            raise RecipeError(f"{origin}: unknown key {prefix}{key}; {_advice(key, hints, prefix)}")
        inner = hints[key]
        if isinstance(inner, type) and issubclass(inner, Settings) and isinstance(value, Mapping):
            _refuse_unknown(value, inner, origin=origin, prefix=f"{prefix}{key}.")


def _advice(key: str, hints: Mapping[str, Any], prefix: str) -> str:
    tables = {name: hint for name, hint in get_type_hints(FilterRecipe).items() if isinstance(hint, type)}
    places = [
        f"{name}.{key}" for name, hint in tables.items() if issubclass(hint, Settings) and key in hint.__struct_fields__
    ]
    near = difflib.get_close_matches(key, hints, n=1, cutoff=0.5)
    if places:
        return f"did you mean {places[0]}?"
    return f"did you mean {prefix}{near[0]}?" if near else f"allowed are {', '.join(sorted(hints))}"


def _explain(error: msgspec.ValidationError, values: Mapping[str, Any]) -> str:
    what, key = place_of(error)
    given: Any = values
    schema: Any = FilterRecipe
    for part in key.split(".") if key else ():
        given = given.get(part) if isinstance(given, Mapping) else None
        schema = get_type_hints(schema).get(part) if isinstance(schema, type) and issubclass(schema, Settings) else None
    allowed = [repr(a) for a in get_args(schema) if isinstance(a, str)]
    if allowed and what.startswith("Invalid enum value"):
        what = f"allowed are {', '.join(allowed)}"
    what = what[0].lower() + what[1:]
    if not key or given is None or isinstance(given, Mapping):
        return f"{key + ': ' if key else ''}{what}"
    return f"{key} = {given!r} is not allowed: {what}"
