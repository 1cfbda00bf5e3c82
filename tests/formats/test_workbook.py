"""Workbooks of Excel. Those that are read are written by hand, those that are written are read
as XML.
"""

from __future__ import annotations

import functools
import io
import re
import tempfile
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.formats.oracle.office import cells, renamed, rewritten, strict, workbook

from fascicle.core.document import Document, Link, Mention
from fascicle.errors import FormatError, InputError, OutputError
from fascicle.formats import ReadReport, WriteReport, detect, read, write
from fascicle.formats.report import FailedDocuments
from fascicle.formats.requests import ReadRequest, read_file
from fascicle.formats.sources import source_sha256

pytest.importorskip("openpyxl")

HEADER = ["PMID", "Title", "Abstract", "Year"]


def of(tmp_path: Path, content: bytes, *, report: ReadReport | None = None) -> list[Document]:
    path = tmp_path / "a.xlsx"
    path.write_bytes(content)
    assert detect(str(path)) == "xlsx"
    return list(read(path, report=report))


def test_a_sheet_of_texts(tmp_path: Path) -> None:
    rows = [
        HEADER,
        [7, "Lung cancer", "Two\nlines", 1999],
        [None],
        ["x8", "Only a title"],
        [9.0, "A", "B", 2.5],
    ]
    found = of(tmp_path, workbook([], rows))
    assert [(one.id, one.text, one.meta) for one in found] == [
        ("7", "Lung cancer\n\nTwo\nlines", {"Year": "1999"}),
        ("x8", "Only a title", {}),
        ("9", "A\n\nB", {"Year": "2.5"}),
    ]
    assert [event.code for event in found[0].events] == ["columns-taken"]
    request = ReadRequest(fields=(("text", "abstract"), ("id", "year")))
    assert [one.id for one in read_file(str(tmp_path / "a.xlsx"), request)][:1] == ["1999"]


def test_another_sheet_is_another_corpus(tmp_path: Path) -> None:
    hashes, path = set(), tmp_path / "a.xlsx"
    for text in ("a", "b"):
        path.write_bytes(workbook([["id", "text"], ["1", text]]))
        hashes.add(source_sha256(str(path)))
    assert len(hashes) == 2


def test_other_sheets_and_bad_rows_are_said(tmp_path: Path) -> None:
    rows = [["id", "text"], ["1", "a"], ["2", "b", "more"], ["3", "c"]]
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    found = of(tmp_path, workbook(rows, [["id", "text"], ["4", "d"]]), report=report)
    assert [one.id for one in found] == ["1", "3"]
    assert report.aside.count == 1
    assert "a.xlsx:3" in report.aside.sentences[0]
    assert [(event.code, "S2" in event.message) for event in found[0].events] == [
        ("parts-left-out", True)
    ]


def test_files_that_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="mentions"):
        of(
            tmp_path,
            workbook([["document", "type", "start", "end", "text"], ["1", "X", 0, 1, "a"]]),
        )
    with pytest.raises(FormatError, match="entities"):
        of(tmp_path, workbook([["id", "text"]], declared='<!DOCTYPE a [<!ENTITY b "c">]>'))
    whole = workbook([["id", "text"], ["1", "a" * 5000]])
    path = tmp_path / "b.xlsx"
    for content in (whole[: len(whole) // 2], b"PK\x03\x04 no zip", b"text"):
        path.write_bytes(content)
        with pytest.raises(InputError):
            list(read(path, format="xlsx"))
    with pytest.raises(InputError, match="empty"):
        of(tmp_path, workbook([]))


def test_a_sheet_of_mentions(tmp_path: Path) -> None:
    text = "=1+1 aspirin #N/A"
    mentions = (
        Mention(((0, 4),), "X", score=0.25),
        Mention(
            ((5, 12),),
            "Chemical",
            links=(Link(id="D001241", ontology="MESH", curie="MESH:D001241"),),
        ),
        Mention(((0, 4), (13, 17)), "Y"),
    )
    path = tmp_path / "a.xlsx"
    report = write(path, [Document(id="007", text=text, mentions=mentions)])
    assert report.mentions == 3
    header, *rows = cells(path.read_bytes())
    assert [text for _, text in header] == [
        "document",
        "type",
        "start",
        "end",
        "score",
        "text",
        "links",
        "names",
    ]
    assert rows[0][:6] == [
        ("text", "007"),
        ("text", "Y"),
        ("text", "0;13"),
        ("text", "4;17"),
        *rows[0][4:6],
    ]
    assert rows[1][:6] == [
        ("text", "007"),
        ("text", "X"),
        ("n", "0"),
        ("n", "4"),
        ("n", "0.25"),
        ("text", "=1+1"),
    ]
    assert ("text", "MESH:D001241") in rows[2]
    with pytest.raises(OutputError):
        write(path, [])
    with pytest.raises(FormatError, match="mentions"):
        list(read(path))
    with pytest.raises(InputError, match="32,767"):
        write(
            path,
            [Document(id="1", text="a" * 40_000, mentions=(Mention(((0, 40_000),), "X"),))],
            overwrite=True,
        )
    assert len(cells(path.read_bytes())) == 4


def test_characters_that_no_cell_holds_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    report = WriteReport()
    write(
        path,
        [Document(id="1", text="a\uffffb", mentions=(Mention(((0, 3),), "X"),))],
        report=report,
    )
    assert report.losses["control-characters"] == 1
    assert cells(path.read_bytes())[1][5] == ("text", "a\ufffdb")


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=5)
)
def test_texts_of_mentions_are_what_they_were(texts: list[str]) -> None:
    document = Document(
        id="1",
        text="".join(texts),
        mentions=tuple(
            Mention(((sum(map(len, texts[:at])), sum(map(len, texts[: at + 1]))),), "X")
            for at in range(len(texts))
        ),
    )
    with tempfile.TemporaryDirectory() as folder:
        write(f"{folder}/a.xlsx", [document])
        _, *rows = cells(Path(folder, "a.xlsx").read_bytes())
    found = [(int(row[2][1]), int(row[3][1])) for row in rows]
    assert found == [mention.spans[0] for mention in document.mentions]
    for (start, end), row in zip(found, rows, strict=True):
        wanted = re.sub(r"[\0\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]", " ", document.text[start:end])
        assert row[5][1] == re.sub(r"[\x01-\x1f\ufffe\uffff]", "\ufffd", wanted)


