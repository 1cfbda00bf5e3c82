"""Queue of a grid: its tasks, and one process for each run, so that a crash of one run stops no
other.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import msgspec

from fascicle.errors import InputError, MissingExtraError, OutputError, RecipeError, UsageError
from fascicle.pipeline.workers import (
    Channel,
    Process,
    WorkerEndedError,
    WorkerFailed,
    wait_for_messages,
)
from fascicle.settings.recipes.any import AnyRecipe
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.settings.recipes.typer import TyperRecipe
from fascicle.training.experiments.grid import Grid, GridRun
from fascicle.training.experiments.hashes import (
    State,
    conflict_message,
    data_hashes,
    find_run_state,
    json_object,
    last_epoch,
    read_metrics,
    recipe_hash,
)
from fascicle.training.experiments.results import (
    COST,
    ENDS,
    Done,
    Failed,
    GridEvent,
    GridTask,
    Postponed,
    read_result,
)

_NAMED = 8  # runs that an error names
_NEEDED = ("torch", "transformers", "accelerate", "safetensors")
_NOTHING = Done(run="", trained=False)  # state of the awaited run, for a task that waits for none
_Process = Process[GridEvent | WorkerFailed]
_MESSAGES: Final[msgspec.json.Decoder[GridEvent | WorkerFailed]] = msgspec.json.Decoder(
    GridEvent | WorkerFailed
)


@dataclass(frozen=True, kw_only=True)
class Planned:
    """Run of a grid with its progress.

    Attributes:
        run: of the grid.
        recipe: with the paths of its corpora on this machine, as far as they are known.
        hash: identity of the recipe; empty if its corpora cannot be found.
        folder: of the run.
        state: ``"done"``: the results file exists and has the same hash; ``"complete"``: only the
            run folder does; ``"interrupted"``: the run folder exists and can be resumed; ``"new"``:
            nothing exists; ``"waiting"``: it starts from the model of another run that is not
            complete; ``"unable"``: it cannot be begun here.
        stale: the hash of a results file of another recipe; empty if there is none.
        epoch: last complete epoch in the run folder.
        problem: why it cannot be begun, as one sentence.
        after: the run that it waits for; its own hash is known when that one is complete.
    """

    run: GridRun
    recipe: AnyRecipe
    hash: str
    folder: Path
    state: State
    stale: str = ""
    epoch: int = 0
    problem: str = ""
    after: str = ""


def select(
    runs: Iterable[GridRun], *, tiers: Collection[str] = (), only: Sequence[str] = ()
) -> tuple[GridRun, ...]:
    """Returns the runs of some tiers whose names match a pattern.

    Args:
        runs: of a grid.
        tiers: all if empty.
        only: shell patterns (``*``, ``?``, ``[...]``) for the name of a run or of its recipe; all
            if empty.

    Raises:
        UsageError: a pattern that no run of the grid matches, or no run of these tiers.
    """
    runs = tuple(runs)
    for pattern in only:
        if not any(_matches(run, pattern) for run in runs):
            names = [run.name for run in runs]
            more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
            raise UsageError(
                f"no run of the grid matches {pattern!r}; its runs are "
                f"{', '.join(names[:_NAMED])}{more}"
            )
    matching = (run for run in runs if not only or any(map(partial(_matches, run), only)))
    selected = tuple(run for run in matching if not tiers or run.tier in tiers)
    if tiers and not selected:
        tier_names = ", ".join(dict.fromkeys(run.tier for run in runs))
        raise UsageError(
            f"none of these runs has the tier {' or '.join(tiers)}; the tiers of the grid are "
            f"{tier_names}"
        )
    return selected


def plan_runs(runs: Iterable[GridRun], *, folder: Path, results: Path) -> list[Planned]:
    """Determines the state and progress of each run.

    Args:
        runs: of a grid.
        folder: of the run folders.
        results: of the results files.
    """
    runs, hashes, planned = tuple(runs), dict[str, str](), dict[str, Planned]()
    makers = {(folder / run.name).resolve(): run for run in runs}

    def look(run: GridRun, above: tuple[str, ...] = ()) -> Planned:
        if run.name not in planned:
            maker = _maker(run, makers)
            before = (
                look(maker, (*above, run.name))
                if maker and maker.name not in (*above, run.name)
                else None
            )
            after = (
                before.run.name
                if before and before.state in ("new", "interrupted", "waiting")
                else ""
            )
            planned[run.name] = _examine(
                run, folder=folder / run.name, results=results, hashes=hashes, after=after
            )
        return planned[run.name]

    return [look(run) for run in runs]


def count_epochs(recipe: AnyRecipe) -> int:
    """Returns the number of epochs of a run; all updates of a span typer count as one."""
    return 1 if isinstance(recipe, TyperRecipe) else recipe.training.epochs


def has_accelerator() -> bool:
    """True if torch can compute on a device other than the CPU; loads torch."""
    import torch

    return bool(torch.accelerator.is_available())


def check_installed() -> None:
    """Refuses to start runs without the packages that they need.

    Raises:
        MissingExtraError: a package that training needs is not there.
    """
    for package in _NEEDED:
        if find_spec(package) is None:
            raise MissingExtraError("train", package)


def tasks_of(
    grid: Grid,
    planned: Iterable[Planned],
    *,
    results: Path,
    threads: int | None = None,
    deadline: float | None = None,
    debug: bool = False,
) -> list[GridTask]:
    """Returns the tasks: all runs except those that are done or cannot be started."""
    tasks = []
    for plan in planned:
        if plan.state not in ("done", "unable"):
            run = plan.run
            labels = {name: getattr(run, name) for name in ("tier", "corpus", "system", "variant")}
            task = GridTask(
                run=run.name,
                recipe=plan.recipe,
                portable=run.recipe,
                hash=plan.hash,
                labels={"grid": grid.name, **labels},
                folder=plan.folder,
                results=results,
                threads=threads,
                deadline=deadline,
                debug=debug,
                after=plan.after,
            )
            tasks.append(task)
    return tasks


def run_tasks(tasks: Iterable[GridTask], *, jobs: int = 1) -> Iterator[GridEvent]:
    """Runs tasks in their order, each in its own process, and reports their progress.

    A task that waits for another one is begun when that one is done; otherwise it ends as that one
    does. When the iterator is closed or raises an error, the processes that still run are ended;
    their work up to the last complete epoch is kept.

    Args:
        tasks: to run.
        jobs: most processes at a time.

    Yields:
        Events of all runs, those of each in order; each run ends with one of ``ENDS``.

    Raises:
        OutputError: the disk is full.
    """
    waiting, running = list(tasks), dict[_Process, GridTask]()
    ends: dict[str, GridEvent | None] = dict.fromkeys(task.run for task in waiting)
    try:
        while waiting or running:
            while len(running) < jobs and (task := _next(waiting, ends)):
                waiting.remove(task)
                if (end := _end_early(task, ends)) is not None:
                    ends[task.run] = end
                    yield end
                else:
                    running[Process(partial(start, task), _MESSAGES, daemon=True)] = task
            for process in wait_for_messages(running, seconds=None) if running else ():
                event = _next_event(process, running, ends)
                if event is None:
                    continue
                if isinstance(event, ENDS):
                    ends[event.run] = event
                yield event
    finally:
        for process in running:
            process.kill()
            process.close()


def _next_event(
    process: _Process, running: dict[_Process, GridTask], ends: Mapping[str, GridEvent | None]
) -> GridEvent | None:
    """Returns what a process reports; ``None`` for nothing new. A process that has ended is no
    longer running.

    Raises:
        OutputError: the disk is full.
    """
    run = running[process].run
    try:
        message = process.receive()
    except WorkerEndedError as ended:
        del running[process]
        if ends[run] is not None:
            return None
        message = Failed(run=run, error=_death_reason(ended.reason))
    event = Failed(run=run, error=message.message) if isinstance(message, WorkerFailed) else message
    if isinstance(event, Failed) and event.disk_full:
        raise OutputError(
            f"{event.error}; the disk is full, so the grid stops at {event.run}: free some space "
            "and run the same command again; finished work is kept"
        )
    return event


def _next(waiting: Sequence[GridTask], ends: Mapping[str, GridEvent | None]) -> GridTask | None:
    """Returns the first task that waits for no unfinished one."""
    return next((task for task in waiting if ends.get(task.after, _NOTHING) is not None), None)


def _end_early(task: GridTask, ends: Mapping[str, GridEvent | None]) -> GridEvent | None:
    """Returns the end of a task that is not started, because of the time or of the run that it
    starts from.
    """
    before = ends.get(task.after)
    if isinstance(before, Failed):
        return Failed(run=task.run, error=f"it starts from the model of {task.after}, which failed")
    try:
        if isinstance(before, Postponed) or _no_time(task):
            return Postponed(
                run=task.run, epoch=last_epoch(task.folder), epochs=count_epochs(task.recipe)
            )
    except OutputError as error:  # its folder is damaged
        return Failed(run=task.run, error=str(error))
    return None


def start(task: GridTask, channel: Channel) -> None:
    """Runs in each process as its target; torch is loaded only there."""
    from fascicle.training.experiments.worker import work

    work(task, channel)


def _death_reason(reason: str) -> str:
    kind, _, name = reason.partition(":")
    after = "the same command goes on after its last complete epoch"
    if kind == "killed":
        return (
            "its process was ended by "
            f"{name}{', perhaps for want of memory' * (name == 'SIGKILL')}; {after}"
        )
    return f"its process ended with code {name} and said nothing; {after}"


def _matches(run: GridRun, pattern: str) -> bool:
    return fnmatchcase(run.name, pattern) or fnmatchcase(run.recipe.name, pattern)


def _maker(run: GridRun, makers: Mapping[Path, GridRun]) -> GridRun | None:
    """Returns the run of the same grid from whose model a run starts."""
    try:
        recipe = run.resolved()
    except RecipeError:
        return None  # which is reported when the run itself is examined
    start = recipe.model.start if isinstance(recipe, Recipe) else ""
    if not start:
        return None
    place = Path(start).resolve()
    return next((makers[path] for path in (place, *place.parents) if path in makers), None)


def _examine(
    run: GridRun, *, folder: Path, results: Path, hashes: dict[str, str], after: str
) -> Planned:
    try:
        recipe = run.resolved()
        if after:
            return Planned(
                run=run, recipe=recipe, hash="", folder=folder, state="waiting", after=after
            )
        own = recipe_hash(recipe, data_hashes(recipe, hashes))
        has_result = (results / f"{run.name}.json").exists()
        stored = str(read_result(results, run.name).get("hash", "none")) if has_result else ""
        state = "done" if stored == own else find_run_state(folder, recipe, own=own)
        epoch = 0 if state == "done" else last_epoch(folder)
    except (RecipeError, InputError, OutputError) as error:
        return Planned(
            run=run, recipe=run.recipe, hash="", folder=folder, state="unable", problem=str(error)
        )
    return Planned(
        run=run,
        recipe=recipe,
        hash=own,
        folder=folder,
        state=state,
        stale=stored if stored != own else "",
        epoch=epoch,
        problem=conflict_message(folder) if state == "unable" else "",
    )


def _no_time(task: GridTask) -> bool:
    """True if the next epoch would end too late, estimated by the time of the last one if there
    was one.
    """
    if task.deadline is None:
        return False
    if (task.folder / "scores.json").exists():
        return time.time() > task.deadline
    last = read_metrics(task.folder)[-1:]
    seconds = json_object(task.folder / COST).get("epoch_seconds") or sum(
        float(line.get("seconds", 0.0)) for line in last
    )
    return time.time() + seconds > task.deadline
