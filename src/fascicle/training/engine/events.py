"""Events that a training run reports; the caller prints or keeps them.

Also the record of a run: a line for each scoring, and from these lines the choice of the model and
the early stop.

Also the steps and time since the last scoring: the line of the next scoring needs them, also after
a kill.
"""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from fascicle.core.files.atomic import atomic_text_writer
from fascicle.evaluation.scoring.scores import Scores
from fascicle.settings.recipes.recogniser import TrainingSettings
from fascicle.training.engine.folder import METRICS, resume_errors
from fascicle.training.engine.loop import StepDone

_NAME: Final = "since.json"


@dataclass(frozen=True, kw_only=True)
class Note:
    """Note for the user, as one sentence."""

    text: str


Line = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Point:
    """Moment at which a run is scored.

    Attributes:
        epoch: number of the epoch, from 1, that the last step lies in.
        epochs: of the whole run.
        step: number of the last step, from 1.
        steps: of the whole run.
        events: of the steps since the moment before.
        seconds: the seconds that they took.
    """

    epoch: int
    epochs: int
    step: int
    steps: int
    events: Sequence[StepDone]
    seconds: float

    @property
    def loss(self) -> float:
        """Mean loss over the steps since the last such moment."""
        return sum(event.loss for event in self.events) / max(1, len(self.events))

    @property
    def at_end_of_epoch(self) -> bool:
        """True if the step is the last one of its epoch."""
        return self.step * self.epochs == self.epoch * self.steps

    def line(self, **scores: Any) -> Line:
        """Returns the line of ``metrics.jsonl``."""
        return {
            "epoch": self.epoch,
            "step": self.step,
            "loss": self.loss,
            "seconds": self.seconds,
        } | scores


@dataclass(frozen=True, kw_only=True)
class Validated(Point):
    """Event: an epoch, or a part of one, after which the run was scored and can be resumed.

    Attributes:
        best: whether the scores are the best so far.
        figures: scores as a short text; empty if there are none.
        lines: what ``metrics.jsonl`` got, with all scores.
    """

    best: bool
    figures: str
    lines: Sequence[Line]


@dataclass(frozen=True, kw_only=True)
class Ended(ABC):
    """Event: the end of a run.

    Attributes:
        folder: of the run.
    """

    folder: Path

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """Returns the content of ``scores.json``, without the time."""


@dataclass(frozen=True, kw_only=True)
class HeadScores:
    """Scores of one head on dev (and test if there is one), with its chosen epoch and step and its
    fitted values.

    The step is ``None`` in runs that were begun by a release that did not write it down.
    """

    head: str
    epoch: int
    step: int | None
    dev: Scores
    test: Scores | None
    tuned: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Returns the scores for JSON, without the name."""
        return {
            "epoch": self.epoch,
            "step": self.step,
            "dev": self.dev.as_dict(),
            "test": self.test.as_dict() if self.test is not None else None,
            **self.tuned,
        }


@dataclass(frozen=True, kw_only=True)
class Finished(Ended):
    """Event: the end of the run of a recogniser, with the scores of the answering head and of
    other heads.
    """

    answer: HeadScores
    other_heads: tuple[HeadScores, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """See ``Ended``."""
        heads = {other.head: other.as_dict() for other in self.other_heads}
        return self.answer.as_dict() | ({"others": heads} if heads else {})


RunEvent = Note | StepDone | Validated | Ended


@dataclass(frozen=True, kw_only=True)
class KeptModel:
    """Model that a run keeps while it continues.

    Attributes:
        folder: its place in the run folder: ``"best"``, or for the other head of a bundle
            ``"best-HEAD"``.
        merit: line -> value by which the model is chosen; of equally good lines the first is taken.
    """

    folder: str
    merit: Callable[[Line], float]


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Rules of a run: when it is scored, which models it keeps, and when it stops.

    Attributes:
        models: the models that it keeps; none where only its end counts.
        last: keep the model that was scored last, not the best one.
        every: steps from one scoring to the next; 0 for the end of every epoch.
        minutes: write the state for resuming also between two scorings, after so many minutes; 0
            for never.
        patience: stop after so many scorings in which no kept model became better; 0 for never.
        aim: name of the value that did not improve, for the sentence about an early stop.
    """

    models: tuple[KeptModel, ...] = ()
    last: bool = False
    every: int = 0
    minutes: float = 0.0
    patience: int = 0
    aim: str = ""

    @classmethod
    def of(cls, settings: TrainingSettings, *models: KeptModel, aim: str = "") -> Selection:
        """Returns the choice that a recipe asks for; a line an epoch, where epochs are counted."""
        patience = settings.patience_epochs or settings.patience_validations
        last, every = settings.select == "last", settings.validate_every_steps
        return cls(models=models, last=last, every=every, patience=patience, aim=aim)


