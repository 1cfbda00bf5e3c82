"""``fascicle calibrate --document``: fitted on texts that did not teach the model, stored, and
applied.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fascicle.core.document import Document, Mention
from fascicle.errors import UsageError
from fascicle.formats import write
from fascicle.loading import load, load_single
from fascicle.runtime.choice import with_end_rule
from fascicle.runtime.decoding.deciding import decide_mentions
from fascicle.runtime.ensemble import EnsemblePredictor
from fascicle.runtime.places import find_model
from fascicle.settings.folders.manifest import read_manifest, write_manifest
from fascicle.text.segment import segmenter
from fascicle.text.taught import TAUGHT, all_sentence_hashes, pack_hashes

Cli = Callable[..., Any]
Refused = Callable[..., str]
MODEL = "biomed-fast@2"
SENTENCES = (
    "Mutations of BRCA1 and of TP53 were found in {n} patients with breast cancer and were "
    "confirmed by sequencing.",
    "The expression of EGFR was raised in the samples of group {n}, and that of KRAS was not "
    "changed at all in them.",
    "Treatment {n} with cisplatin lowered BRCA1 in mice, but neither EGFR nor TP53 was changed "
    "by the treatment.",
)


@pytest.fixture(scope="module")
def texts() -> list[Document]:
    return [
        Document(id=str(n), text=" ".join(one.format(n=n) for one in SENTENCES)) for n in range(30)
    ]


@pytest.fixture(scope="module")
def dev(texts: list[Document], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gold by which every gene of the list is right, and nothing else that the model may find."""
    path = tmp_path_factory.mktemp("dev") / "dev.jsonl"
    write(path, map(with_gold, texts), format="native")
    return path


def with_gold(document: Document) -> Document:
    spans = [
        (start, start + len(name))
        for name in ("BRCA1", "TP53", "EGFR", "KRAS")
        for start in range(len(document.text))
        if document.text.startswith(name, start)
    ]
    return msgspec.structs.replace(
        document, mentions=tuple(Mention((span,), "Gene") for span in sorted(spans))
    )


@pytest.fixture
def listing_model(texts: list[Document], tmp_path: Path) -> Path:
    """A model that lists the first text as one that taught it."""
    folder = tmp_path / "listing"
    shutil.copytree(find_model(MODEL), folder)
    (folder / TAUGHT).write_bytes(
        pack_hashes(all_sentence_hashes(texts[:1], segmenter("rules@1").sentences))
    )
    write_manifest(folder, read_manifest(folder))
    return folder


@pytest.fixture
def silent_model(tmp_path: Path) -> Path:
    """A model that lists no text."""
    folder = tmp_path / "silent"
    shutil.copytree(find_model(MODEL), folder)
    (folder / TAUGHT).unlink()
    manifest = read_manifest(folder)
    write_manifest(folder, manifest, names=[name for name in manifest.files if name != TAUGHT])
    return folder


def test_what_is_fitted_is_stored_said_and_applied(
    cli: Cli, silent_model: Path, dev: Path, texts: list[Document], tmp_path: Path
) -> None:
    target = tmp_path / "model"
    said = cli("calibrate", silent_model, dev, "-o", target, "--document", "--untaught", "--json")
    value = json.loads(said.out)
    manifest = read_manifest(target)
    assert manifest.decision.document
    assert msgspec.to_builtins(manifest.decision.document) == value["document"]
    assert set(manifest.decision.document.types) == {"Gene"}  # the other types have no gold
    assert list(manifest.decision.document.chosen_on) == ["dev.jsonl"]
    assert manifest.decision.document.untaught is msgspec.UNSET
    (row,) = value["rows"]
    assert row["after"] >= row["before"]
    assert "the statement of whoever fitted it" in (target / "README.md").read_text(
        encoding="utf-8"
    )
    found = load(target, links=False).predict(texts)
    expected = [{(m.type, m.spans) for m in with_gold(one).mentions} for one in texts]
    tp = sum(
        len({(m.type, m.spans) for m in patch.add} & gold)
        for patch, gold in zip(found, expected, strict=True)
    )
    count = sum(m.type == "Gene" for patch in found for m in patch.add)
    f1 = 2 * tp / (count + sum(map(len, expected)))
    assert f1 == pytest.approx(row["after"])


def test_answers_of_a_decided_model_depend_on_nothing_but_the_document(
    cli: Cli, dev: Path, texts: list[Document], tmp_path: Path
) -> None:
    cli("calibrate", MODEL, dev, "-o", tmp_path / "model", "--document", "--untaught")
    model = load_single(tmp_path / "model")
    assert [model.predict([one])[0] for one in texts[:5]] == model.predict(texts)[:5]
    assert [one.patch for one in model.tag(texts[:5])] == model.predict(texts[:5])


