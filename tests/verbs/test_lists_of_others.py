"""Lists of names as a sheet, JSON or a renamed one of these: each way in says to save it as CSV, and
takes that CSV.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fascicle.cli import main

openpyxl = pytest.importorskip("openpyxl")

ROWS = [
    ["type", "name", "id"],
    ["Chemical", "Glucophage", "MINE:1"],
    ["Specimen", "wound swab", "MINE:2"],
]
TEXT = "Glucophage was stopped, and the wound swab was clean."
WAYS = {
    "also": "annotate --text TEXT --format tsv --also LIST",
    "model": "annotate --text TEXT --format tsv --model LIST",
    "build": "index build LIST -o PACK",
    "build-type": "index build LIST -o PACK --type Chemical",
    "extend": "index extend BASE LIST -o PACK",
}
MISLEADING = ("unpack", "TOML file:", "name the columns")


def _write_sheet(path: Path) -> None:
    book = openpyxl.Workbook()
    for row in ROWS:
        book.active.append(row)
    book.save(path)


def _write(folder: Path, shape: str) -> Path:
    path = folder / shape
    records = [dict(zip(ROWS[0], row, strict=True)) for row in ROWS[1:]]
    texts = {
        "lines": "".join(json.dumps(record) + "\n" for record in records),
        "packed": json.dumps(records),
        "indented": json.dumps(records, indent=1),
        "csv": "".join(",".join(row) + "\n" for row in ROWS),
    }
    if path.stem == "sheet":
        _write_sheet(path)
    else:
        path.write_text(texts[path.stem], encoding="utf-8")
    return path


def _run(way: str, path: Path, folder: Path) -> int:
    base = folder / "base"
    if way == "extend":
        names = folder / "base.csv"
        names.write_text("type,name,id\nDisease,gout,MINE:9\n", encoding="utf-8")
        assert main(["index", "build", str(names), "-o", str(base)]) == 0
    stand_ins = {"TEXT": TEXT, "LIST": str(path), "PACK": str(folder / "pack"), "BASE": str(base)}
    return main([stand_ins.get(word, word) for word in WAYS[way].split()])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "shape",
    [
        "sheet.xlsx",
        "sheet.csv",
        "sheet.tsv",
        "lines.jsonl",
        "lines.csv",
        "packed.json",
        "packed.csv",
        "packed.tsv",
        "indented.json",
        "indented.csv",
    ],
)
def test_a_list_of_another_kind_is_refused_with_advice_that_works(
    way: str, shape: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(way, _write(tmp_path, shape), tmp_path) == 2
    said = capsys.readouterr().err
    assert "CSV" in said, said
    assert not any(words in said for words in MISLEADING), said
    assert not (tmp_path / "pack").exists()


@pytest.mark.parametrize("way", WAYS)
def test_the_csv_of_the_advice_is_taken(
    way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _write(tmp_path, "csv").rename(tmp_path / "names.csv")
    assert _run(way, path, tmp_path) == 0
    if way in ("also", "model"):
        assert "Specimen\t32\t42\t\twound swab\tMINE:2" in capsys.readouterr().out
