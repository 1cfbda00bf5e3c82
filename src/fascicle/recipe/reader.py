"""The strict reader of recipes: one TOML file, one level of tables, nothing included from elsewhere."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args, get_type_hints

import msgspec

from fascicle.errors import RecipeError
from fascicle.recipe.base import Settings, place_of
from fascicle.recipe.heads import HEADS, HeadSettings
from fascicle.recipe.settings import BundleSettings, ModelSettings, Recipe

_VARIABLE = re.compile(r"\$\{?(\w+)")


def read_recipe(path: str | os.PathLike[str]) -> Recipe:
    """Reads one recipe.

    Paths of corpora, dictionaries and descriptions of types are resolved: ``$NAME`` through the environment, ``~`` as
    the home folder, relative ones from the folder of the recipe.

    Raises:
        RecipeError: no such file, not TOML, an unknown key (the nearest valid one is named), a wrong type, a value that
            is not allowed, an environment variable that is not set.
    """
    path = Path(path)
    recipe = parse_recipe(read_toml(path), origin=str(path))
    return resolve_paths(recipe, path)


def read_toml(path: Path) -> dict[str, Any]:
    """The values of a recipe file.

    Raises:
        RecipeError: no such file, or not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RecipeError(f"there is no recipe at {path}; give the path of a TOML file") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RecipeError(f"{path} is not a readable TOML file: {error}") from None


def parse_recipe(values: Mapping[str, Any], *, origin: str) -> Recipe:
    """Turns plain values into a ``Recipe``.

    Args:
        values: what a TOML file holds.
        origin: name of the file, for messages.

    Raises:
        RecipeError: see ``read_recipe``.
    """
    families = {table: _family(values, table, origin=origin) for table in _WITH_HEAD}
    _refuse_unknown(values, _keys(Recipe, families), origin=origin, prefix="", families=families)
    try:
        return msgspec.convert(_with_heads(values, families), Recipe)
    except msgspec.ValidationError as error:
        raise RecipeError(f"{origin}: {_explain(error, values, families)}") from None


# The tables in which the settings of a head stand beside others, and the classes of these.
_WITH_HEAD: Mapping[str, type[Settings]] = MappingProxyType({"model": ModelSettings, "bundle": BundleSettings})
_DEFAULT = "softmax"


def _family(values: Mapping[str, Any], table: str, *, origin: str) -> str:
    """The family of a head, on which the other keys of its table depend."""
    given = values.get(table)
    family = given.get("family", _DEFAULT) if isinstance(given, Mapping) else _DEFAULT
    if not isinstance(family, str) or family not in HEADS:
        near = difflib.get_close_matches(str(family), HEADS, n=1)
        advice = f"; did you mean {near[0]!r}?" if near else ""
        allowed = ", ".join(map(repr, sorted(HEADS)))
        raise RecipeError(f"{origin}: {table}.family = {family!r} is not allowed: allowed are {allowed}{advice}")
    return family


def _keys(schema: type[Settings], families: Mapping[str, str]) -> dict[str, Any]:
    """What may stand in a table, with its types: the settings of a head stand beside the others."""
    hints = get_type_hints(schema)
    for table, kind in _WITH_HEAD.items():
        if kind is schema:
            own = {name: hint for name, hint in hints.items() if name != "head"}
            return own | {"family": str} | get_type_hints(HEADS[families[table]])
    return hints


def _with_heads(values: Mapping[str, Any], families: Mapping[str, str]) -> Mapping[str, Any]:
    """Gathers the settings of each head."""
    found = dict(values)
    for table, kind in _WITH_HEAD.items():
        given = values.get(table)
        if isinstance(given, Mapping):
            beside = set(get_type_hints(kind)) - {"head"}
            head = {key: value for key, value in given.items() if key not in beside}
            own = {key: value for key, value in given.items() if key in beside}
            found[table] = {**own, "head": {**head, "family": families[table]}}
    return found


