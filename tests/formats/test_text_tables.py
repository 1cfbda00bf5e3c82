"""Tables with a column of texts."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fascicle.core.document import Document, Section
from fascicle.errors import FormatError, UsageError
from fascicle.formats import ReadReport, detect, read
from fascicle.formats.report import FailedDocuments
from fascicle.formats.requests import ReadRequest, read_file
from fascicle.formats.text_tables import TextTableOptions

CSV = 'PMID,Text,year\r\n7,"Lung cancer, ""old""",1999\r\n8,"two\nlines",\r\n\r\n,none,2000\r\n'
TSV = 'id\ttitle\ttext\n1\t"Quoted" title\t\n2\tT\tan "odd quote\n'


def of(tmp_path: Path, content: str, name: str = "a.csv", **options: Any) -> list[Document]:
    path = tmp_path / name
    path.write_bytes(content.encode())
    return list(read(path, **options))


def test_a_csv(tmp_path: Path) -> None:
    found = of(tmp_path, CSV)
    assert detect(str(tmp_path / "a.csv")) == "table"
    assert [(one.id, one.text, one.meta) for one in found] == [
        ("7", 'Lung cancer, "old"', {"year": "1999"}),
        ("8", "two\nlines", {}),
        ("a:3", "none", {"year": "2000"}),
    ]
    assert [one.text for one in of(tmp_path, "id;text\n1;a,b\n")] == ["a,b"]


def test_a_tsv_has_no_quotes_unless_asked_for(tmp_path: Path) -> None:
    found = of(tmp_path, TSV, "a.tsv", options=TextTableOptions(text="title,text"), format="table")
    assert [one.text for one in found] == ['"Quoted" title', 'T\n\nan "odd quote']
    assert found[1].sections == (Section(0, 1, "title"), Section(3, 16, "text"))
    quoted = 'id\ttext\n1\t"a\t""b"""\n'
    assert (
        of(tmp_path, quoted, "a.tsv", format="table", options=TextTableOptions(quotes=True))[0].text
        == 'a\t"b"'
    )


def test_columns_of_other_names(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("key,words\nk,Asthma\n")
    request = ReadRequest(format="table", fields=(("text", "words"), ("id", "key")))
    (found,) = read_file(str(path), request)
    assert (found.id, found.text) == ("k", "Asthma")
    with pytest.raises(FormatError, match="words"):
        list(read(path, format="table"))
    for fields in ((("labels", "x"),), (("quotes", "yes"),)):
        with pytest.raises(UsageError):
            list(read_file(str(path), ReadRequest(format="table", fields=fields)))


def test_a_bad_row_costs_itself(tmp_path: Path) -> None:
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert [one.id for one in of(tmp_path, "id,text\n1,a\n2\n3,b,c\n4,d\n", report=report)] == [
        "1",
        "4",
    ]
    assert report.aside.count == 2
    assert "a.csv:3" in report.aside.sentences[0]
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert [one.id for one in of(tmp_path, 'id,text\n1,a\n2,"b"c\n', report=report)] == ["1"]
    assert report.aside.count == 1


def test_long_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = csv.field_size_limit()
    long = "word " * 100_000
    assert of(tmp_path, f"id,text\n1,{long}\n")[0].text == long
    assert csv.field_size_limit() == before
    monkeypatch.setattr("fascicle.formats.text_tables.MAX_LINE", 1000)
    with pytest.raises(FormatError, match="row"):
        of(tmp_path, 'id,text\n1,"a\n' + "b\n" * 2000)


def test_tables_of_predictions_and_of_tokens_are_no_texts(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="prediction"):
        of(tmp_path, "document\ttype\tstart\tend\ttext\n1\tX\t0\t1\ta\n", "a.tsv")
    assert of(tmp_path, "text\tO\nIL-2\tB-Gene\n", "a.tsv")[0].text == "text IL-2"


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\r\0\ufeff"), max_size=8)


@settings(max_examples=50, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.text("ab1", min_size=1), CELL, CELL),
        min_size=1,
        max_size=5,
        unique_by=lambda r: r[0],
    )
)
def test_rows_of_the_csv_module_come_back(rows: list[tuple[str, str, str]]) -> None:
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerows([("id", "text", "note"), *rows])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        path.write_bytes(stream.getvalue().encode())
        found = list(read(path))
    assert [(one.id, one.text, one.meta.get("note", "")) for one in found] == rows


