"""Pipeline: a sequence of compatible steps, and the documents that it processes."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from fascicle.core.contracts import PARTS, Predictor, Step
from fascicle.core.document import Document, Patch, TextInput
from fascicle.core.stream import to_documents
from fascicle.core.wording import plural
from fascicle.errors import InputError, PluginError, RecipeError
from fascicle.pipeline.runner import (
    APART,
    DOCUMENTS,
    Failure,
    Result,
    Watch,
    batches,
    ignore_progress,
    run_batch,
)
from fascicle.pipeline.steps import LINKED, Recognise
from fascicle.settings.pipeline import KnownAnswer, Limits, refuse_duplicate_steps
from fascicle.text.segment import all_sentences, segmenter

_CUT: Final = "cut"
_TOO_LONG: Final = ("length", "TooLong")  # step and error of a document that no step may read
_CUTS: Final = frozenset({"sentences", "words"})


@dataclass(frozen=True, kw_only=True)
class _Cut:
    """Segmentation of a text into sentences and words, which all steps share."""

    gives: frozenset[str]
    segmenter: str
    name: str = _CUT
    needs: frozenset[str] = frozenset()
    drops: frozenset[str] = frozenset()

    @property
    def fingerprint(self) -> str:
        return f"{self.segmenter} {sorted(self.gives)}"

    def run(self, documents: Sequence[Document]) -> Iterator[Patch]:
        rules = segmenter(self.segmenter)
        for document in documents:
            yield Patch(
                sentences=all_sentences(document, rules)
                if "sentences" in self.gives and document.sentences is None
                else None,
                words=rules.words(document.text)
                if "words" in self.gives and document.words is None
                else None,
            )


@dataclass
class ConsecutiveFailures:
    """Counter of consecutive documents that failed at the same step.

    Attributes:
        most: from so many on the step is at fault.
        count: so far.
    """

    most: int
    count: int = 0

    def see(self, result: Result) -> None:
        """Counts the result of the next document.

        Raises:
            PluginError: the step is at fault.
        """
        if result.failure and result.failure[:2] == _TOO_LONG:
            return  # no step is at fault
        self.count = self.count + 1 if result.failure else 0
        if result.failure and self.count >= self.most:
            raise PluginError(
                f"the step {result.failure.step!r} failed at {plural(self.count, 'document')} in a "
                f"row, last with {result.failure.error}: {result.failure.message}; correct the "
                "step, or raise limits.failures",
                key=result.failure.step,
            )


@dataclass(frozen=True)
class Pipeline:
    """Steps in sequence; it holds no state of a run.

    Attributes:
        steps: objects of the protocol `fascicle.core.contracts.Step`; predictors become steps by
            themselves.
        name: of the pipeline.
        segmenter: what cuts texts into sentences and words once for all steps, where documents have
            none.
        keep_cut: whether documents keep this cut.
        given: parts that the documents bring along, beside sentences and words.
        limits: of which ``batch``, ``longest`` and ``failures`` count here.

    Raises:
        RecipeError: no step, two with one name, one that needs what nothing before it gives, or
            that names a layer which nothing before it adds.
    """

    steps: Sequence[Any]
    name: str = field(default="pipeline", kw_only=True)
    segmenter: str = field(default="rules@1", kw_only=True)
    keep_cut: bool = field(default=False, kw_only=True)
    given: Iterable[str] = field(default=(), kw_only=True)
    limits: Limits = field(default_factory=Limits, kw_only=True)

    def __post_init__(self) -> None:
        """Turns predictors into steps, puts the segmentation first, and checks that the steps
        are compatible.
        """
        steps: tuple[Step, ...] = tuple(map(_as_step, self.steps))
        if not steps:
            raise RecipeError(
                "a pipeline needs at least one step; give a model, a dictionary or another one"
            )
        refuse_duplicate_steps((_CUT, *(step.name for step in steps)), origin=self.name)
        for step in steps:
            own = getattr(getattr(step, "predictor", None), "segmenter", self.segmenter)
            if own != self.segmenter:
                raise RecipeError(
                    f"the model of the step {step.name!r} reads words as {own} cuts them, and the "
                    f"pipeline cuts them as {self.segmenter}; set segmenter = {own!r}",
                    at=self.name,
                    key="segmenter",
                )
        segmenter(self.segmenter)
        parts = _CUTS - {part for step in steps for part in step.gives}
        steps = (_Cut(gives=frozenset(parts), segmenter=self.segmenter), *steps)
        _check_parts(steps, frozenset(self.given), self.name)
        _check_layers(steps, layers=None if "mentions" in self.given else set(), origin=self.name)
        object.__setattr__(self, "steps", steps)

    def __enter__(self) -> Self:
        """Returns the pipeline itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the pipeline."""
        self.close()

    def close(self) -> None:
        """Ends the external programs of steps."""
        for step in self.steps:
            if hasattr(step, "close"):
                step.close()

    @property
    def apart(self) -> bool:
        """True if a step is, or asks for, a process of its own."""
        return any(getattr(step, "apart", False) for step in self.steps)

    def made_by(self) -> dict[str, str]:
        """Returns everything that decides the mentions, by name: each step with its fingerprint."""
        order = ", ".join(step.name for step in self.steps)
        return {
            "order of steps": order,
            **{f"step {step.name!r}": step.fingerprint for step in self.steps},
        }

    def results(
        self,
        documents: Iterable[Document],
        *,
        alone: Container[int] = (),
        watch: Watch = ignore_progress,
        in_a_row: ConsecutiveFailures | None = None,
    ) -> Iterator[Result]:
        """Yields the result of each document, in order, in bounded memory.

        Args:
            documents: any number.
            alone: places of documents that no other document shares a batch with.
            watch: as of `fascicle.pipeline.runner.run_batch`.
            in_a_row: counts failures, also of documents before these.

        Raises:
            PluginError: a step fails at document after document, so that the step is at fault.
        """
        in_a_row = in_a_row or ConsecutiveFailures(self.limits.failures)
        most = APART if self.apart else DOCUMENTS
        for batch in batches(documents, characters=self.limits.batch, most=most, alone=alone):
            for result in self.of_batch(batch, watch=watch):
                in_a_row.see(result)
                yield result

    def of_batch(
        self,
        documents: Sequence[Document],
        *,
        without: Container[str] = (),
        watch: Watch = ignore_progress,
    ) -> list[Result]:
        """Returns the results of documents that go through each step together; see `results`.

        Args:
            documents: a batch.
            without: names of steps that are left out.
            watch: as of `fascicle.pipeline.runner.run_batch`.
        """
        steps = [step for step in self.steps if step.name not in without]
        failed = [self._too_long(document) for document in documents]
        readable = [
            document for document, failure in zip(documents, failed, strict=True) if failure is None
        ]
        results = map(self._without_cut, run_batch(steps, readable, watch=watch))
        return [failure or next(results) for failure in failed]

    def _too_long(self, document: Document) -> Result | None:
        most, size = self.limits.longest, len(document.text)
        if most is None or size <= most:
            return None
        message = f"the text has {size:,} characters, and limits.longest allows {most:,}"
        return Result(given=document, failure=Failure(*_TOO_LONG, message))

    def stream(
        self, documents: Iterable[TextInput], *, aside: Callable[[InputError], None] | None = None
    ) -> Iterator[Document]:
        """Annotates any number of documents in bounded memory, in order.

        Args:
            documents: texts, pairs ``(id, text)``, or documents.
            aside: function that is called with an error for each document that a step fails at, and
                the others go on; by default the error is raised.

        Raises:
            InputError: see ``aside``.
            PluginError: see `results`.
        """
        for result in self.results(to_documents(documents, aside=aside)):
            if result.document is not None:
                yield result.document
            else:
                error = result_error(result)
                if aside is None:
                    raise error
                aside(error)

    def check(self, answers: Iterable[KnownAnswer]) -> None:
        """Annotates texts with known mentions, and compares the result.

        Raises:
            RecipeError: a mention is missing, or a step fails.
        """
        for number, answer in enumerate(answers, start=1):
            (result,) = self.results([Document(id=f"answer-{number}", text=answer.text)])
            if result.document is None:
                raise RecipeError(
                    f"answers[{number}]: {result_error(result)}", at=self.name, key="answers"
                )
            mentions = {f"{mention.text}/{mention.type}" for mention in result.document}
            if missing := [mention for mention in answer.find if mention not in mentions]:
                listing = ", ".join(sorted(mentions)) or "nothing"
                raise RecipeError(
                    f"answers[{number}]: {missing[0]!r} is not found in {answer.text!r}, but "
                    f"{listing}; correct the pipeline, or the answer",
                    at=self.name,
                    key="answers",
                )

    def _without_cut(self, result: Result) -> Result:
        if self.keep_cut or result.document is None:
            return result
        document, cut = result.given, self.steps[0].gives
        changes = {part: None for part in cut if getattr(document, part) is None}
        return result._replace(document=result.document.having(**changes)) if changes else result


def result_error(result: Result) -> InputError:
    """Returns the failure of a result as one sentence that names the document."""
    failure = result.failure
    assert failure is not None
    name = result.given.id
    return InputError(
        f"document {name!r} could not pass the step {failure.step!r} ({failure.error}: "
        f"{failure.message})",
        key=name,
        code="prediction",
    )


def _as_step(part: Any) -> Step:
    if isinstance(part, Predictor):
        mark = getattr(part, "fingerprint", f"{part.name} {' '.join(part.types)}")
        return Recognise(name=part.name, predictor=part, gives=LINKED, fingerprint=mark)
    if isinstance(part, Step):
        return part
    raise RecipeError(
        f"a step has name, needs, gives, drops, fingerprint and run; {type(part).__name__} was "
        "given"
    )


def _check_parts(steps: Sequence[Step], parts: frozenset[str], origin: str) -> None:
    if unknown := parts - set(PARTS):
        raise RecipeError(
            f"given: {sorted(unknown)[0]!r} is not a part; allowed are {', '.join(PARTS)}",
            at=origin,
        )
    present = set(parts)
    for at, step in enumerate(steps):
        if missing := step.needs - present:
            part = sorted(missing)[0]
            later = [other.name for other in steps[at + 1 :] if part in other.gives]
            advice = (
                f"move it behind {later[0]!r}"
                if later
                else "put a step before it that gives them, or set given"
            )
            raise RecipeError(
                f"the step {step.name!r} needs {part}, which nothing before it gives; {advice}",
                at=origin,
                key=step.name,
            )
        present |= step.gives


def _check_layers(steps: Sequence[Step], *, layers: set[str] | None, origin: str) -> None:
    """Raises an error for layers that no step adds; after a step whose sources are unknown, none
    is checked.
    """
    for step in steps[1:]:
        own = getattr(step, "sources", None)
        sources = (step.drops - (own or set())) | {*getattr(step, "layers", ())}
        if layers is not None and own is not None and (unknown := sources - layers):
            allowed = ", ".join(sorted(layers)) or "none"
            raise RecipeError(
                f"the step {step.name!r} asks for mentions of {sorted(unknown)[0]!r}; the sources "
                f"before it are {allowed}",
                at=origin,
                key=step.name,
            )
        layers = None if layers is None or own is None else layers | own


OpenPipeline = Callable[[], Pipeline]
