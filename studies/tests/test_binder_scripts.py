"""The scripts that look at trained bi-encoders: what is partly right, similarities, types
described later, 8 bits.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.runs import finish

from fascicle.errors import InputError
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.experiments.grid import GridRun
from studies import common
from studies.binder import analysis
from studies.speed import int8_heads

Maker = Callable[..., Recipe]


@pytest.fixture(autouse=True)
def results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The results of scripts go to a folder of the test."""
    monkeypatch.setattr(common, "RESULTS", tmp_path / "results")
    return tmp_path / "results"


@pytest.fixture(scope="module")
def binder(tiny_recipe: Maker, toy_corpus: Path, toy_types: Path) -> Callable[..., Recipe]:
    def make(**corpus: Any) -> Recipe:
        model = {"family": "binder", "type_view": "description", "types": str(toy_types)}
        return tiny_recipe(
            model=model, corpus={"test": str(toy_corpus), **corpus}, training={"epochs": 6}
        )

    return make


@pytest.fixture(scope="module")
def trained(
    binder: Callable[..., Recipe], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Recipe, Path]:
    recipe, folder = binder(), tmp_path_factory.mktemp("binder") / "run"
    finish(recipe, folder)
    return recipe, folder


def test_the_analysis_of_a_run(
    trained: tuple[Recipe, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script, folder = analysis, trained[1]
    monkeypatch.setattr("sys.argv", ["binder_analysis.py", str(folder), "--bins", "20"])
    script.main()
    value = json.loads((tmp_path / "results" / "binder_analysis.json").read_text(encoding="utf-8"))[
        "runs"
    ]["run"]
    scores = json.loads((folder / "scores.json").read_text(encoding="utf-8"))["test"]
    assert value["f1"]["ALL"]["span"] == scores["micro"]["f1"]
    assert {k: of["span"] for k, of in value["f1"].items() if k != "ALL"} == {
        k: of["f1"] for k, of in scores["types"].items()
    }
    for of in value["f1"].values():
        assert of["span"] <= min(of["start"], of["end"])
        assert max(of["start"], of["end"]) <= of["loose"]
    assert value["partly_right"]["pairs"] == sum(value["partly_right"]["kinds"].values())
    made = json.loads(
        (tmp_path / "results" / "binder-densities" / "run.json").read_text(encoding="utf-8")
    )
    assert [panel["title"] for panel in made["panels"]] == ["run: Chemical", "run: Disease"]
    for panel, kind in zip(made["panels"], ("Chemical", "Disease"), strict=True):
        assert len(panel["edges"]) == 21
        assert {name: len(counts) for name, counts in panel["counts"].items()} == dict.fromkeys(
            ("entity", "non-entity", "threshold"), 20
        )
        told = value["similarities"]["types"][kind]
        assert (
            sum(panel["counts"]["entity"])
            == told["entity"]
            == told["gold"]
            == scores["types"][kind]["support"]
        )
        assert sum(panel["counts"]["threshold"]) == 10
        assert sum(panel["counts"]["non-entity"]) == told["non-entity"]


def test_runs_that_cannot_be_analysed(tiny_run: Path, tmp_path: Path) -> None:
    script = analysis
    with pytest.raises(InputError, match=r"has the family 'softmax'; give one of 'binder'$"):
        script.analysed(tiny_run, "test", bins=5)
    with pytest.raises(
        InputError, match=r"holds no complete run; give the folder of a training run$"
    ):
        script.analysed(tmp_path, "test", bins=5)


@pytest.mark.slow
def test_eight_bits(trained: tuple[Recipe, Path], tmp_path: Path) -> None:
    recipe, folder = trained
    run = GridRun(recipe=recipe, origin=tmp_path / "grid.toml", tier="cpu")
    found = int8_heads.compared(run, folder)
    scores = json.loads((folder / "scores.json").read_text(encoding="utf-8"))["test"]
    assert found["f1"] == scores["micro"]["f1"]
    assert (
        found["difference"]["low"] <= found["difference"]["estimate"] <= found["difference"]["high"]
    )
    assert found["difference"]["estimate"] == pytest.approx(found["int8_f1"] - found["f1"])