def _refuse_unknown(
    values: Mapping[str, Any], hints: Mapping[str, Any], *, origin: str, prefix: str, families: Mapping[str, str]
) -> None:
    for key, value in values.items():
        if key not in hints:
            raise RecipeError(f"{origin}: unknown key {prefix}{key}; {_advice(key, hints, prefix, families)}")
        schema = _table(hints[key])
        if schema and isinstance(value, list):
            heads = "; a bundle has two heads, that of [model] and that of [bundle]" if key == "bundle" else ""
            raise RecipeError(
                f"{origin}: {prefix}{key} is a list of {len(value):,}; write one table, [{prefix}{key}]{heads}"
            )
        if schema and isinstance(value, Mapping):
            inner = _keys(schema, families)
            _refuse_unknown(value, inner, origin=origin, prefix=f"{prefix}{key}.", families=families)


def _advice(key: str, hints: Mapping[str, Any], prefix: str, families: Mapping[str, str]) -> str:
    """The valid key that is most like an unknown one: of any table if the name is the same, else of its own."""
    tables: dict[str, type[Settings]] = {"": Recipe}
    tables |= {f"{name}.": schema for name, hint in get_type_hints(Recipe).items() if (schema := _table(hint))}
    places = [f"{table}{key}" for table, schema in tables.items() if key in _keys(schema, families)]
    having = sorted(name for name, kind in HEADS.items() if key in kind.__struct_fields__)
    near = difflib.get_close_matches(key, hints, n=1, cutoff=0.5)
    if having and prefix.rstrip(".") in families:
        family = families[prefix.rstrip(".")]
        return f"the family {family!r} has no such setting, only {', '.join(having)} have"
    if places:
        return f"did you mean {places[0]}?"
    return f"did you mean {prefix}{near[0]}?" if near else f"allowed are {', '.join(sorted(hints))}"


def _table(hint: object) -> type[Settings] | None:
    """The class of a table, also of one that may be left out."""
    for kind in (hint, *get_args(hint)):
        if isinstance(kind, type) and issubclass(kind, Settings) and not issubclass(kind, HeadSettings):
            return kind
    return None


def _explain(error: msgspec.ValidationError, values: Mapping[str, Any], families: Mapping[str, str]) -> str:
    what, key = place_of(error)
    key = re.sub(r"^(\w+)\.head\b", r"\1", key)
    given: Any = values
    schema: Any = Recipe
    for part in key.split(".") if key else ():
        given = given.get(part) if isinstance(given, Mapping) else None
        table = _table(schema)
        schema = _keys(table, families).get(part) if table else None
    allowed = [repr(a) for a in get_args(schema) if isinstance(a, str)]
    if allowed and what.startswith("Invalid enum value"):
        what = f"allowed are {', '.join(allowed)}"
    if not key or isinstance(given, Mapping):
        return f"{key + ': ' if key else ''}{what[0].lower() + what[1:]}"
    return f"{key} = {given!r} is not allowed: {what[0].lower() + what[1:]}"


def resolve_paths(recipe: Recipe, recipe_path: Path) -> Recipe:
    """Makes the paths of a recipe absolute, as ``read_recipe`` says.

    Args:
        recipe: with the paths as they are written.
        recipe_path: the file that they are written in.

    Raises:
        RecipeError: an environment variable that is not set.
    """
    found = recipe
    for key, given in recipe.files().items():
        table, _, name = key.partition(".")
        found = _with_path(found, table, name, resolved(given, recipe_path, key=key))
    return found


def _with_path(recipe: Recipe, table: str, name: str, path: str) -> Recipe:
    replace = msgspec.structs.replace
    outer = getattr(recipe, table)
    inner = (
        replace(outer, head=replace(outer.head, **{name: path}))
        if table in _WITH_HEAD
        else replace(outer, **{name: path})
    )
    return replace(recipe, **{table: inner})


def resolved(given: str, recipe_path: Path, *, key: str) -> str:
    """One path of a recipe made absolute.

    Args:
        given: as it is written.
        recipe_path: the file that it is written in.
        key: of the recipe, for messages.

    Raises:
        RecipeError: an environment variable that is not set.
    """
    unset = [name for name in _VARIABLE.findall(given) if name not in os.environ]
    if unset:
        raise RecipeError(
            f"{recipe_path}: {key} = {given!r} names the environment variable {unset[0]}, which is not set"
        )
    expanded = Path(os.path.expandvars(given)).expanduser()
    return str((recipe_path.parent / expanded).resolve())
