"""Workers that execute orders, in their own process, which may die, or in this process; and
execution of one job.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

from fascicle.core.document import Document
from fascicle.core.effects import is_silent
from fascicle.errors import FascicleError
from fascicle.formats.files import read
from fascicle.formats.outputs import WriteRequest, write_documents
from fascicle.formats.requests import ReadRequest
from fascicle.pipeline.pipeline import OpenPipeline
from fascicle.pipeline.running.folder import MANIFEST, RunFolder
from fascicle.pipeline.running.report import Totals
from fascicle.pipeline.running.run import Run, RunProgress
from fascicle.pipeline.workers import (
    Channel,
    Process,
    WorkerEndedError,
    WorkerFailed,
    WorkersError,
    Working,
    log_fault,
)
from fascicle.serving.advice import for_client
from fascicle.serving.folders import DoJob, read_texts, try_names
from fascicle.serving.messages import (
    MESSAGES,
    ORDERS,
    Annotate,
    Broken,
    JobEnded,
    JobKind,
    JobOrder,
    Message,
    Order,
    PipelineReady,
    Reached,
    Result,
    Wrong,
)
from fascicle.serving.records import PipelineFacts
from fascicle.serving.work import OpenWork, Work
from fascicle.settings.pipeline import Limits, Shards

_SHARDS: Final = Shards(characters=1_000_000, documents=200)
RUN: Final = "run"


def do_job(open_pipeline: OpenPipeline, order: JobOrder, channel: Channel) -> None:
    """Runs a job in its own process, and sends messages about its progress.

    Args:
        open_pipeline: opens the pipeline, here and in the workers.
        order: what to do.
        channel: takes the messages.
    """
    try:
        channel.send(JOBS[order.kind](open_pipeline, order, channel.send))
    except FascicleError as error:
        channel.send(Broken(message=for_client(str(error), order.folder, of_job=True)))
    except Exception as error:
        log_fault(error)
        channel.send(Broken(message=f"{type(error).__name__}: {error}"))


def _annotate(
    open_pipeline: OpenPipeline, order: JobOrder, send: Callable[[Reached], None]
) -> JobEnded:
    """Annotates the documents of a file."""

    def see(now: RunProgress) -> None:
        send(Reached(documents=now.documents, of=now.of, quarantined=now.quarantined))

    totals = _run(order, open_pipeline).do(resume=True, progress=see)
    return _end_message(totals, _write(order))


JOBS: Final[Mapping[JobKind, DoJob]] = MappingProxyType(
    {"annotate": _annotate, "texts": read_texts, "names": try_names}
)


def _run(order: JobOrder, open_pipeline: OpenPipeline) -> Run:
    return Run(
        inputs=[order.input],
        pipeline="",
        folder=RunFolder(str(Path(order.folder) / RUN)),
        reading=ReadRequest(format=order.reading),
        format="jsonl",
        workers=order.workers,
        shards=_SHARDS,
        limits=order.limits,
        open_pipeline=open_pipeline,
    )


def _write(order: JobOrder) -> dict[str, int]:
    """Writes the documents of all parts, in order, as one file; returns the losses of the
    format.
    """
    request = WriteRequest(path=order.output, format=order.format, overwrite=True, one_file=True)
    return dict(write_documents(_documents(order), request).losses)


def _documents(order: JobOrder) -> Iterator[Document]:
    folder = RunFolder(str(Path(order.folder) / RUN))
    shards = folder.manifest(MANIFEST).shards
    for shard in folder.done(shards):
        if shard.done:
            yield from read(folder.place.at(shard.part.name), format="jsonl")


def _end_message(totals: Totals, losses: dict[str, int]) -> JobEnded:
    events = Counter(
        {code: count for kind, code, count, _ in totals.events if not is_silent(kind, code)}
    )
    return JobEnded(
        documents=totals.documents,
        quarantined=totals.quarantined,
        reasons=dict(totals.reasons),
        losses=dict(events + Counter(losses)),
    )


class LocalWorker:
    """Worker in this process: starts no process, and does not protect this one from crashes of the
    work.

    Attributes:
        is_spent: whether it is to be replaced by a new one.
    """

    is_spent = False

    def __init__(self, work: Work) -> None:
        """Stores the work."""
        self._work = work

    def start(self) -> PipelineFacts | None:
        """Returns facts about the pipeline."""
        return self._work.facts

    def do(self, order: Order) -> Result:
        """Executes an order in the calling thread."""
        try:
            return self._work.do(order)
        except Exception as error:
            return Wrong(error=type(error).__name__, message=str(error))

    def close(self) -> None:
        """Does nothing: the caller that gave the pipeline closes it."""


class ProcessWorker:
    """Worker in its own process, with limits on time and memory."""

    def __init__(self, open_work: OpenWork, limits: Limits, *, longest: float = math.inf) -> None:
        """Creates the worker; no process is started yet.

        Args:
            open_work: function that is called in the process, which it must reach by pickling.
            limits: of time, memory and work.
            longest: maximum seconds for a step, since nobody waits longer for it.
        """
        self._start: Callable[[], Process[Message]] = partial(
            Process, partial(_do_orders, open_work), MESSAGES, limits=limits, longest=longest
        )
        self._limits = limits
        self._process: Process[Message] | None = None

    @property
    def pid(self) -> int:
        """Id of the process; 0 if there is none."""
        return self._process.pid if self._process else 0

    def start(self) -> PipelineFacts | None:
        """Starts the process; returns facts about the pipeline when it is open.

        Raises:
            WorkersError: it cannot be opened.
            WorkerEndedError: the process ended meanwhile.
        """
        self.close()
        self._process = self._start()
        message = self._received(self._process)
        if isinstance(message, WorkerFailed):
            self.close()
            raise WorkersError(message.message)
        assert isinstance(message, PipelineReady)
        return message.facts

    def do(self, order: Order) -> Result:
        """Executes an order in the process.

        Raises:
            WorkerEndedError: it ended meanwhile; `start` begins anew.
        """
        process = self._process
        assert process is not None
        process.send(order, seconds=self._limits.seconds)
        while True:
            at, message = process.at, self._received(process)
            if isinstance(message, Working):
                process.characters += message.characters
            elif isinstance(message, WorkerFailed):
                self.close()
                raise WorkerEndedError(f"failed: {message.message}", at)
            else:
                assert not isinstance(message, PipelineReady)
                return message

    @property
    def is_spent(self) -> bool:
        """True if the process has done much work, or holds much more memory than at its start."""
        return self._process is not None and self._process.is_spent

    def close(self) -> None:
        """Asks the process to end, and kills it if it does not."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _received(self, process: Process[Message]) -> Message:
        """Returns the next message of the process, which is ended if it exceeds its limits
        meanwhile.
        """
        while (message := process.receive()) is None:
            process.check()
        return message


