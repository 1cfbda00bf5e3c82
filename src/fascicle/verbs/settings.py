"""Command ``fascicle settings``: lists the keys of recipes, their defaults and meanings."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

from fascicle.errors import UsageError
from fascicle.settings.recipes.reference import Key, Table, tables
from fascicle.verbs.messages import emit
from fascicle.verbs.options import option

_WIDTH = 100


class Options:
    """Options of ``fascicle settings``.

    In Python: ``fascicle.settings.recipes.reference.tables()``

    Attributes:
        names: only settings with this name: a table (training), a key (batch_size,
            training.batch_size), a family of heads (crf) or a kind of recipe (filter); a setting
            must fit all given names.
        json: print the list as JSON.
    """

    names: list[str] = option("NAME *")
    json: bool = option("--json")


def run(args: Options) -> int:
    """Prints the list; returns the exit code."""
    chosen_tables = _choose_settings(tuple(tables()), args.names)
    text = "\n".join(line for table in chosen_tables for line in _lines(table)).lstrip("\n") + "\n"
    return emit(
        [asdict(table) for table in chosen_tables], text, as_json=args.json, ensure_ascii=True
    )


def _choose_settings(every: Sequence[Table], names: Sequence[str]) -> list[Table]:
    """Returns the tables with the keys that match all names.

    Raises:
        UsageError: no key matches; the message names the nearest one.
    """
    chosen_tables = []
    for table in every:
        keys = tuple(key for key in table.keys if all(_has(name, table, key) for name in names))
        if keys:
            chosen_tables.append(replace(table, keys=keys))
    if not chosen_tables:
        names_of_keys = {_full(table, key): None for table in every for key in table.keys}
        names_of_keys |= {key.name: None for table in every for key in table.keys}
        near = difflib.get_close_matches(names[-1], list(names_of_keys), n=1)
        hint = f"did you mean {near[0]}?" if near else "fascicle settings lists all keys"
        raise UsageError(f"no key of a recipe has the name {' '.join(names)}; {hint}")
    return chosen_tables


def _has(name: str, table: Table, key: Key) -> bool:
    lowered = name.strip("[]").lower()
    kinds = (table.recipe, *table.recipe.split())
    return (
        lowered in _full(table, key)
        or lowered == table.family
        or any(kind.startswith(lowered) for kind in kinds)
    )


def _full(table: Table, key: Key) -> str:
    return f"{table.name}.{key.name}" if table.name else key.name


def _lines(table: Table) -> Iterator[str]:
    where = f"[{table.name}]" if table.name else "top of the file"
    family = f', family = "{table.family}"' if table.family else ""
    yield f"\n{where}{family} (recipe of a {table.recipe})"
    for key in table.keys:
        yield f"  {key.name}: {_plain(key.value)}; {_plain(key.default)}"
        yield from textwrap.wrap(
            _plain(key.meaning), width=_WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6
        )


def _plain(text: str) -> str:
    return text.replace("`", "")
