"""Workbooks of Excel and documents of Word, as ECMA-376 describes them."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Sequence
from typing import Any, Final
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from tests.formats.oracle.drafts import Draft, Taste
from tests.formats.oracle.format import BINARY, NO_MARKS, NO_NAMES, Files, Oracle, because
from tests.formats.oracle.hand import SAME_ID, Hand
from tests.formats.oracle.judging import Page

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_SPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)


def workbook(*sheets: Sequence[Sequence[str | int | float | None]], declared: str = "") -> bytes:
    """A workbook as ECMA-376 describes it, with texts inside their cells."""
    listed = "".join(
        f'<sheet name="S{at}" sheetId="{at}" r:id="r{at}"/>' for at, _ in enumerate(sheets, 1)
    )
    links = "".join(
        f'<Relationship Id="r{at}" Type="{_REL}/worksheet" Target="worksheets/sheet{at}.xml"/>'
        for at, _ in enumerate(sheets, 1)
    )
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{at}.xml" ContentType="{_TYPE}.worksheet+xml"/>'
        for at, _ in enumerate(sheets, 1)
    )
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/xl/workbook.xml" '
        f'ContentType="{_TYPE}.sheet.main+xml"/>{types}</Types>',
        "_rels/.rels": "<Relationships "
        'xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="a" Type="{_REL}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN[1:-1]}" '
        f'xmlns:r="{_REL}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": "<Relationships "
        'xmlns="http://schemas.openxmlformats.org/package/2006/'
        f'relationships">{links}</Relationships>',
    }
    for at, rows in enumerate(sheets, 1):
        made = "".join(
            f'<row r="{line}">{"".join(_cell(line, column, value) for column, value in enumerate(row))}</row>'
            for line, row in enumerate(rows, 1)
        )
        content = f'<worksheet xmlns="{MAIN[1:-1]}"><sheetData>{made}</sheetData></worksheet>'
        parts[f"xl/worksheets/sheet{at}.xml"] = declared + content
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as package:
        for name, content in parts.items():
            package.writestr(name, content)
    return packed.getvalue()


def _cell(row: int, column: int, value: str | int | float | None) -> str:
    place = f'r="{chr(65 + column)}{row}"'
    if value is None:
        return ""
    if isinstance(value, str):
        return f'<c {place} t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    return f"<c {place}><v>{value}</v></c>"


def cells(content: bytes) -> list[list[tuple[str, str]]]:
    """The cells of the first sheet: the kind and the value of each."""
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        shared = []
        if "xl/sharedStrings.xml" in package.namelist():
            root = ElementTree.fromstring(package.read("xl/sharedStrings.xml"))
            shared = ["".join(one.itertext()) for one in root]
        sheet = ElementTree.fromstring(package.read("xl/worksheets/sheet1.xml"))
    assert not list(sheet.iter(f"{MAIN}f"))

    def value(cell: Any) -> tuple[str, str]:
        kind, text = cell.get("t", "n"), "".join(cell.itertext())
        return (
            ("text", shared[int(text)] if kind == "s" else text)
            if kind in ("s", "inlineStr")
            else (kind, text)
        )

    return [[value(cell) for cell in row] for row in sheet.iter(f"{MAIN}row")]


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def paragraph(*runs: str, style: str = "") -> str:
    styled = (
        f'<w:pPr><w:pStyle w:val="{style}"/><w:tabs><w:tab w:pos="9"/></w:tabs></w:pPr>'
        if style
        else ""
    )
    return f"<w:p>{styled}{''.join(runs)}</w:p>"


def table(*rows: list[str]) -> str:
    made = "".join(
        "<w:tr>" + "".join(f"<w:tc>{cell}</w:tc>" for cell in row) + "</w:tr>" for row in rows
    )
    return f"<w:tbl>{made}</w:tbl>"


def package(body: str, *, declared: str = "", more: dict[str, str] | None = None) -> bytes:
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        '<Override PartName="/word/document.xml" '
        f'ContentType="{_WORD}.document.main+xml"/></Types>',
        "_rels/.rels": "<Relationships "
        'xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="a" Type="{_REL}/officeDocument" '
        'Target="word/document.xml"/></Relationships>',
        "word/document.xml": f"{declared}<w:document "
        f"{_SPACES}><w:body>{body}</w:body></w:document>",
        **(more or {}),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return packed.getvalue()


def rewritten(content: bytes, change: Callable[[str, bytes], tuple[str, bytes]]) -> bytes:
    """A package with other names or contents of its parts."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            new.writestr(*change(name, old.read(name)))
    return made.getvalue()


def renamed(content: bytes, name: str, other: str) -> bytes:
    """A package in which a part has another name, by which the other parts refer to it."""
    short, new = name.rpartition("/")[2].encode(), other.rpartition("/")[2].encode()
    return rewritten(
        content,
        lambda each, part: (
            other if each == name else each,
            part.replace(b"/" + short + b'"', b"/" + new + b'"'),
        ),
    )


_USUAL = re.compile(
    rb"http://schemas.openxmlformats.org/(officeDocument|wordprocessingml|spreadsheetml)/2006/"
)


def strict(content: bytes) -> bytes:
    """A package under the names that ECMA-376 calls strict."""
    return rewritten(
        content, lambda name, part: (name, _USUAL.sub(rb"http://purl.oclc.org/ooxml/\1/", part))
    )


def _xlsx(drafts: Sequence[Draft], hand: Hand) -> Files:
    rows = [["id", "text", "year"], *([one.id, one.parts[0], 2020] for one in drafts)]
    return {"a.xlsx": workbook(rows)}


def _docx(drafts: Sequence[Draft], hand: Hand) -> Files:
    blocks = []
    for part in drafts[0].parts:
        first, *words = part.split(" ")
        blocks.append(paragraph(run(first), *(run(f" {word}") for word in words)))
    return {"a.docx": package("".join(blocks))}


def _docx_pages(drafts: Sequence[Draft], hand: Hand) -> list[Page]:
    return [Page("\n\n".join(drafts[0].parts))]


ORACLES: Final = (
    Oracle(
        name="xlsx",
        reads="xlsx",
        taste=Taste(blanks=(" ", "  "), typed=False, empty=False),
        write=_xlsx,
        path="a.xlsx",
        senseless=NO_MARKS | BINARY,
        needs="openpyxl",
    ),
    Oracle(
        name="docx",
        reads="docx",
        taste=Taste(parts=(2, 4), empty=False, typed=False),
        write=_docx,
        path="a.docx",
        pages=_docx_pages,
        senseless=NO_MARKS | BINARY | NO_NAMES | because("a file is one document", SAME_ID),
        needs="docx",
    ),
)
