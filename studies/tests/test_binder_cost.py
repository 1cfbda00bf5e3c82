"""What is compared with what when a bi-encoder is timed, and the rival that reads once for each
type.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from fascicle.errors import UsageError
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.experiments.grid import read_grid
from fascicle.training.recogniser.parts import read_parts
from studies.common import GRIDS
from studies.speed import binder as script

Maker = Callable[..., Recipe]


@pytest.fixture
def recipes(tiny_recipe: Maker, toy_corpus: Path, toy_types: Path) -> dict[str, Recipe]:
    common: dict[str, Any] = {"corpus": {"test": str(toy_corpus)}, "training": {"epochs": 40}}
    binder = {"family": "binder", "type_view": "description", "types": str(toy_types)}
    return {
        "softmax": tiny_recipe(model={"family": "softmax"}, **common),
        "binder": tiny_recipe(model=binder, **common),
    }


@pytest.mark.slow
def test_everything_is_measured(recipes: dict[str, Recipe], tmp_path: Path) -> None:
    parts = read_parts(recipes["binder"].corpus)
    found = script.measure(recipes, parts, rounds=2, sentences=5, place=tmp_path)
    rows = {"softmax", "binder", "per_type"}
    assert rows <= found["training"].keys()
    assert rows <= found["inference"]["torch"].keys()
    for graph in ("fp32", "int8"):
        assert rows - {"per_type"} <= found["inference"][graph].keys()
    for of in (found["training"], *found["inference"].values()):
        assert of["softmax"]["words_per_cpu_second"] > 0
        assert of["binder"]["ratio"]["low"] <= of["binder"]["ratio"]["high"]
    assert found["types"] == 2


def test_missed_goals_are_named() -> None:
    def row(median: float) -> dict[str, Any]:
        return {"binder": {"ratio": {"median": median}}}

    inference = {"torch": row(1.204), "fp32": row(1.1), "int8": row(1.3)}
    assert list(script.missed(row(1.71), inference)) == [
        "training: 1.71 times softmax is above 1.7",
        "inference, int8: 1.3 times softmax is above 1.2",
    ]


def test_the_rival_reads_each_text_behind_each_description(recipes: dict[str, Recipe]) -> None:
    recipe = recipes["binder"]
    pupil = script.pupil(recipe, read_parts(recipe.corpus))
    model = script.rival(recipe, pupil).model.eval()
    assert len(model.descriptions) == 2
    batch, _ = next(pupil.prepared.data.batches(size=3, seed=1, epoch=0))
    for kind, ahead in enumerate(model.descriptions):
        found = model(batch, kind)
        assert found.shape == (*batch["first_piece"].shape, 2)
        for row in range(3):
            size, length = int(batch["unit_count"][row]), int(batch["attention_mask"][row].sum())
            text = batch["input_ids"][row, 1:length]
            states = model.encoder(
                torch.cat([ahead, text])[None], torch.ones(1, len(ahead) + length - 1, dtype=int)
            )[0]
            for unit in range(size):
                first, last = (
                    int(batch[name][row, unit]) + len(ahead) - 1
                    for name in ("first_piece", "last_piece")
                )
                expected = [model.ends(states[first])[0], model.ends(states[last])[1]]
                torch.testing.assert_close(
                    found[row, unit], torch.stack(expected), rtol=1e-4, atol=1e-4
                )


def test_the_rival_learns(recipes: dict[str, Recipe]) -> None:
    """It is no mere load: its loss falls, and it finds the mentions of what it was trained on."""
    recipe = recipes["binder"]
    parts = read_parts(recipe.corpus)
    pupil = script.pupil(recipe, parts)
    rival = script.rival(recipe, pupil)
    losses = [rival.step() for _ in range(60)]
    assert sum(losses[-3:]) < 0.3 * sum(losses[:3])
    found = script.spans_of(rival.model.eval(), parts.dev, pupil.prepared.data.tokenizer, recipe)
    words = [
        {(d.words[a][0], d.words[b][1], parts.types[k]) for a, b, k in spans}  # type: ignore[index]
        for d, spans in zip(parts.dev, found, strict=True)
    ]
    gold = [{(m.start, m.end, m.type) for m in d.layer("gold")} for d in parts.dev]
    right = sum(len(a & b) for a, b in zip(words, gold, strict=True))
    assert right >= 12


def test_words_are_those_of_the_batches(recipes: dict[str, Recipe]) -> None:
    parts = read_parts(recipes["binder"].corpus)
    pupil = script.pupil(recipes["binder"], parts)
    turns = script.words_of_steps(pupil, turns=6)  # twelve steps, of epochs of three
    per_epoch = sum(len(d.words or ()) for d in parts.train)
    assert len(turns) == 6
    assert sum(turns) == 4 * per_epoch
    for number in range(4):
        script.one_step(pupil)
        assert pupil.trainer.step == number + 1


def test_the_recipes_are_those_of_the_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASCICLE_DATA", "/somewhere")
    grid = read_grid(GRIDS / "binder.toml")
    found = script.recipes_of(grid, "conll04")
    assert tuple(found) == script.SYSTEMS
    assert found["biaffine"].model.head.family == "biaffine"
    assert found["binder_own"].model.head.type_encoder == "own"
    assert len({str(r.training.batch_size) for r in found.values()}) == 1
    with pytest.raises(
        UsageError, match="the grid has no softmax, crf, binder on 'x' with seed 1; its corpora are"
    ):
        script.recipes_of(grid, "x")
