"""The beginning of a run folder, and its end where a run never began to train."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from fascicle.errors import OutputError
from fascicle.files.owned import remove_empty, remove_owned
from fascicle.files.temporary import held

# What a run writes before it has scored anything: of a folder that it made itself, nobody else wrote these.
_BEGUN: Final = ("recipe.json", "run.json", "split.json", "metrics.jsonl")


class Start:
    """Makes the folder of a run, knows whether this process did, and keeps other processes out of it."""

    def __init__(self, folder: Path, claims: ExitStack) -> None:
        """Nothing is done yet.

        Args:
            folder: of the run.
            claims: what is held until the run ends.
        """
        self.folder, self.is_fresh = folder, False
        self._claims = claims

    def claim(self) -> None:
        """Holds the folder, if it is there, until the run ends; the system lets go of it when a process is killed.

        Raises:
            OutputError: another process holds it.
        """
        place = Path(os.path.realpath(self.folder))  # where a link leads
        if place.is_dir() and not self._claims.enter_context(held(place)):
            raise OutputError(
                f"another process trains in {self.folder}; wait until it ends, or give another run folder"
            )

    def make(self, *, resume: bool = False) -> None:
        """Makes the folder.

        Args:
            resume: whether it may be there.

        Raises:
            OutputError: it is there, perhaps since a moment ago, or it cannot be made.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=resume)
        except OSError as error:
            if self.folder.exists():
                raise OutputError(f"the run folder {self.folder} exists already; choose another") from None
            raise OutputError(
                f"the run folder {self.folder} cannot be made: {error.strerror}; give another place"
            ) from None
        if not resume:
            self.claim()
            self.is_fresh = True


@contextmanager
def unless_begun(folder: Path, *, sign: str) -> Iterator[Start]:
    """Removes what a run wrote if it ends before it gave anything: its folder would only refuse the next attempt.

    One process at a time works in a folder. A folder that was there before stays as it is. Files that somebody else
    put into a new one stay, and so does it.

    Args:
        folder: of the run.
        sign: name of what is there as soon as the run gave something.

    Yields:
        What makes the folder.

    Raises:
        OutputError: another process works in the folder.
    """
    with ExitStack() as claims:
        start = Start(folder, claims)
        start.claim()
        try:
            yield start
        except BaseException:
            if start.is_fresh and not (folder / sign).exists():
                _discard(folder)
            raise


def check_apart(folder: Path, inputs: Mapping[str, str]) -> None:
    """Refuses a run that reads what lies in its own folder, where it would write over it.

    Args:
        folder: of the run.
        inputs: key of the recipe -> path.

    Raises:
        OutputError: an input lies in the folder, under whatever name it is given.
    """
    place = Path(os.path.realpath(folder))
    for key, path in inputs.items():
        if Path(os.path.realpath(path)).is_relative_to(place):
            raise OutputError(f"{key} of the recipe is {path}, which lies in the run folder {folder}; choose another")


def _discard(folder: Path) -> None:
    for name in _BEGUN:
        (folder / name).unlink(missing_ok=True)
    for file in (folder / "predictions").glob("dev*.tsv"):
        file.unlink(missing_ok=True)
    with contextlib.suppress(OSError, OutputError):
        for inner in (folder / "state", *folder.glob("best*")):
            remove_owned(inner, kind="run")
    remove_empty(folder)
