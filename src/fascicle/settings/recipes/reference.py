"""Reference of every key of every recipe, with its default and meaning, taken from the
structures of settings.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec import inspect as kinds

from fascicle.settings.base import LARGEST, attribute_descriptions
from fascicle.settings.heads import HEADS
from fascicle.settings.inputs import InputSettings
from fascicle.settings.recipes import recogniser
from fascicle.settings.recipes.corpora import (
    CorpusSettings,
    CorpusTypes,
    MixtureSettings,
    PartSettings,
)
from fascicle.settings.recipes.distil import DistilRecipe
from fascicle.settings.recipes.filter import FilterRecipe
from fascicle.settings.recipes.pretraining import PretrainingRecipe
from fascicle.settings.recipes.relations import RelationRecipe
from fascicle.settings.recipes.strict import field_types, table_class
from fascicle.settings.recipes.typer import TyperRecipe

Struct = type[msgspec.Struct]
RECOGNISER: Final[Mapping[str, Struct]] = MappingProxyType(
    {
        "": recogniser.Recipe,
        "corpus": CorpusSettings,
        "corpus.types": CorpusTypes,
        "parts.NAME": PartSettings,
        "mixture": MixtureSettings,
        "distant": recogniser.DistantSettings,
        "inputs": InputSettings,
        "reading": recogniser.ReadingSettings,
        "model": recogniser.ModelSettings,
        "vocabulary": recogniser.PieceSettings,
        "bundle": recogniser.BundleSettings,
        "training": recogniser.TrainingSettings,
        "decision": recogniser.DecisionSettings,
    }
)


def _own(recipe: Struct, *recipes: Mapping[str, Struct]) -> Mapping[str, Struct]:
    """Returns the tables of a kind of recipe by their names, without those that other kinds
    share.
    """
    foreign = tuple(kind for of_one in recipes for kind in of_one.values())

    def walk(outer: str, kind: Struct) -> Iterator[tuple[str, Struct]]:
        for name, hint in field_types(kind).items():
            table = table_class(hint)
            if table and not issubclass(table, foreign):
                yield f"{outer}{name}", table
                yield from walk(f"{outer}{name}.", table)

    return MappingProxyType({"": recipe, **dict(walk("", recipe))})


FILTER: Final = _own(FilterRecipe, RECOGNISER)
TYPER: Final = _own(TyperRecipe, RECOGNISER)
PRETRAINING: Final = _own(PretrainingRecipe, RECOGNISER)
DISTILLATION: Final = _own(DistilRecipe, RECOGNISER, PRETRAINING)
RELATIONS: Final = _own(
    RelationRecipe, {name: kind for name, kind in RECOGNISER.items() if name != "reading"}
)
_KINDS: Final = (RECOGNISER, FILTER, TYPER, PRETRAINING, DISTILLATION, RELATIONS)
_TABLES: Final = frozenset(
    {"head", *(part for kind in _KINDS for name in kind for part in name.split("."))}
)


@dataclass(frozen=True, kw_only=True)
class Key:
    """One key of a recipe.

    Attributes:
        name: of the key.
        value: what it may be, in words with Markdown.
        default: as it would be written in a recipe, in words with Markdown.
        meaning: of the key; empty if its structure does not say.
    """

    name: str
    value: str
    default: str
    meaning: str


@dataclass(frozen=True, kw_only=True)
class Table:
    """One table of a recipe.

    Attributes:
        recipe: of what the recipe is.
        name: of the table; empty for the top of the file.
        family: of the head whose keys these are; empty for the keys of all.
        about: what the table is for.
        keys: in their order.
    """

    recipe: str
    name: str
    family: str = ""
    about: str
    keys: tuple[Key, ...]


def tables() -> Iterator[Table]:
    """Yields the tables of all recipes, those of the families of heads after those of a
    recogniser.
    """
    yield from _tables("recogniser", RECOGNISER)
    for family, kind in HEADS.items():
        yield Table(
            recipe="recogniser",
            name="model",
            family=family,
            about=summary(kind),
            keys=tuple(list_keys(kind)),
        )
    yield from _tables("filter", FILTER)
    yield from _tables("span typer", TYPER)
    yield from _tables("pretraining", PRETRAINING)
    yield from _tables("distillation", DISTILLATION)
    yield from _tables("finder of relations", RELATIONS)


def _tables(recipe: str, kinds_by_name: Mapping[str, Struct]) -> Iterator[Table]:
    for name, kind in kinds_by_name.items():
        yield Table(
            recipe=recipe,
            name=name,
            about=summary(kind) if name else "",
            keys=tuple(list_keys(kind)),
        )


def summary(kind: Struct) -> str:
    """Returns the part of a docstring before its attributes."""
    return inspect.cleandoc(kind.__doc__ or "").partition("\nAttributes:")[0].strip()


def list_keys(kind: Struct, *, tables: Container[str] = _TABLES) -> Iterator[Key]:
    """Yields the keys of a structure, without nested tables: its own, then those that it shares
    with others.

    Args:
        kind: the structure.
        tables: names of the nested tables that are left out.
    """
    meanings = attribute_descriptions(kind)
    owners = {
        n: depth
        for depth, ancestor in reversed([*enumerate(kind.__mro__)])
        for n in inspect.get_annotations(ancestor)
    }
    for field in sorted(kinds.type_info(kind).fields, key=lambda field: owners[field.name]):  # type: ignore[attr-defined]
        if field.name in tables and isinstance(
            _bare(field.type), kinds.StructType | kinds.UnionType | kinds.DictType
        ):
            continue
        yield Key(
            name=field.name,
            value=_value_of(field.type),
            default=_default_of(field),
            meaning=meanings.get(field.name, ""),
        )


def _bare(kind: kinds.Type) -> kinds.Type:
    """Returns a type without its alternative of being unset."""
    if isinstance(kind, kinds.UnionType):
        types = [t for t in kind.types if not isinstance(t, kinds.NoneType)]
        return types[0] if len(types) == 1 else kind
    return kind


def _value_of(kind: kinds.Type) -> str:
    """Describes the allowed values in words."""
    kind = _bare(kind)
    match kind:
        case kinds.LiteralType():
            return " or ".join(f"`{json.dumps(value)}`" for value in kind.values)
        case kinds.IntType():
            return f"integer{_bounds(kind)}"
        case kinds.FloatType():
            return f"number{_bounds(kind)}"
        case kinds.BoolType():
            return "`true` or `false`"
        case kinds.StrType():
            return "text"
        case kinds.AnyType():
            return "any value"
        case kinds.VarTupleType() | kinds.ListType():
            return f"list of {_value_of(kind.item_type)}"
        case kinds.TupleType():
            return f"list of {len(kind.item_types)}: {_value_of(kind.item_types[0])}"
        case kinds.DictType():
            inner = _bare(kind.value_type)
            return (
                "table of names"
                if isinstance(inner, kinds.StrType)
                else f"table; each value: {_value_of(inner)}"
            )
        case kinds.UnionType() if not any(
            isinstance(alternative, kinds.StructType) for alternative in kind.types
        ):
            return " or ".join(
                _value_of(alternative)
                for alternative in kind.types
                if not isinstance(alternative, kinds.NoneType)
            )
        case kinds.StructType() | kinds.UnionType():
            return "table"
    raise TypeError(f"no words for {kind}: add them to value_of")


def _bounds(kind: kinds.IntType | kinds.FloatType) -> str:
    words = (("from", kind.ge), ("above", kind.gt), ("to", kind.le), ("below", kind.lt))
    bounds = [f"{word} {bound:g}" for word, bound in words if bound is not None and bound < LARGEST]
    return f" {' '.join(bounds)}" if bounds else ""


def _default_of(field: kinds.Field) -> str:
    """Returns the default of a key, as it would be written in a recipe."""
    if field.required:
        return "required"
    if field.default in (None, msgspec.NODEFAULT) or isinstance(field.default, msgspec.Struct):
        return "not set"
    value = list(field.default) if isinstance(field.default, tuple) else field.default
    return f"default `{json.dumps(value)}`"
