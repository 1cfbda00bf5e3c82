"""``fascicle calibrate --abbreviations``: rules are chosen, kept in the folder, and applied by
everything.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("onnx")

import fascicle
from fascicle.core.document import Document, Mention
from fascicle.formats import write
from fascicle.formats.sources import source_sha256
from fascicle.models.export.folders import export_model
from fascicle.settings.folders.manifest import read_manifest
from fascicle.settings.recipes.ensemble import read_ensemble

Cli = Callable[..., Any]
Refused = Callable[..., str]
TEXT = "the patient had lung cancer ( LC ) . the doctor gave LC for the patient"
LC = (53, 55)


@pytest.fixture(scope="module")
def dev(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gold that the model finds but for a short form, which is what its long form is."""
    path = tmp_path_factory.mktemp("dev") / "dev.jsonl"
    assert LC not in said(model)
    mentions = tuple(Mention((span,), "Disease") for span in (*said(model), LC))
    write(path, [Document(id=str(number), text=TEXT, mentions=mentions) for number in range(3)])
    return path


def test_rules_are_chosen_and_applied(cli: Cli, model: Path, dev: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    result = cli(
        "calibrate", model, dev, "-o", new, "--method", "none", "--abbreviations", "--json"
    )
    assert result.code == 0, result
    printed = json.loads(result.out)
    decision = read_manifest(new).decision
    assert decision.abbreviations
    assert decision.abbreviations.chosen_on == source_sha256(str(dev))
    assert decision.calibration == read_manifest(model).decision.calibration
    assert printed["abbreviations"]["spread"] == decision.abbreviations.spread == "exact"
    assert printed["abbreviations"]["dev_f1"] == 1.0 > printed["abbreviations"]["dev_f1_without"]
    assert printed["abbreviations"]["definitions"] == 3
    for folder in (new, exported(new, tmp_path)):
        assert said(folder) == [*said(model), LC]
        scored = json.loads(cli("evaluate", dev, "--model", folder, "--json").out)
        assert json.dumps(scored).count('"f1": 1.0')
    again = cli(
        "calibrate", new, dev, "-o", tmp_path / "again", "--method", "none", "--abbreviations"
    )
    assert "+" in again.out
    assert read_manifest(tmp_path / "again").decision.abbreviations == decision.abbreviations


def said(model: Path) -> list[tuple[int, int]]:
    """Where the mentions of a model are in the text."""
    return [mention.spans[0] for mention in fascicle.load(model)(TEXT)]


def exported(run: Path, tmp_path: Path) -> Path:
    export_model(run, tmp_path / "onnx", int8=False)
    return tmp_path / "onnx"


def test_an_ensemble_gets_rules_and_nothing_else(
    cli: Cli, refused: Refused, model: Path, dev: Path, tmp_path: Path
) -> None:
    new, vote = tmp_path / "new", tmp_path / "vote"
    assert (
        cli("calibrate", model, dev, "-o", tmp_path / "other", "--f1", "--method", "none").code == 0
    )
    assert cli("ensemble", "union", model, tmp_path / "other", "-o", vote).code == 0
    result = cli(
        "calibrate", vote, dev, "-o", new, "--method", "none", "--abbreviations", "--name", "ruled"
    )
    assert result.code == 0, result
    manifest = read_ensemble(new)
    assert manifest.name == "ruled"
    assert manifest.abbreviations
    assert manifest.abbreviations.spread == "exact"
    assert said(new) == [*said(model), LC]
    assert not read_ensemble(vote).abbreviations
    assert "ensemble" in refused("calibrate", vote, dev, "-o", tmp_path / "no", "--abbreviations")


def test_rules_are_not_chosen_where_nothing_is_known_to_be_right(
    refused: Callable[..., str], model: Path, tmp_path: Path
) -> None:
    text = tmp_path / "text.txt"
    text.write_text(TEXT, encoding="utf-8")
    said = refused(
        "calibrate", model, text, "-o", tmp_path / "new", "--method", "none", "--abbreviations"
    )
    assert "the gold holds no mention" in said
    assert not (tmp_path / "new").exists()


def test_scores_and_rules_together(cli: Cli, model: Path, dev: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    assert (
        cli("calibrate", model, dev, "-o", new, "--method", "none", "--f1", "--abbreviations").code
        == 0
    )
    decision = read_manifest(new).decision
    assert decision.calibration
    assert decision.abbreviations
    kept = cli("calibrate", new, dev, "-o", tmp_path / "kept", "--method", "none", "--f1")
    assert "stay" in kept.err
    assert read_manifest(tmp_path / "kept").decision.abbreviations == decision.abbreviations


def test_single_sentences_are_told(cli: Cli, model: Path, toy_corpus: Path, tmp_path: Path) -> None:
    arguments = ("calibrate", model, toy_corpus, "-o", tmp_path / "new", "--documents", "sentence")
    result = cli(*arguments, "--method", "none", "--abbreviations")
    assert result.code == 0, result
    assert "whole documents" in result.err
    rules = read_manifest(tmp_path / "new").decision.abbreviations
    assert rules
    assert not rules.change


def test_annotate_gives_abbreviations(cli: Cli, model: Path, tmp_path: Path) -> None:
    arguments = ("annotate", "--text", TEXT, "--model", model)
    bare, found = cli(*arguments, "--json"), cli(*arguments, "--abbreviations", "--json")
    assert "abbreviations" not in json.loads(bare.out)
    assert json.loads(found.out)["abbreviations"] == [[[30, 32], [16, 27]]]
    shown = cli(*arguments, "--abbreviations", "--format", "text").out
    assert any(
        "LC" in line and "lung cancer" in line and "[" not in line for line in shown.splitlines()
    )
    lost = cli(*arguments, "--abbreviations", "--format", "pubtator")
    assert "loss abbreviations: 1" in lost.err
    assert (
        cli(*arguments, "--abbreviations", "--format", "tsv").out
        == cli(*arguments, "--format", "tsv").out
    )
