"""Recipes of every kind: which one a file holds, how it is read, and what is changed in it on a command line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol

import msgspec

from fascicle.errors import Place, RecipeError, UsageError
from fascicle.settings.folders.vocabularies import find_pack
from fascicle.settings.plain import has_nul, parsed_toml
from fascicle.settings.recipes.distil import DistilRecipe, parse_distil_recipe
from fascicle.settings.recipes.filter import FilterRecipe, parse_filter_recipe
from fascicle.settings.recipes.pretraining import PretrainingRecipe, parse_pretraining_recipe
from fascicle.settings.recipes.reader import parse_recipe
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.settings.recipes.strict import merged, read_toml, resolved
from fascicle.settings.recipes.typer import TyperRecipe, parse_typer_recipe

AnyRecipe = Recipe | DistilRecipe | FilterRecipe | TyperRecipe | PretrainingRecipe
_KEY: Final = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
_OF_PACKS: Final = ("inputs.dictionaries.", "distant.")
_BARE: Final = re.compile(r"[^\s\"'\[\]{}#=]+")  # text that needs no quotes


def read_recipe(path: str | os.PathLike[str], *, changes: Sequence[str] = ()) -> AnyRecipe:
    """Reads one recipe.

    It is of a filter if it has a table ``members``, of a distillation if it has ``teacher``, of a pretraining if it has
    ``text``, of a span typer if it has ``vectors``.

    Paths are resolved: ``$NAME`` through the environment, ``~`` as the home folder, relative ones from the folder of
    the recipe; those of ``changes`` from the current folder. Dictionaries may be shipped packs, by their names.

    Args:
        path: of a TOML file.
        changes: settings in place of those of the file, each ``"KEY=VALUE"``; see ``changed``.

    Raises:
        RecipeError: no such file, not TOML, an unknown key (the nearest valid one is named), a wrong type, a value that
            is not allowed, an environment variable that is not set.
        UsageError: a change that has no key or no value.
    """
    path = Path(path)
    given = changed(changes)
    origin = Place(path, shown=f"{path}, changed by {', '.join(changes)}" if changes else str(path))
    recipe = parse_any(merged(read_toml(path), given), origin=origin)
    keys = [change.partition("=")[0].strip() for change in changes]

    def file_of(key: str) -> Path:
        own = any(key == of or key.startswith(f"{of}.") for of in keys)
        return Path.cwd() / path.name if own else path

    return _resolved(recipe, file_of)


def parse_any(values: Mapping[str, Any], *, origin: str) -> AnyRecipe:
    """Turns plain values into the recipe of the kind that they describe.

    Args:
        values: what a TOML file holds.
        origin: name of the file, for messages.

    Raises:
        RecipeError: see ``read_recipe``.
    """
    return _PARSERS[kind_of(values)](values, origin=origin)


def kind_of(values: Mapping[str, Any]) -> str:
    """What a recipe with these tables trains: ``"recogniser"``, or another key of the parsers below."""
    if "members" in values:
        return "filter"
    if "teacher" in values:
        return "distil"
    if "text" in values:
        return "pretraining"
    return "typer" if values.keys() & {"vectors", "typer"} and "model" not in values else "recogniser"


def resolve_paths(recipe: AnyRecipe, recipe_path: Path) -> AnyRecipe:
    """Makes the paths of a recipe absolute, as ``read_recipe`` says.

    Args:
        recipe: with the paths as they are written.
        recipe_path: the file that they are written in.

    Raises:
        RecipeError: an environment variable that is not set.
    """
    return _resolved(recipe, lambda key: recipe_path)


def changed(changes: Sequence[str]) -> dict[str, Any]:
    """The tables that changes make.

    Args:
        changes: each ``"KEY=VALUE"``, with a value in TOML; text needs no quotes where it is one word.

    Raises:
        UsageError: no key, no value, or a value that is not TOML.
    """
    found: dict[str, Any] = {}
    for change in changes:
        key, given, text = (part.strip() for part in change.partition("="))
        if not given or not _KEY.fullmatch(key):
            raise UsageError(f"{change!r} changes no setting; write KEY=VALUE, e.g. training.batch_size=8")
        value = _value(text, change)
        for name in reversed(key.split(".")):
            value = {name: value}
        found = merged(found, value)
    return found


def _value(text: str, change: str) -> Any:
    try:
        parsed = parsed_toml(f"value = {text}")
    except (ValueError, RecursionError):
        parsed = {}
    if parsed.keys() == {"value"} and not has_nul(parsed):
        return parsed["value"]
    if _BARE.fullmatch(text):
        return text
    raise UsageError(f'{change!r} has no value in TOML; write a number, true, "text" in quotes or a [list]')


def _resolved(recipe: AnyRecipe, file_of: Callable[[str], Path]) -> AnyRecipe:
    found: Any = recipe
    for key, given in recipe.places().items():
        path = _shipped(given, key) or resolved(given, file_of(key), key=key)
        try:
            found = _with_path(found, key.split("."), path)
        except ValueError as error:  # of a list that names one file in two ways
            raise RecipeError(f"{key} = {given!r}: {error}", at=str(file_of(key)), key=key) from None
    return found  # type: ignore[no-any-return]


def _shipped(given: str, key: str) -> str:
    """The folder of a pack of the package, where a key may name a pack, else nothing."""
    if not key.startswith(_OF_PACKS):
        return ""
    found = find_pack(given)
    return str(found) if found != Path(given).expanduser() else ""


def _with_path(value: Any, parts: Sequence[str], path: str) -> Any:
    """A structure with one path exchanged; the settings of a head are named like those of their table."""
    if not parts:
        return path
    first, *rest = parts
    if isinstance(value, tuple):
        at = int(first)
        return (*value[:at], _with_path(value[at], rest, path), *value[at + 1 :])
    if isinstance(value, dict):
        return {**value, first: _with_path(value[first], rest, path)}
    if first not in value.__struct_fields__:
        return msgspec.structs.replace(value, head=_with_path(value.head, parts, path))
    return msgspec.structs.replace(value, **{first: _with_path(getattr(value, first), rest, path)})


class _Parses(Protocol):
    def __call__(self, values: Mapping[str, Any], *, origin: str) -> AnyRecipe: ...


_PARSERS: Final[Mapping[str, _Parses]] = MappingProxyType(
    {
        "recogniser": parse_recipe,
        "distil": parse_distil_recipe,
        "filter": parse_filter_recipe,
        "typer": parse_typer_recipe,
        "pretraining": parse_pretraining_recipe,
    }
)
