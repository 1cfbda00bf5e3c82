"""The queue: what there is to do, and processes that end well, badly, or not at all."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.grids import make_grid

from fascicle.errors import MissingExtraError, OutputError, UsageError
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.experiments import queue as grid_queue
from fascicle.training.experiments.grid import Grid, GridRun, read_grid
from fascicle.training.experiments.queue import (
    Planned,
    check_installed,
    plan_runs,
    run_tasks,
    select,
    tasks_of,
)
from fascicle.training.experiments.results import (
    Done,
    EpochEnded,
    Failed,
    GridEvent,
    GridTask,
    Postponed,
)

Maker = Callable[..., Recipe]


@pytest.fixture
def grid(tiny_encoder: Path, toy_corpus: Path, tmp_path: Path) -> Grid:
    recipe = (
        f'model.encoder = "{tiny_encoder}"\nreading = {{ max_length = 32, overlap = 4 }}\n'
        'training = { epochs = 12, learning_rate = 1e-2, batch_size = 4, precision = "fp32" }'
    )
    part = (
        f'train = "{toy_corpus}", dev = "{toy_corpus}", test = "{toy_corpus}", documents = '
        '"sentence"'
    )
    return make_grid(
        tmp_path,
        "toy",
        recipe=recipe,
        corpora={"toy": f"corpus = {{ {part} }}"},
        systems={"softmax": "", "crf": 'model.family = "crf"'},
        runs=[
            {"seeds": [1, 2], "tier": "smoke"},
            {"systems": ["crf"], "seeds": [3], "tier": "gpu"},
        ],
    )


@pytest.fixture
def look(grid: Grid, tmp_path: Path) -> Callable[[], dict[str, Planned]]:
    def look() -> dict[str, Planned]:
        found = plan_runs(grid.runs, folder=tmp_path / "runs", results=tmp_path / "results")
        return {planned.run.name: planned for planned in found}

    return look


Look = Callable[[], dict[str, Planned]]


def names(runs: tuple[GridRun, ...]) -> list[str]:
    return [run.name for run in runs]


def test_a_part_of_the_grid(grid: Grid) -> None:
    every = ["toy-softmax-s1", "toy-softmax-s2", "toy-crf-s1", "toy-crf-s2", "toy-crf-s3"]
    assert names(select(grid.runs)) == every
    assert names(select(grid.runs, tiers=["gpu"])) == every[4:]
    assert names(select(grid.runs, only=["*-s1"])) == [every[0], every[2]]
    # the name of a recipe: all its seeds
    assert names(select(grid.runs, only=["toy-crf"])) == every[2:]
    assert (
        names(select(grid.runs, only=["toy-crf-s[13]", "toy-softmax-s2"], tiers=["smoke"]))
        == every[1:3]
    )
    with pytest.raises(
        UsageError, match="no run of the grid matches 'toy-cfr'; its runs are toy-softmax-s1, "
    ):
        select(grid.runs, only=["*", "toy-cfr"])
    with pytest.raises(
        UsageError,
        match="none of these runs has the tier cpu; the tiers of the grid are smoke, gpu",
    ):
        select(grid.runs, tiers=["cpu"])


def test_how_far_each_run_is(look: Look, tiny_run: Path, tmp_path: Path) -> None:
    assert {p.state for p in look().values()} == {"new"}
    assert len({p.hash for p in look().values()}) == 5
    runs = tmp_path / "runs"
    shutil.copytree(tiny_run, runs / "toy-softmax-s1")  # another name and no other difference
    shutil.copytree(tiny_run, runs / "toy-softmax-s2")
    shutil.copytree(tiny_run, runs / "toy-crf-s1")
    shutil.copytree(tiny_run, runs / "toy-crf-s2")
    set_recipe(runs / "toy-softmax-s2", seed=2)
    (runs / "toy-softmax-s2" / "scores.json").unlink()
    (runs / "toy-crf-s2" / "recipe.json").write_text("{", encoding="utf-8")
    found = look()
    assert [p.state for p in found.values()] == [
        "complete",
        "interrupted",
        "unable",
        "unable",
        "new",
    ]
    assert found["toy-softmax-s2"].epoch == 12
    assert "holds a run of another recipe" in found["toy-crf-s1"].problem


def set_recipe(folder: Path, **changes: Any) -> None:
    values = json.loads((folder / "recipe.json").read_text(encoding="utf-8"))
    (folder / "recipe.json").write_text(json.dumps({**values, **changes}), encoding="utf-8")


def test_other_data_make_another_run(look: Look, tiny_run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "toy-softmax-s1"
    shutil.copytree(tiny_run, folder)
    facts = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    facts["data"]["dev"]["sha256"] = "0" * 64
    (folder / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    assert look()["toy-softmax-s1"].state == "unable"
    (folder / "run.json").unlink()  # killed before it had read its data
    (folder / "scores.json").unlink()
    assert look()["toy-softmax-s1"].state == "interrupted"


def test_results_are_done_or_stale(look: Look, tmp_path: Path) -> None:
    results = tmp_path / "results"
    results.mkdir(exist_ok=True)
    known = look()["toy-crf-s1"].hash
    for content, state, stale in (
        (json.dumps({"hash": known}), "done", ""),
        (json.dumps({"hash": "0" * 64}), "new", "0" * 64),
        ("{}", "new", "none"),
        ("{", "new", "none"),
    ):
        (results / "toy-crf-s1.json").write_text(content, encoding="utf-8")
        found = look()["toy-crf-s1"]
        assert (found.state, found.stale) == (state, stale)


@pytest.fixture
def chain(
    tiny_encoder: Path, toy_corpus: Path, tmp_path: Path
) -> Callable[..., dict[str, Planned]]:
    """Looks at a grid, the plan of whose run `again` begins before that of `softmax`, from whose
    model it starts.
    """
    part = (
        f'train = "{toy_corpus}", dev = "{toy_corpus}", test = "{toy_corpus}", documents = '
        '"sentence"'
    )
    reading = "reading = { max_length = 32, overlap = 4 }"
    training = (
        'training = { epochs = 12, learning_rate = 1e-2, batch_size = 4, precision = "fp32" }'
    )
    start = tmp_path / "runs" / "toy-softmax-s{seed}"
    grid = make_grid(
        tmp_path,
        "toy",
        recipe=f"{reading}\n{training}",
        corpora={"toy": f"corpus = {{ {part} }}"},
        systems={
            "again": f'model.start = "{start}"',
            "softmax": f'model.encoder = "{tiny_encoder}"',
        },
    )

    def look(*only: str) -> dict[str, Planned]:
        runs = select(grid.runs, only=only)
        found = plan_runs(runs, folder=tmp_path / "runs", results=tmp_path / "results")
        return {planned.run.name: planned for planned in found}

    return look


def test_a_run_waits_for_the_one_that_it_starts_from(
    chain: Callable[..., dict[str, Planned]], tiny_run: Path, tmp_path: Path
) -> None:
    first, after = "toy-softmax-s1", "toy-again-s1"
    assert {name: (p.state, p.after) for name, p in chain().items()} == {
        after: ("waiting", first),
        first: ("new", ""),
    }
    # of a part of the grid, where nothing will make it
    assert "does not exist" in chain(after)[after].problem
    shutil.copytree(tiny_run, tmp_path / "runs" / first)
    (tmp_path / "runs" / first / "scores.json").unlink()
    assert {name: p.state for name, p in chain().items()} == {
        after: "waiting",
        first: "interrupted",
    }
    alone = chain(after)[after]
    assert alone.state == "unable"
    assert "a training run that has not ended" in alone.problem
    shutil.copyfile(tiny_run / "scores.json", tmp_path / "runs" / first / "scores.json")
    assert {name: p.state for name, p in chain().items()} == {after: "new", first: "complete"}
    assert chain()[after].hash


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("run.json", ""),
        ("run.json", "[]"),
        ("metrics.jsonl", '{"epoch": 1}\n{"epo'),
        ("metrics.jsonl", "[1]\n"),
    ],
)
def test_a_damaged_run_folder_stops_no_other_run(
    look: Look, tiny_run: Path, tmp_path: Path, file: str, content: str
) -> None:
    folder = tmp_path / "runs" / "toy-softmax-s1"
    shutil.copytree(tiny_run, folder)
    (folder / file).write_text(content, encoding="utf-8")
    found = look()
    assert found["toy-softmax-s1"].state == "unable"
    assert f"{file} is not JSON" in found["toy-softmax-s1"].problem
    assert {p.state for name, p in found.items() if name != "toy-softmax-s1"} == {"new"}


def test_a_corpus_that_is_not_there(grid: Grid, tmp_path: Path) -> None:
    text = grid.path.read_text(encoding="utf-8").replace('test = "', 'test = "/none')
    grid.path.write_text(text, encoding="utf-8")
    found = plan_runs(read_grid(grid.path).runs, folder=tmp_path, results=tmp_path)
    assert {(p.state, p.hash) for p in found} == {("unable", "")}
    assert re.match(
        r"corpus\.test of the recipe is /none.*, which does not exist", found[0].problem
    )
    assert not tasks_of(grid, found, results=tmp_path)


def test_tasks_are_what_is_not_done(grid: Grid, look: Look, tiny_run: Path, tmp_path: Path) -> None:
    results, found = tmp_path / "results", look()
    results.mkdir(exist_ok=True)
    (results / "toy-softmax-s2.json").write_text(
        json.dumps({"hash": found["toy-softmax-s2"].hash}), encoding="utf-8"
    )
    tasks = tasks_of(grid, look().values(), results=results, threads=1, deadline=5.0)
    assert [task.run for task in tasks] == [
        "toy-softmax-s1",
        "toy-crf-s1",
        "toy-crf-s2",
        "toy-crf-s3",
    ]
    task = tasks[-1]
    assert task.labels == {
        "grid": "toy",
        "tier": "gpu",
        "corpus": "toy",
        "system": "crf",
        "variant": "",
    }
    assert (task.hash, task.threads, task.deadline) == (found["toy-crf-s3"].hash, 1, 5.0)
    assert task.folder == tmp_path / "runs" / "toy-crf-s3"
    shutil.copytree(tiny_run, task.folder)
    assert re.search(
        r"runs/toy-crf-s3 holds a run of another recipe .*; move it away",
        look()["toy-crf-s3"].problem,
    )
    assert [task.run for task in tasks_of(grid, look().values(), results=results)] == [
        t.run for t in tasks[:-1]
    ]
    shutil.copytree(tiny_run, tmp_path / "runs" / "toy-softmax-s2")
    set_recipe(tmp_path / "runs" / "toy-softmax-s2", seed=9)
    # and what lies in the run folder does not matter
    assert look()["toy-softmax-s2"].state == "done"


def test_what_training_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    check_installed()
    monkeypatch.setattr(
        grid_queue, "find_spec", lambda name: None if name == "accelerate" else object()
    )
    with pytest.raises(MissingExtraError, match=r"'accelerate'.*fascicle\[train\]"):
        check_installed()


CHILDREN = """\
import os, signal, time
from pathlib import Path
from fascicle.training.experiments.results import Done, EpochEnded, Failed, Postponed

