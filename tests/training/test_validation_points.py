"""Runs that score dev every few steps: where they do, what they keep, and that a kill changes
nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from tests.support.runs import finish, metrics

from fascicle.core.files.source import Source
from fascicle.errors import RecipeError
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import score
from fascicle.formats.predictions import read as read_predictions
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.corpus import read_part
from fascicle.training.engine.events import Finished, Note, Validated
from fascicle.training.engine.loop import StepDone
from fascicle.training.run import run_recipe

Maker = Callable[..., Recipe]


def kill_after(recipe: Recipe, folder: Path, step: int) -> None:
    """Lets a run go until it has done a step, and what follows from it at once."""
    events = run_recipe(recipe, folder)
    for event in events:
        if isinstance(event, StepDone) and event.step > step:
            break
    events.close()  # type: ignore[attr-defined]


# Three steps an epoch: scored in the middle of an epoch, at its end, and at the end of all although
# nothing says so.
@pytest.mark.parametrize(
    ("every", "epochs", "places"),
    [
        (1, 2, [(1, 1), (1, 2), (1, 3), (2, 4), (2, 5), (2, 6)]),
        (2, 3, [(1, 2), (2, 4), (2, 6), (3, 8), (3, 9)]),
        (3, 3, [(1, 3), (2, 6), (3, 9)]),
        (4, 2, [(2, 4), (2, 6)]),
        (100, 2, [(2, 6)]),
    ],
)
def test_where_dev_is_scored(
    tiny_recipe: Maker, tmp_path: Path, every: int, epochs: int, places: list[tuple[int, int]]
) -> None:
    recipe = tiny_recipe(training={"epochs": epochs, "validate_every_steps": every})
    events = finish(recipe, tmp_path / "run")
    scored = [e for e in events if isinstance(e, Validated)]
    assert [(e.epoch, e.step) for e in scored] == places
    assert {(e.epochs, e.steps) for e in scored} == {(epochs, 3 * epochs)}
    assert [e.at_end_of_epoch for e in scored] == [step % 3 == 0 for _, step in places]
    lines = metrics(tmp_path / "run")
    assert [(line["epoch"], line["step"]) for line in lines] == places
    losses = {e.step: e.loss for e in events if isinstance(e, StepDone)}
    since = 0
    for line in lines:
        part = [losses[step] for step in range(since + 1, line["step"] + 1)]
        assert line["loss"] == pytest.approx(sum(part) / len(part))
        since = line["step"]
    names = {p.name for p in (tmp_path / "run" / "predictions").iterdir()}
    assert names == {*(f"dev-step-{step:06d}.tsv" for _, step in places), "dev.tsv"}


def test_what_is_kept_is_the_best_step(tiny_recipe: Maker, tmp_path: Path) -> None:
    recipe = tiny_recipe(training={"epochs": 5, "validate_every_steps": 2, "learning_rate": 5e-3})
    finished = finish(recipe, tmp_path / "run")[-1]
    assert isinstance(finished, Finished)
    f1 = {line["step"]: line["dev"]["micro"]["f1"] for line in metrics(tmp_path / "run")}
    assert len(set(f1.values())) > 2
    best = min(step for step, value in f1.items() if value == max(f1.values()))
    assert (finished.answer.step, finished.answer.epoch) == (best, -(-best // 3))
    assert finished.answer.dev.micro.f1 == f1[best]
    scores = json.loads((tmp_path / "run" / "scores.json").read_text(encoding="utf-8"))
    assert (scores["step"], scores["epoch"]) == (best, -(-best // 3))
    gold = layers(read_part(recipe.corpus, "dev"))
    for step, value in f1.items():
        source = Source(path=str(tmp_path / "run" / "predictions" / f"dev-step-{step:06d}.tsv"))
        said = {p.id: p.mentions for p in read_predictions(source)}
        assert score(gold, said, allow_missing=True).micro.f1 == value


def test_scoring_in_between_changes_no_weight(tiny_recipe: Maker, tmp_path: Path) -> None:
    found = []
    for every in (0, 1, 2):
        recipe = tiny_recipe(
            training={"epochs": 3, "validate_every_steps": every, "select": "last"}
        )
        events = finish(recipe, tmp_path / str(every))
        weights = load_file(tmp_path / str(every) / "best" / "model.safetensors")
        found.append(([e.loss for e in events if isinstance(e, StepDone)], weights))
    for losses, weights in found[1:]:
        assert losses == found[0][0]
        assert all(torch.equal(weights[n], found[0][1][n]) for n in weights)


@pytest.mark.parametrize("select", ["best-dev", "last"])
def test_patience_counts_validations(tiny_recipe: Maker, tmp_path: Path, select: str) -> None:
    # A rate of nearly nothing: nothing is better than what was scored first.
    training = {
        "epochs": 9,
        "learning_rate": 1e-9,
        "validate_every_steps": 2,
        "patience_validations": 3,
        "select": select,
    }
    events = finish(tiny_recipe(training=training), tmp_path / "run")
    assert [e.step for e in events if isinstance(e, Validated)] == [2, 4, 6, 8]
    assert Note(text="stopped early: no better dev F1 for 3 times that dev was scored") in events
    assert events[-1].answer.step == (2 if select == "best-dev" else 8)


def test_patience_of_validations_without_steps_is_that_of_epochs(
    tiny_recipe: Maker, tmp_path: Path
) -> None:
    training = {"epochs": 9, "learning_rate": 1e-9, "patience_validations": 2}
    events = finish(tiny_recipe(training=training), tmp_path / "run")
    assert [e.epoch for e in events if isinstance(e, Validated)] == [1, 2, 3]


def test_a_run_whose_last_line_is_not_the_end_begins_again_without_its_state(
    tiny_recipe: Maker, tmp_path: Path
) -> None:
    recipe = tiny_recipe(training={"epochs": 2, "validate_every_steps": 4})
    finish(recipe, tmp_path / "run")
    (tmp_path / "run" / "scores.json").unlink()
    path = tmp_path / "run" / "metrics.jsonl"
    first, last = path.read_text(encoding="utf-8").splitlines()
    assert (json.loads(first)["epoch"], json.loads(last)["epoch"]) == (2, 2)
    path.write_text(first + "\n", encoding="utf-8")
    events = finish(recipe, tmp_path / "run", resume=True)
    assert [e.step for e in events if isinstance(e, Validated)] == [4, 6]


def test_a_run_of_a_release_without_steps_goes_on(tiny_recipe: Maker, tmp_path: Path) -> None:
    recipe = tiny_recipe(training={"epochs": 4})
    finish(recipe, tmp_path / "straight")
    kill_after(recipe, tmp_path / "run", 6)
    path = tmp_path / "run" / "metrics.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line.pop("step") for line in lines] == [3, 6]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    events = finish(recipe, tmp_path / "run", resume=True)
    assert Note(text="resumed after epoch 2") in events
    straight = [line["dev"] for line in metrics(tmp_path / "straight")]
    assert [line["dev"] for line in metrics(tmp_path / "run")] == straight


@pytest.mark.parametrize(
    ("training", "match"),
    [
        (
            {"patience_epochs": 2, "patience_validations": 2},
            "exclude each other: set one of them to 0$",
        ),
        ({"patience_epochs": 2, "validate_every_steps": 5}, "give patience_validations instead$"),
        (
            {"average": "last", "validate_every_steps": 5},
            'choose "ema" or "none", or validate_every_steps = 0$',
        ),
        ({"validate_every_steps": -1}, r"training\.validate_every_steps = -1 is not allowed"),
    ],
)
def test_settings_that_do_not_go_together(
    tiny_recipe: Maker, training: dict[str, Any], match: str
) -> None:
    with pytest.raises(RecipeError, match=match) as caught:
        tiny_recipe(training=training)
    assert "\n" not in str(caught.value)
