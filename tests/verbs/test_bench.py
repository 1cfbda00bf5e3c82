"""``fascicle bench``: a grid of the tier smoke, from nothing to results, and everything that may
come between.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.grids import grid_text

from fascicle.training.experiments import queue as grid_queue
from fascicle.training.experiments.results import read_result
from fascicle.verbs.tasks import bench

SOURCES = Path(__file__).resolve().parents[2] / "src"
Cli = Callable[..., Any]
Refused = Callable[..., str]


@pytest.fixture
def grid(
    tiny_encoder: Path, toy_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A grid whose first system cannot be trained."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "project" / "grids"
    folder.mkdir(parents=True)
    path = folder / "toy.toml"
    recipe = (
        f'model.encoder = "{tiny_encoder}"\nreading = {{ max_length = 32, overlap = 4 }}\n'
        'training = { epochs = 3, learning_rate = 1e-2, batch_size = 4, precision = "fp32" }'
    )
    part = (
        f'train = "{toy_corpus}", dev = "{toy_corpus}", test = "{toy_corpus}", documents = '
        '"sentence"'
    )
    broken, crf = f'model.encoder = "{tmp_path / "none"}"', 'model.family = "crf"'
    text = grid_text(
        "toy",
        compare="softmax",
        recipe=recipe,
        corpora={"toy": f"corpus = {{ {part} }}"},
        systems={"broken": broken, "softmax": "", "crf": crf, "large": ""},
        variants={"dev": 'corpus.test = ""'},
        runs=[
            {"systems": ["broken", "softmax"], "tier": "smoke"},
            {"systems": ["crf"], "variants": ["dev"], "seeds": [2], "tier": "smoke"},
            {"systems": ["large"], "tier": "gpu"},
        ],
    )
    path.write_text(text, encoding="utf-8")
    return path


def states(result: Any) -> dict[str, str]:
    return {row["run"]: row["state"] for row in json.loads(result.out)["runs"]}


def results_of(grid: Path) -> Path:
    return grid.parent.parent / "results" / "toy"


@pytest.mark.slow
def test_a_grid_from_nothing_to_results(cli: Cli, grid: Path, tmp_path: Path) -> None:
    result = cli("bench", grid, "--tier", "smoke", "--threads", 1, "--jobs", 3, "--json")
    assert result.code == 3
    assert states(result) == {
        "toy-broken-s1": "failed",
        "toy-softmax-s1": "trained",
        "toy-crf-dev-s2": "trained",
    }
    told = json.loads(result.out)
    assert (told["grid"], told["done"], told["failed"], told["left"]) == ("toy", 2, 1, 0)
    assert Path(told["results"]) == results_of(grid)
    assert "fascicle: grid toy: 3 runs, 0 done before, 3 to do\n" in result.err
    (line,) = (
        x for x in result.err.splitlines() if x.startswith("fascicle: failed: toy-broken-s1: ")
    )
    assert "there is no folder" in line
    assert re.search(
        r"^fascicle: toy-softmax-s1: epoch 3/3: loss \d\.\d{4}, dev .*F1 \d+\.\d\d, ",
        result.err,
        re.MULTILINE,
    )
    assert "1 run failed; the others are done" in result.err
    assert "Traceback" not in result.err
    value = read_result(results_of(grid), "toy-softmax-s1")
    assert (value["grid"], value["corpus"], value["system"], value["tier"]) == (
        "toy",
        "toy",
        "softmax",
        "smoke",
    )
    assert len(value["test_counts"]) == 10
    assert value["peak_rss_bytes"] > 50e6
    assert value["facts"]["environment"]["threads"] == 1
    assert read_result(results_of(grid), "toy-crf-dev-s2")["test"] is None
    assert [p.name for p in (results_of(grid) / "predictions").iterdir()] == [
        "toy-softmax-s1.test.tsv.gz"
    ]
    assert {p.name for p in (tmp_path / "runs" / "toy").iterdir()} == {
        "toy-softmax-s1",
        "toy-crf-dev-s2",
    }

    before = (results_of(grid) / "toy-softmax-s1.json").read_bytes()
    again = cli("bench", grid, "--only", "toy-softmax", "toy-crf-*")
    assert again.code == 0
    assert "2 runs, 2 done before, 0 to do" in again.err
    assert again.out.splitlines()[1].startswith("toy-softmax-s1  done   ")
    assert (results_of(grid) / "toy-softmax-s1.json").read_bytes() == before

    shutil.rmtree(results_of(grid))
    collected = cli("bench", grid, "--only", "toy-softmax", "--json")
    assert states(collected) == {"toy-softmax-s1": "collected"}
    assert (results_of(grid) / "toy-softmax-s1.json").read_bytes() == before


@pytest.fixture
def trained(grid: Path, tiny_run: Path, tmp_path: Path) -> Path:
    """The grid with as many epochs as the run of the other tests has, whose folder it holds."""
    change(grid, "epochs = 3", "epochs = 12")
    shutil.copytree(tiny_run, tmp_path / "runs" / "toy" / "toy-softmax-s1")
    return grid


def change(grid: Path, old: str, new: str) -> None:
    text = grid.read_text(encoding="utf-8")
    assert old in text
    grid.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_the_list(cli: Cli, trained: Path, tmp_path: Path) -> None:
    result = cli("bench", trained, "--list")
    assert (result.code, result.err) == (0, "")
    rows = [re.split(r"  +", line) for line in result.out.splitlines()]
    assert [row[0] for row in rows[1:]] == [
        "toy-broken-s1",
        "toy-softmax-s1",
        "toy-crf-dev-s2",
        "toy-large-s1",
    ]
    assert [row[3] for row in rows] == [
        "state",
        "not run",
        "trained, results not written",
        "not run",
        "not run",
    ]
    assert rows[4][1] == "gpu"
    assert not results_of(trained).exists()
    told = json.loads(cli("bench", trained, "--list", "--json", "--tier", "gpu").out)
    assert told == [
        {
            "run": "toy-large-s1",
            "tier": "gpu",
            "hash": told[0]["hash"],
            "state": "new",
            "stale": False,
        }
    ]
    assert told[0]["hash"].startswith(rows[4][2])
    shutil.rmtree(tmp_path / "runs")
    assert "not run" in cli("bench", trained, "--list", "--only", "toy-softmax").out


def test_an_interrupted_run_is_listed_and_left_for_want_of_time(
    cli: Cli, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runs" / "toy" / "toy-softmax-s1" / "scores.json").unlink()
    shown = cli("bench", trained, "--list", "--only", "toy-softmax")
    assert "interrupted after epoch 12 of 12" in shown.out
    # ten minutes after that are long over
    monkeypatch.setattr(bench, "time", SimpleNamespace(time=lambda: 0.0))
    result = cli("bench", trained, "--tier", "smoke", "--minutes", 10, "--json")
    assert result.code == 0
    assert set(states(result).values()) == {"left"}
    told = json.loads(result.out)
    assert (told["done"], told["left"], told["failed"]) == (0, 3, 0)
    assert told["runs"][1]["reason"] == "after epoch 12 of 12"
    assert "3 runs left: the same command goes on" in result.err


@pytest.mark.slow
def test_stale_results_are_told_and_made_again(
    cli: Cli, refused: Refused, trained: Path, tmp_path: Path
) -> None:
    only = ("--only", "toy-softmax")
    assert cli("bench", trained, *only).code == 0
    change(trained, "epochs = 12", "epochs = 1")
    assert "not run; its results are stale" not in cli("bench", trained, "--list", *only).out
    assert "cannot be begun: " in cli("bench", trained, "--list", *only).out
    said = refused("bench", trained, *only)
    assert "toy-softmax-s1 holds a run of another recipe or of other data" in said
    assert "move it away" in said
    before = read_result(results_of(trained), "toy-softmax-s1")
    (tmp_path / "runs" / "toy").rename(tmp_path / "kept")
    assert "not run; its results are stale" in cli("bench", trained, "--list", *only).out
    result = cli("bench", trained, *only, "--threads", 1)
    assert result.code == 0
    assert (
        "toy-softmax-s1: its results are of another recipe or other data, so it is run again"
        in result.err
    )
    after = read_result(results_of(trained), "toy-softmax-s1")
    assert len(after["epochs"]) == 1
    assert after["hash"] != before["hash"]


def test_other_places(cli: Cli, trained: Path, tmp_path: Path) -> None:
    (tmp_path / "runs" / "toy").rename(tmp_path / "elsewhere")
    result = cli(
        "bench",
        trained,
        "--only",
        "toy-softmax",
        "--runs",
        tmp_path / "elsewhere",
        "-o",
        tmp_path / "out",
    )
    assert result.code == 0
    assert "collected" in result.out
    assert (tmp_path / "out" / "toy-softmax-s1.json").is_file()
    assert not results_of(trained).exists()


def test_runs_for_an_accelerator_that_is_not_there(
    cli: Cli, trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid_queue, "has_accelerator", lambda: False)
    result = cli("bench", trained, "--tier", "gpu", "--json")
    assert (result.code, states(result)) == (0, {"toy-large-s1": "left"})
    assert (
        "no accelerator here: 1 run of the tier gpu left out; name them with --only" in result.err
    )
    assert json.loads(result.out)["runs"][0]["reason"] == "no accelerator"
    monkeypatch.setattr(bench, "time", SimpleNamespace(time=lambda: 0.0))
    named = cli("bench", trained, "--tier", "gpu", "--only", "toy-large", "--minutes", 1, "--json")
    # it was to be run, had there been time
    assert json.loads(named.out)["runs"][0]["reason"] == "after epoch 0 of 12"
    monkeypatch.setattr(grid_queue, "has_accelerator", lambda: True)
    there = cli("bench", trained, "--tier", "gpu", "--minutes", 1, "--json")
    assert json.loads(there.out)["runs"][0]["reason"] == "after epoch 0 of 12"


def test_cores_are_shared_among_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    from fascicle.cli import build_parser

    def threads(*argv: str) -> int | None:
        args = build_parser().parse_args(["bench", "x.toml", *argv])
        return bench.run_threads(bench.BenchSettings(jobs=args.jobs, threads=args.threads))

    monkeypatch.setattr(bench, "usable_cores", lambda: 6)
    assert threads() is None
    assert threads("--jobs", "2") == 3
    assert threads("--jobs", "9") == 1
    assert threads("--jobs", "2", "--threads", "1") == 1


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["--only", "nothing*"], "no run of the grid matches 'nothing*'; its runs are toy-"),
        (["--tier", "tpu"], "--tier 'tpu' is not known (did you mean gpu?)"),
        (["--jobs", "0"], "integer from 1"),
        (["--minutes", "0.5"], "integer from 1"),
    ],
)
def test_wrong_options(refused: Refused, grid: Path, argv: list[str], expected: str) -> None:
    assert expected in refused("bench", grid, *argv)


def test_nothing_runs_before_the_whole_grid_is_checked(
    refused: Refused, grid: Path, tmp_path: Path
) -> None:
    change(grid, 'model.family = "crf"', 'model.family = "cfr"')
    assert "toy.toml: toy-crf-dev: model.family = 'cfr' is not allowed" in refused("bench", grid)
    change(grid, 'model.family = "cfr"', 'model.family = "crf"')
    change(grid, 'systems = ["crf"]', 'systems = ["cfr"]')
    assert "there is no system 'cfr'; did you mean 'crf'?" in refused("bench", grid)
    change(grid, 'systems = ["cfr"]', 'systems = ["crf"]')
    assert "there is no grid at" in refused("bench", tmp_path / "none.toml")
    assert not (tmp_path / "runs").exists()
    assert not results_of(grid).exists()


def test_a_run_that_cannot_be_begun_stops_no_other(cli: Cli, trained: Path) -> None:
    change(trained, 'corpus.test = ""', 'corpus.test = "$FASCICLE_NOT_SET"')
    assert "FASCICLE_NOT_SET, which is not set" in cli("bench", trained, "--list").out
    result = cli("bench", trained, "--only", "toy-softmax", "toy-crf-dev", "--json")
    assert result.code == 3
    assert states(result) == {"toy-softmax-s1": "collected", "toy-crf-dev-s2": "failed"}
    # told before the work
    assert result.err.index("failed: toy-crf-dev-s2: ") < result.err.index("grid toy: ")
    assert "FASCICLE_NOT_SET, which is not set" in json.loads(result.out)["runs"][1]["reason"]


def test_where_nothing_can_be_begun(refused: Refused, grid: Path, tmp_path: Path) -> None:
    only = ("--only", "toy-crf-dev")
    change(grid, 'corpus.test = ""', 'corpus.test = "none.tsv"')
    assert "none.tsv, which does not exist" in refused("bench", grid, *only)
    change(grid, 'corpus.test = "none.tsv"', 'corpus.test = ""')
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert "file is not a folder to write in; give another -o" in refused(
        "bench", grid, "-o", tmp_path / "file" / "here"
    )
    assert not (tmp_path / "runs").exists()
    assert not results_of(grid).exists()


def test_without_torch_the_extra_is_named(
    refused: Refused, grid: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid_queue, "find_spec", lambda _: None)
    assert "fascicle[train]" in refused("bench", grid)


def test_the_list_needs_no_torch(grid: Path) -> None:
    code = (
        "import sys\nfor name in ('torch', 'transformers', 'accelerate'): sys.modules[name] = "
        "None\n"
        f"from fascicle.cli import main; sys.exit(main(['bench', {str(grid)!r}, '--list']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert "toy-large-s1" in done.stdout


@pytest.mark.slow
def test_killed_at_any_moment_the_next_call_goes_on(cli: Cli, grid: Path, tmp_path: Path) -> None:
    change(grid, "epochs = 3", "epochs = 40")
    argv = ["bench", str(grid), "--only", "toy-softmax", "--threads", "1"]
    killed = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "fascicle",
            *argv,
            "--runs",
            str(tmp_path / "killed"),
            "-o",
            str(tmp_path / "a"),
        ],
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert killed.stderr is not None
    for line in killed.stderr:
        if "epoch 2/40" in line:
            break
    killed.send_signal(signal.SIGKILL)
    killed.wait(timeout=600)
    killed.stderr.close()
    await_silence(tmp_path / "killed" / "toy-softmax-s1")
    assert not (tmp_path / "a").exists()
    went_on = cli(*argv, "--runs", tmp_path / "killed", "-o", tmp_path / "a", "--verbose")
    assert went_on.code == 0, went_on.err
    assert "resumed after epoch " in went_on.err
    assert cli(*argv, "--runs", tmp_path / "straight", "-o", tmp_path / "b").code == 0
    first, second = (read_result(tmp_path / name, "toy-softmax-s1") for name in "ab")
    assert [line["loss"] for line in first["epochs"]] == [line["loss"] for line in second["epochs"]]
    assert first["test_counts"] == second["test_counts"]
    assert first["hash"] == second["hash"]


def await_silence(folder: Path) -> None:
    """Waits until the orphan has ended: its lock is free."""
    import fcntl

    until = time.time() + 300
    with folder.with_name(f".{folder.name}.lock").open("w", encoding="utf-8") as stream:
        while time.time() < until:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.05)
            else:
                return
    raise AssertionError("the orphan goes on")
