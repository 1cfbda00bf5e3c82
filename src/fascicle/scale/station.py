"""What a run has on each machine of a cluster: a supervisor with one worker."""

from __future__ import annotations

import contextlib
import os
from typing import Final

import msgspec

from fascicle.pipeline.workers.child import Failed
from fascicle.running.plan import Shard
from fascicle.running.shard_worker import Finished, OpenWorker
from fascicle.running.supervisor import Supervisor
from fascicle.settings.pipeline import Limits

ANSWERS: Final[msgspec.json.Decoder[Finished | Failed]] = msgspec.json.Decoder(Finished | Failed)


class Station:
    """Does shards by a worker of its own, under the same limits as on one machine.

    A document that kills the worker does not kill the station, which knows what the worker was at. So time, memory and
    quarantine are decided beside the worker, and only names of shards and markers go through the network.
    """

    def __init__(self, open_worker: OpenWorker, limits: Limits, folder: str) -> None:
        """Starts nothing yet.

        Args:
            open_worker: loads the pipeline, in the worker.
            limits: of the worker.
            folder: that relative paths begin at; a machine that does not have it can be given absolute ones.
        """
        with contextlib.suppress(OSError):
            os.chdir(folder)
        self._crew = Supervisor(open_worker, limits=limits, workers=1)

    def ready(self) -> int:
        """The number of its process, when it runs."""
        return os.getpid()

    def do(self, shard: bytes, begun: int) -> bytes:
        """Does one shard.

        Args:
            shard: as JSON.
            begun: how often it was begun before.

        Returns:
            `Finished` or `Failed`, as JSON.
        """
        answer: Finished | Failed
        try:
            (done,) = self._crew.run([msgspec.json.decode(shard, type=Shard)], begun=begun)
            answer = Finished(done=done)
        except Exception as error:
            answer = Failed.of(error)
        return msgspec.json.encode(answer)
