"""Results that one grid has made already for another."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.grids import make_grid, write_json
from tests.support.runs import read_json

from studies import share_results as module

pytest.importorskip("torch")
from fascicle.training.experiments.grid import Grid
from fascicle.training.experiments.hashes import data_hashes, recipe_hash

SYSTEMS = {
    "one": "training.learning_rate = 1e-4",
    "two": "training.learning_rate = 2e-4",
    "both": 'model.family = "span"\nbundle = { family = "softmax", weight = 0.5 }',
}


def grid_of(folder: Path, name: str, *systems: str) -> Grid:
    (folder / "a.tsv").write_text("x\tO\n", encoding="utf-8")
    recipe = 'model.encoder = "folder"\ncorpus = { train = "a.tsv", dev = "a.tsv" }'
    return make_grid(
        folder, name, recipe=recipe, systems={system: SYSTEMS[system] for system in systems}
    )


def test_results_of_the_same_hash_get_the_new_names(tmp_path: Path) -> None:
    made, wanted = grid_of(tmp_path, "made", "one", "both"), grid_of(tmp_path, "wanted", *SYSTEMS)
    for run in made.runs:
        recipe = run.resolved()
        value = {
            "run": run.name,
            "hash": recipe_hash(recipe, data_hashes(recipe)),
            "grid": "made",
            "dev": {"f1": 0.5},
        }
        write_json(made.results / f"{run.name}.json", value)
    found = list(module.share(wanted, tmp_path / "results"))
    assert [name for name, _ in found] == ["toy-one-s1"]
    value = read_json(wanted.results / "toy-one-s1.json")
    assert (value["grid"], value["system"], value["tier"], value["dev"]) == (
        "wanted",
        "one",
        "cpu",
        {"f1": 0.5},
    )
    assert list(module.share(wanted, tmp_path / "results")) == []  # what is there stays
