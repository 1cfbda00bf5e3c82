"""What commands do, as functions: the same results from paths, from documents and from the
command line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fascicle.cli import main
from fascicle.core.document import Document, Mention
from fascicle.core.files.source import Source
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.calibration.fitting import Target
from fascicle.evaluation.comparison.search import as_dict
from fascicle.evaluation.systems.model import ModelRequest
from fascicle.evaluation.systems.predictions import PredictionRequest
from fascicle.evaluation.systems.several import SystemsRequest
from fascicle.formats import read, write
from fascicle.formats.account import Account
from fascicle.formats.predictions import make_prediction
from fascicle.formats.predictions import read as read_predictions
from fascicle.formats.predictions import write as write_predictions
from fascicle.formats.requests import ReadRequest
from fascicle.loading import load, load_single
from fascicle.runtime.combination.rules import RuleRequest
from fascicle.settings.folders.manifest import read_manifest
from fascicle.verbs.agreement import agree
from fascicle.verbs.combine import combine
from fascicle.verbs.compare import CompareSettings, compare
from fascicle.verbs.ensemble import ensemble
from fascicle.verbs.export import export
from fascicle.verbs.tasks.calibrate import CalibrateSettings, calibrate
from fascicle.verbs.tasks.evaluate import evaluate
from fascicle.verbs.tasks.report import ReportRequest, report_on

Out = Callable[..., Any]
TEXT = "aspirin and ibuprofen against lung cancer and fever"
GOLD = {"1": [(0, 7, "Drug"), (30, 41, "Disease")], "2": [(12, 21, "Drug")], "3": []}
FIRST = {"1": [(0, 7, "Drug"), (30, 34, "Disease")], "2": [], "3": [(46, 51, "Disease")]}
SECOND = {
    "1": [(0, 7, "Drug"), (30, 41, "Disease")],
    "2": [(12, 21, "Drug")],
    "3": [(46, 51, "Disease")],
}


def documents(rows: dict[str, list[tuple[int, int, str]]], source: str) -> list[Document]:
    return [
        Document(
            id=name,
            text=TEXT,
            mentions=tuple(Mention(((a, b),), t, score=None, source=source) for a, b, t in of),
        )
        for name, of in rows.items()
    ]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    found = {}
    for name, rows, source in (
        ("gold", GOLD, "gold"),
        ("one", FIRST, "first"),
        ("two", SECOND, "second"),
    ):
        found[name] = tmp_path / f"{name}.jsonl"
        write(found[name], documents(rows, source), format="native")
    return found


@pytest.fixture
def out(capsys: pytest.CaptureFixture[str]) -> Out:
    def run(*argv: object) -> Any:
        capsys.readouterr()
        assert main([str(one) for one in argv]) == 0
        return json.loads(capsys.readouterr().out)

    return run


def test_evaluate_gives_the_scores_of_the_command(files: dict[str, Path], out: Out) -> None:
    of_command = out("evaluate", files["gold"], files["one"], "--json")
    from_paths = evaluate(files["gold"], files["one"])
    from_documents = evaluate(documents(GOLD, "gold"), documents(FIRST, "first"))
    for found in (from_paths, from_documents):
        (one,) = found.systems
        assert one.strict.as_dict().items() <= of_command.items()
    assert (one.strict.counts.tp, one.strict.counts.fp, one.strict.counts.fn) == (1, 2, 2)


def test_several_systems_have_names_and_a_report(files: dict[str, Path], out: Out) -> None:
    named = PredictionRequest(path=str(files["two"]), name="the second")
    found = evaluate(str(files["gold"]), [files["one"], named])
    assert [one.name for one in found.systems] == ["one", "the second"]
    report = report_on(found, ReportRequest(train=str(files["gold"])))
    assert report.notes == ()
    assert report.value["gold"]["training"] == {"documents": 3, "mentions": 3}
    f1 = [one["scores"]["rules"]["strict"]["micro"]["f1"] for one in report.value["systems"]]
    assert f1 == [pytest.approx(1 / 3), pytest.approx(6 / 7)]
    assert json.loads(report.text(".json")[0]) == report.value
    # it holds no gold mention
    assert report_on(found, ReportRequest(train=str(files["one"]))).notes


def test_what_no_system_can_mean_is_refused(files: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="standard input"):
        evaluate("-", "-")
    with pytest.raises(UsageError, match="standard input"):
        agree("-", "-")
    both = tmp_path / "both.jsonl"
    pairs = zip(documents(FIRST, "first"), documents(SECOND, "second"), strict=True)
    write(
        both,
        [Document(id=a.id, text=a.text, mentions=a.mentions + b.mentions) for a, b in pairs],
        format="native",
    )
    with pytest.raises(InputError, match="first, second; choose one"):
        evaluate(files["gold"], both)
    chosen = PredictionRequest(path=str(both), source="second")
    assert evaluate(files["gold"], chosen).systems[0].strict.counts.tp == 3
    other = [
        Document(id=one.id, text=one.text + "!", mentions=one.mentions)
        for one in documents(FIRST, "first")
    ]
    with pytest.raises(InputError, match="another text"):
        evaluate(files["gold"], other)


def test_agreement_is_that_of_the_command(files: dict[str, Path], out: Out) -> None:
    found = agree(files["gold"], files["two"])
    assert {"names": ["gold", "two"]} | found.numbers.as_dict() == out(
        "evaluate", files["gold"], files["two"], "--agreement", "--json"
    )


@pytest.mark.parametrize(
    ("rule", "options"),
    [
        ("union", ()),
        ("majority", ()),
        (RuleRequest(name="kofn", k=1), ("--k", 1)),
        (RuleRequest(name="weighted", weights=(3, 1)), ("--weights", "3,1")),
    ],
)
def test_combine_gives_what_the_command_writes(
    files: dict[str, Path], tmp_path: Path, rule: Any, options: Sequence[object]
) -> None:
    paths, target = [files["one"], files["two"]], tmp_path / "out.jsonl"
    found = combine(paths, rule)
    name = rule if isinstance(rule, str) else rule.name
    assert main([str(one) for one in ("combine", name, *paths, *options, "-o", target)]) == 0
    assert list(read_predictions(Source(path=str(target)))) == list(found.predictions)


def test_combine_reads_the_same_through_every_door(files: dict[str, Path], tmp_path: Path) -> None:
    table = tmp_path / "one.tsv"
    write_predictions(table, predictions_in(files["one"]))
    request = SystemsRequest(
        paths=[str(table), str(files["two"])], reading=ReadRequest(), distinct_types=True
    )
    kinds = [combine(request), combine([files["one"], files["two"]])]
    assert (
        len(
            {
                tuple((p.id, tuple((m.type, m.spans) for m in p.mentions)) for p in k.predictions)
                for k in kinds
            }
        )
        == 1
    )


def predictions_in(path: Path) -> list[Any]:
    return [make_prediction(document) for document in read(path)]


def test_compare_gives_what_the_command_prints(files: dict[str, Path], out: Out) -> None:
    settings = CompareSettings(resamples=20, search=False)
    found = compare(files["gold"], [files["one"], files["two"]], settings)
    printed = out(
        "compare",
        files["gold"],
        files["one"],
        files["two"],
        "--resamples",
        20,
        "--no-search",
        "--json",
    )
    assert json.loads(json.dumps(as_dict(found.comparison))) == printed
    with pytest.raises(UsageError, match="at least two systems"):
        compare(files["gold"], [files["one"]])


@pytest.mark.parametrize("name", ["gold", "a\nb", "\x1b[2J"])
def test_no_model_is_exported_under_a_name_that_none_may_have(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="argument name"):
        export(tmp_path / "run", tmp_path / "out", name=name)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_run_folder_stands_for_its_best_everywhere(
    tiny_run: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    gold = PredictionRequest(path=str(toy_corpus), reading=ReadRequest(documents="sentence"))
    texts = [document.text for document in read(toy_corpus)]
    found = []
    for place in (tiny_run, tiny_run / "best"):
        target = tmp_path / f"{place.name}-calibrated"
        made = calibrate(place, gold, target, CalibrateSettings(method="isotonic", target=Target()))
        exported = tmp_path / f"{place.name}-exported"
        assert main(["export", str(place), "-o", str(exported)]) == 0
        saved = ensemble([place, target], tmp_path / f"{place.name}-two", "union", name="two")
        scored = evaluate(gold, ModelRequest(model=str(place), threads=1))
        annotated = [
            [(m.type, m.spans) for document in model.annotate(texts) for m in document.mentions]
            for model in (load(place), load_single(place), load(saved.folder), load(exported))
        ]
        found.append((made.manifest, saved.manifest, scored.systems[0].strict.as_dict(), annotated))
        assert read_manifest(target) == made.manifest
    assert found[0] == found[1]


def test_the_account_of_a_verb_counts_its_documents(files: dict[str, Path]) -> None:
    account = Account()
    combine([files["one"], files["two"]], account=account)
    assert account.aside == 0
    (files["one"]).write_text(files["one"].read_text(encoding="utf-8")[:-20], encoding="utf-8")
    with pytest.raises(InputError):
        combine([files["one"], files["two"]])
