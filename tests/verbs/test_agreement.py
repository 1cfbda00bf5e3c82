"""``fascicle evaluate --agreement``: two annotators side by side."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fascicle.core.document import Document, Mention
from fascicle.formats import write

Cli = Callable[..., Any]
Refused = Callable[..., str]

FIRST = "lung B-Disease|cancer I-Disease|and O|aspirin B-Chemical|. O\npain B-Disease|here O"
SECOND = "lung O|cancer B-Disease|and O|aspirin B-Chemical|. O\npain B-Chemical|here O"


def columns(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    lines = text.replace(" ", "\t").replace("\n", "\n\n").replace("|", "\n")
    path.write_text(lines + "\n", encoding="utf-8")
    return path


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    return columns(tmp_path / "anna" / "x.tsv", FIRST), columns(tmp_path / "ben" / "x.tsv", SECOND)


def test_the_tables(cli: Cli, sides: tuple[Path, Path]) -> None:
    result = cli("evaluate", *sides, "--agreement")
    assert result.code == 0
    rows = {line.split("  ")[0]: line.split() for line in result.out.splitlines() if line}
    # Of three mentions each, only aspirin is the same.
    assert rows["all types"][2:6] == ["3", "3", "1", "33.33"]
    assert rows["any type"][2:6] == ["4", "3", "3", "85.71"]
    assert rows["all words"][2] == "7"
    assert rows["marked by either"][3] == "4"
    assert rows["marked by both"][3] == "3"
    assert "bootstrap over sentences, 1,000 draws, seed 0" in result.out
    assert "Kappa over all words is made high" in result.out
    assert "anna/x.tsv" in result.out


def test_as_json(cli: Cli, sides: tuple[Path, Path]) -> None:
    value = json.loads(cli("evaluate", *sides, "--agreement", "--json").out)
    assert value["names"] == ["anna/x.tsv", "ben/x.tsv"]
    assert value["all_mentions"]["f1"]["value"] == pytest.approx(1 / 3)
    assert value["kappas"]["marked by both"]["words"] == 3
    assert value["marks"]["Chemical"] == {
        "first": 1,
        "second": 2,
        "both": 1,
        "f1": value["marks"]["Chemical"]["f1"],
        "kappa": value["marks"]["Chemical"]["kappa"],
        "alpha": value["marks"]["Chemical"]["alpha"],
    }


def test_several_sides_have_pairs_and_one_alpha(
    cli: Cli, sides: tuple[Path, Path], tmp_path: Path
) -> None:
    third = columns(tmp_path / "carl" / "x.tsv", FIRST)
    value = json.loads(cli("evaluate", *sides, third, "--agreement", "--json").out)
    first, second, last = ("anna/x.tsv", "ben/x.tsv", "carl/x.tsv")
    assert [one["names"] for one in value["pairs"]] == [
        [first, second],
        [first, last],
        [second, last],
    ]
    assert value["pairs"][1]["all_mentions"]["f1"]["value"] == 1
    # Of 21 values 3 + 4 + 4 mark a word (cancer, lung, aspirin, pain); only on lung do they differ,
    # two against one.
    assert value["alpha_any"]["value"] == pytest.approx(1 - 20 * 2 / (2 * 11 * 10))
    told = cli("evaluate", *sides, third, "--agreement").out
    assert "alpha of all" in told
    assert "carl/x.tsv" in told


def test_a_source_is_the_same_in_every_pair(cli: Cli, refused: Refused, tmp_path: Path) -> None:
    """The second side has gold mentions too, which do not count; the last is a table."""
    text = "aspirin and pain in rats"
    own = [
        Mention(((0, 7),), "Chemical", source="me"),
        Mention(((12, 16),), "Disease", source="me"),
    ]
    gold = [msgspec.structs.replace(mention, source="gold") for mention in own]
    for name, mentions in (
        ("a", gold),
        ("b", [Mention(((20, 24),), "Species"), *own]),
        ("c", own),
    ):
        document = Document(id="1", text=text, mentions=tuple(mentions))
        write(tmp_path / f"{name}.jsonl", [document])
    table = tmp_path / "d.tsv"
    table.write_text(
        "document\ttype\tstart\tend\n1\tChemical\t0\t7\n1\tDisease\t12\t16\n",
        encoding="utf-8",
    )
    a, b, c = (tmp_path / f"{name}.jsonl" for name in "abc")
    for sides in ((a, b, c), (a, b, table, c)):
        result = cli("evaluate", *sides, "--agreement", "--source", "me", "--json")
        assert result.code == 0, result.err
        value = json.loads(result.out)
        assert len(value["pairs"]) == len(sides) * (len(sides) - 1) / 2
        assert {pair["all_mentions"]["f1"]["value"] for pair in value["pairs"]} == {1}
        assert value["alpha_any"]["value"] == 1
    assert "no mention of 'you'" in refused("evaluate", a, c, "--agreement", "--source", "you")


def test_nothing_annotated_is_undefined_and_says_why(cli: Cli, tmp_path: Path) -> None:
    both = [columns(tmp_path / name / "x.tsv", "lung O|cancer O") for name in ("anna", "ben")]
    result = cli("evaluate", *both, "--agreement")
    assert result.code == 0
    assert "- is undefined: neither side has such a mention." in result.out
    assert "nan" not in result.out.lower()


def test_what_is_refused(refused: Refused, sides: tuple[Path, Path], tmp_path: Path) -> None:
    assert "one file was given; give two" in refused("evaluate", sides[0], "--agreement")
    for option in (["--report", tmp_path / "r.md"], ["--interval"], ["--allow-missing"]):
        assert f"{option[0]} has no meaning with --agreement" in refused(
            "evaluate", *sides, "--agreement", *option
        )
    assert "given twice" in refused("evaluate", "-", "-", "--agreement")
    other = columns(tmp_path / "carl" / "x.tsv", FIRST.replace("here", "there"))
    assert "'there" in refused("evaluate", sides[0], other, "--agreement")
    fewer = columns(tmp_path / "dora" / "x.tsv", FIRST.partition("\n")[0] + "\n")
    assert "lacks" in refused("evaluate", sides[0], fewer, "--agreement", "--documents", "sentence")
    assert "lacks" in refused("evaluate", fewer, sides[0], "--agreement", "--documents", "sentence")
