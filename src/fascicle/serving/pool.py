"""Pool of the workers of a pipeline, and the queue of waiting tasks.

A free worker takes the waiting tasks at once, up to a number of characters. So documents of several
clients share a batch only when they would have to wait anyway, and a single client never waits for
others.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final, Protocol

import msgspec

from fascicle.errors import FascicleError
from fascicle.pipeline.runner import Failure
from fascicle.pipeline.workers import WorkerEndedError, WorkersError
from fascicle.serving import messages
from fascicle.serving.messages import (
    Annotate,
    Answer,
    Answered,
    FileRead,
    FileWritten,
    Looked,
    Options,
    Searched,
    TriedRules,
    Wrong,
)
from fascicle.serving.records import PipelineFacts

_DIES: Final = 2  # deaths with a document alone after which the document is blamed
# one death is enough if the limits ended the worker
_SURE: Final = ("killed:time", "killed:memory")
_LONGEST_PAUSE: Final = 30.0  # seconds between two attempts to start a worker
_SMOOTH: Final = 0.2  # weight of the last batch in the rate
_REMEMBERED: Final = 1_000  # documents that workers died at, ...
_FORGOTTEN: Final = 600.0  # ... for so many seconds


class Worker(Protocol):
    """Interface of a worker, see `fascicle.serving.worker`."""

    @property
    def is_spent(self) -> bool:
        """Whether it is to be replaced by a new one."""
        ...

    def start(self) -> PipelineFacts | None:
        """Opens the pipeline; returns facts about it."""
        ...

    def do(self, order: messages.Order) -> messages.Result:
        """Executes an order."""
        ...

    def close(self) -> None:
        """Ends the worker."""
        ...


class FullError(Exception):
    """Error raised if the queue is full.

    Attributes:
        seconds: estimated time until there is room, from the speed of the workers.
    """

    def __init__(self, seconds: float) -> None:
        """Stores the expected waiting time in seconds."""
        super().__init__(f"{seconds:.1f} s")
        self.seconds = seconds


class ClosedError(Exception):
    """Error raised if the service is closing and accepts no more tasks."""


WorkerAnswer = Answer | Looked | Searched | TriedRules | FileRead | FileWritten | Wrong


@dataclass(eq=False, kw_only=True)
class Task:
    """Task for a worker: a document, or another order, with the future of its result.

    Attributes:
        order: what to do; documents with equal options are done together.
        characters: of its text.
        future: of the answer; cancelled if nobody waits for it any more.
        deaths: number of workers that died while they processed this task alone.
    """

    order: messages.Order
    characters: int = 1
    future: Future[WorkerAnswer] = field(default_factory=Future)
    deaths: int = 0

    @property
    def digest(self) -> bytes:
        """Hash of the order."""
        return hashlib.sha256(msgspec.json.encode(self.order)).digest()

    @classmethod
    def annotate(cls, document: bytes, options: Options, *, characters: int) -> Task:
        """Makes the task to annotate a document."""
        order = Annotate(documents=(msgspec.Raw(document),), options=options)
        return cls(order=order, characters=max(characters, 1))


class Pool:
    """Pool of workers of one pipeline.

    Attributes:
        facts: about the pipeline; ``None`` until a worker has opened it.
        deaths: of workers so far.
    """

    def __init__(
        self, make_worker: Callable[[], Worker], *, workers: int, batch: int, queue: int
    ) -> None:
        """Creates the pool; no worker is started yet.

        Args:
            make_worker: makes a worker; the pool starts it.
            workers: how many there are.
            batch: maximum characters of a batch, unless one document is longer.
            queue: maximum characters of the waiting tasks.
        """
        self._make_worker, self._batch, self._queue = make_worker, batch, queue
        self._condition = threading.Condition()
        self._waiting: deque[Task] = deque()
        self._cost, self._busy, self._ready, self._idle = 0, 0, 0, 0
        self._rate = 0.0  # characters a second of one worker
        self._closing = False
        self._count = workers
        self._threads: list[threading.Thread] = []
        self._begun: Future[PipelineFacts | None] = Future()
        self._poison: dict[bytes, tuple[float, Answer]] = {}
        self.facts: PipelineFacts | None = None
        self.deaths = 0

    @property
    def ready(self) -> int:
        """Number of workers that have opened the pipeline, and run."""
        return self._ready

    @property
    def waiting(self) -> int:
        """Number of characters that are waiting or being processed."""
        return self._cost + self._busy

    def begin(self) -> None:
        """Starts the workers, unless they were started before."""
        with self._condition:
            if not self._threads:
                self._threads = [
                    threading.Thread(target=self._work, daemon=True) for _ in range(self._count)
                ]
                for thread in self._threads:
                    thread.start()

    def start(self) -> PipelineFacts | None:
        """Starts the workers; returns when the first one has opened the pipeline.

        Raises:
            FascicleError: the pipeline cannot be opened.
        """
        self.begin()
        self.facts = self._begun.result()
        return self.facts

    def submit(self, tasks: Sequence[Task], *, waits: bool = False) -> None:
        """Adds tasks to the queue, all or none.

        Args:
            tasks: in order.
            waits: true to accept them even if the queue is full; the caller limits its own tasks.

        Raises:
            FullError: there is no room for their text.
            ClosedError: the service ends.
        """
        if self._poison:
            tasks = [task for task in tasks if not self._is_known(task)]
        cost = sum(task.characters for task in tasks)
        with self._condition:
            if self._closing:
                raise ClosedError
            if self._cost + cost > self._queue:
                self._forget()
            if self._waiting and self._cost + cost > self._queue and not waits:
                raise FullError(self._seconds(self._cost + cost - self._queue))
            self._waiting.extend(tasks)
            self._cost += cost
            self._condition.notify(len(tasks))

    def close(self) -> None:
        """Finishes the waiting tasks, and ends the workers.

        A worker that ends meanwhile and cannot start again fails its tasks.
        """
        with self._condition:
            self._closing = True
            self._condition.notify_all()
        for thread in self._threads:
            thread.join()

    def _seconds(self, characters: int) -> float:
        """Returns the estimated time in seconds for a number of characters."""
        return characters / (self._rate * max(self._ready, 1)) if self._rate else 1.0

    def _is_known(self, task: Task) -> bool:
        """True if workers died at this document before; it then gets the stored result at once,
        without a worker.
        """
        entry = self._poison.get(task.digest)
        if entry is None or time.monotonic() - entry[0] > _FORGOTTEN:
            return False
        task.future.set_result(entry[1])
        return True

    def _remember(self, task: Task, answer: Answer) -> None:
        now = time.monotonic()
        recent = [
            (mark, entry) for mark, entry in self._poison.items() if now - entry[0] < _FORGOTTEN
        ]
        self._poison = {**dict(recent[1 - _REMEMBERED :]), task.digest: (now, answer)}

    def _forget(self) -> None:
        """Removes cancelled tasks from the queue."""
        self._waiting = deque(task for task in self._waiting if not task.future.cancelled())
        self._cost = sum(task.characters for task in self._waiting)

    # -- in the thread of a worker
    # -------------------------------------------------------------------------------------

    def _work(self) -> None:
        worker = self._make_worker()
        try:
            if not self._open(worker, first=True):
                return
            while batch := self._take():
                try:
                    self._do(worker, batch)
                except ClosedError as error:
                    self._give_up(batch, error)
                    raise
                except Exception as error:  # a bug, or an incomplete message: only this batch fails
                    self._give_up(batch, error)
                    self._open(worker)
                if worker.is_spent:
                    self._open(worker)
        except ClosedError as error:
            # no other worker can do what waits
            while not self._ready and (batch := self._take()):
                self._give_up(batch, error)
        finally:
            worker.close()

    def _open(self, worker: Worker, *, first: bool = False) -> bool:
        """Opens the pipeline in a worker, with retries until it is open; returns whether it is.

        Raises:
            ClosedError: it does not open, and the service ends.
        """
        with self._condition:
            self._ready -= not first
        pause = 0.1
        while True:
            try:
                facts = worker.start()
                break
            except (WorkerEndedError, FascicleError) as error:
                if first and not self._begun.done():
                    reason = error if isinstance(error, FascicleError) else _start_error(error)
                    self._begun.set_exception(reason)
                    return False
            with self._condition:
                if self._condition.wait_for(lambda: self._closing, pause):
                    raise ClosedError("the service is ending, and a worker did not start again")
            pause = min(2 * pause, _LONGEST_PAUSE)
        with self._condition:
            self._ready += 1
            if not self._begun.done():
                self._begun.set_result(facts)
        return True

    def _take(self) -> list[Task]:
        """Takes the next batch from the queue: tasks of the same kind, the share of one idle
        worker.
        """
        with self._condition:
            self._idle += 1
            while True:
                while not self._waiting and not self._closing:
                    self._condition.wait()
                batch: list[Task] = []
                size, most = 0, min(self._batch, self._cost // self._idle)
                while self._waiting and (not batch or _are_alike(batch[0], self._waiting[0])):
                    if batch and size + self._waiting[0].characters > most:
                        break
                    task = self._waiting.popleft()
                    self._cost -= task.characters
                    if task.future.set_running_or_notify_cancel():
                        batch.append(task)
                        size += task.characters
                if batch or self._closing:
                    self._idle -= 1
                    self._busy += size
                    return batch

    def _do(self, worker: Worker, batch: list[Task]) -> None:
        """Runs a batch; after the death of a worker, its suspect tasks are run alone in a new
        one.
        """
        groups = deque([batch])
        while groups:
            group = groups.popleft()
            begun = time.perf_counter()
            try:
                answers = worker.do(_join_orders(group))
            except WorkerEndedError as ended:
                with self._condition:
                    self.deaths += 1
                groups.extendleft(reversed(self._blamed(group, ended)))
                self._open(worker)
                continue
            size = sum(task.characters for task in group)
            self._learn(size, time.perf_counter() - begun)
            for task, answer in zip(group, _split_answers(answers, len(group)), strict=True):
                self._finish(task, answer)

    def _blamed(self, group: list[Task], ended: WorkerEndedError) -> list[list[Task]]:
        """Returns the groups to run next: the tasks that are not suspect together, and each
        suspect alone.
        """
        suspects = set(ended.at.places if ended.at else ()) or set(range(len(group)))
        innocent = [task for at, task in enumerate(group) if at not in suspects]
        again = []
        for at in sorted(suspects):
            task = group[at]
            task.deaths += (len(group) == 1) * (_DIES if ended.reason in _SURE else 1)
            if task.deaths >= _DIES:
                message = f"the worker that was at this document alone ended ({ended.reason})"
                answer = Answer(
                    failure=Failure(ended.at.step if ended.at else "", ended.reason, message)
                )
                self._remember(task, answer)
                self._finish(task, answer)
            else:
                again.append([task])
        return [innocent, *again] if innocent else again

    def _give_up(self, batch: list[Task], error: Exception) -> None:
        for task in batch:
            if not task.future.done():
                self._finish(task, Wrong(error=type(error).__name__, message=str(error)))

    def _finish(self, task: Task, answer: WorkerAnswer) -> None:
        with self._condition:
            self._busy -= task.characters
        task.future.set_result(answer)

    def _learn(self, characters: int, seconds: float) -> None:
        """Updates the estimated speed of a worker."""
        rate = characters / max(seconds, 1e-6)
        self._rate = rate if not self._rate else (1 - _SMOOTH) * self._rate + _SMOOTH * rate


def _are_alike(first: Task, second: Task) -> bool:
    """True if two tasks may share an order."""
    order, other = first.order, second.order
    return (
        isinstance(order, Annotate)
        and isinstance(other, Annotate)
        and order.options == other.options
    )


def _join_orders(tasks: Sequence[Task]) -> messages.Order:
    first = tasks[0].order
    if len(tasks) == 1 or not isinstance(first, Annotate):
        return first
    documents = tuple(
        document
        for task in tasks
        if isinstance(task.order, Annotate)
        for document in task.order.documents
    )
    return Annotate(documents=documents, options=first.options)


def _split_answers(result: messages.Result, count: int) -> Sequence[WorkerAnswer]:
    return result.answers if isinstance(result, Answered) else (result,) * count


def _start_error(error: WorkerEndedError) -> WorkersError:
    return WorkersError(
        f"the worker ended while it loaded the pipeline ({error.reason}); check limits.start and "
        "limits.memory, or run fascicle pipeline check"
    )
