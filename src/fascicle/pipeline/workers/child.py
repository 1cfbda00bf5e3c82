"""Worker side of a supervised process: it has its own process group, takes orders, and reports its progress.

Also the memory use of processes, as the system reports it, and its limit.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path, PurePath
from typing import Final, TypeVar

import msgspec

from fascicle.errors import FascicleError

T = TypeVar("T")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4_096
_DEATH_SIGNAL: Final = 1  # PR_SET_PDEATHSIG of prctl


class WorkersError(FascicleError):
    """Error of workers that fail or end before a document is known to be the cause."""


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag="ready"):
    """Message: the worker has loaded everything, and takes orders."""


class Working(msgspec.Struct, frozen=True, kw_only=True, tag="working"):
    """Message: the worker starts to process documents by a step; there is none while it reads or writes.

    Attributes:
        step: its name.
        places: of the documents in the order.
        characters: of their texts.
        through: number of documents of the order that are done or failed, ...
        characters_through: ... and the characters of their texts.
    """

    step: str
    places: tuple[int, ...]
    characters: int
    through: int = 0
    characters_through: int = 0


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """Message: the worker cannot go on, and no document is the cause.

    Attributes:
        message: for people.
        internal: whether it is a fault of Fascicle.
    """

    message: str
    internal: bool = False

    @property
    def error(self) -> Exception:
        """Error to raise in the parent process."""
        return RuntimeError(self.message) if self.internal else WorkersError(self.message)

    @classmethod
    def of(cls, error: Exception) -> Failed:
        """Creates a message from an error; an internal fault of Fascicle is logged."""
        if isinstance(error, FascicleError | OSError):
            return cls(message=str(error))
        log_fault(error)
        return cls(message=f"{type(error).__name__}: {error}", internal=True)


class Channel:
    """Worker's end of the pipe. Messages are JSON in both directions, not pickles."""

    def __init__(self, pipe: Connection) -> None:
        """Sets the pipe."""
        self._pipe = pipe

    def send(self, message: msgspec.Struct) -> None:
        """Sends a message to the parent process."""
        self._pipe.send_bytes(msgspec.json.encode(message))

    def orders(self, decoder: msgspec.json.Decoder[T], *, ready: msgspec.Struct) -> Iterator[T]:
        """Sends the ready message, and yields orders until the pipe is closed.

        Args:
            decoder: reads orders.
            ready: the first message.
        """
        gc.collect()
        gc.freeze()  # loaded objects stay: the garbage collector need not scan them
        self.send(ready)
        while True:
            yield decoder.decode(self._pipe.recv_bytes())


def run(pipe: Connection, main: Callable[[Channel], None], memory: int | None, parent: int) -> None:
    """Runs ``main`` in the started process; the target of each worker process.

    Args:
        pipe: of orders and messages.
        main: does the work in the process.
        memory: bytes of its own that the system lets a worker take which shares the machine with others.
        parent: process that it must not outlive.
    """
    settle(parent)
    if memory is not None:
        os.environ.setdefault("RAYON_NUM_THREADS", "1")  # of tokenizers; the other cores are for the other workers
        limit_memory(memory)
    channel = Channel(pipe)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):  # the parent has closed the pipe
        try:
            main(channel)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise
        except Exception as error:
            channel.send(Failed.of(error))


def settle(parent: int) -> None:
    """Puts this process into its own process group, so that it ends with its child programs and with its parent.

    Only the parent handles an interrupt of the terminal.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # if memory is short, the system kills a worker and not its supervisor
            Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:  # it died before the line above
            os._exit(1)
    else:
        threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def traceback_places(error: BaseException) -> list[str]:
    """Returns the places in the code that led to an error: modules, lines and functions, the innermost last."""
    found = traceback.extract_tb(error.__traceback__)[-8:]
    return [f"{PurePath(one.filename).name}:{one.lineno} {one.name}" for one in found]


def log_fault(error: BaseException) -> None:
    """Logs class and place of an error to standard error, without its message, which may hold text or file names."""
    sys.stderr.write(f"{type(error).__name__} at {', '.join(traceback_places(error))}\n")


def own_mebibytes(pid: int) -> int:
    """Returns the MiB of private memory of a process; 0 if the system does not report it or the process has ended."""
    try:
        resident, shared = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1:3]
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * _PAGE >> 20


def peak_bytes() -> int | None:
    """Returns the peak memory use of this process; ``None`` where the system does not report it."""
    # ru_maxrss would also count the process that this one was started from, before it became a program of its own.
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    if sys.platform == "win32":
        return None
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def limit_memory(most: int, pid: int = 0) -> None:
    """Limits the private memory that a process can allocate; memory-mapped files do not count.

    A larger allocation raises a `MemoryError`, so that one document fails, but the worker goes on.

    Args:
        most: bytes.
        pid: of the process; 0 for this one.

    Raises:
        ProcessLookupError: the process has ended.
    """
    if sys.platform != "linux":
        return
    import resource

    hard = resource.prlimit(pid, resource.RLIMIT_DATA)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.prlimit(pid, resource.RLIMIT_DATA, (most, hard))
    resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
