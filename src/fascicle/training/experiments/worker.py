"""Worker of a grid: performs one run in its own process."""

from __future__ import annotations

import errno
import json
import os
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from fascicle.core.files.atomic import atomic_text_writer
from fascicle.core.files.temporary import is_temporary, lock, lock_abandoned
from fascicle.errors import FascicleError, OutputError
from fascicle.pipeline.workers import Channel, peak_bytes
from fascicle.training.engine.events import Ended, Note, Validated
from fascicle.training.engine.folder import recipe_text, use_threads
from fascicle.training.engine.loop import StepDone
from fascicle.training.experiments.hashes import (
    conflict_message,
    data_hashes,
    find_run_state,
    json_object,
    recipe_hash,
)
from fascicle.training.experiments.results import (
    COST,
    Done,
    EpochEnded,
    Failed,
    GridEvent,
    GridTask,
    Postponed,
    RunNote,
    make_result,
    other_heads,
    write_result,
)
from fascicle.training.run import run_recipe

_Send = Callable[[GridEvent], None]
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


def work(task: GridTask, channel: Channel) -> None:
    """Performs the task in its own process, and sends its events to the parent."""
    os.dup2(2, 1)  # the standard output of the parent is for its results only
    use_threads(task.threads)
    perform(task, channel.send)


def perform(task: GridTask, send: _Send) -> None:
    """Trains or resumes a run, or uses a complete one; then writes its results.

    Args:
        task: to perform.
        send: receives the events; the last one is ``Done``, ``Postponed`` or ``Failed``.
    """
    try:
        with _claim(task):
            send(_perform(task, send))
    except Exception as error:  # the grid continues after any error of one run
        if task.debug:
            traceback.print_exc()
        send(Failed(run=task.run, error=_sentence(error), disk_full=is_disk_full(error)))


