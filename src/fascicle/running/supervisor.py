"""Workers under supervision: what is in flight is known, time and memory are capped, and what dies is started anew.

By their documentation, Pebble kills a task that takes too long, but limits no memory and does not say at which
document of a task a worker was; loky takes the death of a worker for a broken pool. So each worker has a pipe of its
own here, and one loop in one thread listens to all.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import Any, Final

from fascicle.errors import FascicleError, UsageError
from fascicle.pipeline.runner import Failure
from fascicle.running import messages
from fascicle.running.child import OpenWorker, work
from fascicle.running.memory import own_mebibytes
from fascicle.running.messages import Failed, Finished, Order, Ready, Working
from fascicle.running.plan import Shard
from fascicle.running.records import Done, failure_of
from fascicle.settings.pipeline import Limits

_TICK: Final = 0.1  # seconds between two looks at limits
_BLAMELESS: Final = 50  # deaths of workers at one shard that no document can be blamed for
STARTS: Final = 5  # workers in a row that die before they are ready, ...
_KILLED: Final = 20  # ... or that others kill before
_DIES: Final = 2  # deaths at a document alone that make it the culprit
_MOST: Final = 1_024


@dataclass(kw_only=True)
class _Task:
    """A shard on its way.

    Attributes:
        shard: that is to be done.
        attempt: how often it was begun.
        alone: places of suspect documents.
        deaths: place of a document -> workers that died when it was alone.
        killed: places of documents that are not tried again.
        blameless: deaths that no document can be blamed for.
    """

    shard: Shard
    attempt: int = 0
    alone: set[int] = field(default_factory=set)
    deaths: dict[int, int] = field(default_factory=dict)
    killed: dict[int, Failure] = field(default_factory=dict)
    blameless: int = 0

    def order(self) -> Order:
        self.attempt += 1
        return Order(
            shard=self.shard.name,
            attempt=self.attempt,
            alone=tuple(sorted(self.alone)),
            killed=tuple(sorted(self.killed.items())),
        )

    def blame(self, at: Working | None, reason: str, *, seconds: float, memory: int) -> None:
        """Takes note of a death, and of the documents that the worker was at, since when and with how much memory."""
        if at is None or not at.places:
            self.blameless += 1
            if self.blameless >= _BLAMELESS:
                raise WorkersError(
                    f"{self.blameless} workers ended ({reason}) at shard {self.shard.name} while they read or wrote; "
                    "look at its inputs, at the disk, and at limits.memory"
                )
            return
        for place in at.places:
            if at.places == (place,) and place in self.alone:
                self.deaths[place] = self.deaths.get(place, 0) + 1
                if self.deaths[place] >= _DIES:
                    self.killed[place] = failure_of(reason, at.step, seconds=seconds, memory=memory)
            self.alone.add(place)


class WorkersError(FascicleError):
    """Workers end before any document can be blamed."""


class _Worker:
    """One process, and what is known of it."""

    def __init__(self, open_worker: OpenWorker, limits: Limits) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(
            target=work, args=(theirs, open_worker, 2 * limits.memory, os.getpid()), daemon=False
        )
        self.process.start()
        theirs.close()
        self.limits = limits
        self.is_ready = False
        self.task: _Task | None = None
        self.at: Working | None = None
        self.reason = ""  # why it was killed by us
        self.characters, self.first_memory, self.memory = 0, 0, 0
        self.since = time.monotonic()
        self.deadline = time.monotonic() + limits.start

    def give(self, task: _Task) -> None:
        """Orders a shard."""
        self.task, self.at = task, None
        self.deadline = time.monotonic() + self.limits.start
        with contextlib.suppress(OSError):  # its end is seen elsewhere
            self.pipe.send_bytes(messages.encode(task.order()))

    def hear(self, at: Working) -> None:
        """Notes what it is at, and until when."""
        self.at, self.since = at, time.monotonic()
        limits = self.limits
        allowed = limits.seconds + limits.seconds_per_million * at.characters / 1e6 if at.places else limits.start
        self.deadline = time.monotonic() + allowed

    def check(self) -> None:
        """Kills it if it takes too much time or memory."""
        if self.reason or not (self.task or not self.is_ready):
            return
        self.memory = own_mebibytes(self.process.pid or 0)
        if time.monotonic() > self.deadline:
            self.kill("killed:time")
        elif self.memory > self.limits.memory:
            self.kill("killed:memory")

    def is_spent(self) -> bool:
        """Whether it is to be replaced: it has done much, or holds much more than at first."""
        memory = own_mebibytes(self.process.pid or 0)
        self.first_memory = self.first_memory or memory
        grown = memory - self.first_memory > self.limits.growth
        return grown or self.characters > self.limits.recycle * 1_000_000

    def kill(self, reason: str = "") -> None:
        """Ends it with all programs that it started."""
        self.reason = self.reason or reason
        pid = self.process.pid
        if pid is None:
            return
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)  # its group has its number
        self.process.kill()

    def dismiss(self) -> None:
        """Lets it end by itself."""
        self.pipe.close()
        self.process.join(5)
        self.kill()
        self.process.join()
        self.process.close()

    def end(self) -> str:
        """How it ended; its programs end too."""
        self.process.join()
        code = self.process.exitcode or 0
        self.kill()
        self.pipe.close()
        self.process.close()
        if self.reason:
            return self.reason
        if code >= 0:
            return f"exit:{code}"
        with contextlib.suppress(ValueError):
            return f"killed:{signal.Signals(-code).name}"
        return f"killed:{-code}"


class Supervisor:
    """Does shards by workers; a context manager that ends them."""

    def __init__(self, open_worker: OpenWorker, *, limits: Limits, workers: int) -> None:
        """Starts nothing yet.

        Args:
            open_worker: is called in each worker, which it must reach by pickling: a function of a module, or a partial
                of one.
            limits: of time, memory and work.
            workers: how many there are at a time.

        Raises:
            UsageError: a number that is not allowed.
        """
        if not 1 <= workers <= _MOST:
            raise UsageError(f"workers={workers} is not allowed; give a number from 1 to {_MOST:,}")
        self._open, self._limits, self._count = open_worker, limits, workers
        self._workers: list[_Worker] = []
        self._tasks: deque[_Task] = deque()
        self._bad_starts = 0

    def __enter__(self) -> Supervisor:
        """Itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Lets all workers end by themselves; after an error it ends them at once."""
        for worker in self._workers if kind else ():
            worker.kill()
        while self._workers:
            worker = self._workers.pop()
            worker.end() if kind else worker.dismiss()

    @property
    def pids(self) -> list[int]:
        """Of the workers that run."""
        return [worker.process.pid for worker in self._workers if worker.process.pid]

    @property
    def _through(self) -> tuple[int, int]:
        """Documents and characters that are through, of the shards that are on their way."""
        at = [worker.at for worker in self._workers if worker.at is not None]
        return sum(one.through for one in at), sum(one.characters_through for one in at)

    def run(
        self, shards: Sequence[Shard], *, begun: int = 0, tick: Callable[[int, int], None] = lambda *_: None
    ) -> Iterator[Done]:
        """Does all shards, in any order; workers stay for the next call.

        Args:
            shards: to be done.
            begun: how often each was begun before.
            tick: is called about ten times a second, with the documents and the characters that are through of the
                shards that are on their way.

        Yields:
            The marker of each.

        Raises:
            FascicleError: the pipeline cannot be opened, a step is out of order, an input has changed, or the place
                cannot be written.
            RuntimeError: a fault of Fascicle.
        """
        self._tasks.extend(_Task(shard=shard, attempt=begun) for shard in shards)
        left = len(shards)
        while left:
            self._staff(left)
            tick(*self._through)
            by_pipe: dict[Any, _Worker] = {worker.pipe: worker for worker in self._workers}
            by_end: dict[Any, _Worker] = {worker.process.sentinel: worker for worker in self._workers}
            ready = wait([*by_pipe, *by_end], timeout=_TICK)
            for worker in [by_pipe[one] for one in ready if one in by_pipe]:
                for done in self._listen(worker):
                    left -= 1
                    yield done
            for worker in [by_end[one] for one in ready if one in by_end]:
                if worker in self._workers and not worker.pipe.poll():
                    self._bury(worker)
            for worker in self._workers:
                worker.check()

    def _staff(self, left: int) -> None:
        """Starts workers that are missing, and gives work to those without."""
        while len(self._workers) < min(self._count, left):
            self._workers.append(_Worker(self._open, self._limits))
        for worker in self._workers:
            if worker.is_ready and worker.task is None and self._tasks:
                worker.give(self._tasks.popleft())

    def _listen(self, worker: _Worker) -> Iterator[Done]:
        """What a worker says, as far as it is there."""
        try:
            while worker in self._workers and worker.pipe.poll():
                match messages.said.decode(worker.pipe.recv_bytes()):
                    case Ready():
                        worker.is_ready, self._bad_starts = True, 0
                    case Working() as at:
                        worker.hear(at)
                    case Finished(done=done):
                        worker.characters += worker.task.shard.characters if worker.task else 0
                        worker.task, worker.at = None, None
                        if worker.is_spent():
                            self._workers.remove(worker)
                            worker.dismiss()
                        yield done
                    case Failed() as failed:
                        raise RuntimeError(failed.message) if failed.internal else WorkersError(failed.message)
        except (EOFError, ConnectionResetError):
            if worker in self._workers:
                self._bury(worker)

    def _bury(self, worker: _Worker) -> None:
        """A worker has died: its shard is tried again, and what it was at becomes suspect."""
        self._workers.remove(worker)
        task, at, was_ready = worker.task, worker.at, worker.is_ready
        reason = worker.end()
        if task is not None:
            task.blame(at, reason, seconds=time.monotonic() - worker.since, memory=worker.memory)
            self._tasks.appendleft(task)
        elif not was_ready:
            self._bad_starts += 1
            if self._bad_starts >= (_KILLED if reason in ("killed:SIGKILL", "killed:SIGTERM") else STARTS):
                raise WorkersError(
                    f"{self._bad_starts} workers in a row ended while they loaded the pipeline ({reason}); look at "
                    "limits.start and limits.memory, or run fascicle pipeline check"
                )
