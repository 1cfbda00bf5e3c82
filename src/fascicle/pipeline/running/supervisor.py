"""Supervisor of worker processes: after a worker dies, its shard is tried again, and suspect
documents are isolated.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import msgspec

from fascicle.errors import UsageError
from fascicle.pipeline.runner import Failure
from fascicle.pipeline.running.records import Shard, ShardMarker
from fascicle.pipeline.running.shard_worker import OpenWorker, Order, ShardFinished, process_shards
from fascicle.pipeline.workers import (
    Process,
    Ready,
    WorkerEndedError,
    WorkerFailed,
    WorkersError,
    Working,
    wait_for_messages,
)
from fascicle.settings.pipeline import Limits

_BLAMELESS: Final = 50  # deaths of workers at one shard that cannot be attributed to a document
STARTS: Final = 5  # consecutive workers that die before they are ready, ...
_KILLED: Final = 20  # ... or that are killed from outside before
_DIES: Final = 2  # deaths at a document alone, after which it is quarantined
_MOST: Final = 1_024
_Message = Ready | Working | ShardFinished | WorkerFailed
_MESSAGES: Final[msgspec.json.Decoder[_Message]] = msgspec.json.Decoder(_Message)


@dataclass(kw_only=True)
class _Task:
    """Shard in progress.

    Attributes:
        shard: the shard that is to be done.
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

    def blame(self, ended: WorkerEndedError) -> None:
        """Records a death, and the documents that the worker was processing."""
        at = ended.at
        if at is None or not at.places:
            self.blameless += 1
            if self.blameless >= _BLAMELESS:
                raise WorkersError(
                    f"{self.blameless} workers ended ({ended.reason}) at shard {self.shard.name} "
                    "while they read or wrote; check its inputs, the disk, and limits.memory"
                )
            return
        for place in at.places:
            if at.places == (place,) and place in self.alone:
                self.deaths[place] = self.deaths.get(place, 0) + 1
                if self.deaths[place] >= _DIES:
                    message = (
                        f"the worker that was at this document alone ended, twice ({ended.reason})"
                    )
                    seconds = round(ended.seconds, 3)
                    self.killed[place] = Failure(
                        at.step, ended.reason, message, seconds, ended.memory
                    )
            self.alone.add(place)


@dataclass(kw_only=True, eq=False)
class _Worker:
    """Worker, its shard, and whether it has loaded the pipeline."""

    process: Process[_Message]
    task: _Task | None = None
    is_ready: bool = False


class Supervisor:
    """Processes shards by worker processes; a context manager that ends them."""

    def __init__(self, open_worker: OpenWorker, *, limits: Limits, workers: int) -> None:
        """Starts nothing yet.

        Args:
            open_worker: function that is called in each worker, which it must reach by pickling: a
                function of a module, or a partial of one.
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
        """Returns the supervisor itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Lets all workers end by themselves; after an error it kills them at once."""
        for worker in self._workers if kind else ():
            worker.process.kill()
        while self._workers:
            self._workers.pop().process.close()

    @property
    def pids(self) -> list[int]:
        """Process ids of the running workers."""
        return [worker.process.pid for worker in self._workers]

    @property
    def _through(self) -> tuple[int, int]:
        """Documents and characters that are finished, of the shards in progress."""
        at = [worker.process.at for worker in self._workers if worker.process.at is not None]
        return sum(process.through for process in at), sum(
            process.characters_through for process in at
        )

    def run(
        self,
        shards: Sequence[Shard],
        *,
        begun: int = 0,
        tick: Callable[[int, int], None] = lambda *_: None,
    ) -> Iterator[ShardMarker]:
        """Processes all shards, in any order; workers stay for the next call.

        Args:
            shards: to be done.
            begun: how often each was begun before.
            tick: function that is called about ten times a second, with the finished documents and
                characters of the shards in progress.

        Yields:
            The marker of each.

        Raises:
            FascicleError: the pipeline cannot be opened, a step is out of order, an input has
                changed, or the place cannot be written.
            RuntimeError: a fault of Fascicle.
        """
        self._tasks.extend(_Task(shard=shard, attempt=begun) for shard in shards)
        remaining = len(shards)
        while remaining:
            self._fill(remaining)
            tick(*self._through)
            workers = {worker.process: worker for worker in self._workers}
            for process in wait_for_messages(workers):
                for marker in self._received(workers[process]):
                    remaining -= 1
                    yield marker
            for worker in self._workers:
                worker.process.check()

    def _fill(self, remaining: int) -> None:
        """Starts missing workers, and gives shards to idle ones."""
        while len(self._workers) < min(self._count, remaining):
            process = Process(partial(process_shards, self._open), _MESSAGES, limits=self._limits)
            self._workers.append(_Worker(process=process))
        for worker in self._workers:
            if worker.is_ready and worker.task is None and self._tasks:
                worker.task = self._tasks.popleft()
                worker.process.send(worker.task.order(), seconds=self._limits.start)

    def _received(self, worker: _Worker) -> Iterator[ShardMarker]:
        """Handles the messages of a worker that have arrived; yields the markers of finished
        shards.
        """
        try:
            while worker in self._workers and (message := worker.process.receive(0)):
                match message:
                    case Ready():
                        worker.is_ready, self._bad_starts = True, 0
                    case ShardFinished(done=done):
                        worker.process.characters += (
                            worker.task.shard.characters if worker.task else 0
                        )
                        worker.task = None
                        if worker.process.is_spent:
                            self._workers.remove(worker)
                            worker.process.close()
                        yield done
                    case WorkerFailed():
                        raise message.error
        except WorkerEndedError as ended:
            self._replace(worker, ended)

    def _replace(self, worker: _Worker, ended: WorkerEndedError) -> None:
        """Replaces a dead worker: its shard is tried again, and the documents it was processing
        become suspect.
        """
        self._workers.remove(worker)
        if worker.task is not None:
            worker.task.blame(ended)
            self._tasks.appendleft(worker.task)
        elif not worker.is_ready:
            self._bad_starts += 1
            if self._bad_starts >= (
                _KILLED if ended.reason in ("killed:SIGKILL", "killed:SIGTERM") else STARTS
            ):
                raise WorkersError(
                    f"{self._bad_starts} workers in a row ended while they loaded the pipeline "
                    f"({ended.reason}); look at limits.start and limits.memory, or run fascicle "
                    "pipeline check; in a script, start the run below if __name__ == '__main__', "
                    "because each worker imports the script"
                )
