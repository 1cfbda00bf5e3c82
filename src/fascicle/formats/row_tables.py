"""Tables of any rows, by the suffix of the file: CSV, TSV, a sheet of Excel, or Parquet.

They are for people and not read back, so a text that a spreadsheet would take for a formula gets a
``'`` in front in TSV, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from types import MappingProxyType
from typing import Any, BinaryIO, Final

from fascicle.core.files.atomic import open_output
from fascicle.core.files.source import suffix
from fascicle.errors import UsageError
from fascicle.formats.arrow import open_table
from fascicle.formats.office import fit_cell, open_sheet
from fascicle.formats.tables import CSV, TSV, PlainTable

Columns = Mapping[str, type]
AddRow = Callable[[Sequence[Any]], None]
_TYPES: Final = MappingProxyType({str: "string", int: "int64", float: "float64"})
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]+")


@contextmanager
def open_rows(path: str, columns: Columns, *, overwrite: bool = False) -> Iterator[AddRow]:
    """Opens a table, which gets its name when it is complete; yields the function that adds a row.

    Args:
        path: that ends with .csv, .tsv, .xlsx or .parquet.
        columns: names, with the type of the values: ``str``, ``int`` or ``float``; ``None`` is an
            empty cell.
        overwrite: replace an existing file.

    Raises:
        UsageError: another suffix.
        OutputError: the file exists, or the place cannot be written.
        MissingExtraError: the package for the kind of file is not installed.
    """
    opener = _OPENERS.get(suffix(path))
    if opener is None:
        raise UsageError(f"{path} is no name of a table; name it {', '.join(_OPENERS)}", file=path)
    with open_output(path, overwrite=overwrite) as stream, opener(stream, columns) as add:
        yield add


def _one_line(value: Any) -> Any:
    return _CONTROL.sub(" ", value) if isinstance(value, str) else value


def _plain_cell(value: Any) -> str:
    if isinstance(value, str):
        return CSV.cell(_one_line(value))
    return "" if value is None else str(value)


@contextmanager
def _plain(stream: BinaryIO, columns: Columns, *, table: PlainTable) -> Iterator[AddRow]:
    def add(values: Sequence[Any]) -> None:
        stream.write(table.row(list(map(_plain_cell, values))).encode())

    stream.write((table.mark + table.row(list(columns))).encode())
    yield add


@contextmanager
def _sheet(stream: BinaryIO, columns: Columns) -> Iterator[AddRow]:
    with open_sheet(stream, list(columns), title="rows") as add_values:

        def add(values: Sequence[Any]) -> None:
            add_values([fit_cell(v) if isinstance(v, str) else v for v in map(_one_line, values)])

        yield add


@contextmanager
def _parquet(stream: BinaryIO, columns: Columns) -> Iterator[AddRow]:
    schema = [(name, _TYPES[kind]) for name, kind in columns.items()]
    with open_table(stream, schema) as add_rows:

        def add(values: Sequence[Any]) -> None:
            add_rows([tuple(values)])

        yield add


_OPENERS: Final[Mapping[str, Callable[[BinaryIO, Columns], AbstractContextManager[AddRow]]]] = (
    MappingProxyType(
        {
            ".csv": partial(_plain, table=CSV),
            ".tsv": partial(_plain, table=TSV),
            ".xlsx": _sheet,
            ".parquet": _parquet,
        }
    )
)
