"""Trains the recipes of a grid run by run, and writes the results (``fascicle bench``)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fascicle.core.arguments import AnyPath, validate_arguments
from fascicle.core.files.apart import Inputs
from fascicle.core.machine import usable_cores
from fascicle.core.wording import plural
from fascicle.errors import OutputError, UsageError
from fascicle.settings.base import Positive

if TYPE_CHECKING:
    from fascicle.training.experiments.grid import Grid
    from fascicle.training.experiments.queue import Planned
    from fascicle.training.experiments.results import GridEvent

Tier = Literal["smoke", "cpu", "gpu"]


@dataclass(frozen=True, kw_only=True)
class BenchSettings:
    """Settings for the runs of a grid.

    Attributes:
        tiers: only runs of these; empty for all.
        only: only runs or recipes with such names, with ``*`` for anything; empty for all.
        runs: the folder of the run folders; ``runs/GRIDNAME`` by default.
        results: the folder of the results; ``results/GRIDNAME`` beside ``grids/``, or beside the
            file, by default.
        jobs: runs at a time.
        threads: CPU threads of a run; by default the usable cores are shared among the jobs.
        minutes: start no epoch that would end after so many minutes.
        debug: keep the tracebacks of runs that fail.
    """

    tiers: Sequence[Tier] = ()
    only: Sequence[str] = ()
    runs: AnyPath | None = None
    results: AnyPath | None = None
    jobs: Positive = 1
    threads: Positive | None = None
    minutes: Positive | None = None
    debug: bool = False


@dataclass(frozen=True, kw_only=True)
class Benched:
    """Result of a grid.

    Attributes:
        grid: name of the grid.
        results: the folder of the results.
        rows: one for each run: its name, state, hash and tier, with scores if it has results, else
            with a reason.
    """

    grid: str
    results: Path
    rows: Sequence[dict[str, Any]]

    @property
    def left(self) -> int:
        """Number of runs that were not finished; another call resumes them."""
        return sum(row["state"] == "left" for row in self.rows)

    @property
    def failed(self) -> int:
        """Number of runs that ended with an error."""
        return sum(row["state"] == "failed" for row in self.rows)


@validate_arguments
def bench(
    grid: AnyPath,
    settings: BenchSettings | None = None,
    *,
    tell: Callable[[str], None] = lambda sentence: None,
    tell_more: Callable[[str], None] = lambda sentence: None,
) -> Benched:
    """Trains the runs of a grid that have no results yet, each in a process of its own; needs the
    extra ``train``.

    Args:
        grid: a TOML file: corpora, systems, variants, seeds, or recipe files.
        settings: all runs, one after the other, by default.
        tell: called with each sentence about the progress.
        tell_more: called with each note of a run.

    Returns:
        The result of each run. A run that fails does not stop the others.

    Raises:
        RecipeError: the grid, or one of its recipes, is wrong.
        UsageError: no run has such a name or tier, or none can be begun.
        OutputError: results cannot be written.
        MissingExtraError: a package that training needs is not installed.
    """
    from fascicle.training.experiments.queue import check_installed, run_tasks, tasks_of

    options = settings or BenchSettings()
    deadline = _deadline(options.minutes)
    grid_settings, planned, results = _planned(grid, options)
    check_installed()
    _check_results(planned, grid, results)
    book = _Book(planned=planned, tell=tell)
    able = _able(_possible(planned, book), named=bool(options.only), book=book)
    tasks = tasks_of(
        grid_settings,
        able,
        results=results,
        threads=run_threads(options),
        deadline=deadline,
        debug=options.debug,
    )
    _say_plan(grid_settings, planned, len(tasks), tell)
    for event in run_tasks(tasks, jobs=options.jobs):
        _report(event, book, tell_more)
    for line in _mixed(planned, results):
        tell(line)
    return Benched(grid=grid_settings.name, results=results, rows=book.rows(results))


@validate_arguments
def plan_grid(grid: AnyPath, settings: BenchSettings | None = None) -> list[Planned]:
    """Determines the progress of each run of a grid, and starts nothing.

    Args:
        grid: see `bench`.
        settings: see `bench`.

    Raises:
        RecipeError, UsageError: see `bench`.
    """
    return _planned(grid, settings or BenchSettings())[1]


def run_threads(settings: BenchSettings) -> int | None:
    """Returns the threads of a run: the requested number; else the usable cores are shared among
    the jobs.
    """
    if settings.threads is not None or settings.jobs == 1:
        return settings.threads
    return max(1, usable_cores() // settings.jobs)


def _planned(path: AnyPath, settings: BenchSettings) -> tuple[Grid, list[Planned], Path]:
    """Returns the grid, the progress of its runs, and the folder of the results."""
    from fascicle.training.experiments.grid import read_grid
    from fascicle.training.experiments.queue import plan_runs, select

    grid = read_grid(os.fspath(path))
    folder = Path(settings.runs or Path("runs") / grid.name)
    results = Path(settings.results or grid.results)
    runs = select(grid.runs, tiers=settings.tiers, only=settings.only)
    return grid, plan_runs(runs, folder=folder, results=results), results


def _deadline(minutes: int | None) -> float | None:
    return None if minutes is None else time.time() + 60 * minutes


def _check_folder(results: Path) -> None:
    """Refuses a place for results where no folder can be created, before hours of training."""
    existing = next((place for place in (results, *results.parents) if place.exists()), results)
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise OutputError(
            f"results cannot be written to {results}: {existing} is not a folder to write in; give "
            "another results=FOLDER"
        )


def _check_results(planned: Sequence[Planned], grid: AnyPath, results: Path) -> None:
    """Refuses a place where no results can be written, and files that are no results, or that are
    inputs.
    """
    from fascicle.training.experiments.results import check_result, result_paths

    _check_folder(results)
    origins = {str(run.run.origin) for run in planned}
    inputs = Inputs.of(
        [
            os.fspath(grid),
            *origins,
            *(path for run in planned for path in run.recipe.files().values()),
        ]
    )
    for run in planned:
        if run.state not in ("done", "unable"):
            for path in result_paths(results, run.run.name):
                inputs.refuse(path, filled=True)
            check_result(results, run.run.name)


@dataclass(frozen=True, kw_only=True)
class _Book:
    """Records of the runs and their ends.

    Attributes:
        planned: the runs, as they were found.
        tell: called with each sentence.
        ends: name of a run -> ``"trained"``, ``"collected"``, ``"left"``, ``"failed"``.
        errors: name of a run -> why it failed or was left.
    """

    planned: Sequence[Planned]
    tell: Callable[[str], None]
    ends: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def failed(self, run: str, error: str) -> None:
        """Reports and records a failed run."""
        self.ends[run] = "failed"
        self.errors[run] = error
        self.tell(f"failed: {run}: {error}")

    def rows(self, results: Path) -> list[dict[str, Any]]:
        """Returns one row for each run, with the scores of those that have results now."""
        from fascicle.training.experiments.results import read_result

        rows = []
        for run in self.planned:
            name = run.run.name
            state = self.ends.get(name, run.state)
            row: dict[str, Any] = {
                "run": name,
                "state": state,
                "hash": run.hash,
                "tier": run.run.tier,
            }
            if state in ("done", "trained", "collected"):
                row |= _figures(read_result(results, name))
            elif name in self.errors:
                row["reason"] = self.errors[name]
            rows.append(row)
        return rows


def _figures(value: dict[str, Any]) -> dict[str, Any]:
    return {
        "epoch": value.get("epoch"),
        "dev_f1": _f1(value.get("dev")),
        "test_f1": _f1(value.get("test")),
        "seconds": value["seconds"],
        "peak_rss_bytes": value["peak_rss_bytes"],
    }


def _mixed(planned: Sequence[Planned], results: Path) -> Iterator[str]:
    """Yields sentences about seeds of one recipe that were trained under different conditions."""
    from fascicle.training.experiments.results import other_conditions, read_result

    cells: dict[str, list[str]] = {}
    for run in planned:
        cells.setdefault(run.run.recipe.name, []).append(run.run.name)
    for name, runs in cells.items():
        values = [value for run in runs if (value := read_result(results, run))]
        if other := other_conditions(values):
            yield (
                f"note: the seeds of {name} were trained under different conditions "
                f"({'; '.join(other)})"
            )


def _f1(scores: dict[str, Any] | None) -> float | None:
    """Returns F1 of recognition; a filter has none, and a span typer only where it finds
    mentions.
    """
    part_scores = scores.get("found", scores) if scores else None
    return part_scores[part_scores.get("average", "micro")]["f1"] if part_scores else None


def _possible(planned: Sequence[Planned], book: _Book) -> list[Planned]:
    """Removes runs that cannot be started.

    Raises:
        UsageError: nothing can, and nothing is done.
    """
    unable = [run for run in planned if run.state == "unable"]
    if unable and len(unable) == len(planned):
        raise UsageError(unable[0].problem)
    for run in unable:
        book.failed(run.run.name, run.problem)
    return [run for run in planned if run.state != "unable"]


def _able(planned: Sequence[Planned], *, named: bool, book: _Book) -> list[Planned]:
    """Removes runs that need an accelerator where there is none, unless they were requested by
    name.
    """
    from fascicle.training.experiments.queue import has_accelerator

    waiting = [
        run for run in planned if run.run.tier == "gpu" and run.state not in ("done", "complete")
    ]
    if named or not waiting or has_accelerator():
        return list(planned)
    book.tell(
        f"no accelerator here: {plural(len(waiting), 'run')} of the tier gpu left out; name them "
        "with only=NAME to run them on the CPU all the same"
    )
    for run in waiting:
        book.ends[run.run.name] = "left"
        book.errors[run.run.name] = "no accelerator"
    return [run for run in planned if run not in waiting]


def _say_plan(
    grid: Grid, planned: Sequence[Planned], count: int, tell: Callable[[str], None]
) -> None:
    finished = sum(run.state == "done" for run in planned)
    tell(f"grid {grid.name}: {plural(len(planned), 'run')}, {finished} done before, {count} to do")
    for run in planned:
        if run.stale:
            tell(
                f"{run.run.name}: its results are of another recipe or other data, so it is "
                "run again"
            )


def _report(event: GridEvent, book: _Book, tell_more: Callable[[str], None]) -> None:
    """Reports the progress of a run, and records its end."""
    from fascicle.training.experiments.results import Done, EpochEnded, Failed, Postponed, RunNote

    match event:
        case EpochEnded():
            place = f", step {event.step}" if event.step else ""
            book.tell(
                f"{event.run}: epoch {event.epoch}/{event.epochs}{place}: loss {event.loss:.4f}, "
                f"{event.figures}, {event.seconds:.0f} s{', best so far' if event.best else ''}"
            )
        case RunNote():
            tell_more(f"{event.run}: {event.text}")
        case Done():
            book.ends[event.run] = "trained" if event.trained else "collected"
            book.tell(
                f"{event.run}: "
                f"{'results written' if event.trained else 'results of the run folder collected'}"
            )
        case Postponed():
            book.ends[event.run] = "left"
            book.errors[event.run] = f"after epoch {event.epoch} of {event.epochs}"
        case Failed():
            book.failed(event.run, event.error)
