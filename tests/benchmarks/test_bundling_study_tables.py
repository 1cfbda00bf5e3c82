"""Tables of the studies of bundling on dev, of gradients and of costs, from results files that the tests write."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fascicle.experiments.grid import Grid, read_grid
from fascicle.experiments.hashes import recipe_hash

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("bundling_study_tables")


def rows(table: str) -> list[dict[str, str]]:
    lines = [[c.strip() for c in x.strip("|").split("|")] for x in table.splitlines() if x.startswith("|")]
    return [dict(zip(lines[0], cells, strict=True)) for cells in lines[2:]]


def test_the_studies_have_the_systems_of_the_grid() -> None:
    main, studies = (read_grid(BENCHMARKS / "grids" / f"{name}.toml") for name in ("bundling", "bundling-studies"))

    def plain(grid: Grid) -> dict[tuple[str, str], Any]:
        return {(r.corpus, r.system): r.recipe for r in grid.runs if not r.variant}

    shared = plain(studies).keys() & plain(main).keys()
    assert len(shared) == 8
    for key in shared:
        one, two = plain(studies)[key], plain(main)[key]
        for part in ("reading", "model", "bundle", "training", "decision"):
            assert getattr(one, part) == getattr(two, part), key
        assert (one.corpus.train, one.corpus.dev, one.corpus.test) == (two.corpus.train, two.corpus.dev, "")
    assert not any(run.recipe.corpus.test for run in studies.runs)


STUDIES = """\
name = "bundling-studies"
[recipe]
model.encoder = "tiny"
corpus = { train = "a", dev = "b" }
[corpora.conll04]
[systems.softmax]
[systems.spanner]
model.family = "span"
[systems.crf]
model.family = "crf"
[systems.bundle]
model.family = "span"
bundle = { family = "softmax", weight = 0.1 }
[variants."alpha-0.5"]
bundle.weight = 0.5
[variants.crf]
bundle.family = "crf"
[variants.boundary]
model.representation = "boundary"
[[run]]
corpora = ["conll04"]
systems = ["bundle"]
seeds = [1, 2]
tier = "cpu"
[[run]]
corpora = ["conll04"]
systems = ["bundle"]
variants = ["alpha-0.5", "crf", "boundary"]
seeds = [1, 2]
tier = "cpu"
[[run]]
corpora = ["conll04"]
systems = ["crf"]
seeds = [1, 2]
tier = "cpu"
"""


@pytest.fixture
def studies(tmp_path: Path) -> Grid:
    path = tmp_path / "bundling-studies.toml"
    path.write_text(STUDIES, encoding="utf-8")
    (tmp_path / "results" / "bundling-studies").mkdir(parents=True)
    return read_grid(path)


MAIN = """\
name = "bundling"
[recipe]
model.encoder = "tiny"
corpus = { train = "a", dev = "b", test = "c" }
[corpora.conll04]
[systems.softmax]
[[run]]
corpora = ["conll04"]
systems = ["softmax"]
seeds = [1, 2, 3]
tier = "cpu"
"""


@pytest.fixture
def main(tmp_path: Path) -> Grid:
    path = tmp_path / "bundling.toml"
    path.write_text(MAIN, encoding="utf-8")
    (tmp_path / "results" / "bundling").mkdir(parents=True)
    return read_grid(path)


def on_dev(grid: Grid, file: str, f1: float) -> None:
    run = next(run for run in grid.runs if file.startswith((f"{run.name}.s", f"{run.name}.c")) or file == run.name)
    data = {part: {"sha256": part} for part in ("train", "dev")}
    value = {
        "hash": recipe_hash(run.recipe, {part: facts["sha256"] for part, facts in data.items()}),
        "dev": {"micro": {"f1": f1}},
        "test": None,
        "facts": {"data": data},
    }
    (grid.results / f"{file}.json").write_text(json.dumps(value), encoding="utf-8")


def test_weights(made: ModuleType, main: Grid, studies: Grid) -> None:
    on_dev(main, "conll04-softmax-s1", 0.5)
    on_dev(main, "conll04-softmax-s3", 0.6)  # a seed that the study does not have
    on_dev(studies, "conll04-bundle-s1", 0.8)
    on_dev(studies, "conll04-bundle-s2", 0.9)
    on_dev(studies, "conll04-bundle-s2.softmax", 0.7)
    on_dev(studies, "conll04-bundle-alpha-0.5-s1", 0.6)
    on_dev(studies, "conll04-bundle-alpha-0.5-s1.softmax", 0.5)
    found = [list(row.values()) for row in rows(made.weights(studies, main))]
    assert found == [
        ["alpha = 0.1", "70.00 (1 of 2 seeds)", "85.00 ± 7.07"],
        ["alpha = 0.5", "50.00 (1 of 2 seeds)", "60.00 (1 of 2 seeds)"],
        ["the single models", "50.00 (1 of 2 seeds)", "not run"],
    ]


def test_taggers_vectors_and_other_models(made: ModuleType, studies: Grid) -> None:
    on_dev(studies, "conll04-crf-s1", 0.5)
    on_dev(studies, "conll04-crf-s2", 0.7)
    on_dev(studies, "conll04-bundle-crf-s2", 0.8)
    on_dev(studies, "conll04-bundle-crf-s2.crf", 0.75)
    on_dev(studies, "conll04-bundle-boundary-s1", 0.4)
    assert [list(row.values()) for row in rows(made.taggers(studies))] == [
        ["softmax", "", "not run", "not run"],
        ["CRF", "60.00 ± 14.14", "75.00 (1 of 2 seeds)", "80.00 (1 of 2 seeds)"],
    ]
    boundary, pooling, hybrid = (list(row.values()) for row in rows(made.representations(studies)))
    assert boundary == ["boundary", "", "40.00 (1 of 2 seeds)", "not run"]
    assert (pooling[2], hybrid[2]) == ("", "not run")
    crf = [row for row in rows(made.others(studies)) if row["dev F1 on conll04"] == "SeqCRF"]
    assert [row["gain, same seeds"] for row in crf] == ["+5.00 (1 of 2 seeds)", "not planned"]


def test_cells_of_the_real_studies_are_planned(made: ModuleType) -> None:
    """No table asks for a cell that the grid does not have, so that none stays empty for ever."""
    grids = BENCHMARKS / "grids"
    real, main = read_grid(grids / "bundling-studies.toml"), read_grid(grids / "bundling.toml")
    texts = [made.taggers(real), made.representations(real), made.others(real)]
    assert all("" not in row.values() and "not planned" not in row.values() for text in texts for row in rows(text))
    weights = rows(made.weights(real, main))
    assert [row["dev F1"] for row in weights[:-1]] == [f"alpha = 0.{i}" for i in range(1, 10)]
    assert all(row["conll04, BL-SeqNER"] for row in weights)


def test_gradients_and_costs(made: ModuleType, tmp_path: Path) -> None:
    parts = {
        "encoder": {"cosine": 0.5, "norm_ratio": 2.0},
        "layer 1": {"cosine": -0.25, "norm_ratio": 1.0},
        "layer 2": {"cosine": None, "norm_ratio": None},
        "layer 10": {"cosine": 0.75, "norm_ratio": None},
        "embeddings": {"cosine": 0.125, "norm_ratio": 1.0},
    }
    line = {"epoch": 3, "losses": {"span": 0.5, "softmax": 0.25}, "pull": 0.22, "parts": parts}
    run = {"weights": {"span": 0.9, "softmax": 0.1}, "epochs": [{**line, "batch_cosines": [0.1, 0.2, 0.3, None]}]}
    (tmp_path / "bundling-gradients.json").write_text(json.dumps({"runs": {"x-s1": run}}), encoding="utf-8")
    (row,) = rows(made.gradients(tmp_path))
    assert list(row) == [
        "epoch",
        "loss, `softmax`",
        "loss, `span`",
        "norms, `softmax` : `span`",
        "pull, `softmax` : `span`",
        "cosine of single batches",
        *(f"cosine, {part}" for part in ("encoder", "embeddings", "layer 1", "layer 2", "layer 10")),
    ]
    assert list(row.values())[:6] == ["3", "0.250", "0.500", "2.00", "0.22", "+0.20 (+0.10 to +0.30)"]
    assert list(row.values())[6:] == ["+0.50", "+0.12", "-0.25", "none", "+0.75"]
    ratio = {"median": 1.2, "low": 1.1, "high": 1.3}
    own = {"slower": "spanner", "ratio": ratio, "ratio_to_same_head": {**ratio, "median": 1.0}}
    report = {"training": {"slower": "spanner", "ratio": ratio}, "inference": {"softmax": own, "span": own}}
    (tmp_path / "bundle-cost.json").write_text(json.dumps(report), encoding="utf-8")
    cells = [list(row.values()) for row in rows(made.cost(tmp_path))]
    assert cells[0] == ["training epoch", "1.20 (1.10 to 1.30)", "`spanner`", "", "at most 1.25"]
    assert cells[2][1:] == ["1.20 (1.10 to 1.30)", "`spanner`", "1.00 (1.10 to 1.30)", "at most 1.0"]
