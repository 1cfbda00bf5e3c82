"""Workers of a run on the machines of a Ray cluster.

Ray places stations on machines, and reports dead ones. It transfers names of shards and markers;
documents never pass through it. Ray Data is not used: it moves and repeats blocks of rows, and a
run has neither rows to move nor repeats that it does not count itself.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from fascicle.core.wording import plural
from fascicle.errors import MissingExtraError, UsageError
from fascicle.pipeline.running.records import Shard, ShardMarker
from fascicle.pipeline.running.run import StartPool
from fascicle.pipeline.running.shard_worker import OpenWorker, ShardFinished
from fascicle.pipeline.running.supervisor import STARTS, Supervisor
from fascicle.pipeline.workers import WorkerFailed, WorkersError
from fascicle.settings.pipeline import Limits

_TICK: Final = 0.1  # seconds between two calls of ``tick``
_PATIENCE: Final = 10.0  # seconds for the head of a cluster to answer
_DEATHS: Final = 10  # deaths of stations at one shard
_MOST: Final = 10_000
_ADDRESS: Final = re.compile(r"auto|local|[\w.\-]+:\d+|\[[0-9a-fA-F:]+\]:\d+")

_ANSWERS: Final[msgspec.json.Decoder[ShardFinished | WorkerFailed]] = msgspec.json.Decoder(
    ShardFinished | WorkerFailed
)


class _ClusterWorker:
    """Processes shards by a worker of its own, under the same limits as on one machine.

    A document that kills the worker does not kill the station, which knows the current documents of
    the worker. So time, memory and quarantine are controlled beside the worker, and the network
    carries only shards and markers.
    """

    def __init__(self, open_worker: OpenWorker, limits: Limits, folder: str) -> None:
        """Starts nothing yet.

        Args:
            open_worker: loads the pipeline, in the worker.
            limits: of the worker.
            folder: the folder that relative paths begin at; a machine that does not have it can be
                given absolute ones.
        """
        with contextlib.suppress(OSError):
            os.chdir(folder)
        self._pool = Supervisor(open_worker, limits=limits, workers=1)

    def ready(self) -> int:
        """Returns the process id of the station, once it runs."""
        return os.getpid()

    def do(self, shard: bytes, begun: int) -> bytes:
        """Processes one shard.

        Args:
            shard: as JSON.
            begun: how often it was begun before.

        Returns:
            `ShardFinished` or `WorkerFailed`, as JSON.
        """
        answer: ShardFinished | WorkerFailed
        try:
            (marker,) = self._pool.run([msgspec.json.decode(shard, type=Shard)], begun=begun)
            answer = ShardFinished(done=marker)
        except Exception as error:
            answer = WorkerFailed.of(error)
        return msgspec.json.encode(answer)


@dataclass(kw_only=True)
class _Placed:
    """State of a station, as known to the driver.

    Attributes:
        actor: by which Ray reaches it.
        shard: the shard that it does; ``None`` if it has none, or is not placed yet.
        is_ready: whether it runs on a machine.
    """

    actor: Any
    shard: Shard | None = None
    is_ready: bool = False


def pool_on(address: str) -> StartPool:
    """Returns a function that makes a pool of workers on the machines of a cluster.

    Args:
        address: ``HOST:PORT`` of a cluster, ``"auto"`` for the one that this machine belongs to,
            ``"local"`` for a new one on this machine; empty for what Ray finds, or a new one.

    Raises:
        UsageError: what is no address.
        MissingExtraError: Ray is not installed.
    """
    if address and not _ADDRESS.fullmatch(address):
        raise UsageError(
            f"ray={address!r} is not an address of a cluster; give HOST:PORT, auto, local or "
            "nothing, and start the run on a machine of the cluster"
        )
    _installed()
    return partial(Cluster, address=address)


class Cluster:
    """Processes shards by stations on many machines; a context manager that ends them."""

    def __init__(
        self, open_worker: OpenWorker, *, limits: Limits, workers: int, address: str = ""
    ) -> None:
        """Connects to nothing yet.

        Args:
            open_worker: as for `fascicle.pipeline.running.supervisor.Supervisor`; its module must
                be installed on all machines.
            limits: of each worker; Ray reserves ``limits.memory`` for it.
            workers: how many there are at most; those that find no place wait for one.
            address: as of `pool_on`.

        Raises:
            UsageError: a number that is not allowed.
        """
        if not 1 <= workers <= _MOST:
            raise UsageError(f"workers={workers} is not allowed; give a number from 1 to {_MOST:,}")
        self._open, self._limits, self._count, self._address = open_worker, limits, workers, address
        self._ray: Any = None
        self._is_ours = False
        self._stations: dict[Any, _Placed] = {}  # by what Ray answers with next
        self._left: deque[Shard] = deque()
        self._deaths: Counter[str] = Counter()
        self._bad_starts, self._since = 0, 0.0

    def __enter__(self) -> Cluster:
        """Connects to the cluster.

        Raises:
            MissingExtraError: Ray is not installed.
            UsageError: the cluster cannot be reached.
        """
        self._ray, self._is_ours = _connected(self._address)
        return self

    def __exit__(self, *_: object) -> None:
        """Ends all stations, whose workers end with them."""
        for station in self._stations.values():
            with contextlib.suppress(self._ray.exceptions.RayError):
                self._ray.kill(station.actor)
        self._stations.clear()
        if self._is_ours:
            self._ray.shutdown()

    def run(
        self, shards: Sequence[Shard], *, tick: Callable[[int, int], None] = lambda *_: None
    ) -> Iterator[ShardMarker]:
        """Processes all shards, in any order.

        Args:
            shards: to be done.
            tick: function that is called about ten times a second, or after each shard; how far a
                shard is, only its station knows.

        Yields:
            The marker of each.

        Raises:
            FascicleError: as of `fascicle.pipeline.running.supervisor.Supervisor.run`, or no
                machine has a place for a station.
            RuntimeError: a fault of Fascicle.
        """
        self._left.extend(shards)
        self._since, remaining = time.monotonic(), len(shards)
        while remaining:
            self._fill(remaining)
            tick(0, 0)
            self._check_places()
            ready, _ = self._ray.wait(list(self._stations), num_returns=1, timeout=_TICK)
            for answer in ready:
                marker = self._received(answer)
                if marker is not None:
                    remaining -= 1
                    yield marker

    def _fill(self, remaining: int) -> None:
        """Requests missing stations."""
        kind = self._ray.remote(_ClusterWorker).options(
            num_cpus=1, memory=self._limits.memory << 20, max_restarts=0, max_task_retries=0
        )
        while len(self._stations) < min(self._count, remaining):
            actor = kind.remote(self._open, self._limits, str(Path.cwd()))
            self._stations[actor.ready.remote()] = _Placed(actor=actor)

    def _received(self, answer: Any) -> ShardMarker | None:
        """Handles the answer of a station, which then gets its next shard."""
        station, errors = self._stations.pop(answer), self._ray.exceptions
        try:
            message = self._ray.get(answer)
        except errors.RayTaskError as error:
            raise RuntimeError(str(error)) from None
        except errors.RayError as error:
            self._replace(station, type(error).__name__)
            return None
        marker = None
        if station.shard is not None:
            outcome = _ANSWERS.decode(message)
            if isinstance(outcome, WorkerFailed):
                raise outcome.error
            marker = outcome.done
        station.is_ready, self._bad_starts = True, 0
        self._give(station)
        return marker

    def _give(self, station: _Placed) -> None:
        if not self._left:
            self._ray.kill(station.actor)
            return
        station.shard = shard = self._left.popleft()
        order = station.actor.do.remote(msgspec.json.encode(shard), self._deaths[shard.name])
        self._stations[order] = station

    def _replace(self, station: _Placed, reason: str) -> None:
        """Replaces a dead station: its shard is tried again elsewhere."""
        if station.shard is None:
            self._bad_starts += 1
            if self._bad_starts >= STARTS:
                raise WorkersError(
                    f"{self._bad_starts} stations in a row ended before they did anything "
                    f"({reason}); is Fascicle installed on all machines of the cluster?"
                )
            return
        name = station.shard.name
        self._deaths[name] += 1
        if self._deaths[name] >= _DEATHS:
            raise WorkersError(
                f"{self._deaths[name]} stations ended at shard {name} ({reason}); check the memory "
                "of the machines and limits.memory, and continue with resume=True"
            )
        self._left.appendleft(station.shard)

    def _check_places(self) -> None:
        """Ends a run if no machine has room for its stations."""
        if any(station.is_ready for station in self._stations.values()):
            self._since = time.monotonic()
        elif time.monotonic() - self._since > self._limits.start:
            free = self._ray.cluster_resources()
            raise WorkersError(
                "no machine of the cluster had a place for a worker within "
                f"{self._limits.start:,.0f} s; it has {plural(int(free.get('CPU', 0)), 'CPU')} and "
                f"{int(free.get('memory', 0)) >> 20:,} MiB, and a worker needs 1 CPU and "
                f"limits.memory = {self._limits.memory:,} MiB"
            )


def _installed() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingExtraError("scale", "ray") from None
    if not hasattr(ray, "init"):  # a folder of this name, which Python takes for a package
        raise MissingExtraError("scale", "ray")
    return ray


def _connected(address: str) -> tuple[Any, bool]:
    """Returns Ray, and whether it was connected here."""
    # a cluster that is started here sends no usage data
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray = _installed()
    if ray.is_initialized():
        return ray, False
    try:
        if ":" in address:  # Ray itself tries for many minutes
            host, _, port = address.rpartition(":")
            socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
        ray.init(address=address or None, logging_level="ERROR", log_to_driver=False)
    except Exception as error:  # if a node does not start in time, Ray raises a generic exception
        raise UsageError(
            f"the Ray cluster {address or 'of this machine'} cannot be reached: {error}"
        ) from None
    return ray, True
