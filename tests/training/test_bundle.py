"""Two heads trained as one: what a weight of 0 or 1 must mean, and that each head keeps its own
units.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch

from fascicle.core.document import Document, Mention
from fascicle.loading import load
from fascicle.models.encoder import load_pretrained
from fascicle.models.export.folders import export_model
from fascicle.settings.folders.manifest import read_manifest
from fascicle.settings.heads import HEADS
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.text.reading import read_documents, with_piece_units
from fascicle.text.windows import at_level
from fascicle.training.engine.events import Note
from fascicle.training.engine.loop import StepDone, Trainer
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.recogniser.prepare import prepare
from fascicle.training.run import run_recipe

Maker = Callable[..., Recipe]
PAIRS = [(a, b) for a in sorted(HEADS) for b in sorted(HEADS) if a != b]
# An export knows one head and not the other: each family beside one before and one behind it, and
# each pair of levels.
EXPORTED = [*pairwise([*sorted(HEADS), min(HEADS)]), ("span", "span")]
# Both levels meet in many pairs; a family that is not named here reads words.
LEVELS = {"softmax": "word", "crf": "piece", "span": "piece", "biaffine": "word", "binder": "word"}


def level_of(family: str) -> str:
    return LEVELS.get(family, "word")


def head(family: str) -> dict[str, Any]:
    small = {"hidden": 8, "width_embedding": 4}
    extra = {"span": {"negatives": 8}, "biaffine": {"hidden": 8}, "binder": small}.get(family, {})
    return {"family": family, "level": level_of(family), **extra}


def trainer_of(recipe: Recipe) -> Trainer:
    pretrained = load_pretrained(recipe.model.encoder)
    torch.manual_seed(recipe.seed)
    prepared = prepare(recipe, read_parts(recipe.corpus), pretrained)
    return Trainer(prepared.model, prepared.data, recipe.training, seed=recipe.seed)


def losses(trainer: Trainer) -> list[float]:
    return [e.loss for e in trainer.run() if isinstance(e, StepDone)]


SHORT = {"epochs": 2, "precision": "bf16"}


@pytest.fixture(scope="module")
def single(tiny_recipe: Maker) -> Callable[[str], tuple[list[float], dict[str, torch.Tensor]]]:
    """Trains a model of one head; gives the losses and the parameters, the same to all pairs."""

    @cache
    def trained(family: str) -> tuple[list[float], dict[str, torch.Tensor]]:
        trainer = trainer_of(tiny_recipe(model=head(family), training=SHORT))
        return losses(trainer), {n: p.detach() for n, p in trainer.model.named_parameters()}

    return trained


@pytest.mark.parametrize(("own", "second"), PAIRS, ids=map("-".join, PAIRS))
def test_weights_of_0_and_1_are_the_single_models(
    tiny_recipe: Maker, single: Callable[[str], Any], own: str, second: str
) -> None:
    for weight, alone in ((0.0, own), (1.0, second)):
        bundle = trainer_of(
            tiny_recipe(model=head(own), bundle={**head(second), "weight": weight}, training=SHORT)
        )
        before = {n: p.clone() for n, p in bundle.model.named_parameters()}
        together = losses(bundle)
        expected, wanted = single(alone)
        assert together == expected
        found = dict(bundle.model.named_parameters())
        assert all(torch.equal(found[n], wanted[n]) for n in wanted)
        assert all(torch.equal(found[n], before[n]) for n in found.keys() - wanted.keys())
        assert len(bundle.data.views) == len({level_of(own), level_of(second)})


@pytest.mark.parametrize(("own", "second"), PAIRS, ids=map("-".join, PAIRS))
def test_the_gradient_is_the_mix_of_the_two(tiny_recipe: Maker, own: str, second: str) -> None:
    gradients = {}
    for weight in (0.0, 0.3, 1.0):
        heads = ({**head(family), "dropout": 0.0} for family in (own, second))
        trainer = trainer_of(
            tiny_recipe(model=next(heads), bundle={**next(heads), "weight": weight})
        )
        for part in trainer.model.encoder.modules():  # without dropout, whose masks would differ
            if isinstance(part, torch.nn.Dropout):
                part.p = 0.0
        batch = next(trainer.data.batches(size=8, seed=1, epoch=0))
        trainer._accumulate(*batch, share=1.0)
        gradients[weight] = {
            n: p.grad.clone() if p.grad is not None else torch.zeros_like(p)
            for n, p in trainer.model.named_parameters()
        }
    for name, mixed in gradients[0.3].items():
        expected = 0.7 * gradients[0.0][name] + 0.3 * gradients[1.0][name]
        torch.testing.assert_close(mixed, expected, rtol=1e-4, atol=1e-6)
    assert any(g.any() for n, g in gradients[0.3].items() if n.startswith("encoder."))


def test_one_run_gives_both_heads(tiny_recipe: Maker, toy_corpus: Path, tmp_path: Path) -> None:
    recipe = tiny_recipe(
        model={"family": "span", "pooling": "max"},
        bundle={"family": "softmax", "weight": 0.3},
        corpus={"test": str(toy_corpus)},
        training={"epochs": 25},
    )
    *_, finished = run_recipe(recipe, tmp_path / "run")
    scores = json.loads((tmp_path / "run" / "scores.json").read_text(encoding="utf-8"))
    assert (
        scores["test"]["micro"]["f1"] == scores["others"]["softmax"]["test"]["micro"]["f1"] == 1.0
    )
    assert [o.head for o in finished.other_heads] == ["softmax"]
    for folder, answer in (("best", "span"), ("best-softmax", "softmax")):
        assert read_manifest(tmp_path / "run" / folder).decision.answer == answer
        (found,) = load(tmp_path / "run" / folder, links=False).annotate(
            "the patient has lung cancer"
        )
        assert [(m.start, m.end, m.type) for m in found.mentions] == [(16, 27, "Disease")]
        export_model(tmp_path / "run" / folder, tmp_path / folder, int8=False)
        assert list(read_manifest(tmp_path / folder).heads) == [answer]
        (again,) = load(tmp_path / folder, links=False).annotate("the patient has lung cancer")
        assert [m.key for m in again.mentions] == [m.key for m in found.mentions]
    lines = [
        json.loads(x)
        for x in (tmp_path / "run" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    for key, kept in (("dev", scores), ("dev.softmax", scores["others"]["softmax"])):
        assert (
            kept["epoch"] == max(lines, key=lambda x: (x[key]["micro"]["f1"], -x["epoch"]))["epoch"]
        )
    names = {p.name for p in (tmp_path / "run" / "predictions").iterdir()}
    assert {
        "test.tsv",
        "test.softmax.tsv",
        "dev.tsv",
        "dev.softmax.tsv",
        "dev-epoch-25.softmax.tsv",
    } <= names


def test_all_families_and_pairs_of_levels_are_exported() -> None:
    assert {own for own, _ in EXPORTED} == {second for _, second in EXPORTED} == set(HEADS)
    assert {(level_of(own), level_of(second)) for own, second in EXPORTED} == set(
        product(("word", "piece"), repeat=2)
    )


@pytest.mark.parametrize(("own", "second"), EXPORTED, ids=map("-".join, EXPORTED))
def test_either_head_answers_and_is_exported_alone(
    tiny_recipe: Maker, tmp_path: Path, own: str, second: str, toy_types: Path
) -> None:
    def of(family: str) -> dict[str, Any]:
        described = (
            {"type_view": "description", "types": str(toy_types)} if family == "binder" else {}
        )
        return {**head(family), **described}

    name = {"name": "other"} if own == second else {}
    recipe = tiny_recipe(
        model=of(own), bundle={**of(second), **name, "weight": 0.3}, training={"epochs": 1}
    )
    list(run_recipe(recipe, tmp_path / "run"))
    other = name.get("name", second)
    for folder, answer in (("best", own), (f"best-{other}", other)):
        assert read_manifest(tmp_path / "run" / folder).decision.answer == answer
        export_model(tmp_path / "run" / folder, tmp_path / folder, int8=False)
        assert list(read_manifest(tmp_path / folder).heads) == [answer]


@pytest.mark.parametrize(
    ("weight", "answer", "told"), [(1.0, "", True), (0.0, "crf", True), (0.0, "", False)]
)
def test_a_head_that_answers_and_learns_nothing_is_told(
    tiny_recipe: Maker, tmp_path: Path, weight: float, answer: str, told: bool
) -> None:
    bundle = {"family": "crf", "weight": weight, "answer": answer}
    recipe = tiny_recipe(model={"family": "softmax"}, bundle=bundle, training={"epochs": 1})
    notes = [
        event.text for event in run_recipe(recipe, tmp_path / "run") if isinstance(event, Note)
    ]
    assert any("has the weight 0: it learns nothing" in text for text in notes) is told


def test_pieces_beside_words_are_the_pieces_of_the_same_windows(tiny_recipe: Maker) -> None:
    texts = [
        "aspirin caused caffeine pain, no fever.",
        "hepatitis in patients with heart failure " * 6,
        "a",
    ]
    documents = [
        Document(id=str(i), text=t, mentions=(Mention(((0, 1),), "Disease"),))
        for i, t in enumerate(texts)
    ]
    tokenizer = load_pretrained(tiny_recipe().model.encoder).tokenizer
    reading = tiny_recipe(reading={"max_length": 16, "overlap": 4}).reading
    words = read_documents(documents, tokenizer, reading=reading, level="word")
    pieces = with_piece_units(words)
    direct = read_documents(documents, tokenizer, reading=reading, level="piece")
    for mine, theirs, cut in zip(pieces.pieces, direct.pieces, pieces.windows, strict=True):
        for name in ("ids", "spans", "units", "first", "unit_of", "sentences"):
            assert np.array_equal(getattr(mine, name), getattr(theirs, name))
        kept = [u for w in cut for u in range(*w.keep)]
        assert kept == list(range(len(mine.units)))
        for window in cut:
            first = mine.first[slice(*window.units)]
            assert ((first >= window.pieces[0]) & (first < window.pieces[1])).all()
    assert [[w.pieces for w in cut] for cut in pieces.windows] == [
        [w.pieces for w in cut] for cut in words.windows
    ]


def test_each_head_sees_its_own_units(tiny_recipe: Maker) -> None:
    trainer = trainer_of(tiny_recipe(model=head("softmax"), bundle=head("span")))
    batch, targets = next(trainer.data.batches(size=10, seed=1, epoch=0))
    assert targets["softmax"].shape[1] == at_level(batch, "word")["first_piece"].shape[1]
    assert targets["span"].shape[1] == at_level(batch, "piece")["first_piece"].shape[1]
    counts = [at_level(batch, level)["unit_count"] for level in ("word", "piece")]
    assert (counts[0] <= counts[1]).all()
    assert (counts[0] < counts[1]).any()


@pytest.mark.parametrize(
    ("bundle", "message"),
    [
        (
            {"family": "softmax"},
            r'both heads of the bundle are called "softmax": give the second another with bundle',
        ),
        (
            {"family": "crf", "answer": "span"},
            r'bundle.answer = "span" is not a head of the bundle: choose "softmax" or ',
        ),
        (
            {"family": "crf", "weight": 1.5},
            r"bundle.weight = 1.5 is not allowed: expected `float` <= 1.0",
        ),
        (
            {"family": "crf", "weight": -0.1},
            r"bundle.weight = -0.1 is not allowed: expected `float` >= 0.0",
        ),
        (
            {"family": "crf", "width": 3},
            r"unknown key bundle.width; the family 'crf' has no such setting",
        ),
        ([{"family": "crf"}, {"family": "span"}], "bundle is a list of 2; write one table"),
    ],
)
def test_what_is_no_bundle(tiny_recipe: Maker, bundle: Any, message: str) -> None:
    from fascicle.errors import RecipeError

    with pytest.raises(RecipeError, match=message):
        tiny_recipe(model={"family": "softmax"}, **{"bundle": bundle})


def test_two_heads_of_one_family_need_two_names(tiny_recipe: Maker) -> None:
    recipe = tiny_recipe(
        model={"family": "span"},
        bundle={"family": "span", "name": "wide", "representation": "hybrid", "answer": "wide"},
    )
    assert list(recipe.heads()) == ["span", "wide"]
    assert recipe.answer() == "wide"
    assert recipe.weights() == {"span": 0.9, "wide": 0.1}
    assert msgspec.json.decode(msgspec.json.encode(recipe), type=Recipe) == recipe