def test_a_model_that_lists_nothing_needs_a_statement(
    refused: Refused, silent_model: Path, dev: Path, tmp_path: Path
) -> None:
    assert "--untaught" in refused(
        "calibrate", silent_model, dev, "-o", tmp_path / "model", "--document"
    )
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    "options", [["--document"], ["--f1"], ["--abbreviations", "--method", "none"]]
)
def test_texts_that_taught_are_refused(
    refused: Refused, listing_model: Path, dev: Path, tmp_path: Path, options: list[str]
) -> None:
    said = refused("calibrate", listing_model, dev, "-o", tmp_path / "model", *options)
    assert "1 text on which" in said
    assert not (tmp_path / "model").exists()


def test_texts_that_did_not_teach_are_counted(
    cli: Cli, listing_model: Path, texts: list[Document], tmp_path: Path
) -> None:
    write(tmp_path / "dev.jsonl", map(with_gold, texts[1:]), format="native")
    cli("calibrate", listing_model, tmp_path / "dev.jsonl", "-o", tmp_path / "model", "--document")
    document = read_manifest(tmp_path / "model").decision.document
    assert document
    assert document.untaught == len(texts) - 1


def test_few_mentions_decide_nothing(
    refused: Refused, texts: list[Document], tmp_path: Path
) -> None:
    write(tmp_path / "dev.jsonl", map(with_gold, texts[:5]), format="native")
    said = refused(
        "calibrate",
        MODEL,
        tmp_path / "dev.jsonl",
        "-o",
        tmp_path / "model",
        "--document",
        "--untaught",
    )
    assert "100 gold mentions" in said


@pytest.mark.parametrize("options", [["--document", "--f1"], ["--untaught"]])
def test_options_that_say_nothing_together(
    refused: Refused, dev: Path, tmp_path: Path, options: list[str]
) -> None:
    refused("calibrate", MODEL, dev, "-o", tmp_path / "model", *options)


def test_several_files_need_the_option(refused: Refused, dev: Path, tmp_path: Path) -> None:
    assert "--document" in refused("calibrate", MODEL, dev, dev, "-o", tmp_path / "model")


def test_another_calibration_leaves_the_decision_out(cli: Cli, dev: Path, tmp_path: Path) -> None:
    cli("calibrate", MODEL, dev, "-o", tmp_path / "one", "--document", "--untaught")
    said = cli(
        "calibrate",
        tmp_path / "one",
        dev,
        "-o",
        tmp_path / "two",
        "--type",
        "Gene",
        "--method",
        "isotonic",
    )
    assert said.code == 0, said
    assert read_manifest(tmp_path / "two").decision.document is msgspec.UNSET


def test_an_ensemble_has_a_decision_of_its_own(
    cli: Cli, refused: Refused, dev: Path, texts: list[Document], tmp_path: Path
) -> None:
    cli("ensemble", "union", MODEL, "biomed@3", "-o", tmp_path / "both")
    said = cli(
        "calibrate", tmp_path / "both", dev, "-o", tmp_path / "decided", "--document", "--json"
    )
    value = json.loads(said.out)
    made = load(tmp_path / "decided", links=False)
    assert isinstance(made, EnsemblePredictor)
    assert msgspec.to_builtins(made.manifest.document) == value["document"]
    assert value["document"]["untaught"] == len(texts)  # by the lists of the members
    (row,) = value["rows"]
    assert row["after"] >= row["before"]
    before = load(tmp_path / "both", links=False).predict(texts)
    after = made.predict(texts)
    expected = [
        decide_mentions(
            one, patch, made.manifest.document, sentences=segmenter("rules@1").sentences
        )
        for one, patch in zip(texts, before, strict=True)
    ]
    assert [one.add for one in after] == [one.add for one in expected]
    assert [made.predict([one])[0] for one in texts[:5]] == after[:5]
    bare = with_end_rule(made, "bare")
    assert isinstance(bare, EnsemblePredictor)
    assert {one.ends for one in bare.manifest.document.types.values()} == {"bare"}
    with pytest.raises(UsageError, match="no decision for documents"):
        with_end_rule(load(tmp_path / "both", links=False), "bare")


def test_a_list_of_a_member_counts_for_an_ensemble(
    refused: Refused, cli: Cli, listing_model: Path, dev: Path, tmp_path: Path
) -> None:
    cli("ensemble", "union", listing_model, "biomed@3", "-o", tmp_path / "both")
    said = refused("calibrate", tmp_path / "both", dev, "-o", tmp_path / "decided", "--document")
    assert "1 text on which" in said
