"""The folder of a training run: whose it is, and that it is about the same data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from fascicle.errors import OutputError
from fascicle.files.atomic import atomic_text_writer
from fascicle.files.owned import changed
from fascicle.settings.base import Settings
from fascicle.training.engine.start import Start

RECIPE, FACTS, METRICS, SCORES, STATE = "recipe.json", "run.json", "metrics.jsonl", "scores.json", "state"

_NAMES = MappingProxyType(
    {f"distant.{name}": "the dictionary" for name in ("core", "full")}
    | {
        "exclude": "the exclusion list",
        "text.exclude": "the exclusion list",
        "vectors": "the file of vectors",
        "teacher.model": "the teacher",
        "model.start": "the model that training starts from",
        "weak_labels": "the file of labels",
    }
    | {f"{table}.types": "the description of the types" for table in ("model", "bundle")}
)


def check_run_folder(folder: Path, recipe: Settings, *, resume: bool) -> None:
    """Refuses a folder that holds anything but the run to resume.

    Args:
        folder: of the run.
        recipe: of the run.
        resume: whether it is to go on.

    Raises:
        OutputError: the folder exists, or holds no run of this recipe that could be resumed.
    """
    if not folder.exists():
        if resume:
            raise OutputError(f"there is no run at {folder} to resume; name its folder with -o")
        return
    if not resume:
        raise OutputError(f"the run folder {folder} exists already; choose another, or continue it with resume=True")
    resolved = folder / RECIPE
    if not resolved.is_file():
        raise OutputError(f"{folder} holds no run to resume; choose another folder")
    if not _is_of(resolved, recipe):
        raise OutputError(f"the run in {folder} was started from another recipe; resume it with its own")
    if (folder / SCORES).exists():
        raise OutputError(f"the run in {folder} is complete; choose another folder for a new one")


def _is_of(resolved: Path, recipe: Settings) -> bool:
    """Whether a run has this recipe; settings that came later stand at their defaults in those of earlier releases."""
    try:
        return msgspec.json.decode(resolved.read_bytes(), type=type(recipe)) == recipe
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False


def start_folder(start: Start, recipe: Settings, *, resume: bool) -> None:
    """Makes the folder of a run and writes its recipe.

    Args:
        start: of the folder.
        recipe: of the run.
        resume: whether the folder may be there.

    Raises:
        OutputError: it is there, or the place cannot be written.
    """
    start.make(resume=resume)
    (start.folder / "predictions").mkdir(exist_ok=True)
    with atomic_text_writer(start.folder / RECIPE, overwrite=True) as stream:
        stream.write(recipe_text(recipe))


def recipe_text(recipe: Settings) -> str:
    """The content of ``recipe.json``, by which the run of a recipe is known."""
    return msgspec.json.format(msgspec.json.encode(recipe)).decode("utf-8")


def facts_of(folder: Path) -> dict[str, Any]:
    """What ``run.json`` says; nothing where a run was killed before it was written.

    Raises:
        OutputError: it cannot be read, or is gone although the run has begun.
    """
    path = folder / FACTS
    if not path.is_file() and not (folder / METRICS).exists():
        return {}
    with legible(path):
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        facts["data"]  # of every version
    return facts


@contextmanager
def legible(path: Path) -> Iterator[None]:
    """Says that a file of a run cannot be gone on from, if that is what an error in the block means.

    Args:
        path: that is read in the block.

    Raises:
        OutputError: it is not there, is damaged, or lacks what this version writes.
    """
    try:
        yield
    except (FileNotFoundError, AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise OutputError(
            f"{path} was damaged, or written by another version, so the run cannot go on "
            f"({' '.join(reason.split())}); start a new run",
            file=str(path),
        ) from error


def check_whole(folder: Path) -> None:
    """Refuses to go on from files that are no longer as they were written: their values would still be read.

    Raises:
        OutputError: one is gone, or was changed.
    """
    for name in changed(folder):
        raise OutputError(
            f"{folder / name} was damaged, or changed by another program, so the run cannot go on; start a new run",
            file=str(folder / name),
            code="damaged",
        )


def check_same_data(folder: Path, before: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    """Refuses to go on with other data than the run began with.

    Args:
        folder: of the run.
        before: what ``run.json`` says.
        facts: name of the data -> what is known of them today, with ``sha256``.

    Raises:
        OutputError: their hashes differ, or ``run.json`` does not tell them.
    """
    now = {name: of["sha256"] for name, of in facts.items()}
    with legible(folder / FACTS):
        then = {name: of["sha256"] for name, of in before["data"].items()}
    other = {name for name in then | now if then.get(name) != now.get(name)}
    if other:
        what = sorted({_name_of(name) for name in other})
        verb = "has" if len(what) == 1 else "have"
        raise OutputError(f"{' and '.join(what)} {verb} changed since the run in {folder} began; start a new run")


def _name_of(data: str) -> str:
    """What a user calls some data."""
    if data.startswith("text.files."):
        return "the text"
    if data.startswith("members."):
        return "predictions of members"
    return _NAMES.get(data) or _NAMES.get(data.rpartition(".")[2], "the corpus")  # "parts.NAME.exclude"


def write_json(path: Path, value: object) -> None:
    """Writes a JSON file as a whole, or not at all."""
    with atomic_text_writer(path, overwrite=True) as stream:
        stream.write(json.dumps(value, indent=1, ensure_ascii=False) + "\n")
