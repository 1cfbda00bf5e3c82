"""``fascicle evaluate --relations``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.evaluation.test_relations import unscored as made

from fascicle.core.document import Document, MentionKey
from fascicle.formats import write

Cli = Callable[..., Any]
Refused = Callable[..., str]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    gold = [made(seed) for seed in range(40)]
    sides = {
        "gold": gold,
        "found": [document.having(relations=document.relations[1:]) for document in gold],
        "none": [document.having(relations=()) for document in gold],
    }
    for name, documents in sides.items():
        write(tmp_path / f"{name}.jsonl", documents)
    return {name: tmp_path / f"{name}.jsonl" for name in sides}


def test_a_table_and_json(cli: Cli, files: dict[str, Path]) -> None:
    result = cli("evaluate", files["gold"], files["found"], "--relations")
    assert (result.code, result.out.splitlines()[0]) == (0, "found")
    rows = {line.split("  ")[0]: line.split() for line in result.out.splitlines() if line}
    assert {"CID", "Bind", "without a type", "micro", "ends alone"} <= rows.keys()
    assert rows["micro"][1] == rows["ends alone"][2] == "100.00"  # of what is predicted

    value = json.loads(
        cli("evaluate", files["gold"], files["found"], files["gold"], "--relations", "--json").out
    )
    found, same = value["systems"]
    assert [found["name"], same["name"]] == ["found", "gold"]
    assert (found["micro"]["fp"], found["micro"]["fn"] > 0) == (0, True)
    assert (same["micro"]["f1"], same["ends"]["f1"]) == (1, 1)
    assert sum(row["tp"] for row in same["types"].values()) == same["micro"]["tp"] > 0
    assert sum(row["fn"] for row in found["errors"].values()) == found["micro"]["fn"]
    assert any(line.startswith("missed: ") for line in result.out.splitlines())


def test_intervals_and_the_difference_of_two_systems(cli: Cli, files: dict[str, Path]) -> None:
    names = files["gold"], files["found"], files["gold"]
    found, same = json.loads(cli("evaluate", *names, "--relations", "--interval", "--json").out)[
        "systems"
    ]
    interval = found["micro_f1_interval"]
    assert 0 < interval["low"] < found["micro"]["f1"] < interval["high"] < 1
    assert "difference" not in found
    assert same["difference"]["from"] == "found"
    assert same["difference"]["estimate"] == pytest.approx(1 - found["micro"]["f1"])
    assert same["difference"]["p_value"] == pytest.approx(2 / 1001)  # no draw has no difference
    text = cli("evaluate", *names, "--relations", "--interval").out
    assert "95% intervals (bootstrap over documents, 1,000 draws, seed 0): micro P" in text
    assert f"F1 is {100 * same['difference']['estimate']:+.2f} from that of found (" in text
    assert ", p = 0.002)." in text


def test_one_document_has_no_interval(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [made(1)])
    result = cli("evaluate", *[tmp_path / "a.jsonl"] * 2, "--relations", "--interval")
    assert (result.code, result.out.splitlines()[-1].split(",")[0]) == (0, "No interval")


def test_a_system_without_relations_has_a_recall_of_0(cli: Cli, files: dict[str, Path]) -> None:
    result = cli("evaluate", files["gold"], files["none"], "--relations", "--json")
    (system,) = json.loads(result.out)["systems"]
    assert (result.code, system["micro"]["recall"], system["micro"]["fp"]) == (0, 0, 0)
    assert system["micro"]["fn"] > 0


def test_one_source_is_chosen(cli: Cli, refused: Refused, tmp_path: Path) -> None:
    gold = made(1)
    others = tuple(
        msgspec.structs.replace(mention, source=name)
        for mention in gold.mentions
        for name in ("one", "two")
    )
    several = gold.having(mentions=(*gold.mentions, *others))
    for name, document in (("gold", gold), ("several", several)):
        write(tmp_path / f"{name}.jsonl", [document])
    names = tmp_path / "gold.jsonl", tmp_path / "several.jsonl"
    message = refused("evaluate", *names, "--relations")
    assert "mentions of one, two; choose one" in message
    assert "no mention of 'three'" in refused(
        "evaluate", *names, "--relations", "--source", "three"
    )
    result = cli("evaluate", *names, "--relations", "--source", "gold", "--json")
    (system,) = json.loads(result.out)["systems"]
    assert system["micro"]["f1"] == 1


def test_no_relations_and_options_of_other_scores(refused: Refused, files: dict[str, Path]) -> None:
    names = files["none"], files["gold"]
    assert "none.jsonl has no gold relations" in refused("evaluate", *names, "--relations")
    assert "no PRED" in refused("evaluate", files["gold"], "--relations")
    for option in (["--facts"], ["--links"], ["--agreement"], ["--type", "X"]):
        message = refused("evaluate", files["gold"], files["found"], "--relations", *option)
        assert f"{option[0]} has no meaning with --relations" in message


def test_texts_with_other_white_space_are_compared(cli: Cli, tmp_path: Path) -> None:
    """Mentions and relations move; the text of a mention may hold a line break on one side."""
    gold = [made(seed) for seed in range(40)]
    spaced = []
    for document in gold:
        text = "".join(f"\n {c}" if c == " " else c for c in document.text)
        places = [at + 2 * document.text.count(" ", 0, at + 1) for at in range(len(document.text))]

        def key(old: MentionKey, places: list[int] = places) -> MentionKey:
            return old[0], old[1], tuple((places[a], places[b - 1] + 1) for a, b in old[2])

        spaced.append(
            Document(
                id=document.id,
                text=text,
                mentions=tuple(
                    msgspec.structs.replace(mention, spans=key(mention.key)[2])
                    for mention in document.mentions
                ),
                relations=tuple(
                    msgspec.structs.replace(
                        relation,
                        arguments=tuple((role, key(end)) for role, end in relation.arguments),
                    )
                    for relation in document.relations
                ),
            )
        )
    write(tmp_path / "gold.jsonl", gold)
    write(tmp_path / "spaced.jsonl", spaced)
    names = tmp_path / "gold.jsonl", tmp_path / "spaced.jsonl"
    for one, other in (names, names[::-1]):
        result = cli("evaluate", one, other, "--relations", "--json")
        assert result.code == 0, result.err
        (system,) = json.loads(result.out)["systems"]
        assert system["micro"]["f1"] == 1
        assert "texts that differ in white space alone" in result.err


def test_a_run_is_scored(cli: Cli, files: dict[str, Path], tmp_path: Path) -> None:
    pipeline = tmp_path / "pipeline.toml"
    pipeline.write_text(
        'name = "mine"\n[[steps]]\nkind = "recogniser"\nname = "one"\nmodel = "one.tsv"\n',
        encoding="utf-8",
    )
    (tmp_path / "one.tsv").write_text("Disease\tasthma\n", encoding="utf-8")
    made_run = cli("run", files["gold"], "--pipeline", pipeline, "-o", tmp_path / "run")
    assert made_run.code == 0, made_run.err
    paths = files["gold"], tmp_path / "run"
    result = cli("evaluate", *paths, "--relations", "--source", "gold", "--json")
    assert result.code == 0, result.err
    (system,) = json.loads(result.out)["systems"]
    assert system["micro"]["f1"] == 1


def test_other_texts_are_refused(refused: Refused, files: dict[str, Path], tmp_path: Path) -> None:
    document = made(1)
    other = document.text.replace("i", "o")
    (tmp_path / "b.jsonl").write_text(files["gold"].read_text().replace(document.text, other))
    assert "another text" in refused("evaluate", files["gold"], tmp_path / "b.jsonl", "--relations")
