"""Facts of mentions by every way in."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fascicle
from fascicle.core import codec
from fascicle.formats import read
from fascicle.pipeline.loading import PipelineOpener
from fascicle.settings.choices import Choices
from fascicle.verbs.tasks.evaluate import evaluate
from fascicle.verbs.tasks.run import run

Cli = Callable[..., Any]
TEXT = "No fever; aspirin may cause lung cancer."
FACTS = {"fever": (("negated", "0-2"),), "aspirin": (), "lung cancer": (("uncertain", "18-27"),)}


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts" / "a.txt"
    path.parent.mkdir()
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def cues(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text('[[cues]]\nfact = "historical"\nwords = ["no"]\n', encoding="utf-8")
    return path


def _facts(document: fascicle.Document) -> dict[str, tuple[tuple[str, str], ...]]:
    return {one.text: one.attributes for one in document}


def test_load(names: Path, cues: Path) -> None:
    assert _facts(fascicle.load(names, assertions=True)(TEXT)) == FACTS
    assert _facts(fascicle.load(names, assertions=cues)(TEXT))["fever"] == (("historical", "0-2"),)
    assert set(_facts(fascicle.load(names)(TEXT)).values()) == {()}
    prints = {fascicle.load(names, assertions=one).fingerprint for one in (False, True, cues)}
    assert len(prints) == 3


@pytest.mark.parametrize(
    ("suffix", "lossless"),
    [
        (".jsonl", True),
        (".bioc.xml", True),
        (".zip", True),
        (".tsv", True),
        (".csv", True),
        (".parquet", True),
    ],
)
def test_annotate_writes_facts_that_are_read_again(
    suffix: str, lossless: bool, cli: Cli, names: Path, texts: Path, tmp_path: Path
) -> None:
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    asked = ("annotate", "--model", names, texts, "-o", tmp_path / f"out{suffix}", "--no-link")
    more = ("--format", "brat") if suffix == ".zip" else ()
    assert cli(*asked, *more, "--assertions").code == 0
    again = [] if suffix in (".tsv", ".csv") else [*read(tmp_path / f"out{suffix}")]
    for document in again:
        assert sorted(one.attributes for one in document.mentions) == sorted(FACTS.values())
    if not again:
        assert "negated=0-2" in (tmp_path / f"out{suffix}").read_text(encoding="utf-8")
        scored = (
            "evaluate",
            tmp_path / "gold.jsonl",
            tmp_path / f"out{suffix}",
            "--facts",
            "--json",
        )
        assert (
            cli(
                "annotate", "--model", names, texts, "-o", tmp_path / "gold.jsonl", "--assertions"
            ).code
            == 0
        )
        gold = (
            (tmp_path / "gold.jsonl")
            .read_text(encoding="utf-8")
            .replace('"source":"names"', '"source":"gold"')
        )
        (tmp_path / "gold.jsonl").write_text(gold, encoding="utf-8")
        assert json.loads(cli(*scored).out)["micro"]["f1"] == 1.0


def test_tables_without_facts_have_no_column_for_them(cli: Cli, names: Path, texts: Path) -> None:
    out = cli("annotate", "--model", names, texts, "--format", "tsv").out
    assert out.splitlines()[0].endswith("links\tnames")


def test_the_view_for_reading_and_tasks_of_label_studio(
    cli: Cli, names: Path, texts: Path, tmp_path: Path
) -> None:
    asked = ("annotate", "--model", names, texts, "--assertions")
    assert (
        "No [fever]Disease (negated); [aspirin]Chemical may cause"
        in cli(*asked, "--format", "text").out
    )
    tasks = tmp_path / "tasks.json"
    assert cli(*asked, "--format", "label-studio", "-o", tasks).code == 0
    (document,) = read(tasks, format="label-studio")
    assert _facts(document) == FACTS


def test_own_cues_and_what_is_refused(
    cli: Cli, refused: Cli, names: Path, texts: Path, cues: Path
) -> None:
    asked = ("annotate", "--model", names, texts, "--format", "jsonl")
    (document,) = map(
        codec.decode, cli(*asked, "--assertions", "--cues", cues).out.encode().splitlines()
    )
    assert _facts(document)["fever"] == (("historical", "0-2"),)
    assert "--cues" in refused(*asked, "--cues", cues)
    assert "there is no file of cues at none.toml" in refused(
        *asked, "--assertions", "--cues", "none.toml"
    )


def test_run(cli: Cli, refused: Cli, names: Path, texts: Path, cues: Path, tmp_path: Path) -> None:
    run(texts, tmp_path / "first", pipeline=names, choices=Choices(link="auto", assertions=True))
    run(texts, tmp_path / "second", pipeline=names, choices=Choices(assertions=os.fspath(cues)))
    found = [
        _facts(next(read(tmp_path / name / "part-00000.jsonl"))) for name in ("first", "second")
    ]
    historical = (("historical", "0-2"),)  # for a file that names no words which end a scope
    assert found == [FACTS, {"fever": historical, "aspirin": historical, "lung cancer": historical}]
    (tmp_path / "pipeline.toml").write_text(
        '[[steps]]\nkind = "recogniser"\nmodel = "names.tsv"\n', encoding="utf-8"
    )
    said = refused(
        "run",
        texts,
        "--pipeline",
        tmp_path / "pipeline.toml",
        "--assertions",
        "-o",
        tmp_path / "third",
    )
    assert "write assertions = true into its step recogniser" in said


def test_services_have_facts_of_models(names: Path) -> None:
    from fascicle.serving.server import pipeline_openers

    opener = pipeline_openers([os.fspath(names)], choices=Choices(link="auto", assertions=True))
    ((_, one),) = opener.items()
    assert isinstance(one, PipelineOpener)
    with one() as pipeline:
        (document,) = pipeline.stream([TEXT])
    assert _facts(document) == FACTS


def test_scores_of_facts(cli: Cli, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "gold.zip", "w") as archive:
        archive.writestr("a.txt", "No fever, pain or cough.")
        lines = (
            "T1\tX 3 8\tfever\nT2\tX 10 14\tpain\nT3\tX 18 23\tcough\nA1\tNegation "
            "T1\nA2\tSpeculation T2\n"
        )
        archive.writestr("a.ann", lines + "A3\tis_negated T3 False\n")
    gold = list(read(tmp_path / "gold.zip"))
    names = tmp_path / "names.tsv"
    names.write_text("X\tfever\nX\tpain\nX\tcough\n", encoding="utf-8")
    predicted = fascicle.load(names, assertions=True)(gold)
    (system,) = evaluate(gold, [predicted], facts=True).systems
    counts = {
        fact: (one.tp, one.predicted, one.support) for fact, one in system.strict.by_type.items()
    }
    assert counts == {"negated": (1, 3, 1), "uncertain": (0, 0, 1)}
    result = cli("evaluate", tmp_path / "gold.zip", tmp_path / "gold.zip", "--facts", "--interval")
    assert result.code == 0, result
    assert "negated" in result.out
