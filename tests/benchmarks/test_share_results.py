"""Results that one grid has made already for another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import share_results as module

pytest.importorskip("torch")
from fascicle.experiments.grid import Grid, read_grid
from fascicle.experiments.hashes import data_hashes, recipe_hash

GRID = """
name = "NAME"
[recipe]
model = { encoder = "folder" }
[corpora.toy]
corpus.train = "a.tsv"
corpus.dev = "a.tsv"
[systems.one]
training.learning_rate = 1e-4
[systems.two]
training.learning_rate = 2e-4
[systems.both]
bundle = { family = "softmax", weight = 0.5 }
model = { family = "span" }
[[run]]
corpora = ["toy"]
systems = SYSTEMS
seeds = [1]
tier = "cpu"
"""


def grid_of(folder: Path, name: str, systems: list[str]) -> Grid:
    (folder / "a.tsv").write_text("x\tO\n", encoding="utf-8")
    text = GRID.replace("NAME", name).replace("SYSTEMS", json.dumps(systems))
    (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return read_grid(folder / f"{name}.toml")


def test_results_of_the_same_hash_get_the_new_names(tmp_path: Path) -> None:
    made, wanted = grid_of(tmp_path, "made", ["one", "both"]), grid_of(tmp_path, "wanted", ["one", "two", "both"])
    (tmp_path / "made").mkdir()
    for run in made.runs:
        recipe = run.resolved()
        value = {"run": run.name, "hash": recipe_hash(recipe, data_hashes(recipe)), "grid": "made", "dev": {"f1": 0.5}}
        (tmp_path / "made" / f"{run.name}.json").write_text(json.dumps(value), encoding="utf-8")
    found = list(module.share(wanted, tmp_path))
    assert [name for name, _ in found] == ["toy-one-s1"]
    value = json.loads((tmp_path / "wanted" / "toy-one-s1.json").read_text(encoding="utf-8"))
    assert (value["grid"], value["system"], value["tier"], value["dev"]) == ("wanted", "one", "cpu", {"f1": 0.5})
    assert list(module.share(wanted, tmp_path)) == []  # what is there stays
