"""Workers that execute orders: in their own process, which may die, or in this process."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from fascicle.core.document import Document
from fascicle.pipeline.workers.child import Channel, Failed, WorkersError, Working, log_fault
from fascicle.pipeline.workers.process import Process, WorkerEndedError
from fascicle.serving.messages import MESSAGES, ORDERS, Annotate, Message, Order, Ready, Result, Wrong
from fascicle.serving.records import PipelineFacts
from fascicle.serving.work import OpenWork, Work
from fascicle.settings.pipeline import Limits


class LocalWorker:
    """Worker in this process: starts no process, and does not protect this one from crashes of the work.

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
            open_work: is called in the process, which it must reach by pickling.
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
        if isinstance(message, Failed):
            self.close()
            raise WorkersError(message.message)
        assert isinstance(message, Ready)
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
            elif isinstance(message, Failed):
                self.close()
                raise WorkerEndedError(f"failed: {message.message}", at)
            else:
                assert not isinstance(message, Ready)
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
        """Returns the next message of the process, which is ended if it exceeds its limits meanwhile."""
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
    for order in channel.orders(ORDERS, ready=Ready(facts=work.facts)):
        channel.send(_result(work, order, channel))


def _result(work: Work, order: Order, channel: Channel) -> Result:
    """Executes one order."""
    places: dict[int, int] = {}

    def watch(step: str, documents: Sequence[Document]) -> None:
        now = [places[id(one.text)] for one in documents]
        channel.send(Working(step=step, places=tuple(now), characters=sum(len(one.text) for one in documents)))

    def given(documents: Sequence[Document]) -> None:
        # A text stays the same object, whatever steps add to its document; ids may be there twice.
        places.update((id(one.text), at) for at, one in enumerate(documents))

    count = len(order.documents) if isinstance(order, Annotate) else 1
    channel.send(Working(step="", places=tuple(range(count)), characters=0))
    try:
        return work.do(order, watch=watch, given=given)
    except Exception as error:  # a bug: only this order fails
        log_fault(error)
        return Wrong(error=type(error).__name__, message=str(error))
