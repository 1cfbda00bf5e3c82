"""Workbooks of Excel. Needs the package openpyxl (extra ``office``).

A sheet with a column of texts is read, and a sheet of mentions is written, as ECMA-376, part 1, describes them.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, BinaryIO, Final

from fascicle.core.document import Document, Event
from fascicle.core.effects import make_event
from fascicle.core.files.source import Source
from fascicle.core.wording import plural
from fascicle.errors import FormatError, InputError, import_extra
from fascicle.formats.brat_write import ZIP_DATE
from fascicle.formats.extraction import package_errors, read_zip_package
from fascicle.formats.handlers import Encode, Reader, WriteOne, Writer
from fascicle.formats.predictions import find_columns
from fascicle.formats.report import ReadReport, WriteReport
from fascicle.formats.tables import TSV, Rows, TableOptions, table_held_fields
from fascicle.formats.text_tables import TextTableOptions, documents_of_rows

_SHEET_STEP: Final = "xlsx"
_MAX_ROWS: Final = 2**20  # of a sheet
_MAX_CELLS: Final = 2**25  # that are read
_MAX_CELL: Final = 32_767  # characters
_FORMULA: Final = re.compile(rb"<(\w+:)?f[\s/>]")
_NUMBER: Final = re.compile(r"\d{1,15}|\d\.\d+(?:e-\d+)?")
_UNHELD: Final = re.compile("[\x01-\x08\x0e-\x1f\ufffe\uffff]")  # what XML cannot hold


def _read_sheets(source: Source, options: TextTableOptions, report: ReadReport) -> Iterator[Document]:
    """Streams the rows of the first sheet that has some, as `fascicle.formats.text_tables.read` does.

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
        openpyxl = import_extra("openpyxl", extra="office")
        book = openpyxl.load_workbook(package, read_only=True, data_only=True)
        sheets = [(sheet.title, rows) for sheet in book.worksheets if (rows := list(_filled(sheet)))]
        lost = _count_valueless(package, book[sheets[0][0]]) if sheets else 0
    if not sheets:
        return
    (name, rows), *others = sheets
    if find_columns("\t".join(rows[0][1])):
        raise FormatError(
            f"the sheet {name!r} is a table of mentions without texts; save it as CSV to compare its mentions with "
            "others",
            at=source.path,
        )
    unread: tuple[Event, ...] = ()
    if others:
        listed = ", ".join(repr(other) for other, _ in others)
        message = f"the sheet {name!r} was read, and these were not: {listed}"
        unread = (make_event("parts-left-out", step=_SHEET_STEP, message=message),)
    if lost:
        message = (
            f"the sheet {name!r} has {plural(lost, 'formula')} without a value, and these cells were read as empty; "
            "open the file in its program, and save it again"
        )
        unread += (make_event("unread-text", step=_SHEET_STEP, message=message),)
    width = len(rows[0][1])
    padded = ((number, cells + [""] * (width - len(cells))) for number, cells in rows)
    for document in documents_of_rows(padded, source, options=options, report=report):
        yield document.with_events(*unread) if unread else document
        unread = ()


def _filled(sheet: Any) -> Iterator[tuple[int, list[str]]]:
    """Yields the rows of a sheet that are not empty, with their numbers and without empty cells at their ends."""
    sheet.reset_dimensions()  # what a file says of them may be wrong
    size = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        size += len(row)
        if number > _MAX_ROWS or size > _MAX_CELLS:
            raise FormatError(
                f"the sheet {sheet.title!r} has more than {_MAX_ROWS:,} rows or {_MAX_CELLS:,} cells; save it as CSV",
                code="too-large",
            )
        cells = [_shown(value) for value in row]
        while cells and not cells[-1]:
            del cells[-1]
        if cells:
            yield number, cells


