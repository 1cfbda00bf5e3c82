"""Recipes of every kind: detection of the kind, reading, and changes from the command line."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from fascicle.errors import Place, RecipeError, UsageError
from fascicle.settings.base import Settings, locate_error
from fascicle.settings.folders.shipped import find_shipped_model
from fascicle.settings.folders.vocabularies import find_pack
from fascicle.settings.heads import HEADS
from fascicle.settings.recipes import strict
from fascicle.settings.recipes.corpora import PartSettings
from fascicle.settings.recipes.distil import DistilRecipe
from fascicle.settings.recipes.filter import FilterRecipe
from fascicle.settings.recipes.pretraining import PretrainingRecipe
from fascicle.settings.recipes.recogniser import BundleSettings, ModelSettings, Recipe
from fascicle.settings.recipes.relations import RelationRecipe
from fascicle.settings.recipes.typer import TyperRecipe

AnyRecipe = Recipe | DistilRecipe | FilterRecipe | TyperRecipe | PretrainingRecipe | RelationRecipe
KINDS: Final[Mapping[str, type[AnyRecipe]]] = MappingProxyType(
    {
        "recogniser": Recipe,
        "distil": DistilRecipe,
        "filter": FilterRecipe,
        "typer": TyperRecipe,
        "pretraining": PretrainingRecipe,
        "relations": RelationRecipe,
    }
)
_KEY: Final = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
_OF_PACKS: Final = ("inputs.dictionaries.", "distant.")
_OF_MODELS: Final = ("model.start", "teacher.model")
_ENCODERS: Final = ("model.encoder", "teacher.encoder", "student.encoder")
_BARE: Final = re.compile(r"[^\s\"'\[\]{}#=]+")  # text without need of quotes


def read_recipe(path: str | os.PathLike[str], *, changes: Sequence[str] = ()) -> AnyRecipe:
    """Reads one recipe.

    It is of a filter if it has a table ``members``, of a distillation if it has ``teacher``, of a
    pretraining if it has ``text``, of a finder of relations if it has ``relations``, of a span
    typer if it has ``vectors``.

    Paths are resolved: ``$NAME`` through the environment, ``~`` as the home folder, relative ones
    from the folder of the recipe; those of ``changes`` from the current folder. Dictionaries may be
    shipped packs, by their names.

    Args:
        path: path of a TOML file.
        changes: settings that replace those of the file, each ``"KEY=VALUE"``; see
            ``parse_changes``.

    Raises:
        RecipeError: no such file, not TOML, an unknown key (the nearest valid one is named), a
            wrong type, a value that is not allowed, an environment variable that is not set.
        UsageError: a change that has no key or no value.
    """
    path = Path(path)
    overrides = parse_changes(changes)
    origin = Place(path, shown=f"{path}, changed by {', '.join(changes)}" if changes else str(path))
    recipe = parse_any(strict.merge_tables(strict.read_toml(path), overrides), origin=origin)
    keys = [change.partition("=")[0].strip() for change in changes]

    def file_of(key: str) -> Path:
        own = any(key == of or key.startswith(f"{of}.") for of in keys)
        return Path.cwd() / path.name if own else path

    return _resolved(recipe, file_of)


def parse_any(values: Mapping[str, Any], *, origin: str) -> AnyRecipe:
    """Converts plain values to a recipe of the kind that they describe.

    Args:
        values: values of a TOML file.
        origin: name of the file, for messages.

    Raises:
        RecipeError: see ``read_recipe``.
    """
    kind = recipe_kind(values)
    if kind == "recogniser":
        return parse_recipe(values, origin=origin)
    parts = _parts(values.get("parts"), origin=origin) if kind == "distil" else {}
    return strict.convert_values({**values, **parts}, KINDS[kind], origin=origin)


def recipe_kind(values: Mapping[str, Any]) -> str:
    """Returns the kind of a recipe by its tables: ``"recogniser"``, or another key of ``KINDS``."""
    if "members" in values:
        return "filter"
    if "teacher" in values:
        return "distil"
    if "relations" in values:
        return "relations"
    if "text" in values:
        return "pretraining"
    return (
        "typer" if values.keys() & {"vectors", "typer"} and "model" not in values else "recogniser"
    )


def resolve_paths(recipe: AnyRecipe, recipe_path: Path) -> AnyRecipe:
    """Makes the paths of a recipe absolute, as described for ``read_recipe``.

    Args:
        recipe: recipe with the paths as written.
        recipe_path: path of the recipe file.

    Raises:
        RecipeError: an environment variable that is not set.
    """
    return _resolved(recipe, lambda key: recipe_path)


def parse_changes(changes: Sequence[str]) -> dict[str, Any]:
    """Parses changes of settings into tables.

    Args:
        changes: each ``"KEY=VALUE"``, with a value in TOML; text needs no quotes where it is one
            word.

    Raises:
        UsageError: no key, no value, or a value that is not TOML.
    """
    tables: dict[str, Any] = {}
    for change in changes:
        key, text_of_value, text = (part.strip() for part in change.partition("="))
        if not text_of_value or not _KEY.fullmatch(key):
            raise UsageError(
                f"{change!r} changes no setting; write KEY=VALUE, e.g. training.batch_size=8"
            )
        value = _value(text, change)
        for name in reversed(key.split(".")):
            value = {name: value}
        tables = strict.merge_tables(tables, value)
    return tables


def _value(text: str, change: str) -> Any:
    try:
        parsed = strict.parsed_toml(f"value = {text}")
    except (ValueError, RecursionError):
        parsed = {}
    if parsed.keys() == {"value"} and not strict.has_nul(parsed):
        return parsed["value"]
    if _BARE.fullmatch(text):
        return text
    raise UsageError(
        f'{change!r} has no value in TOML; write a number, true, "text" in quotes or a [list]'
    )


def _resolved(recipe: AnyRecipe, file_of: Callable[[str], Path]) -> AnyRecipe:
    resolved: Any = recipe
    for key, file in recipe.places().items():
        path = _shipped(file, key, file_of(key)) or strict.resolve_path(file, file_of(key), key=key)
        try:
            resolved = _with_path(resolved, key.split("."), path)
        except ValueError as error:  # of a list that names one file in two ways
            raise RecipeError(f"{key} = {file!r}: {error}", at=str(file_of(key)), key=key) from None
    for key in _ENCODERS:
        if folder := _encoder_folder(recipe, key, file_of(key)):
            resolved = _with_path(resolved, key.split("."), folder)
    return resolved  # type: ignore[no-any-return]


def _encoder_folder(recipe: AnyRecipe, key: str, recipe_path: Path) -> str:
    """Returns the folder of an encoder; an empty text for a name on the hub, a package, or no
    encoder.

    Raises:
        RecipeError: a variable that is not set, or a folder that is in the current folder and not
            beside the recipe.
    """
    table, _, name = key.partition(".")
    encoder = getattr(getattr(recipe, table, None), name, "")
    if not encoder or encoder.startswith("package:"):
        return ""
    folder = strict.resolve_path(encoder, recipe_path, key=key)
    if Path(folder).is_dir() or encoder.startswith((".", "/", "~", "$")):
        return folder
    if Path(encoder).is_dir():
        raise RecipeError(
            f"{key} = {encoder!r} begins at the folder of the recipe, which has none of this name, "
            f"and the current folder has one; write {str(Path(encoder).resolve())!r} for that one",
            at=str(recipe_path),
            key=key,
        )
    return ""


def _shipped(name: str, key: str, recipe_path: Path) -> str:
    """Returns the folder of a shipped model or pack if the key may name one, else an empty text.

    Raises:
        RecipeError: a folder of this name is beside the recipe too.
    """
    if key in _OF_MODELS:
        folder = find_shipped_model(name)
    else:
        pack = find_pack(name) if key.startswith(_OF_PACKS) else Path(name).expanduser()
        folder = pack if pack != Path(name).expanduser() else None
    if folder and (recipe_path.parent / name).is_dir():
        raise RecipeError(
            f"{key} = {name!r} is {folder.name} of the package, and a folder beside the recipe has "
            f"this name too; write {f'./{name}'!r} for that folder, or give it another name",
            at=str(recipe_path),
            key=key,
        )
    return str(folder or "")


def _with_path(value: Any, parts: Sequence[str], path: str) -> Any:
    """Returns a structure with one path replaced; settings of a head have the keys of their
    table.
    """
    if not parts:
        return path
    first, *rest = parts
    if isinstance(value, tuple):
        at = int(first)
        return (*value[:at], _with_path(value[at], rest, path), *value[at + 1 :])
    if isinstance(value, dict):
        return {**value, first: _with_path(value[first], rest, path)}
    if first not in value.__struct_fields__:
        return replace(value, head=_with_path(value.head, parts, path))
    return replace(value, **{first: _with_path(getattr(value, first), rest, path)})


def parse_recipe(values: Mapping[str, Any], *, origin: str) -> Recipe:
    """Converts plain values to a ``Recipe``.

    Args:
        values: values of a TOML file.
        origin: name of the file, for messages.

    Raises:
        RecipeError: see ``read_recipe``.
    """
    families = {table: _family(values, table, origin=origin) for table in _WITH_HEAD}
    keys = partial(_keys, families=families)
    strict.refuse_unknown(
        values, Recipe, origin=origin, keys=keys, advise=partial(_advise, families=families)
    )
    parts = _parts(values.get("parts"), origin=origin)
    try:
        return msgspec.convert({**_with_heads(values, families), **parts}, Recipe)
    except msgspec.ValidationError as error:
        raise RecipeError(
            strict.explain_wrong_value(error, values, Recipe, keys=keys),
            at=origin,
            key=locate_error(error)[1],
        ) from None


# Tables that contain settings of a head among others, and the classes of the others.
_WITH_HEAD: Mapping[str, type[Settings]] = MappingProxyType(
    {"model": ModelSettings, "bundle": BundleSettings}
)
_DEFAULT = "softmax"
# Tables of the other recipes.
_OTHERS: Mapping[str, str] = MappingProxyType(
    {
        "members": "only a recipe of a filter has it",
        "filter": "only a recipe of a filter has it, beside a table [members]",
        "vectors": "only a recipe of a span typer has it, which has no table [model]",
        "typer": "only a recipe of a span typer has it, which has no table [model]",
        "teacher": "only a recipe of a distillation has it, which has no table [model]",
        "student": "only a recipe of a distillation has it, beside a table [teacher]",
        "layers": "only a recipe of a distillation has it, beside a table [teacher]",
        "prediction": "only a recipe of a distillation has it, beside a table [teacher]",
        "masking": "only a recipe of a pretraining has it, beside a table [text]",
        "relations": "only a recipe of a finder of relations has it",
    }
)


def _family(values: Mapping[str, Any], table: str, *, origin: str) -> str:
    """Returns the family of a head, which determines the other keys of its table."""
    section = values.get(table)
    family = section.get("family", _DEFAULT) if isinstance(section, Mapping) else _DEFAULT
    if not isinstance(family, str) or family not in HEADS:
        near = difflib.get_close_matches(str(family), HEADS, n=1)
        advice = f"; did you mean {near[0]!r}?" if near else ""
        allowed = ", ".join(map(repr, sorted(HEADS)))
        raise RecipeError(
            f"{table}.family = {family!r} is not allowed: allowed are {allowed}{advice}",
            at=origin,
            key=f"{table}.family",
        )
    return family


def _keys(schema: type[Settings], families: Mapping[str, str]) -> Mapping[str, Any]:
    """Returns the allowed keys of a table with their types; settings of a head are beside the
    others.
    """
    hints = strict.field_types(schema)
    for table, kind in _WITH_HEAD.items():
        if kind is schema:
            own = {name: hint for name, hint in hints.items() if name != "head"}
            return own | {"family": str} | dict(strict.field_types(HEADS[families[table]]))
    return hints


def _with_heads(values: Mapping[str, Any], families: Mapping[str, str]) -> Mapping[str, Any]:
    """Gathers the settings of each head."""
    completed = dict(values)
    for table, kind in _WITH_HEAD.items():
        section = values.get(table)
        if isinstance(section, Mapping):
            beside = set(strict.field_types(kind)) - {"head"}
            head = {key: value for key, value in section.items() if key not in beside}
            own = {key: value for key, value in section.items() if key in beside}
            completed[table] = {**own, "head": {**head, "family": families[table]}}
    return completed


def _parts(section: object, *, origin: str) -> dict[str, dict[str, PartSettings]]:
    """Converts the corpora of a recipe one by one, so that an error names the corpus."""
    if not isinstance(section, Mapping):
        return {}
    parts = {}
    for name, table in section.items():
        place = f"parts.{name}"
        if not isinstance(table, Mapping):
            raise RecipeError(
                f"{place} = {table!r} is not a table; begin it with a line [{place}]",
                at=origin,
                key=place,
            )
        parts[name] = strict.convert_values(table, PartSettings, origin=origin, place=place)
    return {"parts": parts}


def _advise(key: str, table: str, families: Mapping[str, str]) -> str:
    """Returns advice about an unknown key: settings of other families, two heads of a bundle,
    other recipes.
    """
    if not key:
        return (
            "a bundle has two heads, that of [model] and that of [bundle]"
            if table == "bundle"
            else ""
        )
    if not table and key in _OTHERS:
        return _OTHERS[key]
    having = sorted(name for name, kind in HEADS.items() if key in kind.__struct_fields__)
    if having and table in families:
        return f"the family {families[table]!r} has no such setting, only {', '.join(having)} have"
    return ""
