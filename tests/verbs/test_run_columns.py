"""Columns of the tables of a run: what stands around mentions, facts of documents and of mentions."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fascicle.errors import UsageError
from fascicle.formats.tables import TableOptions
from fascicle.verbs.tasks.run import run

TEXT = "No evidence of lung cancer. Asthma was seen."
NAMES = "Disease\tlung cancer\nDisease\tasthma\n"
STEPS = """name = "mine"

[[steps]]
kind = "recogniser"
name = "names"
model = "names.tsv"
"""
ASSERTED = f'{STEPS}\n[[steps]]\nkind = "assertion"\nname = "said"\nsources = ["names"]\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.jsonl").write_text(
        f'{{"fascicle": 2, "id": "a", "text": "{TEXT}", "meta": {{"year": "2020"}}}}\n', "utf-8"
    )
    (tmp_path / "names.tsv").write_text(NAMES, "utf-8")
    (tmp_path / "plain.toml").write_text(STEPS, "utf-8")
    (tmp_path / "asserted.toml").write_text(ASSERTED, "utf-8")
    return tmp_path


def rows(folder: Path) -> list[dict[str, str]]:
    (part,) = folder.glob("part-*.tsv")
    with part.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, dialect="excel-tab", quoting=csv.QUOTE_NONE))


def test_the_columns_are_those_of_annotate(folder: Path, cli: Callable[..., Any]) -> None:
    options = ("--format", "tsv", "--context", "--meta", "year,journal")
    assert cli("run", "in.jsonl", "-o", "out", "--pipeline", "names.tsv", *options).code == 0
    assert (
        cli("annotate", "in.jsonl", "-o", "a.tsv", "--model", "names.tsv", *options[2:]).code == 0
    )
    first, second = rows(folder / "out")
    assert (first["before"], first["sentence"]) == (
        "No evidence of ",
        "No evidence of lung cancer.",
    )
    assert (first["year"], first["journal"]) == ("2020", "")
    assert second["text"] == "Asthma"
    (part,) = (folder / "out").glob("part-*.tsv")
    assert part.read_bytes() == (folder / "a.tsv").read_bytes()


@pytest.mark.parametrize("ways", [("asserted.toml",), ("plain.toml", "--assertions")])
def test_what_the_text_says_of_a_mention_is_in_the_table(
    folder: Path, cli: Callable[..., Any], ways: tuple[str, ...]
) -> None:
    pipeline, *options = ways
    model = "names.tsv" if options else pipeline
    command = ("run", "in.jsonl", "-o", "out", "--pipeline", model, "--format", "tsv", *options)
    result = cli(*command)
    assert "loss attributes" not in result.err
    assert [row["attributes"] for row in rows(folder / "out")] == ["negated=0-14", ""]


def test_a_run_with_other_columns_is_another_run(folder: Path, cli: Callable[..., Any]) -> None:
    command = ("run", "in.jsonl", "-o", "out", "--pipeline", "plain.toml", "--format", "tsv")
    assert cli(*command, "--context").code == 0
    assert cli(*command, "--context", "--resume").code == 0
    refused = cli(*command, "--resume")
    assert refused.code == 2
    assert "another set of options" in refused.err


def test_formats_without_columns_refuse_them(folder: Path, cli: Callable[..., Any]) -> None:
    refused = cli("run", "in.jsonl", "-o", "out", "--pipeline", "plain.toml", "--context")
    assert refused.code == 2
    assert "--context is for the formats csv, tsv, xlsx, not for jsonl" in refused.err
    with pytest.raises(UsageError, match="columns are for the formats tsv, csv and xlsx"):
        run("in.jsonl", "out", pipeline="plain.toml", columns=TableOptions(with_context=True))
    assert not (folder / "out").exists()


def test_columns_that_cannot_be_are_refused_before_anything_is_written(
    folder: Path, cli: Callable[..., Any]
) -> None:
    command = ("run", "in.jsonl", "-o", "out", "--pipeline", "asserted.toml", "--format", "tsv")
    refused = cli(*command, "--meta", "attributes")
    assert refused.code == 2
    assert "would have the column 'attributes' twice" in refused.err
    assert cli(*command).code == 0


def test_the_caller_may_ask_for_attributes(folder: Path) -> None:
    columns = TableOptions(with_attributes=True)
    run("in.jsonl", "out", pipeline="plain.toml", format="tsv", columns=columns)
    assert [row["attributes"] for row in rows(folder / "out")] == ["", ""]
