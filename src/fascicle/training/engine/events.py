"""What a training run reports while it goes on; printing and keeping belong to whoever listens."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from fascicle.evaluation.scoring.scores import Scores
from fascicle.training.engine.loop import StepDone


@dataclass(frozen=True, kw_only=True)
class Note:
    """Something to tell the user, as one sentence."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Validated:
    """An epoch, or a part of one, after which the run was scored and can be resumed.

    Attributes:
        epoch: number of the epoch, from 1, that the last step lies in.
        epochs: of the whole run.
        step: number of the last step, from 1.
        steps: of the whole run.
        loss: mean over the steps since the run was scored before.
        seconds: that they took.
        best: whether the scores are the best so far.
    """

    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    seconds: float
    best: bool

    @property
    def figures(self) -> str:
        """The scores in a few words; empty if there are none."""
        return ""

    @property
    def at_end_of_epoch(self) -> bool:
        """Whether the step is the last one of its epoch."""
        return self.step * self.epochs == self.epoch * self.steps


@dataclass(frozen=True, kw_only=True)
class Ended(ABC):
    """The end of a run.

    Attributes:
        folder: of the run.
    """

    folder: Path

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """What ``scores.json`` holds, without the time."""


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
class EpochScored(Validated):
    """A recogniser with its development scores.

    Attributes:
        dev: scores of the answering head.
        average: of the types, by whose F1 the model is chosen.
        others: scores of the other heads of a bundle.
    """

    dev: Scores
    average: Literal["micro", "macro"] = "micro"
    others: tuple[HeadScores, ...] = ()

    @property
    def figures(self) -> str:
        """Precision, recall and F1 on dev, in percent, and F1 of the other heads."""
        own, *others = (scores.macro if self.average == "macro" else scores.micro for scores in self._of_heads())
        heads = "".join(f", {o.head} F1 {100 * r.f1:.2f}" for o, r in zip(self.others, others, strict=True))
        dev = "dev" if self.average == "micro" else "dev macro"
        return f"{dev} P {100 * own.precision:.2f} R {100 * own.recall:.2f} F1 {100 * own.f1:.2f}{heads}"

    def _of_heads(self) -> tuple[Scores, ...]:
        return (self.dev, *(other.dev for other in self.others))


@dataclass(frozen=True, kw_only=True)
class Finished(Ended):
    """The end of the run of a recogniser: what the answering head gave, and the other heads of a bundle."""

    answer: HeadScores
    others: tuple[HeadScores, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """See ``Ended``."""
        others = {other.head: other.as_dict() for other in self.others}
        return self.answer.as_dict() | ({"others": others} if others else {})


RunEvent = Note | StepDone | Validated | Ended
