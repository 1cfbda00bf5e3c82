"""The strict reader of recipes: one TOML file, one level of tables, nothing included from elsewhere."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec

from fascicle.errors import RecipeError
from fascicle.recipe.settings import CorpusSettings, Recipe, Settings

_VARIABLE = re.compile(r"\$\{?(\w+)")
_AT = re.compile(r"^(?P<what>.*?)(?: - at `\$\.?(?P<key>[^`]*)`)?$", re.DOTALL)


def read_recipe(path: str | os.PathLike[str]) -> Recipe:
    """Reads one recipe.

    Paths of corpora are resolved: ``$NAME`` through the environment, ``~`` as the home folder, relative ones from the
    folder of the recipe.

    Raises:
        RecipeError: no such file, not TOML, an unknown key (the nearest valid one is named), a wrong type, a value that
            is not allowed, an environment variable that is not set.
    """
    path = Path(path)
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RecipeError(f"there is no recipe at {path}; give the path of a TOML file") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RecipeError(f"{path} is not a readable TOML file: {error}") from None
    recipe = parse_recipe(values, origin=str(path))
    return msgspec.structs.replace(recipe, corpus=_resolved(recipe.corpus, path))


def parse_recipe(values: Mapping[str, Any], *, origin: str) -> Recipe:
    """Turns plain values into a ``Recipe``.

    Args:
        values: what a TOML file holds.
        origin: name of the file, for messages.

    Raises:
        RecipeError: see ``read_recipe``.
    """
    _refuse_unknown(values, Recipe, origin=origin, prefix="")
    try:
        return msgspec.convert(values, Recipe)
    except msgspec.ValidationError as error:
        raise RecipeError(f"{origin}: {_explain(error, values)}") from None


def _refuse_unknown(values: Mapping[str, Any], schema: type[Settings], *, origin: str, prefix: str) -> None:
    hints = get_type_hints(schema)
    for key, value in values.items():
        if key not in hints:
            near = _nearest(key, prefix=prefix)
            advice = f"did you mean {near}?" if near else f"allowed are {', '.join(sorted(hints))}"
            raise RecipeError(f"{origin}: unknown key {prefix}{key}; {advice}")
        if _is_table(hints[key]) and isinstance(value, Mapping):
            _refuse_unknown(value, hints[key], origin=origin, prefix=f"{prefix}{key}.")


def _nearest(key: str, *, prefix: str) -> str:
    """The valid key that is most like an unknown one: of any table if the name is the same, else of its own."""
    tables = {"": Recipe, **{f"{n}.": t for n, t in get_type_hints(Recipe).items() if _is_table(t)}}
    places = [f"{table}{key}" for table, schema in tables.items() if key in get_type_hints(schema)]
    near = difflib.get_close_matches(key, get_type_hints(tables[prefix]), n=1, cutoff=0.5)
    return places[0] if places else f"{prefix}{near[0]}" if near else ""


def _is_table(schema: object) -> bool:
    return isinstance(schema, type) and issubclass(schema, Settings)


def _explain(error: msgspec.ValidationError, values: Mapping[str, Any]) -> str:
    found = _AT.match(str(error))
    what, key = (found["what"], found["key"] or "") if found else (str(error), "")
    given: Any = values
    schema: Any = Recipe
    for part in key.split(".") if key else ():
        given = given.get(part) if isinstance(given, Mapping) else None
        schema = get_type_hints(schema).get(part) if isinstance(schema, type) and issubclass(schema, Settings) else None
    allowed = [repr(a) for a in get_args(schema) if isinstance(a, str)]
    if allowed and what.startswith("Invalid enum value"):
        what = f"allowed are {', '.join(allowed)}"
    if not key or isinstance(given, Mapping):
        return f"{key + ': ' if key else ''}{what[0].lower() + what[1:]}"
    return f"{key} = {given!r} is not allowed: {what[0].lower() + what[1:]}"


def _resolved(corpus: CorpusSettings, recipe_path: Path) -> CorpusSettings:
    paths = {}
    for part in ("train", "dev", "test"):
        given = getattr(corpus, part)
        unset = [name for name in _VARIABLE.findall(given) if name not in os.environ]
        if unset:
            raise RecipeError(
                f"{recipe_path}: corpus.{part} = {given!r} names the environment variable {unset[0]}, which is not set"
            )
        expanded = Path(os.path.expandvars(given)).expanduser()
        paths[part] = str((recipe_path.parent / expanded).resolve()) if given else ""
    return msgspec.structs.replace(corpus, **paths)
