"""Dictionaries as tables: one name in a row, with its type or without.

Rows are streamed, so a dictionary may be of any size. Names are returned as they are written; the matcher splits them
into words.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from fascicle.core.files.source import Source, lines
from fascicle.core.wording import counted
from fascicle.errors import FormatError, InputError, Place, UsageError


class Entry(NamedTuple):
    """One name of a dictionary.

    Attributes:
        name: as written.
        type: entity type; empty for a phrase that is known, but not of which type.
    """

    name: str
    type: str = ""


@dataclass(frozen=True, kw_only=True)
class TsvOptions:
    """Meaning of the columns of a table; by default ``type TAB name``.

    Attributes:
        name_column: column of the name, from 0.
        type_column: column of the type; ``None`` if the table has none.
        type: of all names, if no column has it; empty for phrases without a type.
        header: whether the first row names the columns.
        encoding: of the file.
        suspect: a column that is not read: a table is refused if it has ``type`` and other types there.
        alone: a row has no column but that of the name.
    """

    name_column: int = 1
    type_column: int | None = 0
    type: str = ""
    header: bool = False
    encoding: str = "utf-8"
    suspect: int | None = None
    alone: bool = False

    def __post_init__(self) -> None:
        """Raises an error for invalid columns.

        Raises:
            UsageError: a negative column, one column for both, or a type beside a column of types.
        """
        columns = [self.name_column] if self.type_column is None else [self.name_column, self.type_column]
        if min(columns) < 0 or len(set(columns)) < len(columns):
            raise UsageError(
                f"the columns {', '.join(map(str, columns))} are not allowed: name and type need columns of their own, "
                "counted from 0"
            )
        if self.type and self.type_column is not None:
            raise UsageError(
                f"the type {self.type!r} was given beside the column {self.type_column} of types; give one of the two"
            )


PHRASES = TsvOptions(name_column=0, type_column=None)


@dataclass(kw_only=True)
class DictionaryReport:
    """Counts of what was read from a dictionary; complete when all entries have been read.

    Attributes:
        entries: names given out.
        empty: rows left out because they have no name.
        first_empty: file and line of the first of them.
    """

    entries: int = 0
    empty: int = 0
    first_empty: str = ""

    def lines(self) -> list[str]:
        """Returns the report as sentences, for a person."""
        said = [counted(self.entries, "name")]
        if self.empty:
            rows = counted(self.empty, "row without a name was", "rows without a name were")
            said.append(f"{rows} left out (first: {self.first_empty})")
        return said


def read_dictionary(
    path: str, options: TsvOptions | None = None, *, report: DictionaryReport | None = None
) -> Iterator[Entry]:
    """Streams a table of names; gzip is unpacked.

    A row whose name is empty or white space is left out and counted. Names of one letter are kept: ``H`` and ``K`` are
    chemicals. All rows must have as many columns as the first.

    Args:
        path: the file; one row a line, columns separated by TAB.
        options: what the columns are.
        report: receives the counts.

    Raises:
        InputError: the file cannot be opened, or holds no name, or several types in the column that is suspect.
        FormatError: another number of columns than before, or than is allowed, or a name without its type (with file
            and line); a binary file, another encoding.
    """
    options = options or TsvOptions()
    report = report if report is not None else DictionaryReport()
    wanted = 1 + max(options.name_column, -1 if options.type_column is None else options.type_column)
    columns, own, other = 0, False, ""
    name_at, type_at, suspect = options.name_column, options.type_column, options.suspect
    for number, line in lines(Source(path=path, encoding=options.encoding)):
        if options.header and number == 1:
            continue
        cells = line.split("\t")
        if line.strip():
            columns = columns or len(cells)
            if len(cells) != columns or columns < wanted or options.alone:
                _check_columns(cells, wanted=wanted, before=columns, alone=options.alone, place=Place(path, number))
        if not line.strip() or not cells[name_at].strip():
            report.empty += 1
            report.first_empty = report.first_empty or f"{path}, line {number}"
            continue
        if suspect is not None:
            value = cells[suspect].strip()
            same = value.casefold() == options.type.casefold()
            own, other = own or same, other or ("" if same else value)
        report.entries += 1
        kind = options.type if type_at is None else cells[type_at].strip()
        if type_at is not None and not kind:
            raise FormatError(
                f"the name {cells[name_at]!r} has no type; give it one, or read a file of names without types as such",
                at=Place(path, number),
            )
        yield Entry(cells[name_at], kind)
    if not columns or not report.entries:
        raise InputError(f"{path} holds no name; give a table with one name in a row", file=path)
    if own and other:
        raise InputError(
            f"column {options.suspect} of {path} holds the type {options.type!r} and others, such as {other!r}, but "
            f"type = {options.type!r} is said of all names; leave type out, or give a list of the names of that type"
        )


def typed_names(path: str, *, report: DictionaryReport | None = None) -> Iterator[Entry]:
    """Streams a dictionary in its plain form: ``type TAB name`` in each row, or a header row that names these columns.

    Args:
        path: the file; packed or not.
        report: receives the counts.

    Raises:
        InputError: see ``read_dictionary``.
        FormatError: see ``read_dictionary``.
    """
    _, first = next(lines(Source(path=path)), (0, ""))
    cells = [cell.strip().lower() for cell in first.split("\t")]
    options = TsvOptions()
    if cells.count("type") == cells.count("name") == 1:
        options = TsvOptions(name_column=cells.index("name"), type_column=cells.index("type"), header=True)
    return read_dictionary(path, options, report=report)


def packed_copy(entries: Iterable[Entry]) -> tuple[bytes, int]:
    """Returns a dictionary as it is stored in a model: one packed file, whose content depends on the names alone.

    Args:
        entries: names with their types, in any order, repeated or not.

    Returns:
        The table, ``type TAB name`` in each row, sorted, without a header; and how many rows it has.
    """
    rows = sorted({(one.type, one.name) for one in entries})
    text = "".join(f"{kind}\t{name}\n" for kind, name in rows)
    return gzip.compress(text.encode("utf-8"), mtime=0), len(rows)


def _check_columns(cells: list[str], *, wanted: int, before: int, alone: bool, place: Place) -> None:
    if len(cells) < wanted:
        raise FormatError(
            f"{len(cells)} TAB-separated column(s), but {wanted} are needed, such as a type, a TAB and a name; correct "
            "the row, or name the columns that the table has",
            at=place,
        )
    if len(cells) != before:
        raise FormatError(
            f"{len(cells)} TAB-separated columns, but the first row has {before}; all rows need as many", at=place
        )
    if alone and len(cells) > 1:
        raise FormatError(
            f"{len(cells)} TAB-separated columns, but phrases that are known without a type stand alone in "
            "their rows; leave the other columns out",
            at=place,
        )
