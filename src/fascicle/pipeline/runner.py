"""Runner of documents through steps: an error affects only the document that causes it, and no
document is lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from fascicle.core.contracts import Step
from fascicle.core.document import Document, Patch
from fascicle.core.patches import apply
from fascicle.core.printed import run_on_printed
from fascicle.core.stream import answer_each
from fascicle.core.wording import plural

# most documents in a batch, for a killed worker loses the batch; fewer for programs
DOCUMENTS: Final = 256
APART: Final = 64

Watch = Callable[[str, Sequence[Document]], None]


class Failure(NamedTuple):
    """Reason why a document was not processed.

    Attributes:
        step: name of the step that failed; ``"read"`` and ``"write"`` are not steps of the
            pipeline.
        error: class of the error.
        message: of the error.
        seconds: the seconds that the step took for it.
        memory: peak memory of the process in MiB; 0 if not measured.
    """

    step: str
    error: str
    message: str
    seconds: float = 0.0
    memory: int = 0


class Result(NamedTuple):
    """Result of one document: the document with its mentions, or a failure.

    Attributes:
        given: the document as it was read.
        document: with the mentions of the steps; ``None`` after a failure.
        failure: reason of the failure, if any.
        spent: wall time of each step; of a batch each document has the share of its characters.
    """

    given: Document
    document: Document | None = None
    failure: Failure | None = None
    spent: tuple[tuple[str, float], ...] = ()

    @property
    def seconds(self) -> float:
        """Wall time of all steps."""
        return sum(seconds for _, seconds in self.spent)


class StepError(Exception):
    """Error that a step raised. It is no error of the run, whatever its class."""


def ignore_progress(step: str, documents: Sequence[Document]) -> None:
    """Does nothing: the default for a caller that does not follow the progress."""


def batches(
    documents: Iterable[Document],
    *,
    characters: int,
    most: int = DOCUMENTS,
    alone: Container[int] = (),
) -> Iterator[list[Document]]:
    """Yields batches of consecutive documents with about the same cost.

    Args:
        documents: any number.
        characters: of text in a batch, unless one document is longer.
        most: documents in a batch.
        alone: places of documents that are a batch of their own.
    """
    batch: list[Document] = []
    size = 0
    for at, document in enumerate(documents):
        if batch and (size + len(document.text) > characters or len(batch) == most or at in alone):
            yield batch
            batch, size = [], 0
        batch.append(document)
        size += len(document.text)
        if at in alone:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def run_batch(
    steps: Sequence[Step], documents: Sequence[Document], *, watch: Watch = ignore_progress
) -> list[Result]:
    """Runs a batch through all steps.

    If a step raises an error, the batch is halved until the document that causes it is alone; this
    document fails. A document whose patch cannot be applied fails too.

    Args:
        steps: in order.
        documents: stay as they are.
        watch: function that is called with the name of a step and the documents that it is about to
            read.

    Returns:
        One result for each document, in order.
    """
    results = [Result(given=document, document=document) for document in documents]
    for step in steps:
        places = [at for at, result in enumerate(results) if result.document is not None]
        now = [result.document for result in results if result.document is not None]
        begun = time.perf_counter()
        answers = list(answer_each(_guarded(step, watch), now)) if now else []
        elapsed = time.perf_counter() - begun
        total = sum(len(document.text) + 1 for document in now)
        for at, (document, answer) in zip(places, answers, strict=True):
            seconds = elapsed * (len(document.text) + 1) / total
            results[at] = _result(results[at], answer, step, seconds)
    return results


def _guarded(
    step: Step, watch: Watch
) -> Callable[[Sequence[Document]], list[Document | Exception]]:
    """Returns a function that runs a step; a patch that cannot be applied is an error of its
    document alone.
    """

    def run(documents: Sequence[Document]) -> list[Document | Exception]:
        watch(step.name, documents)
        try:
            patches = run_on_printed(step.run, documents)
            # Each patch is applied as it comes: that of the segmentation is large, and still in the
            # CPU cache then.
            applied = [
                _applied(document, patch, step)
                for document, patch in zip(documents, patches, strict=False)
            ]
            more = len(list(islice(patches, 1)))  # a generator without end is not read further
        except (Exception, SystemExit) as error:
            raise StepError from error
        if more or len(applied) != len(documents):
            answered = "more" if more else f"{len(applied):,}"
            count = plural(len(documents), "document")
            raise StepError from ValueError(
                f"the step gave {answered} patches for {count}; it must give one for each"
            )
        return applied

    return run


def _applied(document: Document, patch: Patch, step: Step) -> Document | Exception:
    try:
        return apply(document, patch, step=step.name, drops=step.drops)
    except Exception as error:
        return error


def _result(before: Result, answer: Document | Exception, step: Step, seconds: float) -> Result:
    spent = (*before.spent, (step.name, seconds))
    if isinstance(answer, Document):
        return Result(before.given, answer, None, spent)
    error = answer.__cause__ or answer if isinstance(answer, StepError) else answer
    failure = Failure(step.name, type(error).__name__, str(error), round(seconds, 6))
    return Result(before.given, None, failure, spent)