def _do_orders(open_work: OpenWork, channel: Channel) -> None:
    """Executes orders, in its own process.

    Args:
        open_work: opens the pipeline, or other work.
        channel: of orders and messages.
    """
    work = open_work()
    for order in channel.orders(ORDERS, ready=PipelineReady(facts=work.facts)):
        channel.send(_execute(work, order, channel))


def _execute(work: Work, order: Order, channel: Channel) -> Result:
    """Executes one order."""
    places: dict[int, int] = {}

    def watch(step: str, documents: Sequence[Document]) -> None:
        now = [places[id(document.text)] for document in documents]
        channel.send(
            Working(
                step=step,
                places=tuple(now),
                characters=sum(len(document.text) for document in documents),
            )
        )

    def note_documents(documents: Sequence[Document]) -> None:
        # A text stays the same object, whatever steps add to its document; ids may be there twice.
        places.update((id(document.text), at) for at, document in enumerate(documents))

    count = len(order.documents) if isinstance(order, Annotate) else 1
    channel.send(Working(step="", places=tuple(range(count)), characters=0))
    try:
        return work.do(order, watch=watch, on_start=note_documents)
    except Exception as error:  # a bug: only this order fails
        log_fault(error)
        return Wrong(error=type(error).__name__, message=str(error))
