"""What every training promises: whenever it is killed, its folder is whole, and it goes on to
the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch

from fascicle.core.document import GOLD, Mention
from fascicle.formats.predictions import Prediction, text_hash, write
from fascicle.settings.recipes.any import AnyRecipe, parse_any
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.corpus import read_part
from fascicle.training.engine.events import Note, Validated
from fascicle.training.engine.loop import StepDone
from fascicle.training.run import run_recipe

Maker = Callable[[str], AnyRecipe]
SOURCES = Path(__file__).resolve().parents[2] / "src"
BY_STEPS = {"epochs": 4, "validate_every_steps": 2}
RECOGNISERS: dict[str, dict[str, Any]] = {
    "plain": {"training": {"epochs": 3}},
    "ema": {
        "model": {"family": "crf"},
        "training": {"epochs": 3, "average": "ema", "average_decay": 0.9},
    },
    "last": {"training": {"epochs": 4, "average": "last", "average_epochs": 3, "select": "last"}},
    "adafactor": {"training": {"epochs": 3, "optimizer": "adafactor", "learning_rate": 1e-3}},
    "rates": {
        "training": {
            "epochs": 3,
            "layer_decay": 0.5,
            "head_learning_rate": 0.02,
            "accumulation": 2,
            "clip": 0.0,
        }
    },
    "tuned": {"training": {"epochs": 3}, "decision": {"tune": "nothing"}},
    "steps": {"training": BY_STEPS},
    "steps-ema": {"training": BY_STEPS | {"average": "ema", "average_decay": 0.9}},
    "steps-accumulation": {"training": BY_STEPS | {"batch_size": 1, "accumulation": 3}},
    # Draws negatives from a generator of its own.
    "steps-span": {"model": {"family": "span", "negatives": 3}, "training": BY_STEPS},
    "bundle": {
        "model": {"family": "crf"},
        "bundle": {"family": "span", "weight": 0.4},
        "training": {"epochs": 3},
    },
    # Draws what is dropped of the inputs by torch's generator.
    "inputs": {
        "model": {"family": "crf"},
        "bundle": {"family": "span", "level": "piece", "weight": 0.4},
        "inputs": {"shape": True, "dropout": 0.5},
        "training": BY_STEPS | {"average": "ema", "average_decay": 0.9},
    },
}
CASES = (
    *RECOGNISERS,
    "binder",
    "distant",
    "parts",
    "distil-layers",
    "distil-answers",
    "filter",
    "typer",
)
KILLED = (
    "plain",
    "distil-layers",
    "filter",
    "typer",
    pytest.param("bundle", marks=pytest.mark.slow),
)
KEPT = ("best", "best-span", "encoder")
DESCRIBED = ("model.json", "filter.json", "config.json")
_WORDS = "lung cancer aspirin pain the patient fever caffeine heart failure liver <unk>"
WORDS = _WORDS.split()


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def make(
    tiny_recipe: Callable[..., Recipe],
    tiny_encoder: Path,
    tiny_run: Path,
    toy_corpus: Path,
    toy_types: Path,
    toy_dictionary: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Maker:
    """Recipes of every kind on the toy corpus."""
    folder = tmp_path_factory.mktemp("recipes")
    documents = read_part(tiny_recipe().corpus, "dev")
    wrong = (
        Prediction(
            id=d.id,
            sha256=text_hash(d.text),
            mentions=tuple(
                sorted(
                    [*d.layer(GOLD), *(Mention((w,), "drug") for w in (d.words or ())[:4])],
                    key=_order,
                )
            ),
        )
        for d in documents
    )
    write(folder / "wrong.jsonl", wrong)
    chance = np.random.default_rng(1)
    rows = (f"{word} {' '.join(f'{v:.3f}' for v in chance.normal(size=6))}\n" for word in WORDS)
    (folder / "toy.vec").write_text("".join(rows), encoding="utf-8")
    corpus = {"train": str(toy_corpus), "dev": str(toy_corpus), "documents": "sentence"}
    part = {"train": str(toy_corpus), "dev": str(toy_corpus), "documents": "sentence"}
    others: dict[str, dict[str, Any]] = {
        # Decks are dealt across epochs, and guidelines are dropped by a generator of their own.
        "parts": {
            "name": "parts",
            "parts": {
                "a": part | {"annotates": ["Chemical"], "types": {"keep": ["Chemical"]}},
                "b": part
                | {"annotates": ["Disease"], "types": {"keep": ["Disease"]}, "weight": 2.0},
            },
            "mixture": {"windows": 13, "power": 0.5, "guideline": True},
            "reading": {"max_length": 32, "overlap": 4},
            "model": {"encoder": str(tiny_encoder), "family": "multilabel"},
            "training": {"epochs": 4, "learning_rate": 1e-2, "batch_size": 4, "precision": "fp32"}
            | {"validate_every_steps": 3, "average": "ema"},
            "decision": {"tune": "nothing"},
        },
        "filter": {
            "corpus": corpus,
            "members": {"dev": [str(folder / "wrong.jsonl")]},
            "model": {"encoder": str(tiny_encoder), "pool": "mean"},
            "reading": {"max_length": 48},
            "filter": {"held_out": 0.2, "threshold_part": 0.2, "positives": 2},
            "training": {
                "epochs": 3,
                "learning_rate": 2e-3,
                "batch_size": 4,
                "precision": "fp32",
                "average": "ema",
            },
        },
        "typer": {
            "name": "typer",
            "corpus": corpus | {"test": str(toy_corpus)},
            "vectors": {"path": str(folder / "toy.vec")},
            "typer": {
                "hidden": 8,
                "updates": 60,
                "nothing": True,
                "width": 3,
                "negatives": 7,
                "balance": True,
            },
        },
    }
    # The student drops out, its teacher does not, and the projection is averaged with it.
    others["distil-layers"] = {
        "name": "small",
        "corpus": corpus,
        "teacher": {"encoder": str(tiny_encoder)},
        "student": {"size": {"layers": 1, "hidden": 12, "heads": 2, "feed_forward": 16}},
        "reading": {"max_length": 32, "overlap": 4},
        "layers": {},
        "training": {
            "epochs": 3,
            "learning_rate": 1e-3,
            "batch_size": 4,
            "precision": "fp32",
            "average": "ema",
        },
    }
    # Answers are kept in the run folder, and asked for again where a kill came before.
    others["distil-answers"] = {
        **others["distil-layers"],
        "teacher": {"model": str(tiny_run)},
        "student": {"layers": [1]},
        "prediction": {"gold": 0.5},
        "training": {"epochs": 3, "learning_rate": 1e-3, "batch_size": 4, "precision": "fp32"},
    }
    # Instances and dropout are drawn by torch's generator, and the threshold is fitted anew at
    # every scoring.
    binder = {
        "family": "binder",
        "hidden": 8,
        "width_embedding": 4,
        "thresholds": "dev",
        "dropout": 0.1,
    }
    described = {"type_view": "instances", "types": str(toy_types)}

    def made(case: str) -> AnyRecipe:
        if case in others:
            return parse_any(others[case], origin=case)
        if case == "binder":
            return tiny_recipe(model=binder | described, training={"epochs": 3})
        if case == "distant":
            return tiny_recipe(distant=toy_dictionary, training={"epochs": 3})
        tables = {key: dict(table) for key, table in RECOGNISERS[case].items()}
        if case == "inputs":
            tables["inputs"]["dictionaries"] = [toy_dictionary["core"]]
        return tiny_recipe(**tables)

    return made


def _order(mention: Mention) -> Any:
    return mention.spans, mention.type


def content(folder: Path) -> dict[str, object]:
    """Everything in a run folder by its name, without times, and without the state that a kill
    at the end may leave.
    """
    found: dict[str, object] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if name == "metrics.jsonl":
            found[name] = lines_of(folder)
        elif name == "scores.json":
            found[name] = timeless(json.loads(path.read_text(encoding="utf-8")))
        elif not name.startswith("state/"):
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def lines_of(folder: Path) -> list[dict[str, Any]]:
    path = folder / "metrics.jsonl"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [timeless(json.loads(line)) for line in text.splitlines()]


def timeless(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if not key.endswith("seconds")}


@pytest.mark.parametrize("case", CASES)
def test_a_run_that_is_stopped_goes_on_to_the_same_bytes(
    make: Maker, tmp_path: Path, case: str
) -> None:
    recipe = make(case)
    list(run_recipe(recipe, tmp_path / "straight"))
    events = run_recipe(recipe, tmp_path / "stopped")
    after = None
    for event in events:
        if isinstance(event, Validated):
            after = event.step
        elif isinstance(event, StepDone) and after and event.step == after + 2:
            break
    events.close()  # type: ignore[attr-defined]
    torch.manual_seed(12345)  # whatever else the process did meanwhile
    resumed = list(run_recipe(recipe, tmp_path / "stopped", resume=True))
    assert any(
        isinstance(event, Note) and event.text.startswith("resumed after") for event in resumed
    )
    steps = [event.step for event in resumed if isinstance(event, StepDone)]
    assert after is not None
    assert steps[0] == after + 1
    assert content(tmp_path / "stopped") == content(tmp_path / "straight")


def points_of(recipe: AnyRecipe, folder: Path) -> dict[tuple[str, str], int]:
    """Of a run that nothing disturbs: kept folder and hash of its weights -> the step that they
    are of.
    """
    found = {}
    for event in run_recipe(recipe, folder):
        if isinstance(event, Validated):
            for name in KEPT:
                found.setdefault((name, weights(folder / name)), event.step)
    return found


def weights(folder: Path) -> str:
    path = folder / "model.safetensors"
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("case", KILLED)
def test_a_kill_at_any_moment_loses_nothing(make: Maker, tmp_path: Path, case: str) -> None:
    recipe = make(case)
    points = points_of(recipe, tmp_path / "straight")
    expected = content(tmp_path / "straight")
    (tmp_path / "recipe.json").write_bytes(msgspec.json.encode(recipe))
    command = [
        sys.executable,
        str(Path(__file__).with_name("killing.py")),
        str(tmp_path / "recipe.json"),
    ]
    paths = {"PYTHONPATH": str(SOURCES), "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    done = subprocess.run(
        [*command, type(recipe).__name__, str(tmp_path)],
        env={**os.environ, **paths},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    killed = sorted(tmp_path.glob("killed-*"))
    assert len(killed) > 10
    for folder in killed:
        steps = {line.get("step", line.get("update")) for line in lines_of(folder)}
        for name in KEPT:
            if (folder / name).exists():
                assert any((folder / name / described).exists() for described in DESCRIBED)
                assert points[name, weights(folder / name)] in steps, (
                    f"{folder.name}: {name} is of no line"
                )
        assert content(tmp_path / folder.name.replace("killed", "run")) == expected, folder.name
