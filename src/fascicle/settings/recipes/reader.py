"""The strict reader of recipes of recognisers: one level of tables, nothing included from elsewhere."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import msgspec

from fascicle.errors import RecipeError
from fascicle.settings.base import Settings, place_of
from fascicle.settings.heads import HEADS
from fascicle.settings.recipes.corpora import PartSettings
from fascicle.settings.recipes.recogniser import BundleSettings, ModelSettings, Recipe
from fascicle.settings.recipes.strict import converted, explained, hints_of, refuse_unknown


def parse_recipe(values: Mapping[str, Any], *, origin: str) -> Recipe:
    """Turns plain values into a ``Recipe``.

    Args:
        values: what a TOML file holds.
        origin: name of the file, for messages.

    Raises:
        RecipeError: see ``settings.recipes.any.read_recipe``.
    """
    families = {table: _family(values, table, origin=origin) for table in _WITH_HEAD}
    keys = partial(_keys, families=families)
    refuse_unknown(values, Recipe, origin=origin, keys=keys, advise=partial(_advise, families=families))
    parts = parse_parts(values.get("parts"), origin=origin)
    try:
        return msgspec.convert({**_with_heads(values, families), **parts}, Recipe)
    except msgspec.ValidationError as error:
        raise RecipeError(explained(error, values, Recipe, keys=keys), at=origin, key=place_of(error)[1]) from None


# The tables in which the settings of a head stand beside others, and the classes of these.
_WITH_HEAD: Mapping[str, type[Settings]] = MappingProxyType({"model": ModelSettings, "bundle": BundleSettings})
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
    }
)


def _family(values: Mapping[str, Any], table: str, *, origin: str) -> str:
    """The family of a head, on which the other keys of its table depend."""
    given = values.get(table)
    family = given.get("family", _DEFAULT) if isinstance(given, Mapping) else _DEFAULT
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
    """What may stand in a table, with its types: the settings of a head stand beside the others."""
    hints = hints_of(schema)
    for table, kind in _WITH_HEAD.items():
        if kind is schema:
            own = {name: hint for name, hint in hints.items() if name != "head"}
            return own | {"family": str} | dict(hints_of(HEADS[families[table]]))
    return hints


def _with_heads(values: Mapping[str, Any], families: Mapping[str, str]) -> Mapping[str, Any]:
    """Gathers the settings of each head."""
    found = dict(values)
    for table, kind in _WITH_HEAD.items():
        given = values.get(table)
        if isinstance(given, Mapping):
            beside = set(hints_of(kind)) - {"head"}
            head = {key: value for key, value in given.items() if key not in beside}
            own = {key: value for key, value in given.items() if key in beside}
            found[table] = {**own, "head": {**head, "family": families[table]}}
    return found


def parse_parts(given: object, *, origin: str) -> dict[str, dict[str, PartSettings]]:
    """The several corpora of a recipe, each converted for itself, so that an error names it."""
    if not isinstance(given, Mapping):
        return {}
    found = {}
    for name, table in given.items():
        place = f"parts.{name}"
        if not isinstance(table, Mapping):
            raise RecipeError(f"{place} = {table!r} is no table; begin it with a line [{place}]", at=origin, key=place)
        found[name] = converted(table, PartSettings, origin=origin, place=place)
    return {"parts": found}


def _advise(key: str, table: str, families: Mapping[str, str]) -> str:
    """About what only a recipe of a model has: settings of families, two heads of a bundle, tables of other recipes."""
    if not key:
        return "a bundle has two heads, that of [model] and that of [bundle]" if table == "bundle" else ""
    if not table and key in _OTHERS:
        return _OTHERS[key]
    having = sorted(name for name, kind in HEADS.items() if key in kind.__struct_fields__)
    if having and table in families:
        return f"the family {families[table]!r} has no such setting, only {', '.join(having)} have"
    return ""
