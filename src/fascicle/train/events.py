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
    """One head: its chosen epoch, its scores (on test if the recipe names it), and what was fitted on dev."""

    head: str
    epoch: int
    dev: Scores
    test: Scores | None
    tuned: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """For JSON, without the name."""
        return {
            "epoch": self.epoch,
            "dev": self.dev.as_dict(),
            "test": self.test.as_dict() if self.test is not None else None,
            **self.tuned,
        }


@dataclass(frozen=True, kw_only=True)
class EpochScored:
    """An epoch with its development scores: of the answering head, and of the other heads of a bundle."""

    epoch: int
    epochs: int
    loss: float
    seconds: float
    dev: Scores
    best: bool
    others: tuple[HeadScores, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Finished:
    """The end of a run: what the answering head gave, and the other heads of a bundle."""

    folder: Path
    answer: HeadScores
    others: tuple[HeadScores, ...] = ()


RunEvent = Note | StepDone | EpochScored | Finished
