"""The folder of jobs that outlive a service: one service has it at a time, and what nobody was told of is cleared."""

from __future__ import annotations

import contextlib
import re
import shutil
from pathlib import Path
from typing import BinaryIO, Final

from fascicle.errors import OutputError
from fascicle.files import locks

FACTS: Final = "job.json"
ID: Final = re.compile(r"[0-9a-f]{32}")
_LOCK: Final = ".lock"


def held(folder: Path) -> BinaryIO:
    """Keeps other services out of a folder, until what is returned is closed or the process ends.

    Raises:
        OutputError: another service has it.
    """
    lock = (folder / _LOCK).open("ab")
    taken = f"another service keeps jobs in {folder}; give this one a folder of its own"
    try:
        locks.lock(lock, refusal=OutputError(taken, file=str(folder)))
    except OutputError:
        lock.close()
        raise
    return lock


def sweep(folder: Path) -> None:
    """Removes the folders of jobs that were never accepted, or were being removed, when a service was killed."""
    for one in folder.iterdir():
        if ID.fullmatch(one.name) and one.is_dir() and not one.is_symlink() and not (one / FACTS).exists():
            shutil.rmtree(one, ignore_errors=True)


def remove(place: Path) -> None:
    """Removes the folder of a job, and first what it is known by, so that a kill meanwhile does not bring it back."""
    with contextlib.suppress(OSError):
        (place / FACTS).unlink()
    shutil.rmtree(place, ignore_errors=True)
