"""Strict reading of TOML files: every unknown key and every wrong value is one sentence that
names its place.
"""

from __future__ import annotations

import difflib
import os
import re
import stat
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from fascicle.errors import RecipeError
from fascicle.settings.base import Settings, locate_error
from fascicle.settings.heads import HeadSettings

_Keys = Callable[[type[Settings]], Mapping[str, Any]]  # allowed keys of a table, with their types
_PART = re.compile(r"([^.\[\]]+)|\[(\d+)\]")  # part of a key: a name, or an index of a list
_S = TypeVar("_S", bound=Settings)
_ENCODING: Final = "utf-8-sig"  # UTF-8; the byte order mark of Windows editors is skipped
_LARGEST: Final = 16 * 2**20  # most bytes of a file; no file written by hand has so many
_VARIABLE = re.compile(r"\$\{?(\w+)")


@cache
def field_types(schema: type[msgspec.Struct]) -> Mapping[str, Any]:
    """Returns the fields of a table with their types; cached, since evaluating annotations takes
    a millisecond.
    """
    return MappingProxyType(get_type_hints(schema))


def read_toml(path: Path, *, what: str = "recipe") -> dict[str, Any]:
    """Reads the values of a TOML file.

    Raises:
        RecipeError: no such file, a folder, or not TOML.
    """
    return toml_values(path, missing=f"there is no {what} at {path}")


def merge_tables(base: Mapping[str, Any], *overlays: Mapping[str, Any]) -> dict[str, Any]:
    """Merges tables, key by key at every level; values that are no tables are replaced."""
    result = dict(base)
    for overlay in overlays:
        for key, value in overlay.items():
            old = result.get(key)
            are_tables = isinstance(old, Mapping) and isinstance(value, Mapping)
            result[key] = merge_tables(old, value) if are_tables else value  # type: ignore[arg-type]
    return result


def resolve_path(path: str, recipe_path: Path, *, key: str) -> str:
    """Makes one path of a recipe absolute.

    Args:
        path: the path as written.
        recipe_path: path of the recipe file.
        key: key in the recipe, for messages.

    Raises:
        RecipeError: an environment variable that is not set.
    """
    unset = [name for name in _VARIABLE.findall(path) if name not in os.environ]
    if unset:
        raise RecipeError(
            f"{key} = {path!r} names the environment variable {unset[0]}, which is not set",
            at=str(recipe_path),
            key=key,
        )
    expanded = Path(os.path.expandvars(path)).expanduser()
    return str((recipe_path.parent / expanded).resolve())


def convert_values(
    values: Mapping[str, Any], schema: type[_S], *, origin: str, place: str = ""
) -> _S:
    """Converts plain values to settings.

    Args:
        values: values of a TOML file.
        schema: class of the settings.
        origin: name of the file, for messages.
        place: key of the values in the file, e.g. ``"parts.bc2gm"``; empty for the whole file.

    Raises:
        RecipeError: an unknown key (the nearest valid one is named), a wrong type, a value that is
            not allowed.
    """
    refuse_unknown(values, schema, origin=origin, place=place)
    for key, hint in field_types(schema).items():
        table = table_class(get_args(hint)[1]) if get_origin(hint) is dict else None
        tables = values.get(key)
        if table is not None and isinstance(tables, Mapping):
            for name, subtable in tables.items():
                if isinstance(subtable, Mapping):
                    convert_values(
                        subtable, table, origin=origin, place=f"{place}.{key}.{name}".lstrip(".")
                    )
    try:
        return msgspec.convert(values, schema)
    except msgspec.ValidationError as error:
        what, key = explain_wrong_value(error, values, schema), locate_error(error)[1]
        if place:
            what, key = f"{place}{'.' if key else ': '}{what}", f"{place}.{key}".rstrip(".")
        raise RecipeError(what, at=origin, key=key) from None


def refuse_unknown(
    values: Mapping[str, Any],
    schema: type[Settings],
    *,
    origin: str,
    keys: _Keys = field_types,
    advise: Callable[[str, str], str] = lambda key, table: "",
    place: str = "",
) -> None:
    """Refuses keys that no table has, and lists in the place of a table.

    Args:
        values: values of a TOML file.
        schema: class of the settings.
        origin: name of the file, for messages.
        keys: function from a table to its keys.
        advise: function from key and table to advice about an unknown key, or about a list; empty
            for the usual advice.
        place: key of the values in the file; empty for the whole file.

    Raises:
        RecipeError: a key is unknown, or a value does not fit the settings.
    """
    outer = f"{place}." if place else ""
    tables: dict[str, type[Settings]] = {outer: schema}
    tables |= {
        f"{outer}{name}.": table
        for name, hint in field_types(schema).items()
        if (table := table_class(hint))
    }

    check = _KeyCheck(tables=tables, origin=origin, keys=keys, advise=advise)
    check.walk(values, schema, outer)


