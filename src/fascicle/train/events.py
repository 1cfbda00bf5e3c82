"""What a training run says while it goes on; printing and keeping belong to whoever listens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fascicle.evaluate.scores import Scores
from fascicle.train.loop import StepDone


@dataclass(frozen=True, kw_only=True)
class Note:
    """Something to tell the user, as one sentence."""

    text: str


@dataclass(frozen=True, kw_only=True)
class HeadScores:
    """One head: its chosen epoch and step, its scores (on test if the recipe names it), what was fitted on dev.

    The step is ``None`` in runs that were begun by a release that did not write it down.
    """

    head: str
    epoch: int
    step: int | None
    dev: Scores
    test: Scores | None
    tuned: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """For JSON, without the name."""
        return {
            "epoch": self.epoch,
            "step": self.step,
            "dev": self.dev.as_dict(),
            "test": self.test.as_dict() if self.test is not None else None,
            **self.tuned,
        }


@dataclass(frozen=True, kw_only=True)
class EpochScored:
    """An epoch, or a part of one, with its development scores: of the answering head, and of others of a bundle.

    Attributes:
        epoch: number of the epoch, from 1, that the last step lies in.
        epochs: of the whole run.
        step: number of the last step, from 1.
        steps: of the whole run.
        loss: mean over the steps since dev was scored before.
        seconds: that they took.
        dev: scores of the answering head.
        best: whether they are the best so far.
        others: scores of the other heads.
    """

    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    seconds: float
    dev: Scores
    best: bool
    others: tuple[HeadScores, ...] = ()

    @property
    def at_end_of_epoch(self) -> bool:
        """Whether the step is the last one of its epoch."""
        return self.step * self.epochs == self.epoch * self.steps


@dataclass(frozen=True, kw_only=True)
class Finished:
    """The end of a run: what the answering head gave, and the other heads of a bundle."""

    folder: Path
    answer: HeadScores
    others: tuple[HeadScores, ...] = ()


RunEvent = Note | StepDone | EpochScored | Finished
