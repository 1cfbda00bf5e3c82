"""The decision fitted on dev: the network runs once, and the best value is the best by plain
search.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from fascicle.core.document import Document, Mention
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import score
from fascicle.loading import load
from fascicle.models.export.folders import export_model
from fascicle.models.model import TorchScorer, load_model
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.folders.manifest import read_manifest
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.reading import CachedReader
from fascicle.training.recogniser.judging import BIASES, fit_threshold
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.run import run_recipe

Maker = Callable[..., Recipe]
FAMILIES = ["softmax", "crf", "span"]


class Counting:
    """A scorer that counts its runs."""

    def __init__(self, scorer: Any) -> None:
        self.scorer, self.runs = scorer, 0

    def run(self, inputs: Any) -> Any:
        self.runs += 1
        return self.scorer.run(inputs)


@pytest.mark.parametrize("family", FAMILIES)
def test_it_is_the_best_value_by_plain_search(
    tiny_recipe: Maker, tmp_path: Path, family: str
) -> None:
    recipe = tiny_recipe(model={"family": family, "pooling": "max"}, training={"epochs": 4})
    for _ in run_recipe(recipe, tmp_path / "run"):
        pass
    best = tmp_path / "run" / "best"
    manifest, dev = read_manifest(best), read_parts(recipe.corpus).dev
    tokenizer = PieceTokenizer.from_file(best / "tokenizer.json", pad=manifest.tokenizer.pad)
    scorer = Counting(TorchScorer(model=load_model(best, manifest)))
    decision, tried = fit_threshold(manifest, tokenizer, scorer, dev)
    once = scorer.runs
    expected = {}
    for value in BIASES:
        changed = msgspec.structs.replace(
            manifest, decision=msgspec.structs.replace(manifest.decision, nothing=value)
        )
        patches = ModelPredictor(changed, tokenizer, scorer.scorer).predict(dev)
        found = {d.id: p.add for d, p in zip(dev, patches, strict=True)}
        expected[value] = score(layers(dev), found).micro.f1
    assert {float(k): v for k, v in tried.items()} == expected
    top = max(expected.values())
    assert expected[decision.nothing] == top
    assert abs(decision.nothing) == min(abs(v) for v, f1 in expected.items() if f1 == top)
    ModelPredictor(manifest, tokenizer, scorer).predict(dev)
    assert scorer.runs == 2 * once


@pytest.mark.parametrize("family", FAMILIES)
def test_more_of_nothing_is_fewer_mentions(
    tiny_run: Path, tiny_recipe: Maker, tmp_path: Path, family: str
) -> None:
    recipe = tiny_recipe(model={"family": family}, training={"epochs": 3})
    for _ in run_recipe(recipe, tmp_path / "run"):
        pass
    best = tmp_path / "run" / "best"
    manifest, dev = read_manifest(best), read_parts(recipe.corpus).dev
    tokenizer = PieceTokenizer.from_file(best / "tokenizer.json", pad=manifest.tokenizer.pad)
    scorer = TorchScorer(model=load_model(best, manifest))
    counts = []
    for value in (-1000.0, 0.0, 1000.0):
        changed = msgspec.structs.replace(
            manifest, decision=msgspec.structs.replace(manifest.decision, nothing=value)
        )
        counts.append(
            sum(len(p.add) for p in ModelPredictor(changed, tokenizer, scorer).predict(dev))
        )
    assert counts[0] >= counts[1] >= counts[2] == 0
    assert counts[0] > 0


def test_a_run_writes_it_down_and_ships_it(
    tiny_recipe: Maker, toy_corpus: Path, tmp_path: Path
) -> None:
    recipe = tiny_recipe(
        model={"family": "span", "negatives": 2},
        corpus={"test": str(toy_corpus)},
        training={"epochs": 6},
        decision={"tune": "nothing"},
    )
    *_, finished = run_recipe(recipe, tmp_path / "run")
    scores = json.loads((tmp_path / "run" / "scores.json").read_text(encoding="utf-8"))
    assert scores["nothing"] == read_manifest(tmp_path / "run" / "best").decision.nothing
    assert (
        scores["dev"]["micro"]["f1"]
        == max(scores["dev_f1_by_nothing"].values())
        == finished.answer.dev.micro.f1
    )
    export_model(tmp_path / "run", tmp_path / "fp32", int8=False)
    documents = [Document(id=d.id, text=d.text) for d in read_parts(recipe.corpus).dev]
    ours, theirs = (
        load(f, links=False).predict(documents)
        for f in (tmp_path / "fp32", tmp_path / "run" / "best")
    )
    assert [{m.key for m in p.add} for p in ours] == [{m.key for m in p.add} for p in theirs]
    assert all(
        np.isfinite(m.score)
        for p in ours
        for m in p.add
        if isinstance(m, Mention) and m.score is not None
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_dev_is_read_once_and_to_the_same_scores(
    tiny_recipe: Maker, tmp_path: Path, family: str
) -> None:
    """However many values are tried, and whoever else reads the same documents with the same
    reader.
    """
    recipe = tiny_recipe(model={"family": family}, training={"epochs": 3})
    for _ in run_recipe(recipe, tmp_path / "run"):
        pass
    best = tmp_path / "run" / "best"
    manifest, dev = read_manifest(best), read_parts(recipe.corpus).dev
    tokenizer = CountingTokenizer.from_file(best / "tokenizer.json", pad=manifest.tokenizer.pad)
    scorer, read = TorchScorer(model=load_model(best, manifest)), CachedReader(dev)
    decision, tried = fit_threshold(manifest, tokenizer, scorer, dev, reader=read)
    once = tokenizer.calls
    assert fit_threshold(manifest, tokenizer, scorer, dev, reader=read) == (decision, tried)
    found = ModelPredictor(manifest, tokenizer, scorer, read=read).predict(dev)
    assert tokenizer.calls == once > 0
    assert found == ModelPredictor(manifest, tokenizer, scorer).predict(dev)
    assert tokenizer.calls == 2 * once
    others = [Document(id=d.id, text=d.text) for d in dev]
    for _ in range(2):  # others are read, and not kept
        before = tokenizer.calls
        ModelPredictor(manifest, tokenizer, scorer, read=read).predict(others)
        assert tokenizer.calls > before


class CountingTokenizer(PieceTokenizer):
    """A tokenizer that counts how often it is asked for texts."""

    calls = 0

    def encode(self, *args: Any, **given: Any) -> Any:
        self.calls += 1
        return super().encode(*args, **given)


def test_types_that_do_not_compete_have_values_of_their_own(
    tiny_recipe: Maker, tmp_path: Path
) -> None:
    """Each is the best of its type by plain search, whatever the others have, and the run ships
    them.
    """
    recipe = tiny_recipe(
        model={"family": "multilabel"}, training={"epochs": 8}, decision={"tune": "nothing"}
    )
    *_, finished = run_recipe(recipe, tmp_path / "run")
    best = tmp_path / "run" / "best"
    manifest, dev = read_manifest(best), read_parts(recipe.corpus).dev
    tokenizer = PieceTokenizer.from_file(best / "tokenizer.json", pad=manifest.tokenizer.pad)
    scorer = TorchScorer(model=load_model(best, manifest))
    own = manifest.decision.nothing_by_type
    assert own
    assert finished.answer.tuned["nothing_by_type"] == dict(zip(manifest.types, own, strict=True))
    assert manifest.decision.nothing == 0

    def f1(kind: int, value: float) -> float:
        others = tuple(value if k == kind else 9.0 for k in range(len(own)))
        decision = msgspec.structs.replace(manifest.decision, nothing_by_type=others)
        changed = msgspec.structs.replace(manifest, decision=decision)
        patches = ModelPredictor(changed, tokenizer, scorer).predict(dev)
        found = {d.id: p.add for d, p in zip(dev, patches, strict=True)}
        return score(layers(dev), found).by_type[manifest.types[kind]].rates().f1

    for kind, value in enumerate(own):
        tried = {bias: f1(kind, bias) for bias in BIASES}
        assert tried[value] == max(tried.values())
        assert abs(value) == min(
            abs(bias) for bias, found in tried.items() if found == max(tried.values())
        )
    with pytest.raises(ValueError, match="nothing_by_type"):
        msgspec.structs.replace(manifest, types=("Chemical",)).__post_init__()


@pytest.mark.parametrize("decoding", ["nested", "greedy"])
def test_each_type_of_a_bi_encoder_has_the_best_threshold_of_its_own(
    tiny_recipe: Maker, tmp_path: Path, decoding: str
) -> None:
    """By plain search over the steps from the highest score down, with the other types out of
    the way.
    """
    model = {
        "family": "binder",
        "thresholds": "dev-by-type",
        "decoding": decoding,
        "hidden": 16,
        "dropout": 0.0,
    }
    recipe = tiny_recipe(model=model, training={"epochs": 3})
    *_, finished = run_recipe(recipe, tmp_path / "run")
    best = tmp_path / "run" / "best"
    manifest, dev = read_manifest(best), read_parts(recipe.corpus).dev
    tokenizer = PieceTokenizer.from_file(best / "tokenizer.json", pad=manifest.tokenizer.pad)
    scorer = TorchScorer(model=load_model(best, manifest))
    own = manifest.decision.nothing_by_type
    assert own
    assert finished.answer.tuned["nothing_by_type"] == dict(zip(manifest.types, own, strict=True))

    def scored(values: tuple[float, ...]) -> Any:
        decision = msgspec.structs.replace(manifest.decision, nothing_by_type=values)
        patches = ModelPredictor(
            msgspec.structs.replace(manifest, decision=decision), tokenizer, scorer
        ).predict(dev)
        return score(layers(dev), {d.id: p.add for d, p in zip(dev, patches, strict=True)})

    top = max(map(float, finished.answer.tuned["dev_f1_by_nothing"]))
    for kind, value in enumerate(own):

        def f1(one: float, kind: int = kind) -> float:
            alone = scored(tuple(one if k == kind else 1e3 for k in range(len(own))))
            return alone.by_type[manifest.types[kind]].rates().f1

        coarse = {top * number / 25: f1(top * number / 25) for number in range(-25, 26)}
        assert f1(value) >= max(coarse.values()) > 0
        good = [one for one, found in coarse.items() if found == max(coarse.values())]
        assert min(good) - top / 25 < value < max(good) + top / 25
    assert scored(own).micro.f1 == finished.answer.dev.micro.f1


def test_a_type_that_dev_lacks_has_the_threshold_that_is_best_for_all(
    tiny_recipe: Maker, tmp_path: Path
) -> None:
    recipe = tiny_recipe(
        model={"family": "binder", "thresholds": "dev-by-type"}, training={"epochs": 2}
    )
    for _ in run_recipe(recipe, tmp_path / "run"):
        pass
    best = tmp_path / "run" / "best"
    manifest = read_manifest(best)
    absent = manifest.types[0]
    dev = [
        msgspec.structs.replace(d, mentions=tuple(m for m in d.mentions if m.type != absent))
        for d in read_parts(recipe.corpus).dev
    ]
    tokenizer = PieceTokenizer.from_file(best / "tokenizer.json", pad=manifest.tokenizer.pad)
    decision, tried = fit_threshold(
        manifest, tokenizer, TorchScorer(model=load_model(best, manifest)), dev
    )
    good = [float(value) for value, f1 in tried.items() if f1 == max(tried.values())]
    assert decision.nothing_by_type
    assert min(good) <= decision.nothing_by_type[0] <= max(good)


def test_other_families_say_nothing_of_types(tiny_run: Path) -> None:
    assert "nothing_by_type" not in (tiny_run / "best" / "model.json").read_text(encoding="utf-8")
