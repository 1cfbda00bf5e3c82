"""Engine of training runs: prepares, trains, scores, keeps the best model, resumes after a kill,
finishes.

The model to train is a `Trainee`; a recogniser, a filter and a span typer each have an adapter of
this kind. The engine class is called ``_Training``, because ``run`` is a run folder in all texts of
the project, and a command for pipelines.

The folder is complete at whatever moment a run is killed. Where it is scored, the engine writes in
this order: the line of ``metrics.jsonl``, then ``state/``, then the models that are best now. So a
model in the folder always has its line; and where the last step is missing, resuming makes it up
from ``state/``, which holds the same weights.

A run may write ``state/`` between two scorings too. Then ``since.json`` in it holds the values for
the next line.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fascicle.core.files.atomic import complete_replacement, rewritable_folder
from fascicle.core.files.owned import remove_owned
from fascicle.settings.base import RecipeBase
from fascicle.training.engine.events import (
    Ended,
    KeptModel,
    Line,
    MetricsRecord,
    Note,
    Point,
    RunEvent,
    Selection,
    SinceScoring,
    Validated,
)
from fascicle.training.engine.folder import (
    FACTS,
    METRICS,
    SCORES,
    STATE,
    Start,
    check_inputs_outside,
    check_run_folder,
    check_same_data,
    check_unchanged,
    describe_environment,
    differences,
    read_run_facts,
    remove_if_empty,
    start_folder,
    write_json,
)
from fascicle.training.engine.loop import Loop, StepDone


@dataclass(frozen=True, kw_only=True)
class PointResult:
    """Result of scoring a trainee at one point.

    Attributes:
        lines: for ``metrics.jsonl``.
        figures: the scores as a short text.
        best: whether they are the best so far, where that is not whether the first kept model is
            written.
    """

    lines: Sequence[Line]
    figures: str
    best: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Facts about a run that are known before its first step.

    Attributes:
        data: name of the data -> facts about them, with ``sha256``.
        environment: software and machine, see ``training.engine.folder.describe_environment``.
        more: the rest of ``run.json``.
        notes: sentences for the user; made one by one, since some take time.
        files: other files of the run folder, by name, as JSON.
    """

    data: Mapping[str, Mapping[str, Any]]
    more: Mapping[str, Any]
    notes: Iterable[str]
    environment: Mapping[str, Any] = field(default_factory=describe_environment)
    files: Mapping[str, object] = field(default_factory=dict)


class Trainee(ABC):
    """Model that the engine trains, with its loop and its scoring.

    Attributes:
        loop: changes its weights.
        choice: when it is scored and which models are kept.
        facts: known before the first step.
    """

    loop: Loop
    choice: Selection
    facts: Facts

    @abstractmethod
    def judge(self, point: Point) -> PointResult:
        """Scores the current weights of the model."""

    @abstractmethod
    def keep(self, place: Path, model: KeptModel) -> None:
        """Writes the current model into an empty folder; can be called with or without `judge`
        before it.
        """

    @abstractmethod
    def finish(self, lines: Sequence[Line]) -> Iterator[Note | Ended]:
        """Scores the kept models.

        Args:
            lines: the line of each kept model.

        Yields:
            Notes, and at last the end of the run.
        """


_Prepare = Callable[[Mapping[str, Any]], Trainee]


def train(
    recipe: RecipeBase, folder: Path, prepare: _Prepare, *, resume: bool = False
) -> Iterator[RunEvent]:
    """Trains, scores, keeps the chosen model, and scores it.

    A run that fails before it was scored for the first time leaves no folder, unless somebody put
    files into it.

    Args:
        recipe: of the run, as it is written to the run folder.
        folder: of the run; must not exist, unless ``resume``.
        prepare: builds the trainee from the content of ``run.json`` of the same run, empty if the
            run is new.
        resume: continue from the last scoring of an interrupted run of the same recipe.

    Yields:
        Events, in order; the last one is ``Ended``.

    Raises:
        OutputError: the folder exists, or holds no run of this recipe that could be resumed; other
            data than before; another process trains in the folder.
    """
    with remove_if_empty(folder, sign=METRICS) as start:
        check_run_folder(folder, recipe, resume=resume)
        check_inputs_outside(folder, recipe.files())
        yield from _train(recipe, start, prepare, resume=resume)


def _train(
    recipe: RecipeBase, start: Start, prepare: _Prepare, *, resume: bool
) -> Iterator[RunEvent]:
    folder, started = start.folder, time.perf_counter()
    before = read_run_facts(folder)
    trainee = prepare(before)
    facts = trainee.facts
    if before:
        check_same_data(folder, before, facts.data)
    start_folder(start, recipe, resume=resume)
    yield from _write_facts(folder, recipe, facts, before)
    yield from (Note(text=text) for text in facts.notes)
    training = _Training(folder, trainee)
    if resume:
        yield from training.resume()
    yield from training.run()
    yield from training.finish(started)


