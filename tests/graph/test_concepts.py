"""``fascicle concepts``: rows against counts made by hand, in each kind of table."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.concepts import BARE, DOCUMENTS, LITHIUM, mention

from fascicle import cli
from fascicle.core.document import Document
from fascicle.formats import write
from fascicle.graph.concepts import COLUMNS, WEIGHTS, weight_of, write_concepts

SENTENCE = "Lithium and tremor."
ROWS = [
    # Lithium: once in the title (3), twice in the abstract (2 each)
    ["1", "MESH:D008094", "Lithium", "Chemical", 1, 7.0, 3, "abstract:2|title:1", 0.45, 0, 1, SENTENCE],
    ["1", "MESH:D014202", "Tremor", "Disease", 2, 5.0, 2, "abstract:1|title:1", 0.4, 1, 0, SENTENCE],
    ["1", "NCBIGene:2308", "FOXO1", "Gene", 3, 4.0, 2, "abstract:2", 0.25, 0, 0, "FOXO1 was measured."],
    ["PMC22", "MESH:D014202", "Tremor", "Disease", 1, 1.0, 1, "text:1", 0.4, 0, 0, "Tremor under lithium."],
    ["PMC22", "MESH:D008094", "Lithium", "Chemical", 2, 1.0, 1, "text:1", 0.45, 0, 0, "Tremor under lithium."],
]  # fmt: skip


def csv_rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.reader(stream))


def test_each_concept_of_a_document_is_a_row(tmp_path: Path) -> None:
    totals = write_concepts(DOCUMENTS, str(tmp_path / "c.csv"))
    assert csv_rows(tmp_path / "c.csv") == [list(COLUMNS), *(list(map(str, row)) for row in ROWS)]
    assert totals == (2, 5, 9, 1, 1)


def test_a_parquet_has_the_same_rows_with_types(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    write_concepts(DOCUMENTS, tmp_path / "c.parquet")
    table = pq.read_table(tmp_path / "c.parquet")
    assert [list(row.values()) for row in table.to_pylist()] == ROWS
    assert table.column_names == list(COLUMNS)
    assert list(map(str, table.schema.types))[4:7] == ["int64", "double", "int64"]


def test_a_workbook_has_a_bold_frozen_heading_and_a_filter(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    for name in ("c.xlsx", "again.xlsx"):
        write_concepts(DOCUMENTS, str(tmp_path / name))
    assert (tmp_path / "c.xlsx").read_bytes() == (tmp_path / "again.xlsx").read_bytes()
    sheet = openpyxl.load_workbook(tmp_path / "c.xlsx").active
    rows: list[list[Any]] = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert rows == [list(COLUMNS), *ROWS]
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("A2", "A1:L6")
    assert [cell.font.bold for cell in sheet[1]] == [True] * 12
    assert not sheet["A2"].font.bold


def test_the_last_part_of_a_section_with_a_weight_counts() -> None:
    """BioC of PMC says ref for a reference."""
    names = ("title", "abstract", "abstract-methods", "abstract-results", "references", "ref")
    assert [weight_of(name, WEIGHTS) for name in (*names, "text")] == [3, 2, 0.5, 2, 0, 0, 1]


def test_a_concept_has_the_first_name_that_is_not_empty(tmp_path: Path) -> None:
    bare = msgspec.structs.replace(LITHIUM, name="")
    mentions = [mention(at, " Lithium", "X", link) for at, link in ((0, bare), (12, LITHIUM))]
    text = " Lithium. No Lithium."
    blank = Document(id="2", text="  ", mentions=(mention(0, " ", "X", LITHIUM),))
    documents = [Document(id="1", text=text, mentions=tuple(mentions)), blank]
    write_concepts(documents, tmp_path / "c.csv")
    rows = csv_rows(tmp_path / "c.csv")[1:]
    assert [(row[2], row[-1]) for row in rows] == [("Lithium", "Lithium."), ("Lithium", "")]


def test_the_command_takes_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "in.jsonl", DOCUMENTS)
    given = ["concepts", str(tmp_path / "in.jsonl"), "-o"]
    out = tmp_path / "c.tsv"
    assert cli.main([*given, str(out), "--weight", "abstract=0", "--weight", "text=9"]) == 0
    rows = [line.split("\t") for line in out.read_text(encoding="utf-8").splitlines()[1:]]
    assert [(row[2], row[4], row[5]) for row in rows] == [
        ("Lithium", "1", "3.0"),
        ("Tremor", "2", "3.0"),
        ("FOXO1", "3", "0.0"),
        ("Tremor", "1", "9.0"),
        ("Lithium", "2", "9.0"),
    ]
    assert "2 documents in: 2 written" in capsys.readouterr().err
    assert cli.main([*given, str(out), "--weight", "title=much"]) == 2
    assert "'much' is not allowed, give a number from 0" in capsys.readouterr().err
    assert cli.main([*given, str(tmp_path / "c.docx")]) == 2
    assert "name it .csv, .tsv, .xlsx, .parquet" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.tsv", "in.jsonl"]


@pytest.mark.parametrize("command", ["concepts", "graph"])
def test_what_is_left_out_is_said(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = mention(0, "Lithium", "Chemical", BARE)
    write(
        tmp_path / "bare.jsonl", [Document(id="1", text="Lithium.", mentions=(bare,)), *DOCUMENTS]
    )
    out, bad = str(tmp_path / "c.csv"), tmp_path / "bad.jsonl"
    bad.write_text("{}\n" * 2, encoding="utf-8")
    assert cli.main([command, str(bad), "-o", out]) == 2
    assert "none of the 2 documents could be used" in capsys.readouterr().err
    assert not Path(out).exists()
    assert cli.main([command, str(tmp_path / "bare.jsonl"), "-o", out]) == 0
    errors = capsys.readouterr().err
    assert "left out: 2 links without a CURIE" in errors
    assert "left out: 1 mention with ambiguous links" in errors
