"""``fascicle compare``: the report, the command that it proposes, and bad input."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from fascicle.core.document import Document, Mention
from fascicle.evaluation.reports.markdown_table import escaped
from fascicle.formats import write
from fascicle.formats.predictions import make_prediction
from fascicle.formats.predictions import write as write_predictions

Cli = Callable[..., Any]
Refused = Callable[..., str]
HEADER = "document\ttype\tstart\tend\tscore\n"
WORDS = 30


def corpus(source: str, *, share: float, seed: int, false: float = 0.1) -> list[Document]:
    """Every second word is a mention of one of two types; a system finds a share of them, and
    others too.
    """
    chance = np.random.default_rng(seed)
    found = []
    for number in range(12):
        mentions = []
        for word in range(WORDS):
            is_gold = word % 2 == 0
            if chance.random() < (share if is_gold else false):
                mentions.append(
                    Mention(
                        ((2 * word, 2 * word + 1),), "Gene" if word % 3 else "Cell", source=source
                    )
                )
        found.append(Document(id=f"d{number}", text="w " * WORDS, mentions=tuple(mentions)))
    return found


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    write(tmp_path / "gold.fascicle.jsonl", corpus("gold", share=1.0, seed=0, false=0.0))
    return tmp_path / "gold.fascicle.jsonl"


@pytest.fixture
def systems(tmp_path: Path) -> list[Path]:
    """Three systems in three kinds of file."""
    paths = [
        tmp_path / "first.tsv",
        tmp_path / "second.jsonl",
        tmp_path / "third one.fascicle.jsonl",
    ]
    said = [
        corpus("m", share=share, seed=seed) for seed, share in enumerate((0.8, 0.7, 0.75), start=1)
    ]
    write_predictions(paths[0], map(make_prediction, said[0]))
    write_predictions(paths[1], map(make_prediction, said[1]))
    write(paths[2], said[2])
    return paths


def test_the_report(cli: Cli, gold: Path, systems: list[Path], tmp_path: Path) -> None:
    report = tmp_path / "report.md"
    result = cli("compare", gold, *systems, "-o", report, "--resamples", 100)
    assert result.code == 0
    titles = ["Systems", "Together", "Pairs", "Types", "Combinations", "Choices"]
    assert all(f"{title}\n---" in result.out for title in titles)
    markdown = report.read_text(encoding="utf-8")
    assert markdown.startswith(f"# Systems compared on {escaped(str(gold))}\n")
    assert all(f"## {title}\n" in markdown for title in titles)
    assert "C third one" in result.out
    assert "which the gold has not" not in result.err
    assert "nothing in first says on which texts the predictions were made" in result.err
    assert "exists already" in cli("compare", gold, *systems, "-o", report).err
    assert cli("compare", gold, *systems, "-o", report, "--overwrite", "--no-search").code == 0
    assert "Combinations" not in report.read_text(encoding="utf-8")


def test_a_run_is_a_system(cli: Cli, gold: Path, systems: list[Path], tmp_path: Path) -> None:
    (tmp_path / "one.tsv").write_text("Gene\tw\n", encoding="utf-8")
    pipeline, run = tmp_path / "pipeline.toml", tmp_path / "run"
    pipeline.write_text(
        'name = "mine"\n[[steps]]\nkind = "recogniser"\nname = "one"\nmodel = "one.tsv"\n',
        encoding="utf-8",
    )
    made_run = cli("run", gold, "--pipeline", pipeline, "-o", run)
    assert made_run.code == 0, made_run.err
    result = cli("compare", gold, run, systems[0], "--json", "--resamples", 50)
    assert result.code == 0, result.err
    row = json.loads(result.out)["systems"][0]
    assert (row["name"], row["predicted"]) == ("run", 12 * WORDS)
    united = cli("combine", "union", run, systems[0], "-o", tmp_path / "united.jsonl")
    assert united.code == 0, united.err


def test_one_document_has_no_interval(cli: Cli, tmp_path: Path) -> None:
    """Every draw would be that document."""
    paths = []
    for name, share in (("gold", 1.0), ("one", 0.8), ("two", 0.4)):
        paths.append(tmp_path / f"{name}.jsonl")
        write(paths[-1], corpus(name, share=share, seed=len(paths))[:1], format="native")
    value = json.loads(cli("compare", *paths, "--json").out)
    for part in (*value["systems"], value["union"], value["intersection"]):
        for name in ("precision", "recall", "f1"):
            assert part[name]["estimate"] > 0
            assert (part[name]["low"], part[name]["high"]) == (None, None)
    (pair,) = value["pairs"]
    assert (pair["difference"]["low"], pair["difference"]["p_value"]) == (None, 1)
    assert pair["bootstrap_p"] == pair["randomisation_p"] == 1
    assert {one["f1_low"] for one in value["combinations"]} == {None}
    text = cli("compare", *paths).out
    assert "[-, -]" in text
    assert "no intervals, because there is only one document" in text
    assert "in brackets" not in text


@pytest.mark.parametrize("floors", [[], ["--recall-floor", "0.95", "--precision-floor", "0.97"]])
def test_the_proposed_commands_make_what_they_promise(
    cli: Cli,
    gold: Path,
    systems: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    floors: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    value = json.loads(cli("compare", gold, *systems, "--json", "--resamples", 50, *floors).out)
    assert [one["aim"] for one in value["best"]] == ["f1", "precision", "recall"]
    for number, one in enumerate(value["best"]):
        words = shlex.split(one["command"])
        assert (words[:2], words[-2:]) == (["fascicle", "combine"], ["-o", "combined.tsv"])
        assert cli(*words[1:-1], f"{number}.tsv").code == 0
        scores = json.loads(cli("evaluate", gold, f"{number}.tsv", "--json").out)["micro"]
        promised = one["combination"]
        assert {k: scores[k] for k in ("tp", "fp", "fn", "f1")} == {
            k: promised[k] for k in ("tp", "fp", "fn", "f1")
        }
    best = value["best"][0]["combination"]["f1"]
    assert best == max(one["f1"] for one in value["combinations"])
    assert best > max(one["f1"]["estimate"] for one in value["systems"])
    if floors:
        assert value["best"][1]["combination"]["recall"] >= 0.95
        assert value["best"][2]["combination"]["precision"] >= 0.97


@pytest.mark.parametrize(
    "table", ["", '["all of them"]', '["all of them:s1"]\nGenes = "Gene"\n[s2]']
)
def test_the_proposed_commands_carry_what_they_need(
    cli: Cli, gold: Path, tmp_path: Path, table: str
) -> None:
    """Several sources of one file, a map for all or some of them, and a document that is
    missing.
    """
    said = {f"s{seed}": corpus(f"s{seed}", share=0.6, seed=seed, false=0.4) for seed in range(1, 5)}

    def joined(parts: tuple[Document, ...]) -> Document:
        mentions = (m for part in parts for m in part.mentions)
        other = (
            msgspec.structs.replace(m, type="Genes" if m.type == "Gene" else m.type)
            for m in mentions
        )
        return msgspec.structs.replace(parts[0], mentions=tuple(other))

    whole = [joined(parts) for parts in zip(*said.values(), strict=True)]
    path = tmp_path / "all of them.jsonl"
    write_predictions(path, map(make_prediction, whole[:-1]))
    (tmp_path / "m.toml").write_text(f'{table}\nGenes = "Gene"\n', encoding="utf-8")
    call = [
        "compare",
        gold,
        path,
        *(f"--source={name}" for name in said),
        "--map",
        tmp_path / "m.toml",
        "--json",
    ]
    assert "lacks 1 document: 'd11' of the 12" in cli(*call).err
    value = json.loads(cli(*call, "--allow-missing", "--resamples", 50).out)
    for number, one in enumerate(value["best"]):
        words = shlex.split(one["command"])
        assert words[words.index("--missing") + 1] == "empty"
        out = tmp_path / f"{number}.tsv"
        assert cli(*words[1:-1], out).code == 0
        scores = json.loads(cli("evaluate", gold, out, "--json").out)["micro"]
        assert (scores["tp"], scores["fp"]) == (one["combination"]["tp"], one["combination"]["fp"])


def test_the_command_says_what_only_the_gold_could_tell(cli: Cli, tmp_path: Path) -> None:
    def lines(*rows: tuple[int, str]) -> str:
        return HEADER + "".join(f"a\t{t}\t{n}\t{n + 1}\t\n" for n, t in rows)

    (tmp_path / "gold.tsv").write_text(lines((0, "DNA"), (1, "dna"), (2, "DNA")), encoding="utf-8")
    (tmp_path / "x.tsv").write_text(lines((0, "DNA"), (2, "DNA")), encoding="utf-8")
    (tmp_path / "y.tsv").write_text(lines((1, "dna")), encoding="utf-8")
    value = json.loads(
        cli("compare", *(tmp_path / f"{n}.tsv" for n in ("gold", "x", "y")), "--json").out
    )
    words = shlex.split(value["best"][0]["command"])
    assert (words[2], "--distinct-types" in words) == ("union", True)
    assert cli(*words[1:-1], tmp_path / "out.tsv").code == 0
    assert (tmp_path / "out.tsv").read_text(encoding="utf-8").count("\n") == 4


def test_weights_of_a_proposed_command(cli: Cli, tmp_path: Path) -> None:
    """Of four systems, two pairs that agree: the weights break the tie for the better pair."""

    def rows(*starts: int) -> str:
        return HEADER + "".join(f"a\tX\t{n}\t{n + 1}\t\n" for n in starts)

    texts = {
        "gold": range(10),
        "p": [*range(8), 20],
        "q": [*range(8), 21],
        "r": [8, 30, 31],
        "s": [8, 30, 32],
    }
    for name, starts in texts.items():
        (tmp_path / f"{name}.tsv").write_text(rows(*starts), encoding="utf-8")
    value = json.loads(cli("compare", *(tmp_path / f"{name}.tsv" for name in texts), "--json").out)
    four = [
        one
        for one in value["combinations"]
        if one["rule"] == "weighted" and len(one["systems"]) == 4
    ]
    (one,) = four
    assert (one["tp"], one["fp"]) == (8, 0)
    weights = ",".join(map(str, one["weights"]))
    files = [tmp_path / f"{name}.tsv" for name in "pqrs"]
    assert (
        cli("combine", "weighted", *files, "--weights", weights, "-o", tmp_path / "out.tsv").code
        == 0
    )
    assert (tmp_path / "out.tsv").read_text(encoding="utf-8").count("\n") == 9


def test_gold_in_a_prediction_file(
    cli: Cli, refused: Refused, gold: Path, systems: list[Path], tmp_path: Path
) -> None:
    bare = tmp_path / "gold.tsv"
    write_predictions(bare, map(make_prediction, corpus("gold", share=1.0, seed=0, false=0.0)))
    with_text, without = (
        json.loads(cli("compare", path, *systems, "--json", "--resamples", 20).out)
        for path in (gold, bare)
    )
    assert with_text == without
    empty = tmp_path / "none.fascicle.jsonl"
    write(empty, corpus("model", share=0.5, seed=1))
    assert "holds no gold mention" in refused("compare", empty, *systems)


def test_types_that_the_gold_does_not_have_are_said(
    cli: Cli, gold: Path, systems: list[Path], tmp_path: Path
) -> None:
    (tmp_path / "drugs.tsv").write_text(
        HEADER + "d1\tGene\t0\t1\t\nd1\tDrug\t2\t3\t\n", encoding="utf-8"
    )
    said = cli("compare", gold, tmp_path / "drugs.tsv", *systems, "--resamples", 20).err
    assert all(part in said for part in ("drugs has the type 'Drug'", "the gold has not", "--map"))


def test_a_model_and_some_types(
    cli: Cli, refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "aspirin for pain, lithium for fever"
    at = {word: ((text.index(word), text.index(word) + len(word)),) for word in text.split()}
    marked = (Mention(at["aspirin"], "Drug"), Mention(at["lithium"], "Drug"))
    pain = Mention(((12, 16),), "Disease")
    write("gold.jsonl", [Document(id="a", text=text, mentions=(marked[0], pain, marked[1]))])
    Path("names.tsv").write_text("Chemical\taspirin\nDisease\tfever\n", encoding="utf-8")
    Path("other.tsv").write_text(HEADER + "a\tChemical\t18\t25\t\n", encoding="utf-8")
    asked = ("compare", "gold.jsonl", "other.tsv", "--model", "names.tsv", "--type")
    result = cli(*asked, "Drug=Chemical", "--json", "--resamples", 20)
    value = json.loads(result.out)
    # of two drugs each system has one; fever and pain do not count
    rates = {
        row["name"]: (row["precision"]["estimate"], row["recall"]["estimate"])
        for row in value["systems"]
    }
    assert rates == {"other": (1.0, 0.5), "names": (1.0, 0.5)}
    best = value["best"][0]
    assert (best["combination"]["precision"], best["combination"]["recall"]) == (1.0, 1.0)
    for command in best["command"].split(" && "):
        assert cli(*shlex.split(command)[1:]).code == 0
    scored = cli("evaluate", "gold.jsonl", "combined.tsv", "--type", "Drug=Chemical", "--json")
    assert json.loads(scored.out)["micro"]["f1"] == 1.0
    assert "no gold mention of the type 'Drugs'" in refused(*asked, "Drugs")
    alone = ("compare", "gold.jsonl", "--model", "names.tsv")
    assert "no file was given" in refused(*alone)
    assert "names.tsv was given twice" in refused(*alone, "--model", "./names.tsv")
    table = HEADER + "a\tDrug\t0\t7\t\n"
    Path("gold.tsv").write_text(table, encoding="utf-8")
    assert "has no texts that a model could read" in refused(
        "compare", "gold.tsv", "other.tsv", "--model", "names.tsv", "--type", "Drug=Chemical"
    )


def run_commands(cli: Cli, text: str) -> list[Any]:
    """Runs a printed line, command by command."""
    return [cli(*shlex.split(command)[1:]) for command in text.split(" && ")]


def test_commands_with_models_write_to_files_of_their_own(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "aspirin for pain, lithium for fever"
    at = {word: ((text.index(word), text.index(word) + len(word)),) for word in text.split()}
    gold = [Mention(at[word], "Drug") for word in ("aspirin", "lithium")]
    gold.append(Mention(((12, 16),), "Drug"))
    write("gold.jsonl", [Document(id="a", text=text, mentions=tuple(gold))])
    for folder, word in (("one", "aspirin"), ("two", "lithium")):
        Path(folder).mkdir()
        lines = f"Drug\t{word}\nDisease\tfever\n"
        Path(folder, "names.tsv").write_text(lines, encoding="utf-8")
    pain = Document(id="a", text=text, mentions=(Mention(((12, 16),), "Drug", source="m"),))
    write_predictions(Path("names.predictions.jsonl"), [make_prediction(pain)])
    models = ("--model", "one/names.tsv", "--model", "two/names.tsv")
    call = ("compare", "gold.jsonl", "names.predictions.jsonl", *models, "--type", "Drug")
    value = json.loads(cli(*call, "--json", "--resamples", 20).out)
    # each system has another of the three drugs
    assert value["best"][0]["combination"]["tp"] == 3
    assert [result.code for result in run_commands(cli, value["best"][0]["command"])] == [0, 0, 0]
    # the fever, which both models have, is of no type that was asked for
    rows = Path("combined.tsv").read_text(encoding="utf-8").splitlines()[1:]
    assert [row.split("\t")[1] for row in rows] == ["Drug"] * 3


def test_types_of_a_map_are_asked_of_a_model_by_its_names(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "aspirin for pain"
    write("gold.jsonl", [Document(id="a", text=text, mentions=(Mention(((0, 7),), "Drug"),))])
    for name in ("one", "two"):
        Path(f"{name}.tsv").write_text("Chemical\taspirin\nDisease\tpain\n", encoding="utf-8")
    Path("types.toml").write_text('Chemical = "Drug"\n', encoding="utf-8")
    call = ("compare", "gold.jsonl", "--model", "one.tsv", "--model", "two.tsv", "--type", "Drug")
    value = json.loads(cli(*call, "--map", "types.toml", "--json", "--resamples", 20).out)
    command = value["best"][0]["command"]
    assert command.count("--only Chemical") == 2
    assert [result.code for result in run_commands(cli, command)] == [0, 0, 0]
    assert "Disease" not in Path("combined.tsv").read_text(encoding="utf-8")


def test_a_table_of_a_map_for_a_model_is_that_of_its_file(
    cli: Cli, refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    drug = Mention(((0, 7),), "Drug")
    write("gold.jsonl", [Document(id="a", text="aspirin for pain", mentions=(drug,))])
    Path("one.tsv").write_text("Chemical\taspirin\n", encoding="utf-8")
    Path("two.tsv").write_text("Drug\taspirin\n", encoding="utf-8")
    models = ("--model", "one.tsv", "--model", "two.tsv", "--map", "types.toml")
    call = ("compare", "gold.jsonl", *models, "--resamples", 20)
    Path("types.toml").write_text('["one.tsv"]\nChemical = "Drug"\n', encoding="utf-8")
    assert "name the table 'one'" in refused(*call)
    assert cli(*call, "--no-search").code == 0
    Path("types.toml").write_text('[one]\nChemical = "Drug"\n', encoding="utf-8")
    value = json.loads(cli(*call, "--json").out)
    assert {result.code for result in run_commands(cli, value["best"][0]["command"])} == {0}
    assert "\tDrug\t" in Path("combined.tsv").read_text(encoding="utf-8")


def test_a_format_of_files_is_not_that_of_models(
    cli: Cli, refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, label in (("gold", "B-Drug"), ("other", "O")):
        lines = f"aspirin\t{label}\nand\tO\nlithium\tB-Drug\n\n"
        Path(f"{name}.conll").write_text(lines, encoding="utf-8")
    Path("names.tsv").write_text("Drug\taspirin\n", encoding="utf-8")
    call = ("compare", "gold.conll", "other.conll", "--model", "names.tsv", "--resamples", 20)
    said = refused(*call, "--input-format", "conll")
    assert "--input-format conll was given with --model" in said
    assert cli(*call, "--input-format", "conll", "--no-search").code == 0
    value = json.loads(cli(*call, "--json").out)
    assert value["best"][0]["combination"]["f1"] == 1.0
    assert [result.code for result in run_commands(cli, value["best"][0]["command"])] == [0, 0]
    scores = json.loads(cli("evaluate", "gold.conll", "combined.tsv", "--json").out)
    assert scores["micro"]["f1"] == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--type", "Drugs"], "no gold mention of the type 'Drugs'"),
        (["--map", "none.toml"], "there is no map at none.toml"),
        ([f"--model=m{number}.tsv" for number in range(13)], "give at most 12 systems"),
    ],
)
def test_bad_options_end_before_the_work_of_models(
    refused: Refused,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    drug = Mention(((0, 7),), "Drug")
    write("gold.jsonl", [Document(id="a", text="aspirin", mentions=(drug,))])
    # neither model exists, which is said last
    assert message in refused("compare", "gold.jsonl", "--model=a", "--model=b", *options)


def test_bad_input(
    cli: Cli, refused: Refused, gold: Path, systems: list[Path], tmp_path: Path
) -> None:
    assert "GOLD" in refused("compare")
    assert "no file was given" in refused("compare", gold)
    assert "one system (first) was given" in refused("compare", gold, systems[0])
    assert "was given twice" in refused("compare", gold, *systems, systems[0])
    assert "a recall of at least 95" in refused("compare", gold, *systems, "--recall-floor", "95")
    assert "the gold cannot be read from standard input" in refused("compare", "-", *systems)
    assert "integer from 1" in refused("compare", gold, *systems, "--resamples", "0")
    assert "does not exist" in refused("compare", gold, *systems, "-o", tmp_path / "no" / "r.md")
    bad = tmp_path / "bad.tsv"
    for content, message in (
        ("", "is empty"),
        (HEADER + "x\tGene\t0\t1\t\n", "no document in common"),
        (
            HEADER + "d1\tGene\t0\t1\t\nx\tGene\t0\t1\t\n",
            "bad names 1 document: 'x' that the gold does not have",
        ),
        (HEADER + f"d1\tGene\t0\t{2 * WORDS + 1}\t\n", "which has 60 characters"),
        (HEADER + "d1\tGenes\t0\t1\t\n", '"Genes" = "Gene"'),
        (HEADER + "d1\tGENE\t0\t1\t\n", '"GENE" = "Gene"'),
        (HEADER + "d1\tSpecies\t0\t1\t\n", "none of its mentions can agree"),
    ):
        bad.write_text(content, encoding="utf-8")
        assert message in refused("compare", gold, bad, *systems)
    changed = [
        msgspec.structs.replace(make_prediction(d), sha256="0" * 64)
        for d in corpus("m", share=0.5, seed=3)
    ]
    write_predictions(tmp_path / "changed.jsonl", changed)
    said = refused("compare", gold, systems[0], tmp_path / "changed.jsonl")
    assert all(
        part in said
        for part in ("the gold and changed", "different texts", "'d0'", "12 such documents")
    )


def test_too_many_systems_to_try_all_subsets(
    cli: Cli, refused: Refused, gold: Path, tmp_path: Path
) -> None:
    paths = [tmp_path / f"p{n:02}.tsv" for n in range(13)]
    for number, path in enumerate(paths):
        write_predictions(path, map(make_prediction, corpus("m", share=0.5, seed=number)))
    assert "give at most 12 systems, or --no-search" in refused("compare", gold, *paths)
    result = cli("compare", gold, *paths, "--no-search", "--resamples", 20)
    assert result.code == 0
    assert "With 78 pairs and 20 draws no corrected p-value" in result.out


def test_the_report_has_the_notes(
    cli: Cli, refused: Refused, gold: Path, systems: list[Path], tmp_path: Path
) -> None:
    shifted, report = tmp_path / "shifted.tsv", tmp_path / "report.md"
    shifted.write_text(HEADER + "d0\tGene\t1\t2\t\n", encoding="utf-8")
    result = cli(
        "compare", gold, systems[0], shifted, "-o", report, "--resamples", 100, "--no-search"
    )
    markdown = report.read_text(encoding="utf-8")
    for note in (
        "shifted does not list 11 documents",
        "shifted has no mention of the gold; see that its offsets",
    ):
        assert note in result.err
        assert note in markdown
    said = refused("compare", gold, *systems, "-o", systems[0], "--overwrite", "--no-search")
    assert "one of the inputs" in said


def test_sentences_are_called_so_as_by_evaluate(cli: Cli, tmp_path: Path) -> None:
    lines = "Lithium\tB-Chemical\ncauses\tO\ntremor\tB-Disease\n\n"
    paths = [tmp_path / f"{name}.conll" for name in ("gold", "one", "two")]
    for path, text in zip(
        paths, (lines * 4, lines * 4, lines * 3 + lines.replace("B-Disease", "O")), strict=True
    ):
        path.write_text(text, encoding="utf-8")
    compared = cli("compare", *paths, "--no-search", "--resamples", 100)
    evaluated = cli("evaluate", *paths[:2], "--interval")
    assert "over 4 sentences" in compared.out
    assert "bootstrap over sentences" in compared.out
    assert "sentences" in evaluated.out
