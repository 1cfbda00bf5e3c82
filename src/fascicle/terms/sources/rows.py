"""Rows of tables as text or Parquet, cut into cells and chosen by ``where`` and ``unless``."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from fascicle.core.files.source import Line
from fascicle.errors import FormatError, Place, RecipeError
from fascicle.settings.packs import Column, SourceSettings
from fascicle.terms.headings import refuse_json
from fascicle.terms.sources.drafts import SourceReport, numbered_lines
from fascicle.terms.sources.parquet_rows import parquet_columns, parquet_rows, parts_of

_Numbered = Iterator[tuple[Place, Line]]
# place of each, and its cells: without blanks at their ends, empty for none
Rows = Iterator[tuple[Place, list[str]]]
_LOOKED_AT: Final = 200  # lines at the beginning, among which the header is
_SEPARATORS: Final = ("\t", ";", ",")
BETWEEN: Final = "\ud800"  # a half of a surrogate pair, between the parts of a list of Parquet
_NUMBER: Final = re.compile("[0-9]{1,4}")  # of a column


def _by_number(columns: Iterable[Column]) -> dict[Column, int]:
    """Returns the places of columns that are numbers."""
    return {
        column: int(column)
        for column in columns
        if isinstance(column, int) or _NUMBER.fullmatch(column)
    }


def open_table(
    settings: SourceSettings,
    report: SourceReport,
    *,
    needed: Sequence[Column],
    wished: Sequence[Column] = (),
    required: Collection[Column] = (),
) -> tuple[Mapping[Column, int], Rows]:
    """Opens a table and reads its header.

    The header is the first line that has all needed columns; a ``#`` in front of it is left out,
    and so are lines before it. Where columns are numbers there is no header. A row ends with its
    line: quotes go over no line break.

    Args:
        settings: of the source; a column of ``where`` or ``unless`` that is not there is refused.
        report: receives what is lost.
        needed: columns without which nothing can be read.
        wished: columns that may be missing.
        required: those of them that may not: a user named them.

    Returns:
        Column as it was requested -> its place, the same numbers where there is no header; and the
        rows, each with all cells that the table needs.

    Raises:
        FormatError: no header with these columns; where there is none, the rows say at their end
            that none has one.
        RecipeError: ``where`` or ``unless`` name a column that is not there.
    """
    filters = {**settings.table.where, **settings.table.unless}
    is_parquet = settings.path.endswith(".parquet") or Path(settings.path).is_dir()
    open_rows = _parquet if is_parquet else _text
    at, rows = open_rows(settings, report, [*needed], [*wished, *filters])
    if _are_numbers(needed):
        at = _by_number((*needed, *wished, *filters))
    _check_presence(settings, at, filters, required)
    width = 1 + max(at[column] for column in needed)
    last = max((at[column] for column in required), default=0)
    rows = _pad(settings, report, rows, width=width, size=1 + max(at.values()), last=last)
    return at, _filter(settings, report, rows, at)


def list_rows(path: str) -> tuple[list[str], Iterator[list[str]]]:
    """Returns the titles of a table whose first row has them, and its rows, cut as `open_table`
    cuts them; without blanks around cells.

    Raises:
        InputError: the file cannot be opened.
        FormatError: JSON; no Parquet; a line beyond all bounds.
    """
    report = SourceReport()
    if path.endswith(".parquet"):
        titles = parquet_columns(path)
        at: Iterable[tuple[Place, dict[str, Any]]] = parquet_rows(path, report)
        return titles, ([_cell(row[title]) for title in titles] for _, row in at)
    lines = numbered_lines(path, "utf-8")
    first = next((line for _, line in lines if isinstance(line, str)), "").lstrip("#").strip(" ")
    refuse_json(first, path)
    separator = next((sign for sign in _SEPARATORS if sign in first), "\t")
    rows = _cut_lines(lines, _cutter(separator), report)
    return _header_cells(first, separator), (list(map(str.strip, row)) for _, row in rows)


def _check_presence(
    settings: SourceSettings,
    at: Mapping[Column, int],
    filters: Iterable[str],
    required: Iterable[Column],
) -> None:
    if missing := [column for column in filters if column not in at]:
        raise RecipeError(
            f"there is no column {missing[0]!r} in {settings.path}; correct where or unless",
            key=missing[0],
        )
    if absent := [column for column in required if column not in at]:
        raise FormatError(f"there is no column {absent[0]!r}; correct columns", at=settings.path)


def _are_numbers(columns: Sequence[Column]) -> bool:
    return all(isinstance(column, int) for column in columns)


def _text(
    settings: SourceSettings,
    report: SourceReport,
    needed: Sequence[Column],
    wished: Sequence[Column],
) -> tuple[dict[Column, int], Rows]:
    """Returns the places of the columns of a text, none where they are numbers, and its rows."""
    lines: _Numbered = islice(
        numbered_lines(settings.path, settings.encoding), settings.table.skip, None
    )
    separator = settings.table.separator.replace("auto", "\t")
    at: dict[Column, int] = {}
    if not _are_numbers(needed):
        at, separator, lines = _header(settings, lines, [*map(str, needed)], [*map(str, wished)])
    return at, _cut_lines(lines, _cutter(separator), report)


def _header(
    settings: SourceSettings, lines: _Numbered, needed: list[str], wished: list[str]
) -> tuple[dict[Column, int], str, _Numbered]:
    """Returns the places of the columns, the separator, and the lines after the header."""
    stated = settings.table.separator
    first_row = ""
    for _, line in islice(lines, _LOOKED_AT):
        if isinstance(line, FormatError):
            continue
        bare = line.lstrip("#").strip(" ")
        first_row = first_row or (bare if not line.startswith("#") else "")
        for separator in _SEPARATORS if stated == "auto" else (stated,):
            cells = _header_cells(bare, separator)
            if all(column in cells for column in needed):
                present = [column for column in (*needed, *wished) if column in cells]
                return {column: cells.index(column) for column in present}, separator, lines
    columns = " and ".join(map(repr, needed))
    raise FormatError(
        f"no line has the columns {columns}; the first row is {first_row[:100]!r}; name the "
        "columns of this table",
        at=settings.path,
    )


def _header_cells(line: str, separator: str) -> list[str]:
    """Returns the cells of a line that may be a header; none if its quotes do not match."""
    try:
        return [cell.strip() for cell in _cutter(separator)(line)]
    except csv.Error:
        return []


def _parquet(
    settings: SourceSettings, report: SourceReport, needed: list[Column], wished: list[Column]
) -> tuple[dict[Column, int], Rows]:
    """Returns the places of the columns of Parquet, a file or a folder of parts, and its rows."""
    paths = [str(path) for path in parts_of(Path(settings.path))]
    names = parquet_columns(paths[0])
    if missing := [column for column in needed if isinstance(column, str) and column not in names]:
        listing = ", ".join(names)[:200]
        raise FormatError(
            f"there is no column {missing[0]!r}; the columns are {listing}; correct columns",
            at=paths[0],
        )
    rows = (
        (place, [_cell(row.get(name)) for name in names])
        for path in paths
        for place, row in parquet_rows(path, report)
    )
    return {
        column: names.index(str(column)) for column in (*needed, *wished) if column in names
    }, rows


def _cell(value: Any) -> str:
    """Returns a value of Parquet as text; the parts of a list keep apart by a sign that no text
    has.
    """
    if isinstance(value, list):
        return "".join(_cell(part) + BETWEEN for part in value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a number in a column with missing ones
    return "" if value is None else str(value)


def _cut_lines(lines: _Numbered, cut: Callable[[str], list[str]], report: SourceReport) -> Rows:
    """Yields the cells of lines, and counts those that cannot be cut."""
    inside = False  # of a cell with a line break
    for place, line in lines:
        if isinstance(line, FormatError):
            report.rows += 1
            report.lose("encoding", place)
            continue
        if not line.strip("# \t"):
            continue
        report.rows += 1
        odd = line.count('"') % 2 == 1
        try:
            cells = [] if inside and odd else cut(line)
        except csv.Error:
            cells = []
        if cells:
            yield place, cells
        else:
            inside = odd and not inside
            report.lose("quotes", place)


def _pad(
    settings: SourceSettings,
    report: SourceReport,
    rows: Rows,
    *,
    width: int,
    size: int,
    last: int,
) -> Rows:
    """Yields the rows that have the needed columns, with an empty cell for each other one.

    Args:
        settings: of the source.
        report: receives what is lost.
        rows: as they are cut.
        width: columns that are needed.
        size: columns that are read.
        last: the last column that must be in some row.
    """
    widest = 0
    for place, cells in rows:
        if len(cells) < width:
            report.lose("columns", place)
            continue
        widest = max(widest, len(cells))
        yield place, [cell.strip() for cell in cells] + [""] * (size - len(cells))
    if 0 < widest <= last:
        raise FormatError(
            f"there is no column {last}, counted from 0: the longest row has {widest} columns; "
            "correct columns",
            at=settings.path,
        )


def _filter(
    settings: SourceSettings, report: SourceReport, rows: Rows, at: Mapping[Column, int]
) -> Rows:
    """Yields the rows that ``where`` and ``unless`` let through, with no cell that says nothing.

    Both compare a cell as it is written, and as an empty one if it is among ``empty``.
    """
    empty = frozenset(settings.table.empty)
    where = _values_by_place(settings.table.where, at)
    unless = _values_by_place(settings.table.unless, at)
    for place, written in rows:
        cells = [text if text not in empty else "" for text in written]
        if any(
            values.isdisjoint((written[column], cells[column])) for column, values in where
        ) or not all(
            values.isdisjoint((written[column], cells[column])) for column, values in unless
        ):
            report.lose("where", place)
            continue
        yield place, cells


def _values_by_place(
    conditions: Mapping[str, Sequence[str]], at: Mapping[Column, int]
) -> list[tuple[int, frozenset[str]]]:
    return [(at[column], frozenset(values)) for column, values in conditions.items()]


def _cutter(separator: str) -> Callable[[str], list[str]]:
    def cut_plain(line: str) -> list[str]:
        cells = line.split(separator)
        return [_unquote(cell) for cell in cells] if '"' in line else cells

    def cut_csv(line: str) -> list[str]:
        return (
            next(csv.reader([line], delimiter=separator, strict=True))
            if '"' in line
            else line.split(separator)
        )

    return cut_csv if separator in ",;" else cut_plain


def _unquote(cell: str) -> str:
    """Returns a cell without the quotes around it; other quotes are kept."""
    if len(cell) < 2 or cell[0] != '"' or cell[-1] != '"' or '"' in cell[1:-1].replace('""', ""):
        return cell
    return cell[1:-1].replace('""', '"')