def is_disk_full(error: BaseException | None) -> bool:
    """True if an error, or one of its causes, means that the disk is full."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return True
        # the text of this error in Rust libraries
        if any(f"(os error {number})" in str(error) for number in _FULL):
            return True
        error = error.__cause__ or error.__context__
    return False


def _perform(task: GridTask, send: _Send) -> Done | Postponed:
    own = task.hash or _hash_of(task)
    complete = (task.folder / "scores.json").exists()
    if not complete:
        postponed = _train(task, send)
        if postponed:
            return postponed
    # the answering head last: its file marks the run as done
    for head in (*other_heads(task.folder), ""):
        value = make_result(
            task.folder,
            task.recipe,
            portable=task.portable,
            recipe_hash=own,
            labels=task.labels,
            head=head,
        )
        predictions = task.folder / "predictions" / f"test{'.' * bool(head)}{head}.tsv"
        write_result(task.results, value, predictions if predictions.exists() else None)
    return Done(run=task.run, trained=not complete)


def _hash_of(task: GridTask) -> str:
    """Returns the identity of a run whose start model was trained after the tasks were planned.

    Raises:
        OutputError: its folder holds another run.
    """
    own = recipe_hash(task.recipe, data_hashes(task.recipe))
    if find_run_state(task.folder, task.recipe, own=own) == "unable":
        raise OutputError(conflict_message(task.folder))
    return own


def _train(task: GridTask, send: _Send) -> Postponed | None:
    """Trains to the end, or to the last epoch that ends before the deadline."""
    resume = _prepare_folder(task)
    cost, since = _Cost(task.folder), None
    events = run_recipe(task.recipe, task.folder, resume=resume)
    try:
        for event in events:
            if isinstance(event, Note):
                send(RunNote(run=task.run, text=event.text))
            elif isinstance(event, StepDone):
                since = since or time.time()
            elif isinstance(event, Validated):
                took, since = time.time() - (since or time.time()), time.time()
                cost.write(epoch_seconds=took)
                send(_epoch_event(task, event))
                if (event.epoch, event.step) < (event.epochs, event.steps) and _too_late(
                    task, took
                ):
                    return Postponed(run=task.run, epoch=event.epoch, epochs=event.epochs)
            elif isinstance(event, Ended):
                cost.write()
    finally:
        events.close()  # type: ignore[attr-defined]
    return None


def _epoch_event(task: GridTask, event: Validated) -> EpochEnded:
    values = {
        name: getattr(event, name)
        for name in ("epoch", "epochs", "loss", "figures", "seconds", "best")
    }
    return EpochEnded(run=task.run, **values, step=0 if event.at_end_of_epoch else event.step)


def _too_late(task: GridTask, took: float) -> bool:
    return task.deadline is not None and time.time() + took > task.deadline


def _prepare_folder(task: GridTask) -> bool:
    """Prepares the run folder; returns whether it has a run to resume.

    Raises:
        OutputError: it holds something else than a run.
    """
    folder = task.folder
    if not folder.exists():
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(
                f"the folder {folder.parent} cannot be made: {error.strerror}; give another"
            ) from error
        return False
    recipe = folder / "recipe.json"
    if not recipe.exists():
        _remove_empty(folder)  # killed before the recipe was written
        return False
    # The hash shows that it is the same run. Its paths may be those of another machine, and
    # settings that have come since are missing; `run_recipe` compares the text exactly.
    text = recipe_text(task.recipe)
    if recipe.read_text(encoding="utf-8") != text:
        with atomic_text_writer(recipe, overwrite=True) as stream:
            stream.write(text)
    return True


def _remove_empty(folder: Path) -> None:
    """Removes a folder that has only empty folders and unfinished files."""
    try:
        for path in folder.iterdir():
            with lock_abandoned(path) as stale:
                if is_temporary(path.name) and path.is_file() and stale:
                    path.unlink()
                else:
                    path.rmdir()
        folder.rmdir()
    except OSError:
        raise OutputError(
            f"{folder} holds no run to go on with; move it away, or give another runs=FOLDER"
        ) from None


class _Cost:
    """File ``cost.json`` of a run folder: time and memory over all sessions, up to the last
    complete epoch.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / COST
        self._began = time.monotonic()
        self._before = self._earlier_cost(folder)

    def write(self, **more: float) -> None:
        """Adds this session to the earlier ones."""
        peaks = [p for p in (self._before.get("peak_rss_bytes"), peak_bytes()) if p is not None]
        seconds = self._before.get("seconds", 0.0) + time.monotonic() - self._began
        value = {"seconds": round(seconds, 1), "peak_rss_bytes": max(peaks, default=None)}
        with atomic_text_writer(self._path, overwrite=True) as stream:
            stream.write(
                json.dumps(value | {key: round(number, 1) for key, number in more.items()}) + "\n"
            )

    def _earlier_cost(self, folder: Path) -> dict[str, float]:
        """Returns the cost of the earlier sessions; at least that of their epochs, if another
        command began the run.
        """
        if self._path.exists():
            return json_object(self._path)
        metrics = folder / "metrics.jsonl"
        lines = metrics.read_text(encoding="utf-8").splitlines() if metrics.exists() else []
        return {"seconds": sum(json.loads(line).get("seconds", 0.0) for line in lines)}


@contextmanager
def _claim(task: GridTask) -> Iterator[None]:
    """Keeps two processes from writing into one run folder; the system releases the lock when a
    process is killed.
    """
    path = task.folder.with_name(f".{task.folder.name}.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    refusal = OutputError(
        f"another process works on {task.folder}; wait for it, or leave this run out"
    )
    with path.open("ab") as stream:  # its content is not removed: it may belong to a user
        lock(stream, refusal=refusal)
        try:
            yield
        finally:
            if path.exists() and not path.stat().st_size:
                path.unlink(missing_ok=True)


def _sentence(error: Exception) -> str:
    if isinstance(error, FascicleError):
        return str(error)
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename is not None else ""
        return f"{place}{error.strerror or error}"
    text = " ".join(str(error).split())
    return f"internal error: {type(error).__name__}: {text}; debug=True shows where"
