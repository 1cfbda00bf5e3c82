"""``fascicle calibrate``: what is fitted is stored, applied by everything that predicts, and
copied by an export.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnx")

from fascicle.core.document import Document, Mention
from fascicle.errors import UsageError
from fascicle.formats import read, write
from fascicle.formats.conll import ConllOptions
from fascicle.formats.sources import source_sha256
from fascicle.loading import load
from fascicle.models.export.folders import export_model
from fascicle.runtime.decoding.selection import calibrate_scores, type_thresholds
from fascicle.settings.decision import Calibration, TemperatureCurve
from fascicle.settings.folders.manifest import (
    Manifest,
    ScoreDecision,
    check_open_types,
    read_manifest,
)
from fascicle.settings.heads import BinderSettings
from fascicle.settings.inputs import TokenizerFacts
from fascicle.settings.recipes.recogniser import ReadingSettings

Cli = Callable[..., Any]
Refused = Callable[..., str]


@pytest.fixture(scope="module")
def dev(tiny_run: Path, toy_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gold by which the model is mostly right above 0.5 and wrong below, but wrong where it is
    surest.
    """
    given = documents(toy_corpus)
    said = [
        (m.score or 0.0, d.id, m)
        for d, p in zip(given, load(tiny_run / "best").predict(given), strict=True)
        for m in p.add
    ]
    scores = sorted(score for score, _, _ in said)
    kept: dict[str, list[Mention]] = {d.id: [] for d in given}
    for score, identifier, mention in said:
        if (score >= 0.5) != (score in (scores[0], scores[-1])):
            kept[identifier].append(Mention(mention.spans, mention.type))
    path = tmp_path_factory.mktemp("calibrate") / "dev.tsv"
    write(
        path,
        (msgspec.structs.replace(d, mentions=tuple(kept[d.id])) for d in given),
        format="conll",
    )
    return path


