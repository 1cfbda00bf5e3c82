"""Column files scored by order, and as columns of one file, against seqeval on a real corpus."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support

Cli = Callable[..., Any]
Refused = Callable[..., str]
Sentence = tuple[list[str], list[str]]  # words, tags


def sentences_of(path: Path) -> list[Sentence]:
    blocks = path.read_text(encoding="utf-8").strip().split("\n\n")
    rows = [
        [line.split("\t") for line in block.split("\n") if not line.startswith("-DOCSTART-")]
        for block in blocks
    ]
    return [([row[0] for row in block], [row[-1] for row in block]) for block in rows if block]


def noisy(tags: Sequence[str], chance: random.Random) -> list[str]:
    """Tags as a real tagger gives them: some wrong, so that sequences break the rules of their
    scheme too.
    """
    others = ["O", "B-Chemical", "I-Chemical", "B-Disease", "I-Disease"]
    return [chance.choice(others) if chance.random() < 0.1 else tag for tag in tags]


def written(
    path: Path, sentences: Sequence[Sequence[Sequence[str]]], separator: str = "\t"
) -> Path:
    rows = (
        "\n".join(separator.join(row) for row in zip(*columns, strict=True))
        for columns in sentences
    )
    path.write_text("\n\n".join(rows) + "\n", encoding="utf-8")
    return path


def by_seqeval(gold: list[list[str]], said: list[list[str]]) -> dict[str, Any]:
    types = sorted({tag[2:] for tags in (*gold, *said) for tag in tags if tag != "O"})
    micro = precision_recall_fscore_support(gold, said, average="micro", zero_division=0)
    each = precision_recall_fscore_support(gold, said, average=None, zero_division=0)
    return {
        "micro": micro[:3],
        "types": {t: [float(part[n]) for part in each] for n, t in enumerate(types)},
    }


def check_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert [found["micro"][key] for key in ("precision", "recall", "f1")] == pytest.approx(
        expected["micro"]
    )
    assert found["types"].keys() == expected["types"].keys()
    for name, numbers in expected["types"].items():
        row = found["types"][name]
        assert [row[key] for key in ("precision", "recall", "f1", "support")] == pytest.approx(
            numbers
        )


@pytest.fixture(scope="session")
def bc5cdr(fascicle_data: Path) -> list[Sentence]:
    (path,) = (fascicle_data / "bc5cdr" / "iob").glob("test.tsv")
    return sentences_of(path)


@pytest.mark.parametrize("seed", range(4))
def test_two_files_and_three_columns_equal_seqeval(
    cli: Cli, bc5cdr: list[Sentence], tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    part = chance.sample(bc5cdr, 600)
    gold, said = [tags for _, tags in part], [noisy(tags, chance) for _, tags in part]
    expected = by_seqeval(gold, said)
    first = written(tmp_path / "gold.tsv", part)
    second = written(
        tmp_path / "pred.tsv", [(words, tags) for (words, _), tags in zip(part, said, strict=True)]
    )
    three = [(words, tags, other) for (words, tags), other in zip(part, said, strict=True)]
    both = written(tmp_path / "both.tsv", three, separator=" " if seed % 2 else "\t")
    result = cli("evaluate", first, second, "--json")
    assert (result.code, "order" in result.err) == (0, True)
    check_same(json.loads(result.out), expected)
    result = cli("evaluate", both, "--gold-column", 1, "--pred-column", 2, "--json")
    assert result.code == 0
    check_same(json.loads(result.out), expected)


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    rows = (
        "w the O O\nx lung B-Disease B-Disease\ny cancer I-Disease O\n\nz pain B-Disease "
        "B-Disease\n"
    )
    path = tmp_path / "toy.tsv"
    path.write_text(rows, encoding="utf-8")
    return path


def test_columns_may_stand_anywhere(cli: Cli, toy: Path) -> None:
    found = cli("evaluate", toy, "--columns", 1, "--gold-column", -2, "--pred-column", 3, "--json")
    counts = json.loads(found.out)["micro"]
    assert (counts["tp"], counts["fp"], counts["fn"]) == (1, 1, 1)


def test_several_systems_in_one_file(cli: Cli, toy: Path) -> None:
    asked = ("--columns", 1, "--gold-column", 2, "--pred-column", 3, "--pred-column", -1)
    said = cli("evaluate", toy, *asked[:-2], "--json")
    assert said.code == 0
    written(toy, [(["a", "b"], ["B-X", "O"], ["B-X", "O"], ["O", "B-X"])])
    found = cli(
        "evaluate", toy, "--gold-column", 1, "--pred-column", 2, "--pred-column", 3, "--json"
    )
    assert [system["micro"]["f1"] for system in json.loads(found.out)["systems"]] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--pred-column", 2], "--gold-column"),
        (["--gold-column", 2], "--pred-column"),
        (["--gold-column", 2, "--pred-column", 2], "2"),
        (["--gold-column", 2, "--pred-column", "two"], "two"),
        (["--gold-column", 2, "--pred-column", 3, "--columns", "1,2"], "--columns"),
        (["--gold-column", 2, "--pred-column", 9], "9"),
        (["--gold-column", 2, "--pred-column", 1], "toy.tsv:1"),
    ],
)
def test_columns_that_do_not_fit_are_refused(
    refused: Refused, toy: Path, options: list[object], named: str
) -> None:
    assert named in refused("evaluate", toy, *options)


def test_a_file_beside_columns_is_refused(refused: Refused, toy: Path) -> None:
    assert "toy.tsv" in refused("evaluate", toy, toy, "--gold-column", 2, "--pred-column", 3)
    assert "--pred-column" in refused("evaluate", toy)


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_other_words_are_refused_by_the_first_difference(
    refused: Refused, tmp_path: Path, command: str
) -> None:
    gold = written(tmp_path / "gold.tsv", [(["a", "b"], ["B-X", "O"]), (["c", "d"], ["O", "B-X"])])
    good = written(tmp_path / "good.tsv", [(["a", "b"], ["B-X", "O"]), (["c", "d"], ["O", "B-X"])])
    other = written(
        tmp_path / "other.tsv", [(["a", "b"], ["B-X", "O"]), (["c", "e"], ["O", "B-X"])]
    )
    short = written(tmp_path / "short.tsv", [(["a", "b"], ["B-X", "O"])])
    said = refused(command, gold, other, good)
    assert all(part in said for part in ("other.tsv", "'e'", "'other:2'", "'d'", "'gold:2'"))
    assert all(
        part in refused(command, gold, short, good)
        for part in ("short.tsv", "(1 document)", "'gold:2'")
    )


def test_the_same_name_in_two_folders(cli: Cli, refused: Refused, tmp_path: Path) -> None:
    rows = [(["a", "b"], ["B-X", "O"]), (["c", "d"], ["O", "B-X"])]
    for folder in ("gold", "pred", "cut", "swapped"):
        (tmp_path / folder).mkdir()
    gold, same = (written(tmp_path / folder / "test.tsv", rows) for folder in ("gold", "pred"))
    cut = written(tmp_path / "cut" / "test.tsv", [(["a", "b", "c", "d"], ["B-X", "O", "O", "B-X"])])
    swapped = written(tmp_path / "swapped" / "test.tsv", rows[::-1])
    for path in (same, cut):
        assert json.loads(cli("evaluate", gold, path, "--json").out)["micro"]["f1"] == 1.0
    assert "'c d'" in refused("evaluate", gold, swapped)


def test_agreement_of_two_column_files(cli: Cli, tmp_path: Path) -> None:
    first = written(tmp_path / "ann.tsv", [(["a", "b"], ["B-X", "O"])])
    second = written(tmp_path / "bob.tsv", [(["a", "b"], ["B-X", "B-X"])])
    found = cli("evaluate", first, second, "--agreement", "--json")
    assert (found.code, json.loads(found.out)["names"]) == (0, ["ann", "bob"])
