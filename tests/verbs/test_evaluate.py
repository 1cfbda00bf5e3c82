"""``fascicle evaluate``: prediction files, corpora and native files against gold."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fascicle.core.document import Document, Mention
from fascicle.evaluation.systems.predictions import PredictionRequest
from fascicle.formats import write
from fascicle.formats.predictions import make_prediction
from fascicle.formats.predictions import write as write_predictions
from fascicle.verbs.tasks.evaluate import evaluate

Cli = Callable[..., Any]
Refused = Callable[..., str]

TEXTS = {"a": "lung cancer and pain", "b": "aspirin", "c": "nothing here"}
GOLD = {"a": [(0, 11, "Disease"), (16, 20, "Disease")], "b": [(0, 7, "Chemical")], "c": []}
SAID = {"a": [(0, 11, "Disease")], "b": [(0, 7, "Disease")], "c": []}


def corpus(said: dict[str, list[tuple[int, int, str]]], source: str) -> list[Document]:
    return [
        Document(
            id=i,
            text=TEXTS[i],
            mentions=tuple(Mention(((a, b),), t, source=source) for a, b, t in listed),
        )
        for i, listed in said.items()
    ]


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    write(tmp_path / "gold.pubtator", corpus(GOLD, "gold"))
    return tmp_path / "gold.pubtator"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The same predictions in every kind of file."""
    said = corpus(SAID, "seq")
    paths = {n: tmp_path / n for n in ("p.jsonl", "p.tsv", "native.fascicle.jsonl", "p.pubtator")}
    write_predictions(paths["p.jsonl"], map(make_prediction, said))
    write_predictions(paths["p.tsv"], map(make_prediction, said))
    write(paths["native.fascicle.jsonl"], said)
    write(paths["p.pubtator"], said)
    return paths


@pytest.mark.parametrize("name", ["p.jsonl", "p.tsv", "native.fascicle.jsonl", "p.pubtator"])
def test_every_kind_of_prediction_scores_the_same(
    cli: Cli, gold: Path, files: dict[str, Path], name: str
) -> None:
    result = cli("evaluate", gold, files[name], "--json")
    scores = json.loads(result.out)
    assert (result.code, scores["documents"]) == (0, 3)
    assert {k: scores["micro"][k] for k in ("tp", "fp", "fn")} == {"tp": 1, "fp": 1, "fn": 2}


def test_systems_of_one_stated_name_are_all_scored(gold: Path, files: dict[str, Path]) -> None:
    systems = [PredictionRequest(path=str(files[n]), name="a") for n in ("p.jsonl", "p.tsv")]
    result = evaluate(str(gold), [*systems, str(files["native.fascicle.jsonl"])])
    assert [system.name for system in result.systems] == ["a", "a#2", "native.fascicle"]
    assert [*result.predictions] == ["a", "a#2", "native.fascicle"]


def test_the_table(cli: Cli, gold: Path, files: dict[str, Path]) -> None:
    full = cli("evaluate", gold, files["p.jsonl"], "--interval").out
    assert "Disease" in full
    assert "95% interval" in full
    short = cli("evaluate", gold, files["p.jsonl"], "--interval", "--no-by-type").out
    assert "Disease" not in short
    assert [line.split()[0] for line in short.splitlines()[2:4]] == ["micro", "macro"]
    assert "micro_f1_interval" in json.loads(
        cli("evaluate", gold, files["p.jsonl"], "--interval", "--json").out
    )


def counts(result: Any) -> dict[str, int]:
    micro = json.loads(result.out)["micro"]
    return {key: micro[key] for key in ("tp", "fp", "fn")}


def test_types_that_are_not_asked_for_count_on_neither_side(
    cli: Cli, gold: Path, files: dict[str, Path]
) -> None:
    said = files["p.jsonl"]
    assert counts(cli("evaluate", gold, said, "--type", "Disease", "--json")) == {
        "tp": 1,
        "fp": 1,
        "fn": 1,
    }
    assert counts(cli("evaluate", gold, said, "--type", "Chemical", "--json")) == {
        "tp": 0,
        "fp": 0,
        "fn": 1,
    }
    both = cli("evaluate", gold, said, "--type", "Chemical", "--type", "Disease", "--json")
    assert counts(both) == counts(cli("evaluate", gold, said, "--json"))


def test_a_type_of_the_gold_may_have_another_name(
    cli: Cli, gold: Path, files: dict[str, Path]
) -> None:
    said = files["p.jsonl"]
    assert counts(cli("evaluate", gold, said, "--type", "Chemical=Disease", "--json")) == {
        "tp": 1,
        "fp": 1,
        "fn": 0,
    }
    merged = cli(
        "evaluate", gold, said, "--type", "Chemical=Disease", "--type", "Disease", "--json"
    )
    assert counts(merged) == {"tp": 2, "fp": 0, "fn": 1}


