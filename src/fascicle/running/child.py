"""What runs in a worker: a process of its own, which takes orders and says what it is at."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from fascicle.core.document import Document
from fascicle.errors import FascicleError
from fascicle.running.faults import tell_fault
from fascicle.running.memory import limit_own
from fascicle.running.messages import Failed, Finished, Ready, Said, Working, encode, order
from fascicle.running.plan import Shard
from fascicle.running.shard_worker import ShardWorker

OpenWorker = Callable[[], ShardWorker]
_DEATH_SIGNAL: Final = 1  # PR_SET_PDEATHSIG of prctl


def work(pipe: Connection, open_worker: OpenWorker, memory: int, parent: int) -> None:
    """Does what it is told until the pipe is closed.

    Args:
        pipe: of orders, and of what is said.
        open_worker: loads the pipeline.
        memory: MiB of its own that the system lets it take.
        parent: process that it must not outlive.
    """
    settle(parent)
    os.environ.setdefault("RAYON_NUM_THREADS", "1")  # of tokenizers; the other cores are for the other workers
    limit_own(memory)

    def say(message: Said) -> None:
        pipe.send_bytes(encode(message))

    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            worker = open_worker()
            gc.collect()
            gc.freeze()  # what is loaded stays: nothing needs to look through it again and again
            shards = {shard.name: shard for shard in worker.manifest.shards}
            say(Ready())
            while True:
                _obey(worker, shards, pipe.recv_bytes(), say)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise
        except (FascicleError, OSError) as error:
            say(Failed(message=str(error)))
        except Exception as error:
            tell_fault(error)
            say(Failed(message=f"{type(error).__name__}: {error}", internal=True))


def _obey(worker: ShardWorker, shards: dict[str, Shard], message: bytes, say: Callable[[Said], None]) -> None:
    """Does one shard."""
    given = order.decode(message)
    shard = shards[given.shard]

    def watch(step: str, documents: Sequence[Document]) -> None:
        now = tuple(worker.places[document.id] for document in documents)
        characters = sum(len(document.text) for document in documents)
        through, before = worker.through
        say(Working(step=step, places=now, characters=characters, through=through, characters_through=before))

    done = worker.process(
        shard, attempt=given.attempt, alone=frozenset(given.alone), killed=dict(given.killed), watch=watch
    )
    say(Finished(done=done))


def settle(parent: int) -> None:
    """Gives this worker a group of its own, so that it ends with its programs and with its parent.

    An interrupt of the terminal is for the parent alone.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # where memory is short, the system ends a worker and not its supervisor
            Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:  # it died before the line above
            os._exit(1)
