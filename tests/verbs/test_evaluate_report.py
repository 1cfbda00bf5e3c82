"""``fascicle evaluate`` with several systems and reports, and what it says about bad input."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fascicle.core.document import Document, Mention
from fascicle.evaluation.systems import taught
from fascicle.formats import write
from fascicle.formats.predictions import make_prediction
from fascicle.formats.predictions import write as write_predictions
from fascicle.runtime.places import find_model
from fascicle.settings.folders.manifest import read_manifest, write_manifest
from fascicle.text.segment import segmenter
from fascicle.text.taught import TAUGHT, all_sentence_hashes, pack_hashes

Cli = Callable[..., Any]
Refused = Callable[..., str]
Rows = dict[str, list[tuple[int, int, str]]]

TEXTS = {"a": "lung cancer and pain", "b": "aspirin", "c": "nothing here"}
GOLD: Rows = {"a": [(0, 11, "Disease"), (16, 20, "Disease")], "b": [(0, 7, "Chemical")], "c": []}
GOOD: Rows = {"a": [(0, 11, "Disease"), (16, 20, "Disease")], "b": [(0, 7, "Disease")], "c": []}
BAD: Rows = {"a": [(5, 11, "Disease")], "b": [], "c": [(0, 7, "Disease")]}


def corpus(rows: Rows, *, source: str = "gold", score: float | None = None) -> list[Document]:
    return [
        Document(
            id=key,
            text=TEXTS[key],
            mentions=tuple(Mention(((a, b),), t, source=source, score=score) for a, b, t in listed),
        )
        for key, listed in rows.items()
    ]


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    write(tmp_path / "gold.pubtator", corpus(GOLD))
    return tmp_path / "gold.pubtator"


@pytest.fixture
def said(tmp_path: Path) -> Callable[..., Path]:
    """Writes predictions."""

    def made(name: str, rows: Rows, *, score: float | None = 0.5) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        write_predictions(
            path, map(make_prediction, corpus(rows, source="seq", score=score)), overwrite=True
        )
        return path

    return made


Said = Callable[..., Path]


def report(cli: Cli, *argv: object) -> Any:
    path = Path(str(argv[0])).parent / "report.json"
    result = cli("evaluate", *argv, "--report", path, "--overwrite")
    assert result.code == 0, result.err
    return json.loads(path.read_text(encoding="utf-8"))


def test_several_systems_in_one_table(cli: Cli, gold: Path, said: Said) -> None:
    paths = said("good.jsonl", GOOD), said("bad.jsonl", BAD)
    result = cli("evaluate", gold, *paths, "--interval")
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0].split()[:5] == ["system", "P", "R", "F1", "interval"]
    assert [line.split()[0] for line in lines[2:4]] == ["good", "bad"]
    assert "F1 by type" in result.out
    assert "F1 by type" not in cli("evaluate", gold, *paths, "--no-by-type").out
    values = json.loads(cli("evaluate", gold, *paths, "--json", "--interval").out)
    assert [one["name"] for one in values["systems"]] == ["good", "bad"]
    assert [one["rules"]["loose"]["tp"] for one in values["systems"]] == [2, 1]
    assert values["systems"][0]["micro_f1_interval"]["resamples"] == 1000


def test_options_between_the_files(cli: Cli, gold: Path, said: Said) -> None:
    values = json.loads(
        cli("evaluate", gold, said("a.jsonl", GOOD), "--json", said("b.jsonl", BAD)).out
    )
    assert [one["name"] for one in values["systems"]] == ["a", "b"]


def test_names_are_told_apart(cli: Cli, gold: Path, said: Said) -> None:
    paths = said("one/p.jsonl", GOOD), said("two/p.jsonl", BAD)
    values = json.loads(cli("evaluate", gold, *paths, paths[1], "--json").out)
    assert [one["name"] for one in values["systems"]] == [
        "one/p.jsonl",
        "two/p.jsonl",
        "two/p.jsonl#2",
    ]


def test_the_report_as_json_and_as_markdown(
    cli: Cli, gold: Path, said: Said, tmp_path: Path
) -> None:
    paths = said("good.jsonl", GOOD), said("bad.jsonl", BAD)
    value = report(
        cli, gold, *paths, "--train", gold, "--buckets", "quantiles", "--text-unit", "document"
    )
    assert value["fascicle_report"] == 1
    assert (value["gold"]["documents"], value["gold"]["mentions"]) == (3, 3)
    assert value["gold"]["training"] == {"documents": 3, "mentions": 3}
    assert (value["text_unit"], value["intervals"]) == ("document", "quantiles")
    good, bad = value["systems"]
    assert good["scores"]["rules"]["strict"]["micro"]["tp"] == 2
    assert good["errors"]["confusions"] == [
        {
            "gold": "Chemical",
            "predicted": "Disease",
            "same_span": 1,
            "overlapping": 0,
            "beside_right": 0,
        }
    ]
    assert [row["words"] for row in bad["errors"]["boundary_words"]] == ["lung"]
    assert good["subsets"]["seen"] == {"gold": 3, "found": 2, "recall": 2 / 3}
    assert value["differences"][0]["f1"]["strict"] == pytest.approx(-2 / 3)
    page = tmp_path / "report.md"
    assert cli("evaluate", gold, *paths, "--report", page, "--examples", "0").code == 0
    assert page.read_text(encoding="utf-8").startswith("# Evaluation\n")
    assert "### Examples" not in page.read_text(encoding="utf-8")


def test_the_report_as_a_page(cli: Cli, gold: Path, said: Said, tmp_path: Path) -> None:
    paths = said("good.jsonl", GOOD), said("bad.jsonl", BAD)
    page = tmp_path / "report.html"
    result = cli("evaluate", gold, *paths, "--train", gold, "--report", page)
    assert result.code == 0, result.err
    written = page.read_text(encoding="utf-8")
    assert written.startswith("<!DOCTYPE html>")
    assert "<title>Evaluation of good, bad</title>" in written
    assert written.count("<svg") > 10
    assert "no pictures" not in result.err
    assert cli("evaluate", gold, *paths, "--train", gold, "--report", page, "--overwrite").code == 0
    assert page.read_text(encoding="utf-8") == written


def test_without_matplotlib_the_page_has_tables_and_says_so(
    cli: Cli, gold: Path, said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = tmp_path / "report.html"
    result = cli("evaluate", gold, said("good.jsonl", GOOD), "--report", page)
    assert result.code == 0, result.err
    assert "the page has no pictures" in result.err
    assert "fascicle[plots]" in result.err
    written = page.read_text(encoding="utf-8")
    assert "<svg" not in written
    assert "tables only, no pictures" in written
    assert "fascicle[plots]" in written


def test_a_report_replaces_nothing_unless_asked(
    cli: Cli, refused: Refused, gold: Path, said: Said, tmp_path: Path
) -> None:
    page, path = tmp_path / "report.md", said("p.jsonl", GOOD)
    page.write_text("mine", encoding="utf-8")
    assert str(page) in refused("evaluate", gold, path, "--report", page)
    assert page.read_text(encoding="utf-8") == "mine"
    assert cli("evaluate", gold, path, "--report", page, "--overwrite").code == 0
    assert page.read_text(encoding="utf-8") != "mine"


def test_options_that_do_not_go_together(
    refused: Refused, gold: Path, said: Said, tmp_path: Path
) -> None:
    path = said("p.jsonl", GOOD)
    assert "must end with .html or .md or .json" in refused(
        "evaluate", gold, path, "--report", tmp_path / "r.txt"
    )
    assert "give --report FILE too" in refused("evaluate", gold, path, "--train", gold)
    message = refused(
        "evaluate", gold, path, "--report", tmp_path / "r.md", "--train-where", "part=train"
    )
    assert "give --train PATH too" in message
    assert "standard input (-) was given twice" in refused("evaluate", "-", "-")
    assert "'thirds'" in refused(
        "evaluate", gold, path, "--report", tmp_path / "r.md", "--buckets", "thirds"
    )
    assert not list(tmp_path.glob("r.*"))


def test_the_training_part_of_the_same_file(cli: Cli, said: Said, tmp_path: Path) -> None:
    records = [
        {
            "id": "a",
            "text": TEXTS["a"],
            "entities": [{"start": 0, "end": 11, "type": "Disease"}],
            "part": "test",
        },
        {
            "id": "b",
            "text": TEXTS["b"],
            "entities": [{"start": 0, "end": 7, "type": "Chemical"}],
            "part": "train",
        },
    ]
    path = tmp_path / "all.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    predicted = said("p.jsonl", {"a": [(0, 11, "Disease")]})
    value = report(
        cli, path, predicted, "--where", "part=test", "--train", path, "--train-where", "part=train"
    )
    assert value["gold"]["training"] == {"documents": 1, "mentions": 1}
    assert value["systems"][0]["subsets"]["unseen"]["gold"] == 1


def write_as(tmp_path: Path, name: str, documents: Sequence[Document]) -> Path:
    write(tmp_path / name, documents)
    return tmp_path / name


def test_other_texts_say_how_many_which_and_where(
    refused: Refused, gold: Path, said: Said, tmp_path: Path
) -> None:
    changed = [
        Document(id=d.id, text=d.text.replace("cancer", "Cancer"), mentions=d.mentions)
        for d in corpus(GOOD)
    ]
    message = refused("evaluate", gold, write_as(tmp_path, "changed.fascicle.jsonl", changed))
    assert (
        "another text than the gold in 1 document ('a'), the first from character 5 on ('Cancer "
        "and pain'" in message
    )
    assert "where the gold has 'cancer and pain'" in message
    shorter = [Document(id=d.id, text=d.text[:11], mentions=()) for d in corpus(GOOD)]
    message = refused("evaluate", gold, write_as(tmp_path, "shorter.fascicle.jsonl", shorter))
    assert "in 2 documents ('a', 'c'), the first from character 11 on ('' where" in message
    write_predictions(tmp_path / "changed.jsonl", map(make_prediction, changed))
    message = refused("evaluate", gold, said("p.jsonl", GOOD), tmp_path / "changed.jsonl")
    assert f"{tmp_path / 'changed.jsonl'}: the predictions were made on another text" in message


def test_other_documents_name_the_file_that_is_wrong(
    refused: Refused, gold: Path, said: Said
) -> None:
    part = said("part.jsonl", {"a": GOOD["a"]})
    message = refused("evaluate", gold, said("p.jsonl", GOOD), part)
    assert (
        f"{part}: the predictions lack 2 documents: 'b', 'c' of the 3 documents in the gold"
        in message
    )


NOTHING: Rows = {key: [] for key in TEXTS}


def test_no_gold_mention(cli: Cli, said: Said, tmp_path: Path) -> None:
    empty = write_as(tmp_path, "empty.fascicle.jsonl", corpus(NOTHING))
    result = cli("evaluate", empty, said("p.jsonl", BAD))
    assert (result.code, "the gold holds no mention, so recall is undefined" in result.err) == (
        0,
        True,
    )
    micro = next(line for line in result.out.splitlines() if line.startswith("micro"))
    assert micro.split() == ["micro", "0.00", "-", "0.00", "0", "2", "0", "2", "0"]
    assert "- is undefined" in result.out
    assert "take them as gold" not in result.err
    found = write_as(tmp_path, "found.fascicle.jsonl", corpus(GOOD, source="seq"))
    result = cli("evaluate", found, said("p.jsonl", BAD))
    assert (
        f"{found} has mentions of seq, and none that are gold; to take them as gold" in result.err
    )
    value = report(cli, empty, said("p.jsonl", BAD))["systems"][0]
    assert value["scores"]["rules"]["strict"]["micro"]["undefined"] == {
        "recall": "there is no gold mention"
    }
    assert value["calibration"]["undefined"] == {"average_precision": "there is no gold mention"}


@pytest.mark.parametrize("name", ["p.jsonl", "p.tsv", "native.fascicle.jsonl"])
def test_no_prediction(cli: Cli, gold: Path, said: Said, tmp_path: Path, name: str) -> None:
    made = (
        write_as(tmp_path, name, corpus(NOTHING))
        if name.startswith("native")
        else said(name, NOTHING)
    )
    result = cli("evaluate", gold, made, "--interval")
    assert (result.code, "holds no mention, so precision is undefined" in result.err) == (0, True)
    micro = next(line for line in result.out.splitlines() if line.startswith("micro"))
    assert micro.split() == ["micro", "-", "0.00", "0.00", "3", "0", "0", "0", "3"]
    value = report(cli, gold, made)
    assert value["systems"][0]["calibration"] == {
        "undefined": "nothing was predicted, so there are no scores to judge"
    }
    stated = json.loads(cli("evaluate", gold, made, "--json").out)["undefined"]
    assert stated["micro"] == {"precision": "nothing was predicted"}


def test_neither_gold_nor_predictions(cli: Cli, said: Said, tmp_path: Path) -> None:
    empty = write_as(tmp_path, "empty.fascicle.jsonl", corpus(NOTHING))
    value = report(cli, empty, said("p.jsonl", NOTHING), "--buckets", "quantiles")
    micro = value["systems"][0]["scores"]["rules"]["strict"]["micro"]
    assert micro["f1"] is None
    assert micro["undefined"]["f1"] == "there is no gold mention and nothing was predicted"
    assert value["systems"][0]["errors"]["rates"]["undefined"] == "there is no error"
    assert (
        value["attributes"]["length"]["undefined"]
        == "there is no gold mention to take quantiles of"
    )


def test_a_type_that_only_one_side_has(cli: Cli, gold: Path, said: Said) -> None:
    spelt = {key: [(a, b, t.lower()) for a, b, t in rows] for key, rows in GOLD.items()}
    result = cli("evaluate", gold, said("p.jsonl", spelt))
    assert (
        "in the gold only: mentions of 'Chemical' (1), 'Disease' (2); types must be spelt alike"
        in result.err
    )
    assert (
        "p.jsonl only: mentions of 'chemical' (1), 'disease' (2); types must be spelt alike"
        in result.err
    )
    other = cli("evaluate", gold, said("q.jsonl", GOOD))
    assert "in the gold only: mentions of 'Chemical' (1)\n" in other.err
    assert "to score them" not in other.out


def test_a_table_of_zeros_ends_with_the_line_to_write(cli: Cli, gold: Path, said: Said) -> None:
    spelt = {key: [(a, b, t.lower()) for a, b, t in rows] for key, rows in GOLD.items()}
    line = "No type of the gold is among those of p; to score them: {}\n"
    types = ("--type", "Chemical=chemical", "--type", "Disease=disease")
    assert cli("evaluate", gold, said("p.jsonl", spelt)).out.endswith(line.format(" ".join(types)))
    assert "to score them" not in cli("evaluate", gold, said("p.jsonl", spelt), *types).out
    single = {key: [(a, b, "Entity") for a, b, _ in rows] for key, rows in GOLD.items()}
    types = ("--type", "Chemical=Entity", "--type", "Disease=Entity")
    assert cli("evaluate", gold, said("p.jsonl", single)).out.endswith(line.format(" ".join(types)))
    several = {key: [(a, b, f"{t[::-1]}X") for a, b, t in rows] for key, rows in GOLD.items()}
    line = line.replace(" of p;", " of p (esaesiDX, lacimehCX);")
    types = ("--type", "Chemical=NAME", "--type", "Disease=NAME")
    assert cli("evaluate", gold, said("p.jsonl", several)).out.endswith(
        line.format(" ".join(types))
    )


def test_one_document(cli: Cli, said: Said, tmp_path: Path) -> None:
    one = write_as(tmp_path, "one.fascicle.jsonl", corpus({"a": GOLD["a"]}))
    path = said("p.jsonl", {"a": GOOD["a"]})
    result = cli("evaluate", one, path, "--interval")
    assert result.code == 0
    assert "no interval, for there is only one document" in result.err
    assert "95%" not in result.out
    value = json.loads(cli("evaluate", one, path, "--interval", "--json").out)
    assert value["micro_f1_interval"] is None
    assert "only one document" in value["undefined"]["intervals"]["micro_f1_interval"]
    scores = report(cli, one, path)["systems"][0]["scores"]
    assert scores["micro_f1_interval"] is None
    assert "only one document" in scores["undefined"]["micro_f1_interval"]


def test_of_one_document_its_sentences_are_drawn(cli: Cli, tmp_path: Path) -> None:
    rows = ["IL-2\tB-Gene", "is\tO", "", "p53\tB-Gene", "is\tO", "", "NF\tB-Gene", "too\tO", ""]
    (tmp_path / "gold.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "said").mkdir()
    said = tmp_path / "said" / "gold.tsv"
    said.write_text("\n".join(rows).replace("p53\tB-Gene", "p53\tO") + "\n", encoding="utf-8")
    options = ("evaluate", tmp_path / "gold.tsv", said, "--documents", "file", "--interval")
    result = cli(*options)
    assert result.code == 0
    assert (
        "note: there is only one document, so intervals come from drawing its sentences"
        in result.err
    )
    assert (
        "95% intervals (bootstrap over sentences, 1,000 draws, seed 0): micro P 100.00 to 100.00"
        in result.out
    )
    by_sentence = json.loads(cli(*(*options, "--json")).out)
    options = (*options[:4], "sentence", "--interval", "--json")
    assert by_sentence["micro_f1_interval"] == json.loads(cli(*options).out)["micro_f1_interval"]


def test_missing_scores(cli: Cli, gold: Path, said: Said) -> None:
    value = report(cli, gold, said("p.jsonl", GOOD, score=None))["systems"][0]
    assert value["calibration"]["undefined"].startswith(
        "3 of the 3 predicted mentions have no score, the first is"
    )
    assert value["errors"]["classes"]["type"] == {
        "fp": 1, "fn": 1, "beside_right": 0, "types": {"Chemical": [0, 1], "Disease": [1, 0]},
    }  # fmt: skip


@pytest.mark.parametrize("name", ["p.jsonl", "p.tsv"])
def test_a_score_above_one(
    refused: Refused, gold: Path, said: Said, tmp_path: Path, name: str
) -> None:
    path = said(name, GOOD)
    path.write_text(path.read_text(encoding="utf-8").replace("0.5", "1.5"), encoding="utf-8")
    message = refused("evaluate", gold, path, "--report", tmp_path / "report.md")
    assert "the score 1.5 of the mention at ((0, 11),) must be a probability from 0 to 1" in message
    assert f"{path}:" in message
    assert not (tmp_path / "report.md").exists()


def test_gold_that_is_taken_for_predictions_is_said(cli: Cli, gold: Path, tmp_path: Path) -> None:
    result = cli("evaluate", gold, write_as(tmp_path, "same.fascicle.jsonl", corpus(GOLD)))
    assert "calls all its mentions gold; they were taken for the predictions" in result.err
    assert "taken for the predictions" not in cli("evaluate", gold, gold).err


def test_gold_that_no_model_of_a_kind_can_find(cli: Cli, refused: Refused, tmp_path: Path) -> None:
    text = "acute renal failure after aspirin"
    gold = (
        Mention(((0, 19),), "Disease"),
        Mention(((6, 11),), "Disease"),
        Mention(((26, 33),), "Drug"),
    )
    write(tmp_path / "gold.jsonl", [Document(id="1", text=text, mentions=gold)])
    options = (
        "evaluate",
        tmp_path / "gold.jsonl",
        tmp_path / "gold.jsonl",
        "--unreachable-for",
        "biomed",
    )
    assert cli(*options, "--report", tmp_path / "r.json").code == 0
    (found,) = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["unreachable"]
    assert (found["gold"], found["unreachable"]) == (3, 2)
    assert {name: row["count"] for name, row in found["reasons"].items()} == {
        "other-type": 1,
        "overlapped": 1,
    }
    assert cli(*options, "--report", tmp_path / "r.md").code == 0
    page = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "## Gold out of reach" in page
    assert "| 3 | 2 | 33.33 |" in page
    assert cli(*options, "--report", tmp_path / "r.html").code == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "What can be found at all?" in page
    assert ">33.33<" in page
    assert "other-type" in page
    assert "--unreachable-for says more in a report only" in refused(*options)
    assert "there is no model" in refused(
        *options, "--unreachable-for", tmp_path / "no", "--report", tmp_path / "s.md"
    )


@pytest.mark.parametrize(
    ("lines", "options"),
    [
        ('"Chemical" = "Drug"\n', ["--map", "names.toml"]),
        (
            '["the gold"]\n"Medicine" = "Drug"\n[biomed]\n"Chemical" = "Drug"\n',
            ["--map", "names.toml"],
        ),
        ("", ["--type", "Medicine=Chemical"]),
        ("", ["--facts"]),
    ],
)
def test_a_report_compares_types_under_the_names_of_the_scores(
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lines: str,
    options: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "Medicine" if "Medicine" in f"{lines}{options}" else "Chemical"
    drug = Mention(((0, 7),), name, attributes=(("negated", ""),))
    write("gold.jsonl", [Document(id="1", text="aspirin", mentions=(drug,))])
    Path("names.toml").write_text(lines, encoding="utf-8")
    files = (tmp_path / "gold.jsonl", "gold.jsonl", "--train", "gold.jsonl")
    value = report(cli, *files, "--unreachable-for", "biomed", *options)
    # the gold is its own training corpus, and the model knows the type by one of its names
    assert value["systems"][0]["subsets"]["seen"]["gold"] == 1
    assert [row["unreachable"] for row in value["unreachable"]] == [0]


def test_a_map_and_distributions_exclude_each_other(
    refused: Refused, gold: Path, tmp_path: Path
) -> None:
    (tmp_path / "names.toml").write_text('Chemical = "Drug"\n', encoding="utf-8")
    options = ("--map", tmp_path / "names.toml", "--distributions", tmp_path / "d.jsonl")
    message = refused("evaluate", gold, "--model", "biomed", *options)
    assert "--map FILE was given for distributions" in message
    assert "GOLDNAME=NAME" in message


def test_a_dictionary_is_of_no_kind(cli: Cli, tmp_path: Path) -> None:
    write(
        tmp_path / "gold.jsonl",
        [Document(id="1", text="aspirin", mentions=(Mention(((0, 7),), "Drug"),))],
    )
    (tmp_path / "names.tsv").write_text("Drug\taspirin\n", encoding="utf-8")
    options = ("evaluate", tmp_path / "gold.jsonl", "--model", tmp_path / "names.tsv")
    assert cli(*options, "--report", tmp_path / "r.json").code == 0
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert report["systems"][0]["scores"]["rules"]["strict"]["micro"]["f1"] == 1.0
    assert report["unreachable"] == []


def test_no_model_no_section(cli: Cli, tmp_path: Path) -> None:
    write(
        tmp_path / "gold.jsonl", [Document(id="1", text="a", mentions=(Mention(((0, 1),), "A"),))]
    )
    assert (
        cli(
            "evaluate",
            tmp_path / "gold.jsonl",
            tmp_path / "gold.jsonl",
            "--report",
            tmp_path / "r.md",
        ).code
        == 0
    )
    assert "out of reach" not in (tmp_path / "r.md").read_text(encoding="utf-8")


def test_an_undefined_f1_has_no_interval(cli: Cli, tmp_path: Path) -> None:
    write(
        tmp_path / "gold.jsonl",
        [Document(id=name, text="nothing here", mentions=()) for name in "ab"],
    )
    (tmp_path / "said.tsv").write_text("document\ttype\tstart\tend\tscore\n", encoding="utf-8")
    done = cli(
        "evaluate",
        tmp_path / "gold.jsonl",
        tmp_path / "said.tsv",
        "--interval",
        "--report",
        tmp_path / "r.json",
    )
    assert done.code == 0
    assert "note: no interval, for there is no gold mention and nothing was predicted" in done.err
    assert "95% interval" not in done.out
    scores = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["systems"][0]["scores"]
    assert scores["micro_f1_interval"] is None
    assert (
        scores["undefined"]["micro_f1_interval"]
        == scores["rules"]["strict"]["micro"]["undefined"]["f1"]
    )


def test_training_texts_are_named_in_scores_reports_and_comparisons(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = (
        "Mutations of BRCA1 and TP53 were seen in group {} of patients, and sequencing "
        "confirmed it."
    )
    texts = {name: sentence.format(name) for name in "abc"}
    genes = [Mention(((13, 18),), "Gene"), Mention(((23, 27),), "Gene")]
    write(
        tmp_path / "gold.jsonl",
        [Document(id=name, text=one, mentions=(genes[0],)) for name, one in texts.items()],
    )
    folder = tmp_path / "model"
    shutil.copytree(find_model("biomed-fast"), folder)
    trained = all_sentence_hashes(
        [Document(id="", text=texts[name]) for name in "ab"], segmenter("rules@1").sentences
    )
    (folder / TAUGHT).write_bytes(pack_hashes(trained))
    write_manifest(folder, read_manifest(folder))
    note = "was trained on 2 of the 3 texts of"
    for name in ("report.md", "report.html"):
        assert (
            note
            in cli(
                "evaluate", tmp_path / "gold.jsonl", "--model", folder, "--report", tmp_path / name
            ).err
        )
        assert note in (tmp_path / name).read_text(encoding="utf-8")
    assert "trained on" not in cli("evaluate", tmp_path / "gold.jsonl", "--model", "biomed").err

    monkeypatch.setattr(
        taught, "training_hashes", lambda source: trained if source.name == "biomed@3" else None
    )
    files = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for path in files:  # a shipped model is known by the source of its mentions
        said = tuple(msgspec.structs.replace(one, source="biomed@3") for one in genes)
        rows = [
            make_prediction(Document(id=name, text=one, mentions=said))
            for name, one in texts.items()
        ]
        write_predictions(path, rows)
    assert f"biomed@3 {note}" in cli("compare", tmp_path / "gold.jsonl", *files, "--no-search").err
    assert f"biomed@3 {note}" in cli("evaluate", tmp_path / "gold.jsonl", files[0]).err