def test_a_map_gives_types_other_names(
    cli: Cli, refused: Refused, gold: Path, files: dict[str, Path], tmp_path: Path
) -> None:
    said, names = files["p.jsonl"], tmp_path / "names.toml"
    names.write_text('Disease = "Any"\n["the gold"]\nChemical = "Any"\n', encoding="utf-8")
    # the tables of the map: a chemical of the gold and both predicted diseases are "Any"
    assert counts(cli("evaluate", gold, said, "--map", names, "--json")) == {
        "tp": 2,
        "fp": 0,
        "fn": 1,
    }
    names.write_text('[p]\nDisease = "Chemical"\n', encoding="utf-8")
    mapped = cli("evaluate", gold, said, "--map", names, "--json")
    assert counts(mapped) == {"tp": 1, "fp": 1, "fn": 2}
    scored = cli("evaluate", gold, said, "--map", names, "--type", "Chemical", "--json")
    assert counts(scored) == {"tp": 1, "fp": 1, "fn": 0}
    names.write_text('Diseases = "Disease"\nChemical = ""\n', encoding="utf-8")
    left_out = cli("evaluate", gold, said, "--map", names, "--json")
    assert counts(left_out) == {"tp": 1, "fp": 1, "fn": 1}
    assert "the map renames 'Diseases', which is none of the types" in left_out.err
    assert "mentions left out, for the map gives their types no name: 1" in left_out.err
    for way in ("--links", "--agreement", "--relations"):
        assert "--map has no meaning with" in refused("evaluate", gold, said, "--map", names, way)
    assert "there is no map at" in refused("evaluate", gold, said, "--map", tmp_path / "no.toml")


@pytest.mark.parametrize("table", ["vote", "vote.predictions", "run/vote", "PATH"])
def test_a_map_knows_a_file_by_the_names_of_compare(
    cli: Cli, gold: Path, tmp_path: Path, table: str
) -> None:
    path = tmp_path / "run" / "vote.predictions.jsonl"
    path.parent.mkdir()
    write_predictions(path, map(make_prediction, corpus(SAID, "seq")))
    key = json.dumps(str(path) if table == "PATH" else table)
    (tmp_path / "names.toml").write_text(f'[{key}]\nDisease = ""\n', encoding="utf-8")
    mapped = cli("evaluate", gold, path, "--map", tmp_path / "names.toml", "--json")
    assert counts(mapped) == {"tp": 0, "fp": 0, "fn": 3}


def test_the_table_of_a_task_is_a_format_of_predictions(
    cli: Cli, gold: Path, tmp_path: Path
) -> None:
    write(tmp_path / "p.livingner.tsv", corpus(SAID, "seq"))
    write(tmp_path / "p.socialdisner.tsv", corpus(SAID, "seq"))
    expected = counts(cli("evaluate", gold, tmp_path / "p.livingner.tsv", "--json"))
    for name in ("livingner", "socialdisner"):
        files = tmp_path / f"p.{name}.tsv"
        assert counts(cli("evaluate", gold, files, "--pred-format", name, "--json")) == expected


def test_types_that_there_are_not_are_refused(
    refused: Refused, gold: Path, files: dict[str, Path]
) -> None:
    told = refused("evaluate", gold, files["p.jsonl"], "--type", "Diseases")
    assert "'Diseases'" in told
    assert "Chemical, Disease" in told
    assert "'Chemical'" in refused(
        "evaluate", gold, files["p.jsonl"], "--type", "Chemical", "--type", "Chemical=Drug"
    )
    refused("evaluate", gold, files["p.jsonl"], "--type", "Chemical=")
    assert "--type " in refused(
        "evaluate", gold, files["p.pubtator"], "--agreement", "--type", "Disease"
    )


def test_what_a_tsv_leaves_open_is_said(cli: Cli, gold: Path, files: dict[str, Path]) -> None:
    result = cli("evaluate", gold, files["p.tsv"])
    assert "names 2 of 3 documents" in result.err
    assert "was not checked" in result.err


def test_documents_that_are_missing(cli: Cli, refused: Refused, gold: Path, tmp_path: Path) -> None:
    write_predictions(tmp_path / "part.jsonl", map(make_prediction, corpus(SAID, "seq")[:2]))
    assert "1 document: 'c'" in refused("evaluate", gold, tmp_path / "part.jsonl")
    result = cli("evaluate", gold, tmp_path / "part.jsonl", "--allow-missing")
    assert (result.code, "lacks 1 document" in result.err) == (0, True)


def test_other_documents_and_other_texts(refused: Refused, gold: Path, tmp_path: Path) -> None:
    said = corpus(SAID, "seq")
    renamed = [msgspec.structs.replace(d, id=f"x{d.id}") for d in said]
    write_predictions(tmp_path / "other.jsonl", map(make_prediction, renamed))
    assert "no document in common" in refused("evaluate", gold, tmp_path / "other.jsonl")
    changed = [msgspec.structs.replace(d, text=f"{d.text}!") for d in said]
    write_predictions(tmp_path / "changed.jsonl", map(make_prediction, changed))
    assert "another text" in refused("evaluate", gold, tmp_path / "changed.jsonl")


