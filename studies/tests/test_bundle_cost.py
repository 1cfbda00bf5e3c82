"""What is compared with what when a bundle is timed; no test asserts a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from fascicle.errors import UsageError
from fascicle.settings.folders.manifest import read_manifest
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.experiments.grid import read_grid
from fascicle.training.recogniser.parts import read_parts
from studies.common import GRIDS
from studies.speed import bundle as script

Maker = Callable[..., Recipe]


def recipes(make: Maker, corpus: Path) -> dict[str, Recipe]:
    common = {"corpus": {"test": str(corpus)}, "training": {"epochs": 40}}
    span = {"family": "span", "pooling": "max"}
    return {
        "softmax": make(model={"family": "softmax", "pooling": "max"}, **common),
        "spanner": make(model=span, **common),
        "bundle": make(
            model=span, bundle={"family": "softmax", "pooling": "max", "weight": 0.3}, **common
        ),
    }


def test_ratios_are_within_rounds_and_to_the_slower() -> None:
    cpu = {
        "softmax": [1.0, 2.0, 1.0, 4.0],
        "spanner": [2.0, 1.0, 4.0, 2.0],
        "bundle": [3.0, 3.0, 5.0, 4.0],
    }
    times = script.Times(cpu=cpu, wall=cpu)
    assert script.slower_of(times, ["softmax", "spanner"]) == "spanner"
    # 1.5, 3, 1.25, 2 in order: 1.25, 1.5, 2, 3
    assert script.ratio(times.cpu, "bundle", "spanner")["median"] == 1.75


def test_missed_goals_are_named() -> None:
    def row(median: float) -> dict[str, object]:
        return {"slower": "spanner", "ratio": {"median": median}}

    report = {"training": row(1.26), "inference": {"softmax": row(1.004), "span": row(1.03)}}
    assert list(script.missed(report)) == [
        "training: 1.26 times spanner is above 1.25",
        "inference by span: 1.03 times spanner is above 1.0",
    ]


@pytest.mark.slow
def test_everything_is_measured(tiny_recipe: Maker, toy_corpus: Path, tmp_path: Path) -> None:
    given = recipes(tiny_recipe, toy_corpus)
    report = script.measure(given, epochs=1, rounds=2, place=tmp_path)
    training, inference = report["training"], report["inference"]
    assert training["cpu_ms_per_step"].keys() == {"softmax", "spanner", "bundle"}
    assert training["slower"] in ("softmax", "spanner")
    assert inference["mentions"]["gold"] == 18
    for name in ("softmax", "spanner", "bundle.softmax", "bundle.span"):
        assert inference["mentions"][name] >= 9, name
        heads = read_manifest(tmp_path / name / "fp32").heads
        assert list(heads) == [name.removeprefix("bundle.").replace("spanner", "span")]
    for head in ("softmax", "span"):
        assert inference[head]["ratio"]["median"] > 0
        assert inference[head]["slower"] in ("softmax", "spanner")
        assert (
            inference[head]["ratio_to_same_head"]["low"]
            <= inference[head]["ratio_to_same_head"]["high"]
        )


def test_all_are_trained_on_the_same_batches(tiny_recipe: Maker, toy_corpus: Path) -> None:
    given = recipes(tiny_recipe, toy_corpus)
    parts = read_parts(given["bundle"].corpus)
    pupils = [script.pupil(recipe, parts) for recipe in given.values()]
    read = [
        [b["input_ids"] for b, _ in p.trainer.data.batches(size=4, seed=1, epoch=0)] for p in pupils
    ]
    for batches in zip(*read, strict=True):
        assert all(torch.equal(batches[0], other) for other in batches[1:])
    for each in pupils:
        each.turn(0)
    assert {each.trainer.step for each in pupils} == {3}  # an epoch of three batches, and its end


def test_recipes_of_the_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASCICLE_DATA", "/somewhere")
    grid = read_grid(GRIDS / "bundling.toml")
    found = script.recipes_of(grid, "conll04")
    assert list(found) == ["softmax", "spanner", "bundle"]
    assert found["bundle"].corpus.test.startswith("/somewhere/conll04/")
    assert found["bundle"].heads().keys() == {"span", "softmax"}
    with pytest.raises(
        UsageError,
        match=r"the grid has no softmax, spanner, bundle on 'genia' with seed 1; its corpora",
    ):
        script.recipes_of(grid, "genia")
