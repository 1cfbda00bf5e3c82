"""What a training run reports while it goes on; printing and keeping belong to whoever listens.

The record of a run: a line for each time that it was scored, and what is chosen and when to stop by these lines.

What a run has done since it was scored last: the line of the next scoring needs it, also after a kill.
"""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from fascicle.core.files.atomic import atomic_text_writer
from fascicle.evaluation.scoring.scores import Scores
from fascicle.training.engine.folder import METRICS, legible
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


Line = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A model that a run keeps while it goes on.

    Attributes:
        folder: its place in the run folder: ``"best"``, or for the other head of a bundle ``"best-HEAD"``.
        merit: line -> what it is chosen by; of equally good lines the first is taken.
    """

    folder: str
    merit: Callable[[Line], float]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """How a run is scored, what it keeps, and when it stops.

    Attributes:
        kept: the models that it keeps; none where only its end counts.
        last: keep what was scored last, and not what was best.
        every: steps from one scoring to the next; 0 for the end of every epoch.
        minutes: write what resuming needs between two scorings too, when so many minutes have passed; 0 for never.
        patience: stop after so many scorings in which no kept model became better; 0 for never.
        aim: what did not become better, for the sentence that says so.
    """

    kept: tuple[Kept, ...] = ()
    last: bool = False
    every: int = 0
    minutes: float = 0.0
    patience: int = 0
    aim: str = ""


class Record:
    """``metrics.jsonl``, and what follows from it."""

    def __init__(self, folder: Path, choice: Choice) -> None:
        """Begins without lines.

        Args:
            folder: of the run.
            choice: what its lines decide.
        """
        self.path = folder / METRICS
        self.lines: list[Line] = []
        self._choice = choice

    def read(self, *, epoch: int, step: int) -> None:
        """Takes the lines up to the state that training goes on from, and forgets those behind it.

        Args:
            epoch: complete epochs.
            step: steps, those of the next epoch included.

        Raises:
            OutputError: a line is damaged, or lacks what is chosen by.
        """
        with legible(self.path):
            lines = list(map(json.loads, self.path.read_text(encoding="utf-8").splitlines()))
            self.lines = [x for x in lines if _is_reached(x, epoch=epoch, step=step)]
            for kept in self._choice.kept:
                deque(map(kept.merit, self.lines), maxlen=0)

    def add(self, lines: Sequence[Line]) -> None:
        """Adds lines, in the file too."""
        self.lines.extend(lines)
        with atomic_text_writer(self.path, overwrite=True) as stream:
            stream.writelines(json.dumps(line) + "\n" for line in self.lines)

    def chosen(self, kept: Kept) -> Line:
        """The line of the model that is kept."""
        return self.lines[-1] if self._choice.last else self._best(kept)

    def _best(self, kept: Kept) -> Line:
        return max(self.lines, key=kept.merit)

    def ends_at(self, *, epoch: int, step: int) -> bool:
        """Whether the last line is of this place; of a run in which no steps were written, epochs alone count."""
        if not self.lines:
            return False
        last = self.lines[-1]
        return bool(last.get("epoch", epoch) == epoch and _step_of(last, step) == step)

    def is_at(self, step: int) -> bool:
        """Whether the last line is of this step; a line in which none was written is."""
        return bool(self.lines) and _step_of(self.lines[-1], step) == step

    def is_over(self) -> bool:
        """Whether no kept model has become better for as long as the recipe has patience."""
        if not self.lines or not self._choice.patience:
            return False
        best = max(self.lines.index(self._best(kept)) for kept in self._choice.kept)
        return len(self.lines) - 1 - best >= self._choice.patience


def _is_reached(line: Line, *, epoch: int, step: int) -> bool:
    """Whether a line is not behind a place; releases before ``validate_every_steps`` wrote epochs alone."""
    at = _step_of(line, None)
    return bool(line["epoch"] <= epoch if at is None else at <= step)


def _step_of(line: Line, default: int | None) -> int | None:
    """The step of a line; a span typer calls it its update."""
    found: int | None = line.get("step", line.get("update", default))
    return found


_NAME: Final = "since.json"


@dataclass(kw_only=True)
class Since:
    """Steps and time since the last scoring.

    Attributes:
        events: of the steps.
        before: seconds of earlier sittings.
        started: when this sitting began, by ``time.perf_counter``.
        saved: when the state was written last, by the same clock.
    """

    events: list[StepDone] = field(default_factory=list)
    before: float = 0.0
    started: float = 0.0
    saved: float = 0.0

    @classmethod
    def read(cls, folder: Path) -> Since:
        """What ``write`` wrote; nothing in the folder of an earlier release."""
        path = folder / _NAME
        if not path.exists():
            return cls()
        with legible(path):
            known = json.loads(path.read_text(encoding="utf-8"))
            events = [StepDone(step=step, loss=float(loss)) for step, loss in known["losses"]]
            return cls(events=events, before=float(known["seconds"]))

    def write(self, folder: Path) -> None:
        """Writes it into an existing folder."""
        losses = [(event.step, event.loss) for event in self.events]
        (folder / _NAME).write_text(json.dumps({"losses": losses, "seconds": self.seconds()}), encoding="utf-8")
        self.saved = time.perf_counter()

    def going_on(self) -> Since:
        """The same with the clock started now."""
        now = time.perf_counter()
        return replace(self, started=now, saved=now)

    def seconds(self) -> float:
        """Since the last scoring, without the time between sittings."""
        return self.before + time.perf_counter() - self.started

    def unsaved_seconds(self) -> float:
        """Since the state was written."""
        return time.perf_counter() - self.saved