@pytest.fixture(scope="module")
def onnx_model(tiny_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("onnx") / "fp32"
    export_model(tiny_run, target, int8=False)
    return target


def documents(path: Path) -> list[Document]:
    return list(read(path, format="conll", options=ConllOptions(documents="sentence")))


def calibrate(cli: Cli, model: Path, dev: Path, target: Path, *options: str) -> Any:
    return cli("calibrate", model, dev, "-o", target, "--documents", "sentence", *options)


@pytest.mark.parametrize(
    "options",
    [
        ["--method", "temperature"],
        ["--method", "isotonic", "--f1"],
        ["--method", "none", "--precision", "0.75"],
        ["--method", "temperature", "--recall", "0.6", "--per-type"],
    ],
)
@pytest.mark.parametrize("runtime", ["torch", "onnx"])
def test_a_calibrated_model_says_what_calibrating_its_predictions_says(
    cli: Cli,
    model: Path,
    onnx_model: Path,
    dev: Path,
    tmp_path: Path,
    runtime: str,
    options: list[str],
) -> None:
    source = model if runtime == "torch" else onnx_model
    result = calibrate(cli, source, dev, tmp_path / "new", *options)
    assert result.code == 0, result
    assert "so they are optimistic" in result.out
    decision = read_manifest(tmp_path / "new").decision
    assert decision.calibration
    assert decision.calibration.chosen_on == source_sha256(str(dev))
    raw, new = load(source).predict(documents(dev)), load(tmp_path / "new").predict(documents(dev))
    types = read_manifest(source).types
    least = dict(zip(types, type_thresholds(decision.calibration, types).tolist(), strict=True))
    dropped = 0
    for before, after in zip(raw, new, strict=True):
        scores = calibrate_scores(
            np.array([m.score for m in before.add], dtype=np.float64), decision.calibration
        ).tolist()
        kept = [(m.key, s) for m, s in zip(before.add, scores, strict=True) if s >= least[m.type]]
        assert [(m.key, m.score) for m in after.add] == kept
        below = [e for e in after.events if e.code == "below-threshold"]
        assert len(below) == (len(kept) < len(before.add))
        dropped += len(before.add) - len(kept)
    said = json.loads(calibrate(cli, source, dev, tmp_path / "again", *options, "--json").out)
    assert said["stages"][0]["mentions"] - said["stages"][-1]["mentions"] == dropped


def test_torch_and_onnx_say_the_same_after_an_export(
    cli: Cli, model: Path, dev: Path, tmp_path: Path
) -> None:
    assert calibrate(cli, model, dev, tmp_path / "new", "--method", "isotonic", "--f1").code == 0
    export_model(tmp_path / "new", tmp_path / "onnx", int8=False)
    assert read_manifest(tmp_path / "onnx").decision == read_manifest(tmp_path / "new").decision
    ours, theirs = (load(tmp_path / name).predict(documents(dev)) for name in ("onnx", "new"))
    assert sum(len(p.add) for p in ours)
    assert [[m.key for m in p.add] for p in ours] == [[m.key for m in p.add] for p in theirs]
    for a, b in zip(ours, theirs, strict=True):
        assert [m.score for m in a.add] == pytest.approx([m.score for m in b.add], abs=1e-3)


def test_an_export_in_8_bits_says_that_the_scores_change(
    cli: Cli, model: Path, dev: Path, tmp_path: Path
) -> None:
    told = "was calibrated with its weights in full; fit the scores of"
    calibrate(cli, model, dev, tmp_path / "new", "--f1")
    for source, expected in ((tmp_path / "new", True), (model, False)):
        result = cli(
            "export", source, "-o", tmp_path / f"int8-{expected}", "--int8", "--calibrate", dev
        )
        assert result.code == 0
        assert (told in result.err) == expected


def test_a_calibrated_model_looks_for_no_other_types() -> None:
    head = BinderSettings()
    tokenizer = TokenizerFacts(sha256="", prefix=(1,), suffix=(2,), pad=0)
    decision = ScoreDecision(answer="binder", decoding=head.decoding)
    manifest = Manifest(
        name="m",
        fascicle="0",
        runtime="torch",
        types=("A",),
        heads={"binder": head},
        reading=ReadingSettings(),
        tokenizer=tokenizer,
        decision=decision,
    )
    check_open_types(Path("m"), manifest)
    fitted = msgspec.structs.replace(decision, calibration=Calibration(chosen_on="x"))
    with pytest.raises(UsageError, match="its scores were calibrated for its own types"):
        check_open_types(Path("m"), msgspec.structs.replace(manifest, decision=fitted))


def test_what_is_fitted_on_either_runtime_is_the_same(
    cli: Cli, model: Path, onnx_model: Path, dev: Path, tmp_path: Path
) -> None:
    fitted = []
    for name, source in (("torch", model), ("onnx", onnx_model)):
        assert calibrate(cli, source, dev, tmp_path / name, "--f1").code == 0
        fitted.append(read_manifest(tmp_path / name).decision.calibration)
    first, second = fitted
    assert first
    assert second
    assert isinstance(first.curve, TemperatureCurve)
    assert isinstance(second.curve, TemperatureCurve)
    assert first.curve.temperature == pytest.approx(second.curve.temperature, rel=1e-3)
    assert first.threshold == pytest.approx(second.threshold, abs=1e-3)


def test_an_exported_model_needs_no_torch(onnx_model: Path, dev: Path, tmp_path: Path) -> None:
    argv = [
        "calibrate",
        str(onnx_model),
        str(dev),
        "-o",
        str(tmp_path / "new"),
        "--f1",
        "--method",
        "none",
    ]
    code = (
        "import sys\n"
        "for name in ('torch', 'transformers', 'accelerate', 'safetensors', 'onnx'): "
        "sys.modules[name] = None\n"
        f"from fascicle.cli import main; raise SystemExit(main({argv!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "new" / "model.onnx").is_file()


def test_a_second_calibration_starts_from_the_first_scores(
    cli: Cli, model: Path, dev: Path, tmp_path: Path
) -> None:
    calibrate(cli, model, dev, tmp_path / "one", "--f1")
    result = calibrate(cli, tmp_path / "one", dev, tmp_path / "two", "--f1", "--name", "other")
    assert "is calibrated already; the new calibration starts from its first scores" in result.err
    one, two = (read_manifest(tmp_path / name) for name in ("one", "two"))
    assert one.decision == two.decision
    assert two.name == "other"


def test_the_card_says_that_it_is_of_the_model_before(
    cli: Cli, onnx_model: Path, dev: Path, tmp_path: Path
) -> None:
    calibrate(cli, onnx_model, dev, tmp_path / "new", "--recall", "0.8", "--method", "isotonic")
    card = (tmp_path / "new" / "README.md").read_text(encoding="utf-8")
    assert card.startswith((onnx_model / "README.md").read_text(encoding="utf-8"))
    assert "was measured before" in card
    assert "- isotonic curve with" in card
    assert "- threshold for recall 0.8: " in card
    calibrate(
        cli, tmp_path / "new", dev, tmp_path / "again", "--recall", "0.9", "--method", "isotonic"
    )
    again = (tmp_path / "again" / "README.md").read_text(encoding="utf-8")
    assert again.count("## Calibration") == 1
    assert "- threshold for recall 0.9: " in again


def test_annotate_counts_what_it_left_out(cli: Cli, model: Path, dev: Path, tmp_path: Path) -> None:
    calibrate(cli, model, dev, tmp_path / "new", "--precision", "0.75", "--method", "none")
    result = cli(
        "annotate",
        dev,
        "--documents",
        "sentence",
        "--model",
        tmp_path / "new",
        "--verbose",
        "--format",
        "tsv",
    )
    assert result.code == 0
    assert "below the threshold of the model" in result.err


def test_types_that_only_the_gold_has_are_missed_and_said(
    cli: Cli, model: Path, dev: Path, tmp_path: Path
) -> None:
    changed = tmp_path / "dev.tsv"
    changed.write_text(
        dev.read_text(encoding="utf-8").replace("doctor\tO", "doctor\tB-Person"), encoding="utf-8"
    )
    plain, result = (
        calibrate(cli, model, path, tmp_path / path.parent.name, "--json")
        for path in (dev, changed)
    )
    assert (
        "the model lacks types of the gold, 'Person' (2); their mentions count as missed"
        in result.err
    )
    first, second = (json.loads(one.out)["stages"][0] for one in (plain, result))
    assert second["recall"] < first["recall"]
    assert second["precision"] == first["precision"]


def test_mentions_of_other_types_are_not_fitted_on(
    cli: Cli, model: Path, dev: Path, tmp_path: Path
) -> None:
    types = sorted({mention.type for document in documents(dev) for mention in document.mentions})
    options = ("--json", "--method", "none", "--f1")
    results = [
        calibrate(cli, model, dev, tmp_path / str(len(g)), *options, *g)
        for g in ((), ("--type", types[0]))
    ]
    assert [(result.code, result.err) for result in results if result.code] == []
    every, one = (json.loads(result.out)["stages"][0] for result in results)
    assert len(types) > 1
    said = [m for patch in load(model).predict(documents(dev)) for m in patch.add]
    assert every["mentions"] == len(said)
    assert one["mentions"] == sum(mention.type == types[0] for mention in said) < len(said)
    assert one["recall"] == pytest.approx(1.0)  # all gold here is what the model says


def test_types_that_a_model_keeps_apart_count_only_where_the_gold_has_them(
    cli: Cli, model: Path, dev: Path, tmp_path: Path
) -> None:
    apart = Path(shutil.copytree(model, tmp_path / "apart"))
    described = json.loads((apart / "model.json").read_text(encoding="utf-8"))
    hidden, *rest = described["types"]
    described["decision"]["apart"] = [hidden]
    (apart / "model.json").write_text(json.dumps(described), encoding="utf-8")
    other = tmp_path / "other.tsv"
    bare = [
        msgspec.structs.replace(d, mentions=tuple(m for m in d.mentions if m.type != hidden))
        for d in documents(dev)
    ]
    write(other, bare, format="conll")
    said = [m.type for patch in load(model).predict(documents(dev)) for m in patch.add]
    assert 0 < said.count(hidden) < len(said)
    options = ("--json", "--method", "none", "--f1", "--abbreviations")
    stages, merits = [], []
    for number, gold in enumerate((dev, other)):
        result = calibrate(cli, apart, gold, tmp_path / str(number), *options)
        assert result.code == 0, result
        value = json.loads(result.out)
        stages.append(value["stages"][0])
        merits.append(value["abbreviations"]["dev_f1_without"])
    every, shown = stages
    assert every["mentions"] == len(said)
    assert shown["mentions"] == len(said) - said.count(hidden)
    assert shown["name"] == "uncalibrated"
    types = [option for kind in rest for option in ("--type", kind)]
    alone = json.loads(calibrate(cli, apart, other, tmp_path / "alone", *options, *types).out)
    assert alone["stages"][0] == shown
    assert alone["abbreviations"]["dev_f1_without"] == merits[1]


def test_a_type_that_the_model_lacks_is_refused(
    refused: Refused, model: Path, dev: Path, tmp_path: Path
) -> None:
    types = sorted({mention.type for document in documents(dev) for mention in document.mentions})
    place = ("-o", tmp_path / "new", "--documents", "sentence")
    assert "'Thing'" in refused("calibrate", model, dev, *place, "--type", f"{types[0]}=Thing")
    assert not (tmp_path / "new").exists()


def test_what_cannot_be_done_is_refused_before_long_work(
    refused: Refused, model: Path, dev: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new"
    assert "name a folder with -o" in refused("calibrate", model, dev)
    assert "--per-type needs a target" in refused("calibrate", model, dev, "-o", new, "--per-type")
    assert "--method none needs a target" in refused(
        "calibrate", model, dev, "-o", new, "--method", "none"
    )
    assert "not allowed with argument" in refused(
        "calibrate", model, dev, "-o", new, "--f1", "--recall", "0.9"
    )
    for wrong in ("90", "0", "-1", "nan", "much"):
        told = refused("calibrate", model, dev, "-o", new, f"--precision={wrong}")
        assert "give a number above 0 and up to 1" in told
    assert "platt" in refused("calibrate", model, dev, "-o", new, "--method", "platt")
    assert "the model keeps its hash; give a file" in refused("calibrate", model, "-", "-o", new)
    assert str(model) in refused("calibrate", model, dev, "-o", model)
    assert "would be lost" in refused("calibrate", model, dev, "-o", model.parent, "--overwrite")
    assert "there is no model" in refused("calibrate", tmp_path / "none", dev, "-o", new)
    assert "cannot be read" in refused("calibrate", model, tmp_path / "none.tsv", "-o", new)
    assert 'cannot be named "gold"' in refused(
        "calibrate", model, dev, "-o", new, "--f1", "--name", "gold"
    )
    assert "control characters" in refused(
        "calibrate", model, dev, "-o", new, "--f1", "--name", "a\x1b[2J"
    )
    assert not new.exists()


def test_what_cannot_be_fitted_is_one_sentence_and_writes_nothing(
    cli: Cli, refused: Refused, model: Path, dev: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    new, options = tmp_path / "new", ("--documents", "sentence", "--method", "none")
    bare = tmp_path / "bare.tsv"
    bare.write_text("lung\tO\ncancer\tO\n", encoding="utf-8")
    assert "the gold holds no mention" in refused(
        "calibrate", model, bare, "-o", new, *options, "--f1"
    )
    silent = tmp_path / "silent.tsv"
    silent.write_text("the\tO\ndoctor\tB-Disease\nwas\tO\n", encoding="utf-8")
    assert "nothing was predicted" in refused(
        "calibrate", model, silent, "-o", new, *options, "--f1"
    )
    other = tmp_path / "other.tsv"
    other.write_text(
        toy_corpus.read_text(encoding="utf-8").replace("B-Disease", "B-Other"), encoding="utf-8"
    )
    result = cli("calibrate", model, other, "-o", new, *options, "--recall", "0.99")
    assert result.code == 2
    assert "no threshold gives a recall of 0.99; the best is" in result.err
    assert not new.exists()
