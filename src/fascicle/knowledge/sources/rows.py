"""Tables: TSV and CSV cut into rows of named cells."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from fascicle.errors import FormatError, Place, RecipeError
from fascicle.files.source import Line
from fascicle.knowledge.sources.drafts import numbered_lines
from fascicle.knowledge.sources.report import SourceReport
from fascicle.settings.packs import Column, SourceSettings

Numbered = Iterator[tuple[Place, Line]]
_LOOKED_AT: Final = 200  # lines at the beginning, among which the header is
_SEPARATORS: Final = ("\t", ";", ",")
_NUMBER: Final = re.compile("[0-9]{1,4}")  # of a column


class Row(NamedTuple):
    """One row of a table.

    Attributes:
        place: of the row.
        cells: without blanks at their ends; those that say nothing are empty.
    """

    place: Place
    cells: list[str]


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table whose header was read.

    Attributes:
        at: column as it was asked for -> its place; the same numbers where there is no header.
        rows: streams the rows, each with all cells that the table needs.
    """

    at: Mapping[Column, int]
    rows: Iterator[Row]


def open_table(
    settings: SourceSettings,
    report: SourceReport,
    *,
    needed: Sequence[Column],
    wished: Sequence[Column] = (),
    asked: Collection[Column] = (),
) -> Table:
    """Opens a table and reads its header.

    The header is the first line that has all needed columns; a ``#`` in front of it is left out, and so are lines
    before it. Where columns are numbers there is no header. A row ends with its line: quotes go over no line break.

    Args:
        settings: of the source; a column of ``where`` or ``unless`` that is not there is refused.
        report: receives what is lost.
        needed: columns without which nothing can be read.
        wished: columns that may be missing.
        asked: those of them that may not: a user named them.

    Raises:
        FormatError: no header with these columns; where there is none, the rows say at their end that none has one.
        RecipeError: ``where`` or ``unless`` name a column that is not there.
    """
    lines: Numbered = islice(numbered_lines(settings.path, settings.encoding), settings.table.skip, None)
    filters = {**settings.table.where, **settings.table.unless}
    if all(isinstance(column, int) for column in needed):
        separator = settings.table.separator.replace("auto", "\t")
        at: dict[Column, int] = {column: int(column) for column in (*needed, *wished)}
        at |= {column: int(column) for column in filters if _NUMBER.fullmatch(column)}
    else:
        at, separator, lines = _header(settings, lines, [*map(str, needed)], [*map(str, (*wished, *filters))])
    if missing := [column for column in filters if column not in at]:
        raise RecipeError(
            f"there is no column {missing[0]!r} in {settings.path}; correct where or unless", key=missing[0]
        )
    if absent := [column for column in asked if column not in at]:
        raise FormatError(f"there is no column {absent[0]!r}; correct columns", at=settings.path)
    width = 1 + max(at[column] for column in needed)
    cut = _cutter(separator)
    last = max((at[column] for column in asked), default=0)
    return Table(at=at, rows=_rows(settings, report, lines=lines, cut=cut, width=width, at=at, last=last))


def _header(
    settings: SourceSettings, lines: Numbered, needed: list[str], wished: list[str]
) -> tuple[dict[Column, int], str, Numbered]:
    """Places of the columns, the separator, and the lines behind the header."""
    given = settings.table.separator
    shown = ""
    for _, line in islice(lines, _LOOKED_AT):
        if isinstance(line, FormatError):
            continue
        bare = line.lstrip("#").strip(" ")
        shown = shown or (bare if not line.startswith("#") else "")
        for separator in _SEPARATORS if given == "auto" else (given,):
            try:
                cells = [cell.strip() for cell in _cutter(separator)(bare)]
            except csv.Error:
                continue
            if all(column in cells for column in needed):
                known = [column for column in (*needed, *wished) if column in cells]
                found: dict[Column, int] = {column: cells.index(column) for column in known}
                return found, separator, lines
    columns = " and ".join(map(repr, needed))
    raise FormatError(
        f"no line has the columns {columns}; the first row is {shown[:100]!r}; name the columns of this table",
        at=settings.path,
    )


def _rows(
    settings: SourceSettings,
    report: SourceReport,
    *,
    lines: Numbered,
    cut: Callable[[str], list[str]],
    width: int,
    at: Mapping[Column, int],
    last: int,
) -> Iterator[Row]:
    empty = frozenset(settings.table.empty)
    filters = [(at[column], frozenset(values), True) for column, values in settings.table.where.items()]
    filters += [(at[column], frozenset(values), False) for column, values in settings.table.unless.items()]
    size, widest = 1 + max(at.values()), 0
    for place, line in lines:
        if isinstance(line, FormatError):
            report.rows += 1
            report.lose("encoding", place)
            continue
        if not line.strip("# \t"):
            continue
        report.rows += 1
        try:
            cells = cut(line)
        except csv.Error:
            report.lose("quotes", place)
            continue
        if len(cells) < width:
            report.lose("columns", place)
            continue
        widest = max(widest, len(cells))
        cells = [text if (text := cell.strip()) not in empty else "" for cell in cells]
        if len(cells) < size:
            cells += [""] * (size - len(cells))
        if filters and any((cells[column] in values) is not kept for column, values, kept in filters):
            report.lose("where", place)
            continue
        yield Row(place=place, cells=cells)
    if 0 < widest <= last:
        raise FormatError(
            f"there is no column {last}, counted from 0: the longest row has {widest} columns; correct columns",
            at=settings.path,
        )


def _cutter(separator: str) -> Callable[[str], list[str]]:
    def cut_plain(line: str) -> list[str]:
        cells = line.split(separator)
        return [_unquoted(cell) for cell in cells] if '"' in line else cells

    def cut_csv(line: str) -> list[str]:
        return next(csv.reader([line], delimiter=separator, strict=True)) if '"' in line else line.split(separator)

    return cut_csv if separator in ",;" else cut_plain


def _unquoted(cell: str) -> str:
    """A cell without the quotes around it; other quotes are signs as others are."""
    if len(cell) < 2 or cell[0] != '"' or cell[-1] != '"' or '"' in cell[1:-1].replace('""', ""):
        return cell
    return cell[1:-1].replace('""', '"')