def test_several_sources(cli: Cli, refused: Refused, gold: Path, tmp_path: Path) -> None:
    both = [
        msgspec.structs.replace(a, mentions=a.mentions + b.mentions)
        for a, b in zip(corpus(SAID, "seq"), corpus(GOLD, "span"), strict=True)
    ]
    write(tmp_path / "both.fascicle.jsonl", both)
    write_predictions(tmp_path / "both.jsonl", map(make_prediction, both))
    for name in ("both.fascicle.jsonl", "both.jsonl"):
        assert "seq, span" in refused("evaluate", gold, tmp_path / name)
        scores = json.loads(
            cli("evaluate", gold, tmp_path / name, "--source", "span", "--json").out
        )
        assert scores["micro"]["f1"] == 1.0


def test_column_files(cli: Cli, refused: Refused, toy_corpus: Path, tmp_path: Path) -> None:
    result = cli("evaluate", toy_corpus, toy_corpus, "--documents", "file", "--json")
    assert (json.loads(result.out)["documents"], json.loads(result.out)["micro"]["f1"]) == (1, 1.0)
    bare = tmp_path / "bare.conll"
    bare.write_text("the\npatient\n", encoding="utf-8")
    assert str(bare) in refused("evaluate", bare, toy_corpus)
    assert "check the path" in refused("evaluate", tmp_path / "none", toy_corpus)


def test_a_misspelt_source_is_no_zero(
    cli: Cli, refused: Refused, model: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    for name in ("out.jsonl", "out.predictions"):
        form = "jsonl" if name == "out.jsonl" else "predictions"
        out = tmp_path / name
        assert cli("annotate", toy_corpus, "--model", model, "-o", out, "--format", form).code == 0
        said = refused("evaluate", toy_corpus, out, "--source", "tinny")
        assert "did you mean 'tiny'?" in said


def test_a_document_with_many_mentions(cli: Cli, tmp_path: Path) -> None:
    text = "aspirin " * 200
    mentions = tuple(Mention(((n, n + 7),), "Chemical") for n in range(0, len(text), 8))
    document = Document(id="a", text=text, mentions=mentions)
    write(tmp_path / "gold.pubtator", [document])
    said = [
        msgspec.structs.replace(
            document, mentions=tuple(msgspec.structs.replace(m, source="s") for m in mentions)
        )
    ]
    write_predictions(tmp_path / "p.jsonl", map(make_prediction, said))
    result = cli("evaluate", tmp_path / "gold.pubtator", tmp_path / "p.jsonl", "--json")
    assert json.loads(result.out)["micro"]["f1"] == 1.0


@pytest.mark.parametrize("name", ["p.tsv", "p.csv", "p.jsonl"])
def test_an_empty_file_is_no_prediction(
    refused: Refused, gold: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_bytes(b"")
    said = refused("evaluate", gold, tmp_path / name)
    assert name in said
    assert "empty" in said


def test_several_models_are_compared_in_one_command(
    cli: Cli, refused: Refused, tmp_path: Path
) -> None:
    gold = tmp_path / "gold.pubtator"
    gold.write_text(
        "1|t|Aspirin for fever\n1|a|\n1\t0\t7\tAspirin\tDrug\n1\t12\t17\tfever\tSign\n\n"
    )
    for folder, rows in (
        ("a", "Drug\tAspirin\n"),
        ("b", "Drug\tAspirin\nSign\tfever\n"),
        ("c", "Sign\tfor\n"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "names.tsv").write_text(rows)
    models = [word for folder in "abc" for word in ("--model", tmp_path / folder / "names.tsv")]
    systems = json.loads(cli("evaluate", gold, *models, "--json").out)["systems"]
    assert [one["name"] for one in systems] == ["names", "names (model)", "names (model) (model)"]
    assert [one["micro"]["recall"] for one in systems] == [0.5, 1.0, 0.0]
    assert "one model" in refused(
        "evaluate", gold, *models, "--distributions", tmp_path / "d.jsonl"
    )
    for command in (("evaluate",), ("compare",), ("combine", "union")):
        assert "biomed-fast is a model" in refused(*command, gold, "biomed-fast")


@pytest.mark.parametrize("name", ["p.tsv", "p.csv"])
@pytest.mark.parametrize("command", ["evaluate", "compare", "evaluate --agreement"])
def test_a_table_with_other_texts_at_its_offsets_is_said(
    cli: Cli, gold: Path, tmp_path: Path, name: str, command: str
) -> None:
    said = corpus({**GOLD, "b": []}, "seq")
    write(tmp_path / "right.jsonl", said)
    write(tmp_path / name, said)
    asked = (*command.split(), gold, tmp_path / name)
    more = (tmp_path / "right.jsonl",) if command == "compare" else ()
    assert "other text" not in cli(*asked, *more).err
    moved = (tmp_path / name).read_text(encoding="utf-8").replace("16", "15").replace("20", "19")
    (tmp_path / name).write_text(moved, encoding="utf-8")
    result = cli(*asked, *more)
    assert result.code == 0
    assert (
        "1 of 2 mentions have one text in the file and another at their offsets, the first "
        "'pain' at 15" in result.err
    )
