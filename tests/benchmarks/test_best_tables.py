"""The table of the best recipes so far, from results files that the test writes."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

from fascicle.evaluation.uncertainty.intervals import bootstrap_difference
from fascicle.experiments.grid import Grid, read_grid
from fascicle.experiments.hashes import recipe_hash
from fascicle.experiments.results import scores_of

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
TEXT = """\
name = "{name}"
[recipe]
model.encoder = "tiny"
corpus = {{ train = "a", dev = "b", test = "c" }}
[corpora.bc5cdr]
[systems.plain]
[systems.crf]
model.family = "crf"
[[run]]
corpora = ["bc5cdr"]
systems = ["plain", "crf"]
seeds = [1, 2]
tier = "cpu"
"""
WORSE = [[3, 1, 0], [1, 0, 2], [2, 2, 2], [0, 0, 0]]
BETTER = [[3, 0, 0], [2, 0, 1], [3, 2, 1], [0, 1, 0]]


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("best_tables")


def grid(folder: Path, name: str) -> Grid:
    path = folder / f"{name}.toml"
    path.write_text(TEXT.format(name=name), encoding="utf-8")
    (folder / "results" / name).mkdir(parents=True)
    return read_grid(path)


def put(of: Grid, system: str, *, dev: float, counts: Sequence[Sequence[int]], seed: int = 1) -> None:
    run = next(r for r in of.runs if r.system == system and r.recipe.seed == seed)
    data = {part: {"sha256": part} for part in ("train", "dev", "test")}
    value = {
        "hash": recipe_hash(run.recipe, {part: part for part in data}),
        "facts": {"data": data},
        "dev": {"micro": {"f1": dev}},
        "test": {"micro": scores_of(counts).as_dict()["micro"]},
        "test_counts": counts,
    }
    (of.results / f"{run.name}.json").write_text(json.dumps(value), encoding="utf-8")


def test_the_best_single_model_is_the_reference_and_the_order_is_that_of_dev(
    tmp_path: Path, tables: ModuleType
) -> None:
    first, second = grid(tmp_path, "first"), grid(tmp_path, "second")
    put(first, "plain", dev=0.80, counts=BETTER)
    put(first, "crf", dev=0.81, counts=WORSE)
    put(second, "plain", dev=0.82, counts=BETTER)
    put(second, "crf", dev=0.79, counts=[*WORSE, [1, 0, 0]])
    lines = tables.best_recipes(first, [second], ["bc5cdr"]).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    assert [row[3] for row in cells] == ["82.00", "81.00", "80.00", "79.00"]
    paired = bootstrap_difference(scores_of(BETTER), scores_of(WORSE))
    gained = f"{100 * paired.estimate:+.2f} ({100 * paired.low:+.1f} to {100 * paired.high:+.1f})"
    assert [row[5] for row in cells] == [gained, "reference", gained, "other units"]


def test_a_second_seed_is_no_candidate_and_nothing_is_said_of_what_is_not_run(
    tmp_path: Path, tables: ModuleType
) -> None:
    first = grid(tmp_path, "first")
    assert "not run" in tables.best_recipes(first, [], ["bc5cdr"])
    put(first, "plain", dev=0.70, counts=WORSE)
    put(first, "plain", dev=0.90, counts=BETTER, seed=2)
    assert "90.00" not in tables.best_recipes(first, [], ["bc5cdr"])


def test_the_reference_is_shown_also_where_many_are_better_on_dev(
    tmp_path: Path, tables: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "SHOWN", 1)
    first, second = grid(tmp_path, "first"), grid(tmp_path, "second")
    put(first, "plain", dev=0.5, counts=WORSE)
    put(second, "plain", dev=0.6, counts=BETTER)
    put(second, "crf", dev=0.55, counts=BETTER)
    shown = tables.best_recipes(first, [second], ["bc5cdr"])
    assert "60.00" in shown
    assert "reference" in shown
    assert "55.00" not in shown
