"""One run of a grid, here in the process of the test: trained in sittings, taken as complete,
failed.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.support.runs import finish, metrics

from fascicle.core.files.temporary import temporary_name
from fascicle.errors import InputError, OutputError, RecipeError
from fascicle.pipeline.workers import peak_bytes
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.engine.events import Validated
from fascicle.training.experiments import worker as grid_worker
from fascicle.training.experiments.hashes import data_hashes, recipe_hash
from fascicle.training.experiments.results import (
    Done,
    EpochEnded,
    Failed,
    GridEvent,
    GridTask,
    Postponed,
    RunNote,
    read_result,
)
from fascicle.training.experiments.worker import is_disk_full, perform
from fascicle.training.run import run_recipe

Maker = Callable[..., Recipe]
MakeTask = Callable[..., GridTask]
LABELS = {"grid": "g", "tier": "smoke", "corpus": "toy", "system": "softmax", "variant": ""}


@pytest.fixture
def recipe(tiny_recipe: Maker, toy_corpus: Path) -> Recipe:
    return tiny_recipe(corpus={"test": str(toy_corpus)}, training={"epochs": 3})


@pytest.fixture
def make_task(recipe: Recipe, tmp_path: Path) -> MakeTask:
    def make(given: Recipe = recipe, **more: Any) -> GridTask:
        defaults: dict[str, Any] = {
            "run": "tiny-s1",
            "recipe": given,
            "portable": given,
            "hash": "abc",
            "labels": LABELS,
            "folder": tmp_path / "runs" / "tiny-s1",
            "results": tmp_path / "results",
        }
        return GridTask(**{**defaults, **more})

    return make


def events_of(task: GridTask) -> list[GridEvent]:
    events: list[GridEvent] = []
    perform(task, events.append)
    return events


def straight(recipe: Recipe, folder: Path) -> list[dict[str, Any]]:
    finish(recipe, folder)
    return metrics(folder)


def test_a_run_is_trained_and_its_results_are_written(
    make_task: MakeTask, recipe: Recipe, tmp_path: Path
) -> None:
    task = make_task()
    events = events_of(task)
    kinds = [type(event) for event in events if not isinstance(event, RunNote)]
    assert kinds == [EpochEnded] * 3 + [Done]
    assert events[-1] == Done(run="tiny-s1", trained=True)
    assert any(
        "cannot be represented" in event.text for event in events if isinstance(event, RunNote)
    )
    told = [event for event in events if isinstance(event, EpochEnded)]
    value = read_result(task.results, "tiny-s1")
    assert [e.epoch for e in told] == [x["epoch"] for x in value["epochs"]]
    for event, line in zip(told, value["epochs"], strict=True):
        assert f"F1 {100 * line['dev']['micro']['f1']:.2f}" in event.figures
    assert value["hash"] == "abc"
    assert value["tier"] == "smoke"
    assert value["peak_rss_bytes"] > 50e6
    assert 0 < value["seconds"] < 600
    assert metrics(task.folder) == straight(recipe, tmp_path / "straight")
    assert {p.name for p in task.folder.parent.iterdir()} == {"tiny-s1"}  # no lock is left


def test_a_slice_stops_after_an_epoch_and_the_next_goes_on(
    make_task: MakeTask, recipe: Recipe, tmp_path: Path
) -> None:
    task = make_task(deadline=time.time() - 1)
    for epoch in (1, 2):
        events = events_of(task)
        assert events[-1] == Postponed(run="tiny-s1", epoch=epoch, epochs=3)
        assert [event.epoch for event in events if isinstance(event, EpochEnded)] == [epoch]
        assert not task.results.exists()
        assert (
            json.loads((task.folder / "cost.json").read_text(encoding="utf-8"))["epoch_seconds"]
            >= 0
        )
    assert events_of(task)[-1] == Done(run="tiny-s1", trained=True)  # no epoch is left to begin
    assert metrics(task.folder) == straight(recipe, tmp_path / "straight")


def test_a_slice_may_stop_in_the_middle_of_an_epoch(
    make_task: MakeTask, tiny_recipe: Maker, toy_corpus: Path
) -> None:
    given = tiny_recipe(
        corpus={"test": str(toy_corpus)}, training={"epochs": 1, "validate_every_steps": 2}
    )
    task = make_task(given, deadline=time.time() - 1)
    events = events_of(task)
    assert events[-1] == Postponed(run="tiny-s1", epoch=1, epochs=1)
    assert [(e.epoch, e.step) for e in events if isinstance(e, EpochEnded)] == [(1, 2)]
    events = events_of(task)
    assert events[-1] == Done(run="tiny-s1", trained=True)
    assert [(e.epoch, e.step) for e in events if isinstance(e, EpochEnded)] == [(1, 0)]  # its end
    assert [line["step"] for line in metrics(task.folder)] == [2, 3]


def test_time_and_memory_are_those_of_all_sittings(
    make_task: MakeTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = iter(range(0, 10_000, 100))
    monkeypatch.setattr(
        grid_worker, "time", SimpleNamespace(monotonic=lambda: next(ticks), time=time.time)
    )
    peaks = iter((9, 5, 5))
    monkeypatch.setattr(grid_worker, "peak_bytes", lambda: next(peaks))
    late = time.time() - 1
    events_of(make_task(deadline=late))
    cost = json.loads((make_task().folder / "cost.json").read_text(encoding="utf-8"))
    assert (cost["seconds"], cost["peak_rss_bytes"]) == (100, 9)
    events_of(make_task(deadline=late))
    cost = json.loads((make_task().folder / "cost.json").read_text(encoding="utf-8"))
    assert (cost["seconds"], cost["peak_rss_bytes"]) == (200, 9)


def test_a_run_that_another_command_began(make_task: MakeTask, recipe: Recipe) -> None:
    task = make_task()
    for event in run_recipe(recipe, task.folder):
        if isinstance(event, Validated) and event.epoch == 2:
            break
    before = [
        json.loads(x)["seconds"]
        for x in (task.folder / "metrics.jsonl").read_text("utf-8").splitlines()
    ]
    metrics = task.folder / "metrics.jsonl"
    slow = [
        json.loads(line) | {"seconds": 1000.0} for line in metrics.read_text("utf-8").splitlines()
    ]
    metrics.write_text("".join(json.dumps(line) + "\n" for line in slow), encoding="utf-8")
    events = events_of(task)
    assert [event.epoch for event in events if isinstance(event, EpochEnded)] == [3]
    assert sum(before) < 600
    assert 2000 < read_result(task.results, "tiny-s1")["seconds"] < 2600


def test_a_run_whose_start_was_made_meanwhile_has_the_hash_of_what_it_read(
    make_task: MakeTask, recipe: Recipe, tiny_run: Path, tmp_path: Path
) -> None:
    shutil.copytree(tiny_run, tmp_path / "first")
    values = msgspec.to_builtins(recipe)
    values["model"] = {**values["model"], "encoder": "", "start": str(tmp_path / "first")}
    after = msgspec.convert(values, Recipe)
    task = make_task(after, hash="", after="first")
    assert events_of(task)[-1] == Done(run="tiny-s1", trained=True)
    told = read_result(task.results, "tiny-s1")
    assert told["hash"] == recipe_hash(after, data_hashes(after))
    other = make_task(msgspec.structs.replace(after, seed=7), hash="", after="first")
    (end,) = events_of(other)
    assert isinstance(end, Failed)
    assert "holds a run of another recipe" in end.error


def test_a_complete_run_is_collected(make_task: MakeTask, tiny_run: Path) -> None:
    task = make_task()
    shutil.copytree(tiny_run, task.folder)
    assert events_of(task) == [Done(run="tiny-s1", trained=False)]
    value = read_result(task.results, "tiny-s1")
    assert value["test"]["micro"]["f1"] == 1.0
    assert value["peak_rss_bytes"] is None  # not measured, for it was not trained here


def test_the_same_recipe_in_other_words_goes_on(
    make_task: MakeTask, recipe: Recipe, tmp_path: Path
) -> None:
    task = make_task(deadline=time.time() - 1)
    events_of(task)
    moved = tmp_path / "moved.tsv"
    shutil.copy(recipe.corpus.train, moved)
    corpus = msgspec.structs.replace(recipe.corpus, train=str(moved))
    other = make_task(msgspec.structs.replace(recipe, corpus=corpus, name="renamed"))
    assert events_of(other)[-1] == Done(run="tiny-s1", trained=True)
    assert json.loads((task.folder / "recipe.json").read_text(encoding="utf-8"))["corpus"][
        "train"
    ] == str(moved)
    assert [line["epoch"] for line in metrics(task.folder)] == [1, 2, 3]


def test_killed_before_the_recipe_was_written(make_task: MakeTask) -> None:
    task = make_task()
    (task.folder / "predictions").mkdir(parents=True)
    temporary_name(task.folder / "recipe.json").write_text("{", encoding="utf-8")
    assert events_of(task)[-1] == Done(run="tiny-s1", trained=True)


def test_a_folder_with_something_else_is_left_alone(make_task: MakeTask) -> None:
    task = make_task()
    task.folder.mkdir(parents=True)
    (task.folder / "thesis.txt").write_text("years of work", encoding="utf-8")
    (event,) = events_of(task)
    assert isinstance(event, Failed)
    assert "holds no run to go on with; move it away" in event.error
    assert (task.folder / "thesis.txt").read_text(encoding="utf-8") == "years of work"


def test_a_run_that_fails_says_why_and_leaves_no_folder(
    make_task: MakeTask, recipe: Recipe, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = tmp_path / "bare.tsv"
    bare.write_text("the\tO\n", encoding="utf-8")
    corpus = msgspec.structs.replace(recipe.corpus, train=str(bare))
    task = make_task(msgspec.structs.replace(recipe, corpus=corpus))
    (event,) = events_of(task)
    assert isinstance(event, Failed)
    assert "holds no mentions" in event.error
    assert not event.disk_full
    assert not task.folder.exists()
    assert "Traceback" not in capsys.readouterr().err
    events_of(msgspec.structs.replace(task, debug=True))
    assert "Traceback" in capsys.readouterr().err


def test_what_was_trained_survives_a_failure(
    make_task: MakeTask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("out of\nluck")

    monkeypatch.setattr(grid_worker, "make_result", fails)
    task = make_task()
    event = events_of(task)[-1]
    assert event == Failed(
        run="tiny-s1", error="internal error: RuntimeError: out of luck; debug=True shows where"
    )
    monkeypatch.undo()
    assert events_of(task) == [Done(run="tiny-s1", trained=False)]
    assert read_result(task.results, "tiny-s1")["peak_rss_bytes"] > 0


def test_a_full_disk_is_told_apart(
    make_task: MakeTask, tiny_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = make_task()
    shutil.copytree(tiny_run, task.folder)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    (event,) = events_of(task)
    assert isinstance(event, Failed)
    assert event.disk_full
    assert "cannot be written: No space left on device" in event.error
    assert not [path for path in task.results.rglob("*") if path.is_file()]
    monkeypatch.undo()
    assert events_of(task) == [Done(run="tiny-s1", trained=False)]


def test_errors_that_mean_a_full_disk() -> None:
    def chained(cause: Exception) -> Exception:
        try:
            raise OutputError("cannot be written") from cause
        except OutputError as error:
            return error

    assert is_disk_full(OSError(errno.ENOSPC, "No space left on device"))
    assert is_disk_full(chained(OSError(errno.EDQUOT, "Disk quota exceeded")))
    rust = Exception("Error while serializing: I/O error: No space left on device (os error 28)")
    assert is_disk_full(rust)
    assert is_disk_full(chained(rust))
    assert not is_disk_full(chained(OSError(errno.EACCES, "Permission denied")))
    assert not is_disk_full(None)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (InputError("One sentence."), "One sentence."),
        (RecipeError("no"), "no"),
        (OSError(errno.EACCES, "Permission denied", "/x"), "/x: Permission denied"),
        (MemoryError(), "internal error: MemoryError: ; debug=True shows where"),
    ],
)
def test_errors_as_sentences(
    error: Exception,
    said: str,
    make_task: MakeTask,
    tiny_run: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(grid_worker, "make_result", fails)
    task = make_task()
    shutil.copytree(tiny_run, task.folder)
    assert events_of(task) == [Failed(run="tiny-s1", error=said)]


def test_two_processes_do_not_work_on_one_run(make_task: MakeTask, tiny_run: Path) -> None:
    task = make_task()
    shutil.copytree(tiny_run, task.folder)
    lock = task.folder.with_name(".tiny-s1.lock")
    with lock.open("w", encoding="utf-8") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        (event,) = events_of(task)
    assert isinstance(event, Failed)
    assert "another process works on" in event.error
    # a lock that nobody holds is none
    assert events_of(task) == [Done(run="tiny-s1", trained=False)]
    assert not lock.exists()


def test_peak_memory_only_grows() -> None:
    before = peak_bytes()
    block = bytearray(64 << 20)
    after = peak_bytes()
    assert before is not None
    assert after is not None
    assert after >= before
    current = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf(
        "SC_PAGE_SIZE"
    )
    assert after >= current >= len(block)
