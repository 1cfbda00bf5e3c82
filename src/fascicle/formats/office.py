"""Workbooks of Excel. Needs the package openpyxl (extra ``office``).

A sheet with a column of texts is read, and a sheet of mentions is written, as ECMA-376, part 1,
describes them. ``extraction.py`` first checks how large the unpacked members of the file are;
``sheets.py`` counts rows and cells. An error ends a command with code 2.
"""

from __future__ import annotations

import io
import re
import zipfile
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, BinaryIO, Final

from fascicle.core.document import Document, Event
from fascicle.core.effects import make_event
from fascicle.core.files.source import Source
from fascicle.core.mention import concept_page, is_curie
from fascicle.core.wording import plural, shorten
from fascicle.errors import FormatError, InputError, import_extra
from fascicle.formats.brat_write import ZIP_DATE
from fascicle.formats.extraction import package_errors, read_zip_package
from fascicle.formats.handlers import Encode, FormatReader, FormatWriter, WriteOne
from fascicle.formats.predictions import find_columns
from fascicle.formats.report import ReadReport, WriteReport, list_counts
from fascicle.formats.sheets import MAX_ROWS, Sheet, Workbook, escape
from fascicle.formats.tables import BETWEEN, TSV, Rows, TableOptions, table_held_fields
from fascicle.formats.text_tables import TextTableOptions, documents_of_rows, has_texts

_SHEET_STEP: Final = "xlsx"
MAX_CELL: Final = 32_767  # units of UTF-16
_WIDEST: Final = 3  # as which a character is written at most
_MOST_LINKS: Final = 65_530  # of a sheet, by the limits of Excel
_OF_CONCEPTS: Final = frozenset(("links", "concept"))
_MOST_TITLES: Final = 5  # rows above the names of the columns
_NUMBER: Final = re.compile(r"\d{1,15}|\d(?:\.\d+)?(?:e-\d+)?")
_UNHELD: Final = re.compile("[\x01-\x08\x0e-\x1f\ufffe\uffff]")  # what XML cannot hold


def _read_sheets(
    source: Source, options: TextTableOptions, report: ReadReport
) -> Iterator[Document]:
    """Streams the rows of the first sheet that has some, as `fascicle.formats.text_tables.read`
    does.

    Args:
        source: the file.
        options: which columns.
        report: a row with more cells than the header is set aside.

    Raises:
        FormatError: no workbook, one of mentions, or a column that is not there.
        MissingExtraError: openpyxl is not installed.
    """
    package = read_zip_package(source)
    with package_errors(source):
        book = Workbook(package)
        # Visible sheets come first.
        sheets = [sheet for sheet in book.sheets if sheet.has_rows()]
        rows = list(sheets[0].rows()) if sheets else []
    if not sheets:
        return
    sheet, *unread = sheets
    titles = _count_titles(rows, options)
    header = rows[titles][1]
    if find_columns("\t".join(header)):
        raise FormatError(
            f"the sheet {sheet.name!r} is a table of mentions without texts; save it as CSV to "
            "compare its mentions with others",
            at=source.path,
        )
    events = (
        *_title_notes(rows[:titles]),
        *_sheet_events(sheet, unread),
        *book.events(),
        *sheet.line.events(_SHEET_STEP),
    )
    padded = (
        (number, cells + [""] * (len(header) - len(cells))) for number, cells in rows[titles:]
    )
    for document in documents_of_rows(padded, source, options=options, report=report):
        yield document.with_events(*events) if events else document
        events = ()


def _count_titles(rows: Sequence[tuple[int, list[str]]], options: TextTableOptions) -> int:
    """Returns how many rows above the names of the columns have one cell alone, as a title has; 0
    if no row after them names the columns of texts.
    """
    wanted = [name.strip().lower() for name in options.text.split(",")]
    for count, (_, cells) in enumerate(rows[: _MOST_TITLES + 1]):
        lowered = [cell.strip().lower() for cell in cells]
        if set(wanted) <= {*lowered} if options.text else has_texts("\t".join(cells)):
            return count
        if len(list(filter(None, lowered))) > 1:
            return 0
    return 0


def _title_notes(rows: Sequence[tuple[int, list[str]]]) -> Iterator[Event]:
    """Yields a note of the rows above the names of the columns, if there are any."""
    if rows:
        titles = shorten("; ".join("".join(cells).strip() for _, cells in rows))
        message = (
            f"{plural(len(rows), 'row')} above the names of the columns are no texts: {titles}"
        )
        yield Event(step=_SHEET_STEP, kind="note", code="rows-left-out", message=message)


def _sheet_events(sheet: Sheet, unread: Sequence[Sheet]) -> Iterator[Event]:
    """Yields the events about what is not read, or was read although it is hidden."""
    if unread or sheet.is_hidden:
        rest = f", and these were not: {', '.join(map(str, unread))}" if unread else ""
        message = f"the sheet {sheet} was read{rest}"
        yield make_event("parts-left-out", step=_SHEET_STEP, message=message)
    if count := sheet.counts.pop("", 0):
        message = (
            f"the sheet {sheet} has {plural(count, 'formula')} without a value, and these cells "
            "were read as empty; open the file in its program, and save it again"
        )
        yield make_event("unread-text", step=_SHEET_STEP, message=message)
    if sheet.counts:
        message = (
            f"the sheet {sheet} has {list_counts(sheet.counts)}; each cell was read once, as if "
            "nothing was hidden or merged"
        )
        yield Event(step=_SHEET_STEP, kind="note", code="hidden-or-merged", message=message)


