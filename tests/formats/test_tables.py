"""Tables of mentions: TSV and CSV."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Link, Mention
from fascicle.core.files.source import Source
from fascicle.errors import FormatError, InputError
from fascicle.formats.outputs import WriteRequest, write_documents, write_predictions
from fascicle.formats.predictions import find_columns, make_prediction, read, write
from fascicle.formats.tables import CSV, TSV, split_cells

CELL = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\n\0") | st.sampled_from("'=+-@\","),
    max_size=9,
)


@given(st.lists(CELL, min_size=2, max_size=6))
def test_what_csv_writes_is_read_back(cells: list[str]) -> None:
    line = CSV.row([CSV.cell(cell) for cell in cells])
    assert split_cells(line.removesuffix("\r\n"), ",") == cells


@given(st.lists(CELL, min_size=2, max_size=6))
def test_rows_are_those_of_the_library(cells: list[str]) -> None:
    line = CSV.row([CSV.cell(cell) for cell in cells])
    (found,) = csv.reader(io.StringIO(line, newline=""))
    # no spreadsheet takes it for a formula
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in found)
    assert [cell.lstrip("'") for cell in found] == [cell.lstrip("'") for cell in cells]


DOCUMENT = Document(
    id="=cmd|'a'!A1",
    text='-catenin, "beta"\n\tand +x',
    mentions=(
        Mention(((0, 8),), "Gene", score=0.25),
        Mention(((10, 16), (22, 24)), "@type"),
        Mention(((10, 21),), "a,b"),
    ),
)


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    write_documents([DOCUMENT], WriteRequest(path=str(path), format="csv"))
    # spreadsheets take it for another encoding without
    assert path.read_bytes().startswith(b"\xef\xbb\xbfdocument,")
    content = path.read_bytes().decode("utf-8-sig")
    assert content.count("\r\n") == content.count("\n") == 4
    rows = list(csv.DictReader(io.StringIO(content, newline="")))
    assert list(rows[0]) == ["document", "type", "start", "end", "score", "text", "links", "names"]
    assert [row["text"] for row in rows] == ["'-catenin", '"beta" +x', '"beta"  and']
    assert [row["start"] for row in rows] == ["0", "10;22", "10"]
    (found,) = read(Source(path=str(path)), mention_source="gold")
    assert (found.id, found.mentions) == (DOCUMENT.id, DOCUMENT.mentions)


def test_tsv(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    write_documents([DOCUMENT], WriteRequest(path=str(path), format="tsv"))
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    assert {len(row) for row in rows} == {8}
    assert [row[5] for row in rows] == ["text", "-catenin", '"beta" +x', '"beta"  and']
    (found,) = read(Source(path=str(path)), mention_source="gold")
    assert (found.id, found.mentions) == (DOCUMENT.id, DOCUMENT.mentions)


@pytest.mark.parametrize("name", ["csv", "tsv"])
def test_links_have_columns(tmp_path: Path, name: str) -> None:
    links = tuple(
        Link(id=one, ontology="MESH", name=f"-name {one}", curie=f"MESH:{one}")
        for one in ("D1", "D2")
    )
    gold = (Mention(((0, 1),), "X", links=links), Mention(((2, 3),), "X"))
    path = tmp_path / f"a.{name}"
    document = Document(id="1", text="a b", mentions=gold)
    report = write_documents([document], WriteRequest(path=str(path), format=name))
    assert not {code for code in report.losses if "link" in code}
    assert (
        path.read_text()
        .splitlines()[1]
        .endswith("MESH:D1|MESH:D2" + (",'" if name == "csv" else "\t") + "-name D1|-name D2")
    )
    (found,) = read(Source(path=str(path)), mention_source="gold")
    assert found.mentions == gold
    report = write_predictions(
        [make_prediction(document)], WriteRequest(path=str(tmp_path / f"b.{name}"), format=name)
    )
    assert report.losses["links"] == 2


@pytest.mark.parametrize("name", ["csv", "tsv"])
def test_an_identifier_with_its_vocabulary_alone_is_held(tmp_path: Path, name: str) -> None:
    mentions = tuple(
        Mention(((at, at + 1),), "X", links=(Link(id=one, ontology="MESH"),))
        for at, one in enumerate(("D1", "a b"))
    )
    path = tmp_path / f"a.{name}"
    report = write_documents(
        [Document(id="1", text="a b", mentions=mentions)], WriteRequest(path=str(path))
    )
    assert "MESH:D1" in path.read_text(encoding="utf-8").splitlines()[1]
    assert report.losses["links"] == 1
    (found,) = read(Source(path=str(path)), mention_source="gold")
    assert found.mentions[0].links == (Link(id="D1", ontology="MESH", curie="MESH:D1"),)


def test_a_column_of_links_may_be_all_there_is(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "links,document,type,start,end\nMESH:D1|what,1,X,0,1\n,1,X,2,3\n", encoding="utf-8"
    )
    (found,) = read(Source(path=str(path)))
    assert [[link.id for link in one.links] for one in found.mentions] == [["D1", "what"], []]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "A.CSV", "a.tsv"])
def test_predictions_have_no_text(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write(path, [make_prediction(DOCUMENT)])
    (found,) = read(Source(path=str(path)), mention_source="gold")
    assert (found.id, found.mentions) == (DOCUMENT.id, DOCUMENT.mentions)


def test_a_long_mention(tmp_path: Path) -> None:
    document = Document(id="1", text="a" * 200_000, mentions=(Mention(((0, 200_000),), "X"),))
    write_documents([document], WriteRequest(path=str(tmp_path / "a.csv"), format="csv"))
    (found,) = read(Source(path=str(tmp_path / "a.csv")), mention_source="gold")
    assert found.mentions == document.mentions


@pytest.mark.parametrize(
    "bad", ["", "a\tb", "a\nb", "a\rb", "a\0", "a\x1b", "a\x85", "a\u2028", "\ufeffa"]
)
@pytest.mark.parametrize("table", [TSV, CSV])
def test_names_that_break_rows(table: object, bad: str) -> None:
    assert table in (TSV, CSV)
    for identifier, kind in ((bad, "X"), ("a", bad or "a\t")):
        with pytest.raises(InputError, match="write JSON Lines"):
            (TSV if table is TSV else CSV).rows(identifier, [Mention(((0, 1),), kind)])


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("document,type,start,end", (0, 1, 2, 3)),
        ("text,score,end,start,type,document", (5, 4, 3, 2, 1)),
        ('"document","type","start","end"', (0, 1, 2, 3)),
        ("document,type,start", ()),
        ('"document,type,start,end', ()),
        ("Once, there was", ()),
    ],
)
def test_columns_of_a_csv(header: str, columns: tuple[int, ...]) -> None:
    assert find_columns(header) == columns


def test_quotes_that_do_not_match(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('document,type,start,end\n1,X,0,1\n1,"X,0,1\n')
    with pytest.raises(FormatError, match=r"a\.csv:3: "):
        list(read(Source(path=str(path))))