@dataclass(frozen=True, kw_only=True)
class _KeyCheck:
    """Check of the keys of a file; see `refuse_unknown`.

    Attributes:
        tables: the tables of the file, by the beginning of their keys.
        origin: name of the file.
        keys: function from a table to its keys.
        advise: function from key and table to advice.
    """

    tables: Mapping[str, type[Settings]]
    origin: str
    keys: _Keys
    advise: Callable[[str, str], str]

    def walk(self, values: Mapping[str, Any], schema: type[Settings], prefix: str) -> None:
        """Checks the keys of a table and of the tables in it."""
        allowed = self.keys(schema)
        for key, value in values.items():
            place = f"{prefix}{key}"
            if key not in allowed:
                advice = self.advise(key, prefix.rstrip(".")) or self.nearest(key, allowed, prefix)
                raise self.error(f"unknown key {place}; {advice}", place, code="unknown-key")
            table = table_class(allowed[key])
            if table and isinstance(value, list):
                advice = f"write one table, [{place}]"
                advice += f"; {more}" if (more := self.advise("", place)) else ""
                raise self.error(f"{place} is a list of {len(value):,}; {advice}", place)
            if table and isinstance(value, Mapping):
                self.walk(value, table, f"{place}.")

    def nearest(self, key: str, allowed: Mapping[str, Any], prefix: str) -> str:
        """Returns the most similar valid key: of any table if the name is the same, else of its
        own table.
        """
        for start, table in self.tables.items():
            if key in self.keys(table):
                return f"did you mean {start}{key}?"
        if near := difflib.get_close_matches(key, allowed, n=1):
            return f"did you mean {prefix}{near[0]}?"
        return f"allowed are {', '.join(sorted(allowed))}"

    def error(self, message: str, key: str, code: str = "") -> RecipeError:
        """Returns the error about a key."""
        return RecipeError(message, at=self.origin, key=key, code=code)


def explain_wrong_value(
    error: msgspec.ValidationError,
    values: Mapping[str, Any],
    schema: type[Settings],
    *,
    keys: _Keys = field_types,
) -> str:
    """Returns a message about a wrong value: which one, and what is allowed.

    Args:
        error: error of the conversion.
        values: the converted values, as written.
        schema: class of the settings.
        keys: function from a table to its keys.
    """
    what, key = locate_error(error)
    key = re.sub(r"^(\w+)\.head\b", r"\1", key)  # settings of a head are written in its table
    value: Any = values
    hint: Any = schema
    for name, number in _PART.findall(key):
        inside = isinstance(value, Sequence if number else Mapping)
        value = (
            value[int(number) if number else name] if inside and (number or name in value) else None
        )
        if number:
            hint = next(iter(get_args(hint)), None)
        else:
            hint = keys(table).get(name) if (table := table_class(hint)) else None
    allowed = [repr(a) for a in get_args(hint) if isinstance(a, str)]
    if allowed and what.startswith("Invalid enum value"):
        what = f"allowed are {', '.join(allowed)}"
    what = what[0].lower() + what[1:]
    if not key or isinstance(value, Mapping):
        return f"{key + ': ' if key else ''}{what}"
    return f"{key} = {value!r} is not allowed: {what}"


def table_class(hint: object) -> type[Settings] | None:
    """Returns the class of a table, also of an optional one; ``None`` for a list of tables, and
    for tables by name.
    """
    if get_origin(hint) in (tuple, dict):
        return None
    for kind in (hint, *get_args(hint)):
        if (
            isinstance(kind, type)
            and issubclass(kind, Settings)
            and not issubclass(kind, HeadSettings)
        ):
            return kind
    return None


def toml_values(path: Path, *, missing: str, advice: str = "") -> dict[str, Any]:
    """Reads the values of a TOML file.

    Args:
        path: path of the file.
        missing: message for a missing file, e.g. ``"there is no recipe at x.toml"``.
        advice: advice for a file that is not TOML.

    Raises:
        RecipeError: no such file, no regular file, too large, not TOML, or a NUL character in a
            value.
    """
    try:
        values = parsed_toml(_content(path).decode(_ENCODING))
    except FileNotFoundError:
        raise RecipeError(f"{missing}; give the path of a TOML file") from None
    except RecursionError:
        raise RecipeError(
            f"{path} is not a readable TOML file: its values are nested too deeply", file=str(path)
        ) from None
    except OSError as error:
        what = (
            f"{path} is a folder" if path.is_dir() else f"{path} cannot be read: {error.strerror}"
        )
        what = "the path is empty, or that of the current folder" if path == Path() else what
        raise RecipeError(f"{what}; give the path of a TOML file") from None
    except ValueError as error:
        remedy = f"; {advice}" if advice else ""
        raise RecipeError(
            f"{path} is not a readable TOML file: {error}{remedy}", file=str(path)
        ) from None
    if has_nul(values):
        raise RecipeError(
            "a value has a NUL character, as no path and no name may; remove it", at=str(path)
        )
    return values


def parsed_toml(text: str) -> dict[str, Any]:
    """Parses TOML text.

    Raises:
        ValueError: it is not TOML, or Python does not read one of its integers; the message is for
            users.
        RecursionError: its values are nested too deeply.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:
        raise ValueError("an integer has too many digits") from None


def _content(path: Path) -> bytes:
    """Reads a small regular file; pipes and devices are refused, since reading may never end."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise RecipeError(
            f"{path} is a pipe or a device; give the path of a TOML file", file=str(path)
        )
    with path.open("rb") as stream:
        content = stream.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise RecipeError(
            f"{path} has more than {_LARGEST >> 20} MiB, as no TOML file of settings has",
            file=str(path),
        )
    return content


def has_nul(value: Any) -> bool:
    """True if a value, or one of its keys, contains a NUL character, which no path may have."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str) and "\0" in node:
            return True
        if isinstance(node, dict):
            waiting += [*node.keys(), *node.values()]
        elif isinstance(node, list):
            waiting += node
    return False