class _Sheet(Rows):
    """Encoder of the rows of documents as lines of a TSV, with what a cell of Excel cannot hold
    replaced, and long context cut.
    """

    def __init__(self, options: TableOptions) -> None:
        super().__init__(TSV, options)

    def __call__(self, document: Any, report: WriteReport) -> bytes:
        lines = super().__call__(document, report).decode()
        if not all(map(_fits, re.split("[\t\n]", lines))):
            raise InputError(
                f"document {document.id!r} has a text that no cell of Excel holds: more than "
                f"{MAX_CELL:,} characters, as Excel counts them; write CSV instead",
                key=document.id,
            )
        if count := len(_UNHELD.findall(lines)):
            report.lose("control-characters", document, count=count)
        return _UNHELD.sub("\ufffd", lines).encode()

    def fit(self, cell: str) -> str:
        """Returns a cell, or its beginning as far as a cell of Excel holds it."""
        return fit_cell(cell)


def _fits(text: str) -> bool:
    """True if a cell of Excel holds a text: Excel counts UTF-16, in which the library writes some
    characters, and texts such as ``_x0041_``, as several.
    """
    return len(text) <= MAX_CELL // _WIDEST or _length(text) <= MAX_CELL


def _length(text: str) -> int:
    return len(escape(text).encode("utf-16-le", "surrogatepass")) // 2


def fit_cell(text: str) -> str:
    """Returns a text, or its beginning as far as a cell of Excel holds it."""
    if _fits(text):
        return text
    most = bisect_right(range(len(text)), MAX_CELL, key=lambda count: _length(text[:count]))
    return text[: most - 1]


@contextmanager
def open_sheet(
    stream: BinaryIO, columns: Sequence[str], *, title: str
) -> Iterator[Callable[[Sequence[Any]], None]]:
    """Yields the function that adds a row to a sheet; the workbook is written at the end.

    The heading is bold and stays in sight, each column has a filter, and the cells of one concept
    in the columns `_OF_CONCEPTS` open its page, as far as a sheet holds such links.

    Raises:
        InputError: more rows than a sheet holds.
        MissingExtraError: openpyxl is not installed.
    """
    openpyxl = import_extra("openpyxl", extra="office")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet(title)
    sheet.freeze_panes = "A2"
    linked = [at for at, name in enumerate(columns) if name in _OF_CONCEPTS]
    count = 1

    def add(values: Sequence[Any]) -> None:
        nonlocal count
        count += 1
        if count > MAX_ROWS:
            raise InputError(
                f"a sheet of Excel holds {MAX_ROWS:,} rows, and there are more; write CSV instead"
            )
        cells = [_text_cell(value, sheet) if isinstance(value, str) else value for value in values]
        if count <= _MOST_LINKS // max(1, len(linked)):
            _add_pages([cells[at] for at in linked])
        sheet.append(cells)

    sheet.append(_heading(columns, sheet))
    try:
        yield add
    except BaseException:
        sheet.close()  # or the interpreter reports that it was left open
        raise
    last = openpyxl.utils.get_column_letter(len(columns))
    sheet.auto_filter.ref = f"A1:{last}{count}"
    stream.write(_packed(book))


def _heading(columns: Sequence[str], sheet: Any) -> list[Any]:
    from openpyxl.styles import Font

    cells = [_text_cell(name, sheet) for name in columns]
    for cell in cells:
        cell.font = Font(bold=True)
    return cells


def _add_pages(cells: Sequence[Any]) -> None:
    """Lets the cells that have one concept open its page."""
    for cell in cells:
        value = getattr(cell, "value", None) or ""
        if is_curie(value) and BETWEEN not in value:
            cell.hyperlink = concept_page(value)


@contextmanager
def _into_sheet(stream: BinaryIO, encode: Encode) -> Iterator[WriteOne]:
    """Yields the function that adds the lines of a document to a sheet of mentions."""
    header = encode.header.decode()  # type: ignore[attr-defined]  # of `Rows`
    with open_sheet(stream, header.rstrip("\n").split("\t"), title="mentions") as add:

        def write(lines: bytes) -> None:
            for line in lines.decode().split("\n")[:-1]:
                add(_values(line.split("\t")))

        yield write


def _packed(book: Any) -> bytes:
    """Returns the file of a workbook; the same content gives the same bytes."""
    from openpyxl.writer.excel import ExcelWriter

    # An archive on a pipe that a reader closed would report it once more when it is deleted.
    packed = io.BytesIO()
    book.properties.created = book.properties.modified = datetime(*ZIP_DATE)
    ExcelWriter(book, _Undated(packed, "w", zipfile.ZIP_DEFLATED)).save()
    return packed.getvalue()


class _Undated(zipfile.ZipFile):
    """Archive that gives all its files one date, so that the same content gives the same bytes."""

    def open(self, name: Any, *args: Any, **options: Any) -> Any:
        """Opens a file of the archive; `write` and `writestr` call it with a `ZipInfo`."""
        if isinstance(name, zipfile.ZipInfo):
            name.date_time = ZIP_DATE
        return super().open(name, *args, **options)


def _values(texts: Sequence[str]) -> list[Any]:
    """Returns the values of a row: the offsets and the score as numbers, all else as text."""
    return [
        float(text) if 2 <= column <= 4 and _NUMBER.fullmatch(text) else text
        for column, text in enumerate(texts)
    ]


def _text_cell(text: str, sheet: Any) -> Any:
    from openpyxl.cell import WriteOnlyCell

    cell = WriteOnlyCell(sheet, value=escape(text))
    cell.data_type = "s"  # never a formula or an error
    return cell


XLSX_READER: Final = FormatReader(read=_read_sheets, options=TextTableOptions)
XLSX_WRITER: Final = FormatWriter(
    holds=table_held_fields("XLSX"),
    encoder=_Sheet,
    options=TableOptions,
    into=_into_sheet,
    grows=False,
    by_id=True,
)