def test_dates_are_shown_as_days(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["id", "text", "when"])
    book.active.append(["1", "a", date(2020, 3, 1)])
    path = tmp_path / "a.xlsx"
    book.save(path)
    assert [one.meta for one in read(path)] == [{"when": "2020-03-01"}]


def test_formulas_without_a_value_are_said(tmp_path: Path) -> None:
    import openpyxl

    rows, made = (
        [["id", "text", "more"], ["1", "a", "=1+1"], ["2", '="b"&"c"', "d"], ["3", "e", "f"]],
        io.BytesIO(),
    )
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(made)
    (event,) = of(tmp_path, made.getvalue())[0].events
    assert (event.kind, event.code, "2 formulas" in event.message) == ("loss", "unread-text", True)
    for value in (b'<c r="C2"><f>1+1</f><v>2</v></c>', b'<c r="C2" t="str"><f>1+1</f><v></v></c>'):
        known = _in_sheet(made.getvalue(), functools.partial(_CELL.sub, value))
        (event,) = of(tmp_path, known)[0].events
        assert "1 formula " in event.message
    assert [event for one in of(tmp_path, workbook(rows)) for event in one.events] == []  # as texts


_CELL: Final = re.compile(rb'<c r="C2"[^>]*><f>.*?</c>')


def _in_sheet(content: bytes, change: Callable[[bytes], bytes]) -> bytes:
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            said = old.read(name)
            new.writestr(name, change(said) if name.startswith("xl/worksheets/") else said)
    return changed.getvalue()


def test_a_wrong_size_of_a_sheet_takes_no_row_away(tmp_path: Path) -> None:
    dimension = b'<dimension ref="A1"/><sheetData>'
    content = _in_sheet(
        workbook([["id", "text"], ["1", "a"]]), lambda said: said.replace(b"<sheetData>", dimension)
    )
    assert dimension in _sheet_of(content)
    assert [one.text for one in of(tmp_path, content)] == ["a"]


@pytest.mark.parametrize(
    "row", ['<row r="999999999999"/>', '<row><c r="ZZZ9" t="n"><v>1</v></c></row>' * 2_000]
)
def test_a_small_file_of_a_huge_sheet_is_refused(tmp_path: Path, row: str) -> None:
    more = row.encode() + b"</sheetData>"
    content = _in_sheet(
        workbook([["id", "text"], ["1", "a"]]), lambda said: said.replace(b"</sheetData>", more)
    )
    assert row.encode() in _sheet_of(content)
    with pytest.raises(FormatError, match="more than"):
        of(tmp_path, content)


def _sheet_of(content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        return package.read(
            next(one for one in package.namelist() if one.startswith("xl/worksheets/"))
        )


def test_no_part_brings_entities_whatever_its_name(tmp_path: Path) -> None:
    book = workbook(
        [["id", "text"], ["1", "Says ENTITY here"]],
        declared='<!DOCTYPE a [<!ENTITY a "secretly">]>',
    )
    hidden = renamed(book, "xl/worksheets/sheet1.xml", "xl/worksheets/sheet1.bin")
    with pytest.raises(FormatError, match="entities"):
        of(
            tmp_path,
            rewritten(hidden, lambda name, part: (name, part.replace(b"ENTITY here", b"&a; here"))),
        )


def test_strict_workbooks_are_read(tmp_path: Path) -> None:
    assert [one.text for one in of(tmp_path, strict(workbook([["id", "text"], ["1", "a"]])))] == [
        "a"
    ]