def await_file(path):
    until = time.time() + 300
    while not path.exists():
        assert time.time() < until
        time.sleep(0.01)

def child(task, channel):
    send = channel.send
    run = task.run
    part = task.results / (run + ".part")
    part.write_text(str(os.getpid()))
    part.replace(task.results / (run + ".pid"))  # whoever waits for the file finds it whole
    what = run.partition(".")[0]
    if what == "good":
        send(EpochEnded(run=run, epoch=1, epochs=1, loss=0.5, figures="dev F1 25.00", seconds=1.5, best=True))
        send(Done(run=run, trained=True))
    elif what == "killed":
        send(EpochEnded(run=run, epoch=1, epochs=2, loss=0.5, figures="dev F1 25.00", seconds=1.5, best=True))
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "silent":
        os._exit(7)
    elif what == "full":
        await_file(task.results / "hangs.pid")
        send(Failed(run=run, error="x cannot be written", disk_full=True))
    elif what == "hangs":
        time.sleep(600)
    elif what == "both":  # a good end only if the other is there at the same time
        other = "both.2" if run == "both.1" else "both.1"
        await_file(task.results / (other + ".pid"))
        send(Done(run=run, trained=True))
"""


@pytest.fixture
def task_of(
    tiny_recipe: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., GridTask]:
    """Makes tasks whose processes do what their names say, in place of training."""
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "children_of_the_test.py").write_text(CHILDREN, encoding="utf-8")
    monkeypatch.syspath_prepend(modules)
    children = importlib.import_module("children_of_the_test")
    monkeypatch.setattr(grid_queue, "start", children.child)
    recipe = tiny_recipe()

    def make(run: str, **more: Any) -> GridTask:
        folder = tmp_path / "runs" / run
        return GridTask(
            run=run,
            recipe=recipe,
            portable=recipe,
            hash="",
            labels={},
            folder=folder,
            results=tmp_path,
            **more,
        )

    return make


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


TaskOf = Callable[..., GridTask]


def test_each_run_has_its_process_and_its_end(task_of: TaskOf, tmp_path: Path) -> None:
    names = ("good.1", "killed", "good.2", "silent")
    events = list(run_tasks(map(task_of, names)))
    ends = [event for event in events if not isinstance(event, EpochEnded)]
    assert [type(event) for event in events] == [
        EpochEnded,
        Done,
        EpochEnded,
        Failed,
        EpochEnded,
        Done,
        Failed,
    ]
    assert [event.run for event in ends] == list(names)
    killed, silent = (event.error for event in ends if isinstance(event, Failed))
    assert "ended by SIGKILL, perhaps for want of memory; the same command goes on" in killed
    assert "ended with code 7 and said nothing" in silent
    pids = {int((tmp_path / f"{name}.pid").read_text(encoding="ascii")) for name in names}
    assert len(pids | {os.getpid()}) == 5
    assert not any(map(is_alive, pids))


def test_a_task_is_begun_after_the_one_that_it_waits_for(task_of: TaskOf) -> None:
    tasks = [
        task_of("good.2", after="good.1"),
        task_of("good.3", after="elsewhere"),
        task_of("good.1"),
    ]
    events = list(run_tasks(tasks, jobs=2))
    assert sorted(event.run for event in events if isinstance(event, Done)) == [
        "good.1",
        "good.2",
        "good.3",
    ]
    kinds = [(type(event), event.run) for event in events]
    assert kinds.index((EpochEnded, "good.2")) > kinds.index((Done, "good.1"))


def test_a_task_ends_as_the_one_that_it_waits_for(task_of: TaskOf, tmp_path: Path) -> None:
    tasks = [
        task_of("good.1", after="silent"),
        task_of("good.2", after="good.1"),
        task_of("silent"),
    ]
    *_, first, second = run_tasks(tasks)
    assert isinstance(first, Failed)
    assert isinstance(second, Failed)
    assert (first.run, second.run) == ("good.1", "good.2")
    assert "the model of silent, which failed" in first.error
    late = [task_of("good.4", after="good.3"), task_of("good.3", deadline=time.time() - 1)]
    assert [type(event) for event in run_tasks(late)] == [Postponed, Postponed]
    assert not list(tmp_path.glob("good.*"))


def test_jobs_run_at_the_same_time(task_of: TaskOf) -> None:
    events = list(run_tasks([task_of("both.1"), task_of("both.2"), task_of("good")], jobs=2))
    assert {event.run for event in events if isinstance(event, Done)} == {
        "both.1",
        "both.2",
        "good",
    }
    assert not any(isinstance(event, Failed) for event in events)


def test_a_full_disk_stops_the_grid(task_of: TaskOf, tmp_path: Path) -> None:
    tasks = [task_of("hangs"), task_of("full"), task_of("good")]
    with pytest.raises(
        OutputError,
        match="x cannot be written; the disk is full, so the grid stops at full: free some space",
    ):
        list(run_tasks(tasks, jobs=2))
    assert not is_alive(int((tmp_path / "hangs.pid").read_text(encoding="ascii")))
    assert not (tmp_path / "good.pid").exists()


def test_closing_the_queue_ends_its_processes(task_of: TaskOf, tmp_path: Path) -> None:
    events = run_tasks([task_of("good"), task_of("hangs")], jobs=2)
    assert isinstance(next(events), EpochEnded)
    importlib.import_module("children_of_the_test").await_file(tmp_path / "hangs.pid")
    events.close()  # type: ignore[attr-defined]
    assert not is_alive(int((tmp_path / "hangs.pid").read_text(encoding="ascii")))


def run_folder(
    task: GridTask, *, seconds: float, cost: float | None = None, complete: bool = False
) -> None:
    task.folder.mkdir(parents=True)
    lines = [{"epoch": epoch, "seconds": seconds * (epoch == 4)} for epoch in (1, 2, 3, 4)]
    (task.folder / "metrics.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    if cost is not None:
        (task.folder / "cost.json").write_text(
            json.dumps({"epoch_seconds": cost}), encoding="utf-8"
        )
    if complete:
        (task.folder / "scores.json").write_text("{}", encoding="utf-8")


def ends(tasks: list[GridTask]) -> list[GridEvent]:
    return [event for event in run_tasks(tasks) if not isinstance(event, EpochEnded)]


def test_no_epoch_is_begun_that_would_end_too_late(task_of: TaskOf, tmp_path: Path) -> None:
    soon = time.time() + 300
    late, slow, quick, done = (task_of(f"good.{i}", deadline=soon) for i in range(4))
    run_folder(late, seconds=400)
    run_folder(slow, seconds=1, cost=400)  # the epoch with its scoring
    run_folder(quick, seconds=400, cost=1)
    run_folder(done, seconds=400, complete=True)
    found = ends(
        [
            late,
            slow,
            quick,
            done,
            task_of("good.4", deadline=soon),
            task_of("good.5", deadline=soon - 300),
        ]
    )
    assert found == [
        Postponed(run="good.0", epoch=4, epochs=12),
        Postponed(run="good.1", epoch=4, epochs=12),
        Done(run="good.2", trained=True),
        Done(run="good.3", trained=True),
        Done(run="good.4", trained=True),
        Postponed(run="good.5", epoch=0, epochs=12),
    ]
    assert not (tmp_path / "good.0.pid").exists()
