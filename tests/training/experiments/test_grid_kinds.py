"""Grids of other kinds than recognisers: run, known again by their hash, and run anew when their
data change.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.support.pretraining import make_encoder, make_text

from fascicle.training.experiments.grid import Grid, read_grid
from fascicle.training.experiments.queue import Planned, plan_runs, tasks_of
from fascicle.training.experiments.results import Done, GridEvent, read_result
from fascicle.training.experiments.worker import perform

WORDS = ("lung", "cancer", "aspirin", "pain", "the", "patient", "<unk>")


@pytest.fixture(params=["filter", "typer", "pretraining"])
def grid(
    request: pytest.FixtureRequest,
    tiny_run: Path,
    tiny_encoder: Path,
    toy_corpus: Path,
    tmp_path: Path,
) -> Grid:
    """A grid of one recipe file, whose data lie beside it."""
    (tmp_path / "toy.tsv").write_bytes(toy_corpus.read_bytes())
    chance = np.random.default_rng(1)
    rows = (f"{word} {' '.join(f'{v:.3f}' for v in chance.normal(size=4))}\n" for word in WORDS)
    (tmp_path / "data").write_text("".join(rows), encoding="utf-8")
    corpus = '[corpus]\ntrain = "toy.tsv"\ndev = "toy.tsv"\ndocuments = "sentence"\n'
    if request.param == "filter":
        (tmp_path / "data").write_bytes(
            (tiny_run / "predictions" / "dev-epoch-01.tsv").read_bytes()
        )
        more = (
            f'[members]\ndev = ["{tiny_run}", "data"]\n[model]\nencoder = "{tiny_encoder}"\n'
            '[reading]\nmax_length = 48\n[training]\nepochs = 2\nprecision = "fp32"\n'
        )
    elif request.param == "pretraining":
        make_text(tmp_path / "data", documents=12)
        encoder = make_encoder(tmp_path / "encoder")
        corpus = '[text]\nfiles = ["data"]\nwindow = 32\nheld_out = 0.3\n'
        more = f'[model]\nencoder = "{encoder}"\n[training]\nbatch_size = 4\nprecision = "fp32"\n'
    else:
        more = '[vectors]\npath = "data"\ncache = "none"\n[typer]\nhidden = 4\nupdates = 3\n'
    (tmp_path / "cell.toml").write_text(f'name = "cell"\n{corpus}{more}', encoding="utf-8")
    (tmp_path / "grid.toml").write_text(
        'name = "toy"\n[[run]]\nrecipes = ["cell.toml"]\nseeds = [3]\ntier = "cpu"\n',
        encoding="utf-8",
    )
    return read_grid(tmp_path / "grid.toml")


def planned(grid: Grid) -> Planned:
    folder = grid.path.parent
    (found,) = plan_runs(grid.runs, folder=folder / "runs", results=folder / "results")
    return found


def test_any_kind_is_run_and_known_again(grid: Grid) -> None:
    folder, found = grid.path.parent, planned(grid)
    assert (found.state, found.problem) == ("new", "")
    (task,) = tasks_of(grid, [found], results=folder / "results", threads=1)
    events: list[GridEvent] = []
    perform(task, events.append)
    assert events[-1] == Done(run="cell-s3", trained=True)
    value = read_result(folder / "results", "cell-s3")
    scores = json.loads((folder / "runs" / "cell-s3" / "scores.json").read_text(encoding="utf-8"))
    assert (value["hash"], value["seed"], value["tier"]) == (found.hash, 3, "cpu")
    assert all(value[key] == scores[key] for key in scores.keys() - {"seconds"})
    assert value["facts"]["data"]
    assert planned(grid).state == "done"
    (folder / "results" / "cell-s3.json").unlink()
    assert planned(grid).state == "complete"  # by what the run folder says of its data


def test_other_data_make_another_run(grid: Grid) -> None:
    before = planned(grid).hash
    path = grid.path.parent / "data"
    path.write_text(
        path.read_text(encoding="utf-8") + path.read_text(encoding="utf-8").splitlines()[-1] + "\n"
    )
    assert planned(grid).hash != before
    path.unlink()
    assert planned(grid).state == "unable"