@pytest.mark.parametrize(
    ("header", "wanted", "named"),
    [
        ("PMID,Title,Authors,DOI", "A", "Title"),
        ("PMID,TITLE,Abstract,Year", "A\n\nB", "TITLE and Abstract"),
        ("DOI,Article Title,Abstract,Text", "C", ""),
        ("Key,Body,x,y", "A", "Body"),
        ("Title,Abstract,DOI,x", "1\n\nA", "Title and Abstract"),
    ],
)
def test_usual_names_of_columns_are_taken_and_said(
    tmp_path: Path, header: str, wanted: str, named: str
) -> None:
    found, second = of(tmp_path, f"\ufeff{header}\r\n1,A,B,C\r\n2,D,E,F\r\n")
    assert detect(str(tmp_path / "a.csv")) == "table"
    assert found.text == wanted
    said = [event.message for event in found.events if event.code == "columns-taken"]
    assert [named in message for message in said] == [True] * bool(named)
    assert not second.events
    wanted_id = {"PMID": "1", "DOI": "1", "Key": "a:1", "Title": "B"}[header.split(",")[0]]
    assert found.id == wanted_id


def test_columns_that_a_user_names_are_not_said(tmp_path: Path) -> None:
    options = TextTableOptions(text="abstract")
    (found,) = of(tmp_path, "PMID,Title,Abstract\n1,A,B\n", options=options)
    assert (found.id, found.text, found.events) == ("1", "B", ())


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_a_table_with_one_column(tmp_path: Path, name: str) -> None:
    assert [(one.id, one.text) for one in of(tmp_path, "Text\nAspirin helps\n", name)] == [
        ("a:1", "Aspirin helps")
    ]


@pytest.mark.parametrize(
    ("header", "said"),
    [("comment,rating", "is comment, rating, and no"), ("Notes", "is Notes"), ("a;b", "is a, b")],
)
def test_a_table_without_a_usual_column_names_its_columns(
    tmp_path: Path, header: str, said: str
) -> None:
    (tmp_path / "a.csv").write_text(f"{header}\nx,1\n")
    with pytest.raises(FormatError, match=said):
        detect(str(tmp_path / "a.csv"))


@pytest.mark.parametrize(
    "bad", [b"2,caf\xff\n", b'2,"a\n,caf\xff"\n', b'2,"caf\xff,\nb"\n', b"2,caf\0\n"]
)
def test_a_bad_byte_costs_its_row(tmp_path: Path, bad: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,text\n1,\xc3\xa9\n" + bad + b'3,"x, y"\n4,z\n')
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert [(one.id, one.text) for one in read(path, report=report)] == [
        ("1", "é"),
        ("3", "x, y"),
        ("4", "z"),
    ]
    assert [one.code for one in report.aside.errors] == ["encoding"]


@pytest.mark.parametrize("sign", [";", "\t", ","])
def test_a_first_line_for_excel_states_the_separator(tmp_path: Path, sign: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text("\r\n".join((f"sep={sign}", f"id{sign}text", f"7{sign}Gout", "8", "")))
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert [(one.id, one.text) for one in read(path, report=report)] == [("7", "Gout")]
    assert [error.line for error in report.aside.errors] == [4]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_table_of_web_of_science_is_called_txt(tmp_path: Path, encoding: str) -> None:
    content = "PT\tAU\tTI\tSO\tAB\tUT\nJ\tDoe\tGout\tLancet\tIt hurts.\tWOS:1\n"
    path = tmp_path / "savedrecs.txt"
    path.write_bytes(content.encode(encoding))
    assert detect(str(path)) == "table"
    assert [one.text for one in read(path)] == ["Gout\n\nIt hurts."]


@pytest.mark.parametrize("separator", [",", "\t"])
def test_a_remark_above_the_names_of_columns_is_left_out(tmp_path: Path, separator: str) -> None:
    rows = [["About the data: of 2026"], ["Rank", "Title", "Abstract"], ["1", "Gout", "It hurts."]]
    name = "a.csv" if separator == "," else "a.tsv"
    (document,) = of(tmp_path, "".join(separator.join(row) + "\n" for row in rows), name)
    assert (document.id, document.text) == ("a:1", "Gout\n\nIt hurts.")
    (event,) = document.events
    assert "; the row above their names is left out" in event.message


@pytest.mark.parametrize("first", ["a text with one cell", "Title"])
def test_a_first_line_of_text_is_no_remark(tmp_path: Path, first: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(f"{first}\nTitle\tAbstract\n", encoding="utf-8")
    assert detect(str(path)) == "plain"