class MetricsRecord:
    """Lines of ``metrics.jsonl``, and the decisions that follow from them."""

    def __init__(self, folder: Path, choice: Selection) -> None:
        """Starts without lines.

        Args:
            folder: of the run.
            choice: rules of the run.
        """
        self.path = folder / METRICS
        self.lines: list[Line] = []
        self._choice = choice

    def read(self, *, epoch: int, step: int) -> None:
        """Reads the lines up to the state from which training is resumed, and drops later ones.

        Args:
            epoch: complete epochs.
            step: steps, those of the next epoch included.

        Raises:
            OutputError: a line is damaged, or lacks the score by which the model is chosen.
        """
        with resume_errors(self.path):
            lines = list(map(json.loads, self.path.read_text(encoding="utf-8").splitlines()))
            self.lines = [x for x in lines if _is_reached(x, epoch=epoch, step=step)]
            for model in self._choice.models:
                deque(map(model.merit, self.lines), maxlen=0)

    def add(self, lines: Sequence[Line]) -> None:
        """Adds lines, also to the file."""
        self.lines.extend(lines)
        with atomic_text_writer(self.path, overwrite=True) as stream:
            stream.writelines(json.dumps(line) + "\n" for line in self.lines)

    def line_of(self, model: KeptModel) -> Line:
        """Returns the line of the model that is kept."""
        return self.lines[-1] if self._choice.last else self._best(model)

    def _best(self, model: KeptModel) -> Line:
        return max(self.lines, key=model.merit)

    def ends_at(self, *, epoch: int, step: int) -> bool:
        """True if the last line is of this position; in a run without written steps, only epochs
        are compared.
        """
        if not self.lines:
            return False
        last = self.lines[-1]
        return bool(last.get("epoch", epoch) == epoch and _step_of(last, step) == step)

    def is_at(self, step: int) -> bool:
        """True if the last line is of this step, or has no step."""
        return bool(self.lines) and _step_of(self.lines[-1], step) == step

    def is_over(self) -> bool:
        """True if no kept model has improved for as many scorings as the patience of the recipe."""
        if not self.lines or not self._choice.patience:
            return False
        best = max(self.lines.index(self._best(model)) for model in self._choice.models)
        return len(self.lines) - 1 - best >= self._choice.patience


def _is_reached(line: Line, *, epoch: int, step: int) -> bool:
    """True if a line is at or before a position; releases before ``validate_every_steps`` wrote
    only epochs.
    """
    at = _step_of(line, None)
    return bool(line["epoch"] <= epoch if at is None else at <= step)


def _step_of(line: Line, default: int | None) -> int | None:
    """Returns the step of a line; a span typer calls it its update."""
    step: int | None = line.get("step", line.get("update", default))
    return step


@dataclass(kw_only=True)
class SinceScoring:
    """Steps and time since the last scoring.

    Attributes:
        events: of the steps.
        before: seconds of earlier sessions.
        started: start of this session, by ``time.perf_counter``.
        saved: time of the last writing of the state, by the same clock.
    """

    events: list[StepDone] = field(default_factory=list)
    before: float = 0.0
    started: float = 0.0
    saved: float = 0.0

    @classmethod
    def read(cls, folder: Path) -> SinceScoring:
        """Reads the file that ``write`` wrote; empty if the folder of an earlier release has
        none.
        """
        path = folder / _NAME
        if not path.exists():
            return cls()
        with resume_errors(path):
            values = json.loads(path.read_text(encoding="utf-8"))
            events = [StepDone(step=step, loss=float(loss)) for step, loss in values["losses"]]
            return cls(events=events, before=float(values["seconds"]))

    def write(self, folder: Path) -> None:
        """Writes the file into an existing folder."""
        losses = [(event.step, event.loss) for event in self.events]
        (folder / _NAME).write_text(
            json.dumps({"losses": losses, "seconds": self.seconds()}), encoding="utf-8"
        )
        self.saved = time.perf_counter()

    def going_on(self) -> SinceScoring:
        """Returns a copy with the clock started now."""
        now = time.perf_counter()
        return replace(self, started=now, saved=now)

    def seconds(self) -> float:
        """Returns the seconds since the last scoring, without the time between sessions."""
        return self.before + time.perf_counter() - self.started

    def unsaved_seconds(self) -> float:
        """Returns the seconds since the state was written."""
        return time.perf_counter() - self.saved
