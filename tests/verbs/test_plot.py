"""``fascicle plot`` and ``fascicle evaluate --model``: from a model to a picture, and every
misuse in one sentence.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fascicle.core.document import Document, Mention
from fascicle.evaluation.reports.plots.report_plots import REPORT_PLOTS
from fascicle.formats import write as write_documents
from fascicle.formats.distributions import read as read_distributions
from fascicle.formats.predictions import make_prediction
from fascicle.formats.predictions import write as write_predictions
from fascicle.settings.folders.shipped import shipped_models
from fascicle.verbs.plot import KINDS

Cli = Callable[..., Any]
Refused = Callable[..., str]
needs_shipped = pytest.mark.skipif(not shipped_models(), reason="no model comes with this checkout")


def test_a_training_and_its_model_are_drawn(
    cli: Cli, tiny_run: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    assert cli("plot", "learning", tiny_run, "-o", tmp_path / "l.svg").code == 0
    assert (tmp_path / "l.svg").read_text(encoding="utf-8").startswith("<svg")
    gold, options = toy_corpus, ("--documents", "sentence", "--model", tiny_run / "best")
    result = cli("evaluate", gold, *options, "--distributions", tmp_path / "d.jsonl", "--json")
    assert result.code == 0
    scores = json.loads(result.out)["micro"]
    assert (scores["tp"], scores["fp"], scores["fn"]) == (18, 0, 0)
    header, entries = read_distributions(tmp_path / "d.jsonl")
    found = list(entries)
    assert (header.family, header.definition, len(found)) == ("softmax", "tag-path", 18)
    for entry in found:
        assert entry.found
        # may be below none: of all paths, one is best
        mine = entry.probabilities[1 + header.types.index(entry.type)]
        assert mine == max(entry.probabilities[1:])
        assert sum(entry.probabilities) == pytest.approx(1.0, abs=1e-5)
    plain = cli("evaluate", gold, *options, "--json")
    assert json.loads(plain.out)["micro"] == scores


def test_a_model_beside_the_file_of_its_predictions(
    cli: Cli, tiny_run: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    model, documents = tiny_run / "best", ("--documents", "sentence")
    assert (
        cli("annotate", toy_corpus, *documents, "--model", model, "-o", tmp_path / "p.tsv").code
        == 0
    )
    result = cli("evaluate", toy_corpus, tmp_path / "p.tsv", *documents, "--model", model, "--json")
    one, two = json.loads(result.out)["systems"]
    assert (one["name"], two["name"]) == ("p", "tiny")
    assert one["micro"] == two["micro"]


@needs_shipped
def test_an_exported_model_and_mentions_that_it_cannot_return(cli: Cli, tmp_path: Path) -> None:
    text = "Lithium caused acute renal failure in BRCA1 carriers."
    spans = {
        ((0, 7),): "Chemical",
        ((15, 34),): "Disease",
        ((38, 43),): "Variant",
        ((0, 3),): "Chemical",
    }
    mentions = (
        *(Mention(s, t) for s, t in spans.items()),
        Mention(((15, 20), (27, 34)), "Disease"),
    )
    write_documents(
        tmp_path / "gold.fascicle.jsonl", [Document(id="1", text=text, mentions=mentions)]
    )
    path = tmp_path / "d.jsonl.gz"
    result = cli(
        "evaluate", tmp_path / "gold.fascicle.jsonl", "--model", "biomed", "--distributions", path
    )
    assert result.code == 0
    assert "3 of 5 gold mentions have no probability" in result.err
    reasons = {
        (entry.type, entry.spans): entry.unreachable for entry in read_distributions(path)[1]
    }
    assert reasons == {
        ("Chemical", ((0, 7),)): "",
        ("Disease", ((15, 34),)): "",
        ("Variant", ((38, 43),)): "unknown-type",
        ("Chemical", ((0, 3),)): "inside-word",
        ("Disease", ((15, 20), (27, 34))): "discontinuous",
    }
    assert "two directions" not in result.err


def test_misuse_of_evaluate(refused: Refused, toy_corpus: Path, tmp_path: Path) -> None:
    assert "name prediction files, or a model" in refused("evaluate", toy_corpus)
    assert "--model MODEL too" in refused(
        "evaluate", toy_corpus, toy_corpus, "--distributions", tmp_path / "d.jsonl"
    )
    assert "--model MODEL too" in refused("evaluate", toy_corpus, toy_corpus, "--threads", 1)
    wrong = refused(
        "evaluate", toy_corpus, "--model", "biomed", "--distributions", tmp_path / "d.json"
    )
    assert "must end with .jsonl or .jsonl.gz" in wrong
    (tmp_path / "d.jsonl").touch()
    there = refused(
        "evaluate", toy_corpus, "--model", "biomed", "--distributions", tmp_path / "d.jsonl"
    )
    assert "exists already" in there
    assert "there is no model" in refused("evaluate", toy_corpus, "--model", "nothing")


def test_misuse_of_plot(refused: Refused, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text("{}")
    out = ("-o", tmp_path / "a.svg")
    assert "did you mean scores?" in refused("plot", "score", report, *out)
    assert "nothing to draw" in refused("plot", "scores", *out)
    assert "2 inputs" in refused("plot", "scores", report, report, *out)
    assert "must end with .svg, .png, .pdf" in refused(
        "plot", "scores", report, "-o", tmp_path / "a.gif"
    )
    assert "-o" in refused("plot", "scores", report)
    (tmp_path / "there.svg").touch()
    assert "exists already" in refused("plot", "scores", report, "-o", tmp_path / "there.svg")
    assert "not a run folder" in refused("plot", "learning", report, *out)
    assert "incomplete" in refused("plot", "learning", tmp_path, *out)
    assert not (tmp_path / "a.svg").exists()


Evaluated = Callable[..., Path]


@pytest.fixture
def evaluated(cli: Cli, tmp_path: Path) -> Evaluated:
    """Writes the report of some systems as JSON; each is given by the scores of its mentions."""
    text, places = (
        "aspirin for pain or fever",
        ((0, 7, "Chemical"), (12, 16, "Disease"), (20, 25, "Disease")),
    )
    gold = [
        Document(id=str(i), text=text, mentions=tuple(Mention(((a, b),), t) for a, b, t in places))
        for i in range(3)
    ]
    write_documents(tmp_path / "gold.fascicle.jsonl", gold)

    def made(**systems: list[float | None]) -> Path:
        paths = []
        for name, scores in systems.items():
            said = [
                Mention(((a, b),), "Disease", score=score, source="m")
                for (a, b, _), score in zip(places, scores, strict=False)
            ]
            paths.append(tmp_path / f"{name}.jsonl")
            found = [Document(id=one.id, text=text, mentions=tuple(said)) for one in gold]
            write_predictions(paths[-1], map(make_prediction, found), overwrite=True)
        report = tmp_path / "report.json"
        result = cli(
            "evaluate", tmp_path / "gold.fascicle.jsonl", *paths, "--report", report, "--overwrite"
        )
        assert result.code == 0, result.err
        return report

    return made


@pytest.mark.parametrize("kind", REPORT_PLOTS)
@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_a_report_is_drawn_twice_with_the_same_bytes(
    cli: Cli, tmp_path: Path, evaluated: Evaluated, kind: str, suffix: str
) -> None:
    report = evaluated(one=[0.9, 0.8, 0.4], two=[0.7])
    first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    for path in (first, second):
        result = cli("plot", kind, report, "-o", path, "--title", "A title")
        assert (result.code, result.out) == (0, ""), result.err
    assert first.read_bytes() == second.read_bytes()


def test_systems_of_a_report_are_chosen_in_order(
    cli: Cli, tmp_path: Path, evaluated: Evaluated
) -> None:
    report = evaluated(one=[0.9, 0.8, 0.4], two=[0.7], three=[0.6, 0.6])
    pictures = {
        names: cli("plot", "heat", report, "-o", tmp_path / f"{names}.svg", *options).code
        or (tmp_path / f"{names}.svg").read_bytes()
        for names, options in {
            "all": (),
            "named": ("--system", "one", "--system", "two", "--system", "three"),
            "pair": ("--system", "one", "--system", "two"),
            "turned": ("--system", "two", "--system", "one"),
        }.items()
    }
    assert pictures["all"] == pictures["named"]
    assert len(set(pictures.values())) == 3


def test_what_a_report_cannot_show_is_said(
    cli: Cli, refused: Refused, tmp_path: Path, evaluated: Evaluated
) -> None:
    out = ("-o", tmp_path / "a.svg")
    bare = evaluated(scored=[0.5, 0.4], bare=[None, None])
    result = cli("plot", "reliability", bare, "-o", tmp_path / "half.svg")
    assert "note: No picture of bare: 6 of the 6 predicted mentions have no score" in result.err
    result = cli("plot", "precision-recall", bare, "-o", tmp_path / "pr.svg")
    assert "note: Undefined for bare: 6 of the 6 predicted mentions have no score" in result.err
    for kind in ("reliability", "precision-recall"):
        message = refused("plot", kind, bare, *out, "--system", "bare")
        assert f"there is no picture {kind} of {bare}: " in message
        assert "6 of the 6 predicted mentions have no score" in message
        assert "evaluate predictions that have a score for every mention" in message
    message = refused("plot", "heat", bare, *out, "--system", "bare")
    assert all(part in message for part in ("two systems", "only bare", "prediction files"))
    assert "'nobody' was asked for" in refused("plot", "scores", bare, *out, "--system", "nobody")
    scores = tmp_path / "scores.json"
    scores.write_text(
        cli("evaluate", tmp_path / "gold.fascicle.jsonl", tmp_path / "bare.jsonl", "--json").out
    )
    assert "it has no key fascicle_report" in refused("plot", "scores", scores, *out)
    assert not (tmp_path / "a.svg").exists()


def test_many_systems_of_a_report(
    cli: Cli, refused: Refused, tmp_path: Path, evaluated: Evaluated
) -> None:
    report = evaluated(**{f"s{i}": [0.5, 0.4] for i in range(15)})
    for kind in ("confusion", "scores"):
        message = refused("plot", kind, report, "-o", tmp_path / "a.svg")
        assert "15 systems of" in message
        assert "choose up to 12 with --system NAME" in message
    few = [part for i in range(12) for part in ("--system", f"s{i}")]
    assert cli("plot", "confusion", report, "-o", tmp_path / "b.svg", *few).code == 0


def test_a_system_is_chosen_of_a_report_only(refused: Refused, tmp_path: Path) -> None:
    message = refused("plot", "learning", tmp_path, "-o", tmp_path / "a.svg", "--system", "m")
    assert "choose no system" in message


def test_notes_do_nothing_to_a_terminal(cli: Cli, tmp_path: Path) -> None:
    name = "\x1b[31mred\nfascicle: error"
    mentions = (Mention(((0, 4),), name), Mention(((5, 9),), "A"))
    write_documents(
        tmp_path / "g.fascicle.jsonl", [Document(id="1", text="some text", mentions=mentions)]
    )
    report = tmp_path / "r.json"
    gold = tmp_path / "g.fascicle.jsonl"
    assert cli("evaluate", gold, gold, "--report", report).code == 0
    result = cli("plot", "confusion", report, "-o", tmp_path / "a.svg")
    assert result.err.count("\n") == 1
    assert "is “[U+001B][31mred fascicle: error”" in result.err


def test_without_matplotlib_the_extra_is_named(
    refused: Refused, evaluated: Evaluated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = evaluated(one=[0.9])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "fascicle[plots]" in refused("plot", "scores", report, "-o", tmp_path / "a.svg")


def test_the_page_has_every_kind() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "pictures.md").read_text(
        encoding="utf-8"
    )
    assert all(f"fascicle plot {kind} " in page for kind in KINDS)


def test_a_title_with_control_characters_is_refused(
    cli: Cli, tmp_path: Path, evaluated: Evaluated
) -> None:
    report, picture = evaluated(one=[0.9]), tmp_path / "p.svg"
    assert cli("plot", "scores", report, "-o", picture, "--title", "two\nlines").code == 0
    result = cli("plot", "scores", report, "-o", picture, "--overwrite", "--title", "a\x1b[2J")
    assert result.code == 2
    assert "control characters" in result.err
