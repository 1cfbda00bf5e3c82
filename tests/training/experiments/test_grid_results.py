"""Results files: every number against a count of its own."""

from __future__ import annotations

import errno
import gzip
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.runs import finish

from fascicle.errors import InputError, OutputError
from fascicle.evaluation.scoring.scores import Counts, Scores
from fascicle.evaluation.uncertainty.intervals import bootstrap_f1
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.corpus import read_part
from fascicle.training.experiments.results import (
    make_result,
    other_heads,
    read_result,
    stored_scores,
    write_result,
)

Maker = Callable[..., Recipe]
LABELS = {"grid": "g", "tier": "smoke", "corpus": "toy", "system": "softmax", "variant": ""}


@pytest.fixture(scope="module")
def spoilt_run(
    tiny_run: Path, tiny_recipe: Maker, toy_corpus: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A run folder whose test predictions have errors, with the scores that belong to them."""
    folder = tmp_path_factory.mktemp("spoilt") / "run"
    shutil.copytree(tiny_run, folder)
    path = folder / "predictions" / "test.tsv"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    head, rows = lines[0], lines[1:]
    rows = [
        row.replace("Disease", "Chemical") if i == 3 else row
        for i, row in enumerate(rows)
        if i not in (0, 7)
    ]
    path.write_text("".join([head, *rows]), encoding="utf-8")
    scores = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    scores["test"]["micro"] = {
        **{"precision": 15 / 16, "recall": 15 / 18, "f1": 30 / 34},
        **{"support": 18, "predicted": 16, "tp": 15, "fp": 1, "fn": 3},
    }
    (folder / "scores.json").write_text(json.dumps(scores), encoding="utf-8")
    return folder


@pytest.fixture
def recipe(tiny_recipe: Maker, toy_corpus: Path) -> Recipe:
    return tiny_recipe(corpus={"test": str(toy_corpus)})


def made(folder: Path, recipe: Recipe) -> dict[str, Any]:
    return make_result(folder, recipe, portable=recipe, recipe_hash="abc", labels=LABELS)


def said(folder: Path) -> dict[str, set[tuple[str, int, int]]]:
    found: dict[str, set[tuple[str, int, int]]] = {}
    for line in (folder / "predictions" / "test.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        identifier, kind, start, end, _ = line.split("\t")
        found.setdefault(identifier, set()).add((kind, int(start), int(end)))
    return found


def test_counts_interval_and_recall(spoilt_run: Path, recipe: Recipe) -> None:
    value, found, counts = made(spoilt_run, recipe), said(spoilt_run), []
    documents = read_part(recipe.corpus, "test")
    for document in documents:
        gold = {(m.type, m.start, m.end) for m in document.mentions}
        here = found.get(document.id, set())
        counts.append([len(gold & here), len(here - gold), len(gold - here)])
    assert value["test_counts"] == counts
    assert value["test_unit"] == "document"
    assert np.array(counts).sum(axis=0).tolist() == [15, 1, 3]
    by_document = {str(i): Counts(tp=a, fp=b, fn=c) for i, (a, b, c) in enumerate(counts)}
    scores = Scores(counts=Counts(tp=15, fp=1, fn=3), by_type={}, by_document=by_document)
    assert value["test_f1_interval"] == bootstrap_f1(scores, resamples=1000, seed=0).as_dict()
    assert stored_scores(value["test_counts"]) == scores
    # Train is test here, so that every mention was seen; none lies inside another.
    full, none = (
        {"gold": 18, "found": 15, "recall": 15 / 18},
        {"gold": 0, "found": 0, "recall": None},
    )
    assert value["test_recall"] == {
        "seen": full,
        "unseen": none,
        "outermost": full,
        "inner": none,
        "nested": none,
        "same_span": none,
        "continuous": full,
        "discontinuous": none,
    }


def test_seen_is_what_train_has(
    spoilt_run: Path, tiny_recipe: Maker, toy_corpus: Path, tmp_path: Path
) -> None:
    train = tmp_path / "train.tsv"
    train.write_text(
        "lung\tB-Disease\ncancer\tI-Disease\n\nPain\tB-Disease\naspirin\tB-Disease\n",
        encoding="utf-8",
    )
    recall = made(spoilt_run, tiny_recipe(corpus={"train": str(train), "test": str(toy_corpus)}))[
        "test_recall"
    ]
    gold = [(m, d) for d in read_part(tiny_recipe().corpus, "train") for m in d.mentions]
    cancers = [(m, d) for m, d in gold if m.text_in(d.text) == "lung cancer"]
    found = said(spoilt_run)
    hits = [(m.type, m.start, m.end) in found.get(d.id, set()) for m, d in cancers]
    assert recall["seen"] == {"gold": 2, "found": sum(hits), "recall": sum(hits) / 2}
    assert recall["unseen"]["gold"] == 16
    assert recall["unseen"]["found"] == 15 - sum(hits)


def test_what_a_results_file_holds(tiny_run: Path, recipe: Recipe) -> None:
    value = made(tiny_run, recipe)
    scores = json.loads((tiny_run / "scores.json").read_text(encoding="utf-8"))
    assert list(value)[:9] == [
        "run",
        "hash",
        "date",
        "grid",
        "tier",
        "corpus",
        "system",
        "variant",
        "seed",
    ]
    assert (value["run"], value["hash"], value["seed"]) == ("tiny-s1", "abc", 1)
    assert {key: value[key] for key in ("epoch", "step", "dev", "test", "seconds")} == scores
    assert value["peak_rss_bytes"] is None
    assert [line["epoch"] for line in value["epochs"]] == list(range(1, 13))
    assert value["facts"] == json.loads((tiny_run / "run.json").read_text(encoding="utf-8"))
    assert "torch" in value["facts"]["environment"]["packages"]
    assert value["recipe"]["training"]["learning_rate"] == 1e-2
    assert str(tiny_run.parent.parent) not in json.dumps(value)  # no folder of this machine


def test_cost_is_taken_from_the_run_folder(tiny_run: Path, recipe: Recipe, tmp_path: Path) -> None:
    shutil.copytree(tiny_run, tmp_path / "run")
    (tmp_path / "run" / "cost.json").write_text('{"peak_rss_bytes": 5}', encoding="utf-8")
    before = json.loads((tiny_run / "scores.json").read_text(encoding="utf-8"))["seconds"]
    value = made(tmp_path / "run", recipe)
    assert (value["peak_rss_bytes"], value["seconds"]) == (5, before)
    (tmp_path / "run" / "cost.json").write_text(
        '{"peak_rss_bytes": 6, "seconds": 99.5}', encoding="utf-8"
    )
    value = made(tmp_path / "run", recipe)
    assert (value["peak_rss_bytes"], value["seconds"]) == (6, 99.5)


def test_without_a_test_part(tiny_run: Path, tiny_recipe: Maker, tmp_path: Path) -> None:
    shutil.copytree(tiny_run, tmp_path / "run")
    scores = json.loads((tiny_run / "scores.json").read_text(encoding="utf-8"))
    (tmp_path / "run" / "scores.json").write_text(
        json.dumps({**scores, "test": None}), encoding="utf-8"
    )
    value = made(tmp_path / "run", tiny_recipe())
    keys = ("test", "test_f1_interval", "test_unit", "test_counts", "test_recall")
    assert [value[key] for key in keys] == [None] * 5
    write_result(tmp_path / "results", value, None)
    assert {p.name for p in (tmp_path / "results").iterdir()} == {"tiny-s1.json"}
    assert read_result(tmp_path / "results", "tiny-s1") == value


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tiny-s1.json", b"my notes"),
        ("tiny-s1.json", b'{"text": "a corpus"}'),
        ("tiny-s1.json", b'{"run": "another-s1"}'),
        ("predictions/tiny-s1.test.tsv.gz", b"no gzip"),
        ("predictions/tiny-s1.test.tsv.gz", gzip.compress(b"my notes", mtime=0)),
    ],
)
def test_what_is_no_result_is_not_replaced(
    tiny_run: Path, recipe: Recipe, tmp_path: Path, name: str, content: bytes
) -> None:
    place = tmp_path / "results" / name
    place.parent.mkdir(parents=True)
    place.write_bytes(content)
    value, predictions = made(tiny_run, recipe), tiny_run / "predictions" / "test.tsv"
    with pytest.raises(OutputError, match=place.name):
        write_result(tmp_path / "results", value, predictions)
    assert place.read_bytes() == content
    place.unlink()
    for _ in range(2):
        write_result(tmp_path / "results", value, predictions)


def test_one_document_is_resampled_by_sentence(
    tiny_recipe: Maker, toy_corpus: Path, tmp_path: Path
) -> None:
    parts = {"test": str(toy_corpus), "documents": "file"}
    recipe = tiny_recipe(corpus=parts, training={"epochs": 5})
    finish(recipe, tmp_path / "run")
    value = made(tmp_path / "run", recipe)
    (document,) = read_part(recipe.corpus, "test")
    found = said(tmp_path / "run")[document.id]
    counts = []
    for start, end in document.sentences or ():
        gold = {(m.type, m.start, m.end) for m in document.mentions if start <= m.start < end}
        here = {key for key in found if start <= key[1] < end}
        counts.append([len(gold & here), len(here - gold), len(gold - here)])
    assert value["test_unit"] == "sentence"
    assert value["test_counts"] == counts
    assert len(counts) == 10
    micro = value["test"]["micro"]
    assert np.array(counts).sum(axis=0).tolist() == [micro["tp"], micro["fp"], micro["fn"]]


def test_another_corpus_than_the_one_that_was_scored(
    spoilt_run: Path, tiny_recipe: Maker, tmp_path: Path
) -> None:
    other = tmp_path / "other.tsv"
    other.write_text("the\tO\n\naspirin\tB-Chemical\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"names the document '.*', which is not in the test part"):
        made(spoilt_run, tiny_recipe(corpus={"test": str(other)}))


def test_scores_that_are_not_those_of_the_predictions(
    tiny_run: Path, recipe: Recipe, tmp_path: Path
) -> None:
    shutil.copytree(tiny_run, tmp_path / "run")
    path = tmp_path / "run" / "predictions" / "test.tsv"
    path.write_text(
        "".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8"
    )
    with pytest.raises(InputError, match="do not give the scores that stand there"):
        made(tmp_path / "run", recipe)


@pytest.mark.parametrize("content", ["", "[]", "{"])
def test_a_damaged_run_folder(tiny_run: Path, recipe: Recipe, tmp_path: Path, content: str) -> None:
    shutil.copytree(tiny_run, tmp_path / "run")
    (tmp_path / "run" / "run.json").write_text(content, encoding="utf-8")
    with pytest.raises(
        OutputError, match=r"run\.json of a run .*; move the folder away to run again"
    ):
        made(tmp_path / "run", recipe)


def test_files(tiny_run: Path, recipe: Recipe, tmp_path: Path) -> None:
    value, predictions = made(tiny_run, recipe), tiny_run / "predictions" / "test.tsv"
    results = tmp_path / "a" / "results"
    write_result(results, value, predictions)
    packed = results / "predictions" / "tiny-s1.test.tsv.gz"
    assert gzip.decompress(packed.read_bytes()) == predictions.read_bytes()
    text = (results / "tiny-s1.json").read_text(encoding="utf-8")
    assert json.loads(text) == value == read_result(results, "tiny-s1")
    lines = [
        line
        for line in text.splitlines()
        if line.startswith((' "test_counts": [[', '  {"epoch": '))
    ]
    assert len(lines) == 1 + 12  # the counts, and one line an epoch
    before = packed.read_bytes()
    write_result(results, {**value, "seconds": 0.5}, predictions)
    assert read_result(results, "tiny-s1")["seconds"] == 0.5
    assert packed.read_bytes() == before


@pytest.mark.parametrize("content", [None, "", "[]", "{", "[" * 20_000])
def test_no_result(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "x.json").write_text(content, encoding="utf-8")
    assert read_result(tmp_path, "x") == {}


def test_a_full_disk_leaves_nothing_half_written(
    tiny_run: Path, recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value, predictions = made(tiny_run, recipe), tiny_run / "predictions" / "test.tsv"
    write_result(tmp_path / "results", value, predictions)
    before = {p: p.read_bytes() for p in (tmp_path / "results").rglob("*") if p.is_file()}
    synced = os.fsync

    def full(handle: int) -> None:
        if os.fstat(handle).st_size > 2000:  # the small predictions fit, the results file does not
            raise OSError(errno.ENOSPC, "No space left on device")
        synced(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        OutputError, match=r"tiny-s1\.json cannot be written: No space left on device"
    ):
        write_result(tmp_path / "results", {**value, "seconds": 0.5}, predictions)
    with pytest.raises(OutputError, match="No space left on device"):
        write_result(tmp_path / "new", value, predictions)
    assert {p: p.read_bytes() for p in (tmp_path / "results").rglob("*") if p.is_file()} == before
    assert read_result(tmp_path / "new", "tiny-s1") == {}


def test_a_place_that_cannot_be_made(tiny_run: Path, recipe: Recipe, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"cannot be made: .*; give another with -o"):
        write_result(tmp_path / "file" / "results", made(tiny_run, recipe), None)


def test_each_head_of_a_bundle_has_its_file(
    tiny_recipe: Maker, toy_corpus: Path, tmp_path: Path
) -> None:
    recipe = tiny_recipe(
        model={"family": "span", "pooling": "max"},
        bundle={"family": "softmax"},
        corpus={"test": str(toy_corpus)},
        training={"epochs": 3},
    )
    finish(recipe, tmp_path / "run")
    scores = json.loads((tmp_path / "run" / "scores.json").read_text(encoding="utf-8"))
    assert other_heads(tmp_path / "run") == ("softmax",)
    own, other = (
        make_result(
            tmp_path / "run", recipe, portable=recipe, recipe_hash="abc", labels=LABELS, head=head
        )
        for head in ("", "softmax")
    )
    assert (own["run"], own["head"], other["run"], other["head"]) == (
        "tiny-s1",
        "span",
        "tiny-s1.softmax",
        "softmax",
    )
    assert own["test"] == scores["test"]
    assert other["test"] == scores["others"]["softmax"]["test"]
    for value in (own, other):
        total = np.array(value["test_counts"]).sum(axis=0).tolist()
        assert total == [value["test"]["micro"][name] for name in ("tp", "fp", "fn")]
