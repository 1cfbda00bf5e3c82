"""Columns of a table beside each mention: words around it, sentence, section, facts of the document."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import msgspec
import pytest

from fascicle import cli
from fascicle.core.document import Document, Link, Mention, Section
from fascicle.errors import InputError
from fascicle.formats import write
from fascicle.formats.context import CONTEXT, context_of
from fascicle.formats.row_tables import open_rows
from fascicle.formats.tables import TableOptions

TITLE = "A trial of lithium."
REST = "Nobody knew it. =Lithium was given for mania, and it helped."
TEXT = f"{TITLE}\n{REST}"
AT = TEXT.index("Lithium")


def document(**meta: str) -> Document:
    places = ((11, 18), (AT, AT + 7))
    return Document(
        id="d",
        text=TEXT,
        sections=(Section(0, len(TITLE), "title"), Section(len(TITLE) + 1, len(TEXT), "abstract")),
        mentions=tuple(Mention((place,), "Chemical") for place in places),
        meta=meta,
    )


def test_the_words_around_a_mention_are_whole() -> None:
    long = "word " * 30 + "lithium" + " other" * 30
    cells = context_of(Document(id="1", text=long))(Mention(((150, 157),), "Chemical"))
    assert cells == ("word " * 11, " other" * 9, long, "")


def test_a_mention_at_the_ends_of_a_text() -> None:
    assert context_of(Document(id="1", text="Lithium"))(Mention(((0, 7),), "X")) == (
        "",
        "",
        "Lithium",
        "",
    )


def test_a_mention_at_a_blank_is_in_the_first_sentence() -> None:
    text = " Aspirin helps. Ibuprofen fails."
    cells = context_of(Document(id="1", text=text))(Mention(((0, 8),), "X"))
    assert cells[2] == "Aspirin helps."
    assert context_of(Document(id="1", text="   "))(Mention(((0, 1),), "X"))[2] == ""


def test_a_long_sentence_is_cut_around_each_mention() -> None:
    words = [f"word{number:04}" for number in range(1_000)]
    text = " ".join(words)
    cells = context_of(Document(id="1", text=text), longest=1_000)
    for number in (0, 1, 500, 998, 999):
        sentence = cells(Mention(((9 * number, 9 * number + 8),), "X"))[2]
        first, last = max(0, number - 55), min(1_000, number + 56)
        ends = ("… " if first else "", " …" if last < 1_000 else "")
        assert sentence == " ".join(words[first:last]).join(ends)
    whole = cells(Mention(((9, 8_999),), "X"))[2]
    assert whole == f"… {text[9:1_009]} …"
    short = " ".join(words[:111])
    assert (
        context_of(Document(id="1", text=short), longest=998)(Mention(((0, 8),), "X"))[2] == short
    )


def table(tmp_path: Path, name: str, *options: str, code: int = 0) -> bytes:
    write(tmp_path / "in.jsonl", [document(year="2020", decision="include")], overwrite=True)
    out = tmp_path / name
    assert (
        cli.main(["corpus", "convert", str(tmp_path / "in.jsonl"), "-o", str(out), *options])
        == code
    )
    return out.read_bytes() if out.exists() else b""


def test_a_csv_has_the_columns_that_were_asked_for(tmp_path: Path) -> None:
    content = table(tmp_path, "c.csv", "--context", "--meta", "year,journal", "--meta", "decision")
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    assert list(rows[0])[8:] == [*CONTEXT, "year", "journal", "decision"]
    assert list(rows[0].values())[8:] == [
        "A trial of ",
        ". Nobody knew it. =Lithium was given for mania, and it",
        "A trial of lithium.",
        "title",
        "2020",
        "",
        "include",
    ]
    assert rows[1]["before"] == "A trial of lithium. Nobody knew it. ="
    # a cell that a spreadsheet takes for a formula is quoted
    assert rows[1]["sentence"] == "'=Lithium was given for mania, and it helped."


def test_without_the_options_a_table_is_as_before(tmp_path: Path) -> None:
    header = table(tmp_path, "c.tsv").decode().splitlines()[0]
    assert header.split("\t") == [
        "document",
        "type",
        "start",
        "end",
        "score",
        "text",
        "links",
        "names",
    ]


def test_a_workbook_of_mentions_has_a_heading_and_a_filter(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    table(tmp_path, "c.xlsx", "--context")
    sheet = openpyxl.load_workbook(tmp_path / "c.xlsx").active
    assert (sheet.title, sheet.freeze_panes, sheet.auto_filter.ref) == ("mentions", "A2", "A1:L3")
    assert [cell.font.bold for cell in sheet[1]] == [True] * 12
    assert [cell.value for cell in sheet[2]][2:4] == [11, 18]
    assert sheet["L3"].value == "abstract"


def test_a_concept_in_a_workbook_opens_its_page(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    links = [
        (Link(id="D008094", ontology="MESH", curie="MESH:D008094"),),
        (Link(id="D008094", ontology="MESH", curie="MESH:D008094"), Link(id="1", ontology="X")),
        (Link(id="", nil=True),),
        (),
    ]
    mentions = tuple(Mention(((at, at + 1),), "X", links=own) for at, own in enumerate(links))
    write(tmp_path / "a.xlsx", [Document(id="d", text="abcd", mentions=mentions)])
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx").active
    (column,) = (cells for cells in sheet.columns if cells[0].value == "links")
    pages = [cell.hyperlink and cell.hyperlink.target for cell in column]
    assert pages == [None, "https://bioregistry.io/MESH:D008094", None, None, None]


def test_a_long_sentence_is_cut_to_a_cell_of_excel(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    mention = Mention(((0, 4),), "X")
    document = Document(id="d", text="word " * 8_000, mentions=(mention,), meta={"year": "2020"})
    options = TableOptions(with_context=True, meta=("year",))
    write(tmp_path / "a.xlsx", [document], options=options)
    (row,) = openpyxl.load_workbook(tmp_path / "a.xlsx").active.iter_rows(2, values_only=True)
    assert (row[10], row[12]) == (("word " * 8_000)[:32_767], "2020")
    write(tmp_path / "a.tsv", [document], options=options)
    assert "word " * 7_999 in (tmp_path / "a.tsv").read_text(encoding="utf-8")
    full = msgspec.structs.replace(document, meta={"year": "2" * 40_000})
    with pytest.raises(InputError, match="has a text that no cell of Excel holds"):
        write(tmp_path / "b.xlsx", [full], options=options)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (("--meta", "text,start"), "text"),
        (("--meta", "year", "--meta", "year"), "year"),
        (("--context", "--meta", "sentence"), "sentence"),
    ],
)
def test_no_column_is_there_twice(
    options: tuple[str, ...], name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert table(tmp_path, "c.csv", *options, code=2) == b""
    assert f"would have the column '{name}' twice" in capsys.readouterr().err
    assert b"sentence" in table(tmp_path, "d.csv", "--meta", "sentence")


def test_other_formats_refuse_the_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert table(tmp_path, "c.jsonl", "--context", code=2) == b""
    assert "--context is for the formats csv, tsv, xlsx, not for jsonl" in capsys.readouterr().err
    assert table(tmp_path, "c.bioc.xml", "--meta", "year", code=2) == b""
    assert "--meta is for the formats csv, tsv, xlsx, not for bioc" in capsys.readouterr().err


def test_a_cell_of_excel_is_measured_as_excel_does(tmp_path: Path) -> None:
    """Excel counts UTF-16, and what looks like an escape of a character is written longer."""
    openpyxl = pytest.importorskip("openpyxl")
    for text in ("_x0041_" * 4_000, "\N{GRINNING FACE}" * 20_000):
        mention = Mention(((0, 4),), "X")
        document = Document(id="d", text=text, mentions=(mention,), meta={"note": f"{text}END"})
        with pytest.raises(InputError, match="has a text that no cell of Excel holds"):
            write(tmp_path / "a.xlsx", [document], options=TableOptions(meta=("note",)))
        options = TableOptions(with_context=True)
        write(tmp_path / "b.xlsx", [document], options=options, overwrite=True)
        (row,) = openpyxl.load_workbook(tmp_path / "b.xlsx").active.iter_rows(2, values_only=True)
        sentence = openpyxl.utils.escape.unescape(row[10])
        assert text.startswith(sentence)
        assert len(sentence) >= 15_000
        rows = [{"document": "d", "note": f"{text}END"}]
        with open_rows(str(tmp_path / "c.xlsx"), {"note": str}, overwrite=True) as add:
            add([rows[0]["note"]])
        (row,) = openpyxl.load_workbook(tmp_path / "c.xlsx").active.iter_rows(2, values_only=True)
        assert text.startswith(openpyxl.utils.escape.unescape(row[0]))


def test_a_small_score_is_a_number_in_a_workbook(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    mentions = tuple(
        Mention(((0, 4),), kind, score=score) for kind, score in (("X", 1e-05), ("Y", 1.0))
    )
    write(tmp_path / "a.xlsx", [Document(id="d", text="word", mentions=mentions)])
    rows = list(openpyxl.load_workbook(tmp_path / "a.xlsx").active.iter_rows(2, values_only=True))
    assert sorted(row[4] for row in rows) == [1e-05, 1.0]
