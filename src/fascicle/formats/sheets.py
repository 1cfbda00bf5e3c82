"""Sheets of a workbook of Excel as rows of texts, as ECMA-376, part 1, describes them.

The package openpyxl (extra ``office``) finds the sheets and the formats of numbers. The cells are
read here, because it loses runs of text and undoes one of the escapes of the format (ST_Xstring)
alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, BinaryIO, Final, NamedTuple
from xml.etree.ElementTree import Element, fromstring, iterparse

from fascicle.core.document import Event
from fascicle.errors import FormatError, import_extra
from fascicle.formats.fonts import shown_text
from fascicle.formats.report import unread_parts
from fascicle.text.raised import Level, Line, Piece

_STYLES: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"
MAX_ROWS: Final = 2**20  # of a sheet
_MAX_CELLS: Final = 2**25  # that are read
_ESCAPED: Final = re.compile("_x([0-9A-Fa-f]{4})_")
_ESCAPABLE: Final = re.compile("_(?=x[0-9A-Fa-f]{4}_)")
_WHOLE: Final = re.compile(r"-?\d+")
_SIGNS: Final = r"""((?:"[^"]*"|\\.|[-+/():!^&'~{}<>= $])*)"""
# a format of numbers with signs around them
_NUMBER: Final = re.compile(rf"{_SIGNS}(0+)(?:\.(0+))?(%?){_SIGNS}")
_QUOTED: Final = re.compile(r'"([^"]*)"|\\(.)')
_HIDDEN: Final = ("1", "true")
_OVER_ROWS: Final = re.compile(r"\$?[A-Z]+\$?(\d+):\$?[A-Z]+\$?(?!\1$)\d+")
_PARTS: Final = {
    "/comments": ("comments", b"<comment "),
    "/drawings/drawing": ("texts in drawings", b"</a:t>"),
}


def escape(text: str) -> str:
    """Returns a text as a cell holds it: what looks like an escape of a character stays as it is
    written.
    """
    return _ESCAPABLE.sub("_x005F_", text)


def _unescape(text: str) -> str:
    if "_x" in text:
        text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _child(element: Element, name: str) -> Element | None:
    return next((child for child in element if _local(child) == name), None)


def _pieces(item: Element, font: str) -> list[Piece]:
    """Returns the runs of a text; how it is pronounced is none."""
    if len(item) == 1 and _local(item[0]) == "t":
        return [Piece(shown_text(font, _unescape(item[0].text or "")))]
    pieces = []
    for child in item:
        run = child if _local(child) == "r" else [child]
        text = "".join(part.text or "" for part in run if _local(part) == "t")
        properties = _child(child, "rPr")
        facts = (
            {} if properties is None else {_local(fact): fact.get("val", "") for fact in properties}
        )
        level = Level.RAISED if facts.get("vertAlign") == "superscript" else Level.PLAIN
        pieces.append(Piece(shown_text(facts.get("rFont", font), _unescape(text)), level))
    return pieces


class _Format(NamedTuple):
    """Format of cells.

    Attributes:
        font: its name.
        before: what stands before a number.
        zeros: one for each digit that a number has at least.
        decimals: the same behind the decimal point.
        share: a percent sign if the number is a share.
        behind: what stands behind a number.
        is_date: whether a number is a day.
        is_duration: whether it is a duration.
    """

    font: str
    before: str
    zeros: str
    decimals: str
    share: str
    behind: str
    is_date: bool
    is_duration: bool

    def number(self, value: str) -> str:
        """Returns a number with what stands around it, and with leading zeros."""
        if self.share:
            digits = f"{100 * float(value):.{len(self.decimals)}f}%"
        else:
            digits = value if _WHOLE.fullmatch(value) else f"{float(value):.15g}"
            if _WHOLE.fullmatch(digits) and not self.decimals:
                digits = digits.zfill(len(self.zeros))
        return self.before + digits + self.behind


class Workbook:
    """The sheets of a workbook, those that are shown first."""

    def __init__(self, package: BinaryIO) -> None:
        """Opens a workbook.

        Raises:
            MissingExtraError: openpyxl is not installed.
        """
        import_extra("openpyxl", extra="office")
        from openpyxl.reader.excel import SHARED_STRINGS, ExcelReader

        reader = ExcelReader(package, read_only=True)
        reader.read_manifest()
        reader.read_workbook()
        self.archive, self.epoch = reader.archive, reader.wb.epoch
        items = self._part(reader.package.find(SHARED_STRINGS))
        self.strings = [item for item in items if _local(item) == "si"]
        self._read_styles(self._part(reader.package.find(_STYLES)))
        sheets = [
            Sheet(sheet.name, sheet.state != "visible", link.target, self)
            for sheet, link in reader.parser.find_sheets()
            if link.target in reader.valid_files and "chartsheet" not in link.Type
        ]
        self.sheets = sorted(sheets, key=lambda sheet: sheet.is_hidden)

    def _read_styles(self, part: Element | tuple[()]) -> None:
        """Reads the formats of numbers, the fonts, and the styles that name them."""
        styles = {_local(group): list(group) for group in part}
        self._codes = {
            int(code.get("numFmtId", 0)): code.get("formatCode", "")
            for code in styles.get("numFmts", ())
        }
        names = (_child(font, "name") for font in styles.get("fonts", ()))
        self._fonts = ["" if name is None else name.get("val", "") for name in names]
        self._styles = styles.get("cellXfs", [])

    def _part(self, entry: Any) -> Element | tuple[()]:
        return fromstring(self.archive.read(entry.PartName[1:])) if entry else ()

    def events(self) -> Iterator[Event]:
        """Yields the event about texts outside of cells."""
        counts = Counter[str]()
        for name in self.archive.namelist():
            counts["charts"] += "/charts/chart" in name
            for start, (what, mark) in _PARTS.items():
                counts[what] += self.archive.read(name).count(mark) if start in name else 0
        yield from unread_parts(counts, step="xlsx")

    def format(self, style: int) -> _Format:
        """Returns the format of the cells of a style."""
        from openpyxl.styles.numbers import BUILTIN_FORMATS, is_date_format, is_timedelta_format

        facts = self._styles[style] if style < len(self._styles) else Element("xf")
        number, font = int(facts.get("numFmtId", 0)), int(facts.get("fontId", 0))
        code = self._codes.get(number) or BUILTIN_FORMATS.get(number, "General")
        name = self._fonts[font] if font < len(self._fonts) else ""
        match = _NUMBER.fullmatch(code)
        before, zeros, decimals, share, behind = match.groups("") if match else [""] * 5
        before, behind = (_QUOTED.sub(r"\1\2", part) for part in (before, behind))
        return _Format(
            name,
            before,
            zeros,
            decimals,
            share,
            behind,
            is_date_format(code),
            is_timedelta_format(code),
        )


class Sheet:
    """One sheet; ``counts`` has what was counted in its rows: under an empty name, formulas
    without a value.
    """

    def __init__(self, name: str, is_hidden: bool, path: str, book: Workbook) -> None:
        """Names a sheet and its part."""
        self.name, self.is_hidden = name, is_hidden
        self._path, self._book = path, book
        self._formats: dict[int, _Format] = {}
        self.counts = Counter[str]()
        self.line = Line()

    def __str__(self) -> str:
        """Returns its name for messages."""
        return f"{self.name!r}{' (hidden)' * self.is_hidden}"

    def has_rows(self) -> bool:
        """True if a row is not empty."""
        has_rows = any(True for _ in self.rows())
        self.counts.clear()
        self.line = Line()
        return has_rows

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yields the rows that are not empty, with their numbers and without empty cells at their
        ends.

        Raises:
            FormatError: more rows or cells than Excel has.
        """
        number = size = 0
        with self._book.archive.open(self._path) as stream:
            for _, node in iterparse(stream):
                name = node.tag.rpartition("}")[2]  # no call, as there are many
                if name == "col":
                    self.counts["hidden columns"] += node.get("hidden") in _HIDDEN
                elif name == "mergeCell":
                    is_tall = _OVER_ROWS.fullmatch(node.get("ref", "")) is not None
                    self.counts["cells over several rows"] += is_tall
                elif name == "row":
                    number = int(node.get("r", number + 1))
                    cells = self._cells(node)
                    size += len(cells)
                    self._check(number, size)
                    while cells and not cells[-1]:
                        del cells[-1]
                    if any(map(str.strip, cells)):
                        self.counts["hidden rows"] += node.get("hidden") in _HIDDEN
                        yield number, cells
                    node.clear()
        self.counts = +self.counts

    def _check(self, number: int, size: int) -> None:
        if number > MAX_ROWS or size > _MAX_CELLS:
            raise FormatError(
                f"the sheet {self.name!r} has more than {MAX_ROWS:,} rows or {_MAX_CELLS:,} "
                "cells; save it as CSV",
                code="too-large",
            )

    def _cells(self, row: Element) -> list[str]:
        from openpyxl.utils import column_index_from_string

        texts: dict[int, str] = {}
        column = 0
        for cell in row:
            letters = cell.get("r", "").rstrip("0123456789")
            column = column_index_from_string(letters) if letters else column + 1
            texts[column] = self._text(cell)
        return [texts.get(column, "") for column in range(1, max(texts, default=0) + 1)]

    def _text(self, cell: Element) -> str:
        kind = cell.get("t", "n")
        parts = {part.tag.rpartition("}")[2]: part for part in cell}
        style = int(cell.get("s", 0))
        if style not in self._formats:
            self._formats[style] = self._book.format(style)
        cell_format = self._formats[style]
        value = parts["v"].text if "v" in parts else None
        if "f" in parts and value is None and kind != "str":  # such a value is an empty text
            self.counts[""] += 1
        if kind == "inlineStr":
            return self._runs(parts.get("is"), cell_format)
        if not value:
            return ""
        if kind == "s":
            return self._runs(self._book.strings[int(value)], cell_format)
        if kind == "n":
            return self._number(value, cell_format)
        convert = _KINDS.get(kind)
        return convert(value) if convert else shown_text(cell_format.font, _unescape(value))

    def _runs(self, item: Element | None, cell_format: _Format) -> str:
        """Returns the text of the runs of a cell, without raised marks, which are counted."""
        for piece in () if item is None else _pieces(item, cell_format.font):
            self.line.add(*piece)
        return self.line.take()

    def _number(self, value: str, cell_format: _Format) -> str:
        """Returns a number as it is shown."""
        if cell_format.is_date:
            from openpyxl.utils.datetime import from_excel

            with suppress(OverflowError, ValueError):  # no date: Excel shows signs in its place
                is_duration = cell_format.is_duration
                return _date(from_excel(float(value), self._book.epoch, timedelta=is_duration))
        return cell_format.number(value)


def _date(value: Any) -> str:
    if isinstance(value, datetime) and not (value.hour or value.minute or value.second):
        return value.date().isoformat()
    return str(value)


def _iso_date(text: str) -> str:
    from openpyxl.utils.datetime import from_ISO8601

    return _date(from_ISO8601(text))


_KINDS: Final[Mapping[str, Callable[[str], str]]] = {
    "b": lambda text: "TRUE" if text in _HIDDEN else "FALSE",
    "d": _iso_date,
    "e": str,
}
