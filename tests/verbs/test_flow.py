"""Documents through commands: one that is bad never costs the others, and all are accounted for."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fascicle
from fascicle.core import codec
from fascicle.core.document import Document, Mention

TEXT = "lung cancer and fever after aspirin"
FORMATS = ("jsonl", "records", "pubtator", "conll", "tsv", "predictions", "text")

Cli = Callable[..., Any]
Refused = Callable[..., str]


def good(number: int) -> bytes:
    return codec.encode(Document(id=f"d{number}", text=TEXT)) + b"\n"


def corpus(path: Path, *, documents: int, bad: int | None = None) -> Path:
    lines = [good(number) for number in range(1, documents + 1)]
    if bad is not None:
        lines[bad - 1] = b'{"fascicle": 1, "id": "broken\n'
    path.write_bytes(b"".join(lines))
    return path


def ids(path: Path) -> list[str]:
    return [codec.decode(line).id for line in path.read_text(encoding="utf-8").splitlines()]


def account(err: str) -> tuple[int, int, int]:
    """Documents in, written, set aside: of the closing line."""
    found = re.search(r"([\d,]+) documents? in: ([\d,]+) \w+.* ([\d,]+) set aside$", err.strip())
    assert found, err
    total, written, aside = (int(number.replace(",", "")) for number in found.groups())
    assert total == written + aside
    return total, written, aside


@pytest.mark.parametrize("name", FORMATS)
def test_a_bad_record_does_not_cost_the_others(
    cli: Cli, names: Path, tmp_path: Path, name: str
) -> None:
    path = corpus(tmp_path / "in.jsonl", documents=62, bad=61)
    out = tmp_path / "out"
    result = cli("annotate", path, "--model", names, "-o", out, "--format", name)
    assert (result.code, account(result.err)) == (3, (62, 61, 1))
    assert "in.jsonl:61" in result.err
    if name == "jsonl":
        assert ids(out) == [f"d{number}" for number in range(1, 63) if number != 61]


def test_a_bad_record_of_the_second_input(cli: Cli, names: Path, tmp_path: Path) -> None:
    first = corpus(tmp_path / "a.jsonl", documents=2)
    second = corpus(tmp_path / "b.jsonl", documents=62, bad=61)
    result = cli("annotate", first, second, "--model", names, "-o", tmp_path / "out.jsonl")
    assert (result.code, account(result.err)) == (3, (64, 63, 1))
    assert len(ids(tmp_path / "out.jsonl")) == 63
    assert "b.jsonl:61" in result.err


@pytest.mark.parametrize("command", ["annotate", "convert"])
def test_an_id_that_the_format_cannot_hold(
    cli: Cli, names: Path, tmp_path: Path, command: str
) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(
        good(1) + codec.encode(Document(id="two\tcolumns", text=TEXT)) + b"\n" + good(3)
    )
    start = ("annotate", "--model", names) if command == "annotate" else ("corpus", "convert")
    result = cli(*start, path, "-o", tmp_path / "out.pubtator")
    assert (result.code, account(result.err)) == (3, (3, 2, 1))
    assert "two\\tcolumns" in result.err
    assert [d.id for d in fascicle.read(tmp_path / "out.pubtator")] == ["d1", "d3"]


def test_conversion_and_counts_go_on_too(cli: Cli, tmp_path: Path) -> None:
    path = corpus(tmp_path / "in.jsonl", documents=5, bad=3)
    result = cli("corpus", "convert", path, "-o", tmp_path / "out.jsonl")
    assert (result.code, account(result.err)) == (3, (5, 4, 1))
    assert ids(tmp_path / "out.jsonl") == ["d1", "d2", "d4", "d5"]
    result = cli("corpus", "stats", path)
    assert (result.code, account(result.err)) == (3, (5, 4, 1))
    assert re.search(r"^documents +4$", result.out, re.MULTILINE)


def test_a_file_of_a_folder_that_is_no_text(cli: Cli, names: Path, tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    for name in ("a", "b", "c"):
        (tmp_path / "texts" / f"{name}.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "texts" / "b.txt").write_bytes(b"\x00\x01")
    for place in ("brat/", "brat.zip", "files/", "one.tsv", "one.conll.gz"):
        form = ("--format", "brat") if place == "brat/" else ()
        result = cli(
            "annotate", tmp_path / "texts", "--model", names, "-o", f"{tmp_path}/{place}", *form
        )
        assert (result.code, account(result.err)) == (3, (3, 2, 1)), place
        assert "b.txt" in result.err
    assert sorted(file.name for file in (tmp_path / "files").glob("[!.]*")) == [
        "a.jsonl",
        "c.jsonl",
    ]
    assert [d.id for d in fascicle.read(tmp_path / "brat.zip")] == ["a", "c"]
    assert [d.id for d in fascicle.read(tmp_path / "brat")] == ["a", "c"]


def test_the_good_documents_of_a_damaged_input_have_their_file(
    cli: Cli, names: Path, tmp_path: Path
) -> None:
    inputs = [
        corpus(tmp_path / "a.jsonl", documents=5, bad=2),
        corpus(tmp_path / "b.jsonl", documents=2),
    ]
    result = cli("annotate", *inputs, "--model", names, "-o", f"{tmp_path}/out/")
    assert (result.code, account(result.err)) == (3, (7, 6, 1))
    assert ids(tmp_path / "out" / "a.jsonl") == ["d1", "d3", "d4", "d5"]
    assert len(ids(tmp_path / "out" / "b.jsonl")) == 2


@pytest.mark.parametrize("place", ["out.jsonl", "out/", "out.zip"])
def test_where_every_document_is_bad_nothing_is_written(
    refused: Refused, cli: Cli, names: Path, tmp_path: Path, place: str
) -> None:
    path = corpus(tmp_path / "in.jsonl", documents=1, bad=1)
    assert "in.jsonl:1" in refused("annotate", path, "--model", names, "-o", f"{tmp_path}/{place}")
    other = corpus(tmp_path / "more.jsonl", documents=1, bad=1)
    result = cli("annotate", path, other, "--model", names, "-o", f"{tmp_path}/{place}")
    assert result.code == 2
    assert "in.jsonl:1" in result.err
    assert "more.jsonl:1" in result.err
    left = {entry.name for entry in tmp_path.rglob("*")}
    assert left <= {"in.jsonl", "more.jsonl", "names.tsv", "out"}


def test_where_the_format_can_hold_no_document_nothing_is_written(
    refused: Refused, tmp_path: Path
) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(codec.encode(Document(id="a\tb", text=TEXT)))
    assert "a\\tb" in refused("corpus", "convert", path, "-o", tmp_path / "out.pubtator")
    assert not (tmp_path / "out.pubtator").exists()


def test_the_closing_line(cli: Cli, names: Path, tmp_path: Path) -> None:
    result = cli(
        "annotate",
        corpus(tmp_path / "in.jsonl", documents=4),
        "--model",
        names,
        "-o",
        tmp_path / "out.tsv",
    )
    assert (result.code, account(result.err)) == (0, (4, 4, 0))
    assert "12 mentions" in result.err
    assert str(tmp_path / "out.tsv") in result.err
    assert cli("annotate", "--text", TEXT, "--model", names).err == ""


def test_only_some_types(cli: Cli, refused: Refused, names: Path) -> None:
    def types(*options: str) -> set[str]:
        (document,) = map(
            codec.decode,
            cli("annotate", "--text", TEXT, "--model", names, *options).out.splitlines(),
        )
        return {mention.type for mention in document.mentions}

    assert types() == {"Chemical", "Disease"}
    assert types("--only", "Disease") == {"Disease"}
    assert (
        types("--only", "Disease,Chemical")
        == types("--only", "Disease", "--only", "Chemical")
        == types()
    )
    assert "'Disease'" in refused("annotate", "--text", TEXT, "--model", names, "--only", "disease")


def test_only_high_scores(
    cli: Cli, refused: Refused, model: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    every = tmp_path / "all.jsonl"
    assert cli("annotate", toy_corpus, "--model", model, "-o", every).code == 0
    scores = sorted(
        {
            m.score or 0.0
            for line in every.read_bytes().splitlines()
            for m in codec.decode(line).layer("tiny")
        }
    )
    middle = scores[len(scores) // 2]
    result = cli("annotate", toy_corpus, "--model", model, "--min-score", middle, "--verbose")
    kept = [
        m.score or 0.0 for line in result.out.splitlines() for m in codec.decode(line).layer("tiny")
    ]
    assert sorted(set(kept)) == [score for score in scores if score >= middle]
    assert "low-score" in result.err
    for wrong in ("1.5", "-0.1", "nan", "high"):
        assert wrong in refused("annotate", "--text", "x", "--model", model, f"--min-score={wrong}")


def test_a_dictionary_is_a_predictor(
    cli: Cli, refused: Refused, names: Path, tmp_path: Path
) -> None:
    (document,) = map(
        codec.decode,
        cli("annotate", "--text", TEXT, "--model", names, "--no-link").out.splitlines(),
    )
    assert document.layer("names") == (
        Mention(((0, 11),), "Disease", source="names"),
        Mention(((16, 21),), "Disease", source="names"),
        Mention(((28, 35),), "Chemical", source="names"),
    )
    assert list(fascicle.load(names, links=False).stream([("text-1", TEXT)])) == [document]
    (tmp_path / "headed.tsv").write_text("type\tname\nDrug\taspirin\n", encoding="utf-8")
    assert fascicle.load(tmp_path / "headed.tsv", links=False).types == ("Drug",)
    (tmp_path / "bad.tsv").write_text("Drug\taspirin\nfever\n", encoding="utf-8")
    assert "bad.tsv:2: " in refused("annotate", "--text", TEXT, "--model", tmp_path / "bad.tsv")
    assert "types" in refused(
        "annotate", "--text", TEXT, "--model", names, "--types", tmp_path / "types.toml"
    )


def test_standard_input_cannot_be_gone_on_with(
    refused: Refused, names: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(TEXT.encode()))))
    assert "standard input" in refused(
        "annotate", "-", "--model", names, "--resume", "-o", tmp_path / "o.jsonl"
    )
    assert "-o" in refused("annotate", "--text", TEXT, "--model", names, "--resume")
    for place in ("o.jsonl.gz", "o.zip", "o.txt"):
        assert place in refused(
            "annotate", "--text", TEXT, "--model", names, "--resume", "-o", tmp_path / place
        )