def _count_valueless(package: io.BytesIO, values: Any) -> int:
    """Counts the formulas of a sheet without a value: a program wrote them that computes none."""
    with zipfile.ZipFile(package) as parts:
        if not any(_FORMULA.search(parts.read(part)) for part in parts.namelist() if part.startswith("xl/worksheets/")):
            return 0
    openpyxl = import_extra("openpyxl", extra="office")
    formulas = openpyxl.load_workbook(package, read_only=True)[values.title]
    formulas.reset_dimensions()
    return sum(
        formula.data_type == "f" and value.value is None and value.data_type != "str"  # such a value is an empty text
        for pair in zip(values.iter_rows(), formulas.iter_rows(), strict=True)
        for value, formula in zip(*pair, strict=True)
    )


def _shown(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # an id that Excel keeps as a number
    if isinstance(value, datetime) and not (value.hour or value.minute or value.second):
        return value.date().isoformat()
    return "" if value is None else str(value)


class _Sheet(Rows):
    """Encoder of the rows of documents as lines of a TSV, with what a cell of Excel cannot hold replaced."""

    def __init__(self, options: TableOptions) -> None:
        super().__init__(TSV, options)

    def __call__(self, said: Any, part: WriteReport) -> bytes:
        lines = super().__call__(said, part).decode()
        if max(map(len, re.split("[\t\n]", lines))) > _MAX_CELL:
            raise InputError(
                f"document {said.id!r} has a mention of more than {_MAX_CELL:,} characters, which no cell of "
                "Excel holds; write CSV instead",
                key=said.id,
            )
        if unheld := len(_UNHELD.findall(lines)):
            part.lose("control-characters", said, count=unheld)
        return _UNHELD.sub("\ufffd", lines).encode()


@contextmanager
def _into_sheet(stream: BinaryIO, encode: Encode) -> Iterator[WriteOne]:
    """Yields the function that adds rows to a sheet; the workbook is written at the end."""
    openpyxl = import_extra("openpyxl", extra="office")
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.writer.excel import ExcelWriter

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("mentions")
    count = 0

    def cell(text: str) -> Any:
        made = WriteOnlyCell(sheet, value=text)
        made.data_type = "s"  # never a formula or an error
        return made

    def put(lines: bytes) -> None:
        nonlocal count
        for line in lines.decode().split("\n")[:-1]:
            count += 1
            if count > _MAX_ROWS:
                raise InputError(f"a sheet of Excel holds {_MAX_ROWS:,} rows, and there are more; write CSV instead")
            sheet.append(_row(line.split("\t"), cell))

    put(encode.header)  # type: ignore[attr-defined]  # of `Rows`
    try:
        yield put
    except BaseException:
        sheet.close()  # or the interpreter reports that it was left open
        raise
    packed = io.BytesIO()  # an archive on a pipe that a reader closed would report it once more when it is deleted
    book.properties.created = book.properties.modified = datetime(*ZIP_DATE)
    ExcelWriter(book, _Undated(packed, "w", zipfile.ZIP_DEFLATED)).save()
    stream.write(packed.getbuffer())


class _Undated(zipfile.ZipFile):
    """Archive that gives all its files one date, so that the same content gives the same bytes."""

    def open(self, name: Any, *args: Any, **options: Any) -> Any:
        """Opens a file of the archive; `write` and `writestr` call it with a `ZipInfo`."""
        if isinstance(name, zipfile.ZipInfo):
            name.date_time = ZIP_DATE
        return super().open(name, *args, **options)


def _row(cells: Sequence[str], cell: Any) -> list[Any]:
    """Returns the values of a row: the offsets and the score as numbers, all else as text."""
    return [float(one) if 2 <= at <= 4 and _NUMBER.fullmatch(one) else cell(one) for at, one in enumerate(cells)]


XLSX_READER: Final = Reader(read=_read_sheets, options=TextTableOptions)
XLSX_WRITER: Final = Writer(
    holds=table_held_fields("XLSX"), encoder=_Sheet, options=TableOptions, into=_into_sheet, grows=False, by_id=True
)
