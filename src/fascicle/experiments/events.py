"""What the process of a grid and the process of one of its runs say to each other."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from fascicle.settings.recipes.any import AnyRecipe


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One run to be done in a process of its own.

    Attributes:
        run: its name.
        recipe: with the paths of its corpora on this machine.
        shown: the same recipe with the paths as they are written.
        hash: identity of the recipe.
        labels: what the grid says of the run.
        folder: of the run.
        results: folder for the results file.
        threads: CPU threads; ``None`` for torch's own choice.
        deadline: in seconds since the epoch of the clock, after which no epoch may end; ``None`` for never.
        debug: show tracebacks.
        after: the run whose model it starts from, if that one is to be done first; the hash is empty then, and known
            when the task is begun.
    """

    run: str
    recipe: AnyRecipe
    shown: AnyRecipe
    hash: str
    labels: dict[str, str]
    folder: Path
    results: Path
    threads: int | None = None
    deadline: float | None = None
    debug: bool = False
    after: str = ""


class Said(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A note of a run, as one sentence."""

    run: str
    text: str


class EpochEnded(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """One epoch of a run, or a part of one, scored on dev and kept, so that the run can go on after it.

    The step is that of a part of an epoch; 0 for the end of one.
    """

    run: str
    epoch: int
    epochs: int
    loss: float
    figures: str
    seconds: float
    best: bool
    step: int = 0


class Done(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A run whose results file is written; whether it was trained, or only collected from a complete run folder."""

    run: str
    trained: bool


class Left(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A run that is left for another time, after some epochs, because the time of this one is over."""

    run: str
    epoch: int
    epochs: int


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A run that failed, with one sentence; ``disk_full`` if there is no room for any other run either."""

    run: str
    error: str
    disk_full: bool = False


GridEvent = Said | EpochEnded | Done | Left | Failed
ENDS: Final = (Done, Left, Failed)
