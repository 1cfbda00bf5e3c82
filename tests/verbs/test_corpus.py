"""``fascicle corpus``: counts and conversions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fascicle.formats.detection import detect
from fascicle.formats.files import read

Cli = Callable[..., Any]
Refused = Callable[..., str]


def test_stats(cli: Cli, toy_corpus: Path) -> None:
    counts = json.loads(cli("corpus", "stats", toy_corpus, "--json").out)
    assert (counts["documents"], counts["mentions"]) == (10, 18)
    table = cli("corpus", "stats", toy_corpus, "--documents", "file").out
    assert table.splitlines()[0].split() == ["documents", "1"]
    assert cli("corpus", "stats", toy_corpus, "--format", "conll", "--columns", "0,1").code == 0


def test_conditions_on_records(cli: Cli, refused: Refused, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"text": "a", "split": "x"}\n{"text": "b", "split": "y"}\n', encoding="utf-8")
    assert (
        json.loads(cli("corpus", "stats", path, "--where", "split=x", "--json").out)["documents"]
        == 1
    )
    assert "FIELD=VALUE" in refused("corpus", "stats", path, "--where", "split")
    assert "format conll" in refused("corpus", "stats", path, "--columns", "0,1")
    assert "did you mean text?" in refused("corpus", "stats", path, "--shape", "texd")


@pytest.mark.parametrize(
    "name", ["jsonl", "records", "pubtator", "conll", "predictions", "csv", "tsv"]
)
def test_conversions_keep_the_mentions(
    cli: Cli, toy_corpus: Path, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "out.data"
    assert cli("corpus", "convert", toy_corpus, "--format", name, "-o", out).code == 0
    result = cli(
        "evaluate",
        toy_corpus,
        out,
        "--json",
        *(["--source", "gold"] if name == "predictions" else []),
    )
    if name != "conll":  # whose documents have other names
        assert json.loads(result.out)["micro"]["f1"] == 1.0
    if name not in ("predictions", "tsv", "csv"):
        assert sum(len(d.mentions) for d in read(out)) == 18


def test_the_suffix_tells_the_format(
    cli: Cli, refused: Refused, toy_corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.tsv"
    assert cli("corpus", "convert", toy_corpus, "-o", out).code == 0
    assert out.read_text(encoding="utf-8").startswith("document\ttype")
    assert "--overwrite" in refused("corpus", "convert", toy_corpus, "-o", out)


def test_strict_refuses_what_would_be_lost(cli: Cli, refused: Refused, tmp_path: Path) -> None:
    path, out = tmp_path / "a.txt", tmp_path / "out.pubtator"
    path.write_text("two\nlines", encoding="utf-8")
    arguments = ("corpus", "convert", path, "-o", out)
    said = refused(*arguments, "--strict")
    assert all(
        part in said
        for part in ("'a'", "line-breaks", "PubTator", "jsonl", "--allow-loss line-breaks")
    )
    assert not out.exists()
    allowed = cli(*arguments, "--strict", "--allow-loss", "scores,line-breaks")
    assert (allowed.code, "loss line-breaks: 1" in allowed.err) == (0, True)
    result = cli(*arguments, "--overwrite")
    assert (result.code, "loss line-breaks: 1" in result.err) == (0, True)
    assert "line-breaks" in refused(*arguments, "--strict", "--allow-loss", "line-break")
    assert "--strict" in refused(*arguments, "--allow-loss", "line-breaks")


def test_only_one_source(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    mentions = [{"spans": [[0, 3]], "type": "X", "source": source} for source in ("gold", "model")]
    path.write_text(
        json.dumps({"fascicle": 1, "id": "1", "text": "two words", "mentions": mentions})
    )
    for name in ("jsonl", "predictions", "records", "tsv"):
        out = tmp_path / f"{name}.out"
        result = cli("corpus", "convert", path, "-o", out, "--format", name, "--source", "gold")
        assert result.code == 0
        assert "loss" not in result.err
        assert (
            out.read_text().count("two")
            == {"jsonl": 2, "predictions": 0, "records": 2, "tsv": 1}[name]
        )


@pytest.mark.parametrize("name", ["o.pdf", "o.docx", "o.jsonl.zst", "o.ann"])
def test_a_suffix_that_is_no_format(
    cli: Cli, refused: Refused, toy_corpus: Path, tmp_path: Path, name: str
) -> None:
    out = tmp_path / name
    assert out.suffix in refused("corpus", "convert", toy_corpus, "-o", out)
    assert not out.exists()
    assert cli("corpus", "convert", toy_corpus, "-o", out, "--format", "records").code == 0
    assert cli("corpus", "convert", toy_corpus, "-o", tmp_path / "bare").code == 0
    assert detect(str(tmp_path / "bare")) == "jsonl"


def test_wrong_calls(refused: Refused, toy_corpus: Path) -> None:
    assert "stats, convert, fetch or check" in refused("corpus")
    assert "did you mean stats?" in refused("corpus", "stat", toy_corpus)
    assert "no file was given" in refused("corpus", "stats")
    assert "twice" in refused("corpus", "stats", "-", "-")


def test_another_encoding_is_said(cli: Cli, refused: Refused, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\x93Quoted\x94 text\n")
    result = cli("corpus", "convert", path, "--format", "jsonl")
    assert result.code == 0
    assert json.loads(result.out)["text"] == "\u201cQuoted\u201d text\n"
    assert "windows-1252" in result.err
    assert "--encoding" in refused(
        "corpus", "convert", path, "--format", "jsonl", "--encoding", "utf-8"
    )
    given = cli("corpus", "convert", path, "--format", "jsonl", "--encoding", "cp1252")
    assert "windows-1252" not in given.err
    assert json.loads(given.out)["text"] == json.loads(result.out)["text"]


@pytest.mark.parametrize("command", ["stats", "convert"])
def test_what_nobody_reads_in_a_folder_is_said(
    cli: Callable[..., Any], tmp_path: Path, command: str
) -> None:
    texts, brat = tmp_path / "texts", tmp_path / "brat"
    for folder in (texts, brat):
        folder.mkdir()
        (folder / "a.txt").write_text("aspirin", encoding="utf-8")
    (brat / "a.ann").write_text("T1\tDrug 0 7\taspirin\n", encoding="utf-8")
    (brat / "annotation.conf").write_text("[entities]\nDrug\n", encoding="utf-8")
    for folder in (texts, brat):
        assert "left out" not in cli("corpus", command, folder).err
        (folder / "b.jsonl").write_text('{"id": "b", "text": "lost"}\n', encoding="utf-8")
        result = cli("corpus", command, folder)
        assert (result.code, "left out" in result.err) == (0, True)
    assert "1 file of" in result.err
    assert "b.jsonl" in result.err
