"""What may have changed the meaning of the input is said by each command that reads it, and
fails ``--strict``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PUBTATOR = (
    "1|t|Lithium toxicity\n1|a|We saw "
    "tremor.\n1\t0\t7\tLithium\tChemical\tD1\n1\t7\t13\ttremor\tDisease\tD2\n\n"
    "2|t|Lithium\n2|a|None.\n2\t0\t7\tLithium\tChemical\tD1\n"
)
SAID = "repair text-mismatch: 1 ("
STRICT = {
    "annotate": ("annotate", "bad.txt", "--model", "names.tsv", "-o", "out.jsonl"),
    "convert": ("corpus", "convert", "bad.txt", "-o", "out.jsonl"),
    "stats": ("corpus", "stats", "bad.txt"),
    "evaluate gold": ("evaluate", "bad.txt", "good.jsonl"),
    "evaluate predictions": ("evaluate", "good.jsonl", "bad.txt"),
    "evaluate links": ("evaluate", "--links", "bad.txt", "good.jsonl"),
    "agreement": ("evaluate", "--agreement", "bad.txt", "good.jsonl"),
    "compare": ("compare", "good.jsonl", "bad.txt", "good.jsonl"),
    "combine": (
        "combine",
        "union",
        "bad.txt",
        "good.jsonl",
        "-o",
        "out.tsv",
        "--allow-loss",
        "links",
    ),
    "run": ("run", "bad.txt", "--pipeline", "pipeline.toml", "-o", "out"),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Callable[..., Any]) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("bad.txt").write_text(PUBTATOR, encoding="utf-8")
    Path("good.txt").write_text(PUBTATOR.replace("1\t7\t13\t", "1\t24\t30\t"), encoding="utf-8")
    Path("names.tsv").write_text("Chemical\tLithium\n", encoding="utf-8")
    step = '[[steps]]\nkind = "recogniser"\nname = "names"\nmodel = "names.tsv"\n'
    Path("pipeline.toml").write_text(step, encoding="utf-8")
    assert cli("corpus", "convert", "good.txt", "-o", "good.jsonl").code == 0
    return tmp_path


@pytest.mark.parametrize("name", STRICT)
def test_it_is_said_and_fails_what_is_strict(
    cli: Callable[..., Any], place: Path, name: str
) -> None:
    command = STRICT[name]
    result = cli(*command, "--strict")
    assert result.code == 3
    assert SAID in result.err
    assert "first in 1" in result.err


@pytest.mark.parametrize("name", STRICT)
def test_it_is_not_said_where_all_is_well(cli: Callable[..., Any], place: Path, name: str) -> None:
    command = ["good.txt" if word == "bad.txt" else word for word in STRICT[name]]
    result = cli(*command, "--strict")
    assert result.code == 0
    assert "repair" not in result.err


def test_a_run_keeps_what_was_said_with_its_report(cli: Callable[..., Any], place: Path) -> None:
    result = cli("run", "bad.txt", "--pipeline", "pipeline.toml", "-o", "out", "--json")
    assert result.code == 0
    assert SAID in result.err
    assert [event[:3] for event in json.loads(result.out)["events"]] == [
        ["repair", "text-mismatch", 1]
    ]
    assert "text-mismatch" in Path("out/report.html").read_text(encoding="utf-8")
    again = cli(
        "run", "bad.txt", "--pipeline", "pipeline.toml", "-o", "out", "--resume", "--strict"
    )
    assert (again.code, SAID in again.err) == (3, True)


def test_the_check_of_a_corpus_calls_it_an_error(cli: Callable[..., Any], place: Path) -> None:
    result = cli("corpus", "check", "bad.txt")
    assert result.code == 3
    assert "text-mismatch: 1 (error)" in result.out


@pytest.mark.parametrize(
    "command",
    [
        ("corpus", "convert", "tags.conll", "-o", "out.jsonl"),
        ("evaluate", "tags.conll", "other.conll"),
        ("evaluate", "columns.conll", "--gold-column", "1", "--pred-column", "2"),
        ("annotate", "tags.conll", "--model", "names.tsv", "-o", "out.jsonl"),
    ],
)
def test_tag_sequences_that_were_mended_are_said(
    cli: Callable[..., Any], place: Path, command: tuple[str, ...]
) -> None:
    Path("tags.conll").write_text("a\tB-X\nb\tO\n\nc\tI-X\n", encoding="utf-8")
    Path("other.conll").write_text("a\tB-X\nb\tO\n\nc\tB-X\n", encoding="utf-8")
    Path("columns.conll").write_text("a\tB-X\tB-X\nb\tO\tO\n\nc\tI-X\tB-X\n", encoding="utf-8")
    result = cli(*command)
    assert result.code == 0
    assert "repair mended-tags: 1 (" in result.err