def _write_facts(
    folder: Path, recipe: RecipeBase, facts: Facts, before: Mapping[str, Any]
) -> Iterator[Note]:
    """Writes ``run.json`` and the files of the facts; yields a note if the environment is another
    one than before.
    """
    own = {"recipe": recipe.name, "seed": recipe.seed, **facts.more}
    own |= {"data": facts.data, "environment": facts.environment}
    other = []
    if before:
        first = before.get("environment", {})
        if other := differences(first, facts.environment):
            own["environments"] = [*before.get("environments", [first]), facts.environment]
    write_json(folder / FACTS, own)
    for name, content in facts.files.items():
        write_json(folder / name, content)
    if other:
        yield Note(
            text=f"resumed under other conditions ({'; '.join(other)}): the run is not repeated to "
            "the bit"
        )


class _Training:
    """Trainee in its run folder: scored, kept, resumed."""

    def __init__(self, folder: Path, trainee: Trainee) -> None:
        """Starts without earlier results.

        Args:
            folder: of the run; it exists.
            trainee: to train.
        """
        self._folder = folder
        self._trainee = trainee
        self._loop = trainee.loop
        self._choice = trainee.choice
        self._record = MetricsRecord(folder, trainee.choice)
        self._since = SinceScoring()

    def resume(self) -> Iterator[Note]:
        """Restores the state of the last scoring."""
        loop, state = self._loop, self._folder / STATE
        for model in self._choice.models:
            complete_replacement(self._folder / model.folder)
        if complete_replacement(state):
            check_unchanged(state)
            loop.restore(state)
            self._record.read(epoch=loop.epoch, step=loop.step)
            self._record.add(())  # the same lines are removed from the file
            self._since = SinceScoring.read(state)
            if self._record.is_at(loop.step):  # else the state is older than the last scoring
                self._keep()
            yield Note(
                text="resumed after "
                f"{f'step {loop.step}' if self._choice.every else f'epoch {loop.epoch}'}"
            )
        elif self._is_trained():
            loop.epoch, loop.step = loop.epochs, loop.steps
            yield Note(text="all epochs are there; only the end of the run is made again")
        elif self._record.path.exists():
            yield Note(
                text=f"{state} is not there to go on from: training begins again at the first epoch"
            )

    def _is_trained(self) -> bool:
        """True if the folder already has all steps of the loop and their results."""
        models = self._choice.models
        if not (
            models
            and self._record.path.exists()
            and all((self._folder / model.folder).exists() for model in models)
        ):
            return False
        record, loop = self._record, self._loop
        record.read(epoch=loop.epochs, step=loop.steps)
        if not record.ends_at(epoch=loop.epochs, step=loop.steps) and not record.is_over():
            record.lines = []
        return bool(record.lines)

    def run(self) -> Iterator[RunEvent]:
        """Runs the loop to its end or until patience is over."""
        if self._record.is_over():
            return
        every, self._since = self._choice.every, self._since.going_on()
        for event in self._loop.run():
            if isinstance(event, StepDone):
                self._since.events.append(event)
                yield event
                due = bool(every) and event.step % every == 0
            else:
                due = not every or self._is_unscored_end()
            if due:
                yield self._score()
                if self._record.is_over():
                    yield Note(text=f"stopped early: no better {self._choice.aim}")
                    return
            elif (
                self._choice.minutes
                and self._since.unsaved_seconds() >= 60.0 * self._choice.minutes
            ):
                self._record.add(())  # creates the file, so that the run counts as begun
                self._write_state()

    def _is_unscored_end(self) -> bool:
        """True if this is the end of the last epoch, and it was not scored yet."""
        loop = self._loop
        return loop.epoch == loop.epochs and not self._record.ends_at(
            epoch=loop.epochs, step=loop.step
        )

    def _write_state(self) -> None:
        """Writes the state for resuming from here."""
        with rewritable_folder(self._folder / STATE, kind="run") as place:
            self._loop.save(place)
            self._since.write(place)

    def _score(self) -> Validated:
        """Scores the current model, and writes the state for resuming from here."""
        loop = self._loop
        point = Point(
            epoch=max(loop.epoch, -(-loop.step // max(1, loop.steps_per_epoch))),
            epochs=loop.epochs,
            step=loop.step,
            steps=loop.steps,
            events=self._since.events,
            seconds=round(self._since.seconds(), 2),
        )
        with loop.evaluated():
            judged = self._trainee.judge(point)
        self._record.add(judged.lines)
        self._since = SinceScoring().going_on()
        self._write_state()
        is_kept = self._keep()
        best = is_kept if judged.best is None else judged.best
        return Validated(**vars(point), best=best, figures=judged.figures, lines=judged.lines)

    def _keep(self) -> bool:
        """Writes the models for which the last line is the best; returns whether the first model
        is among them.
        """
        record = self._record
        due = [
            model
            for model in self._choice.models
            if record.lines and record.line_of(model) is record.lines[-1]
        ]
        with self._loop.evaluated():
            for model in due:
                with rewritable_folder(self._folder / model.folder, kind="run") as place:
                    self._trainee.keep(place, model)
        return bool(due) and due[0] is self._choice.models[0]

    def finish(self, started: float) -> Iterator[Note | Ended]:
        """Scores the kept models, and removes files that only resuming needs.

        Args:
            started: when the run began, by ``time.perf_counter``.
        """
        for event in self._trainee.finish(
            [self._record.line_of(model) for model in self._choice.models]
        ):
            if isinstance(event, Ended):
                seconds = round(time.perf_counter() - started, 1)
                write_json(self._folder / SCORES, event.as_dict() | {"seconds": seconds})
                remove_owned(self._folder / STATE, kind="run")
            yield event
