"""Supervised worker processes, used by runs of pipelines, services, jobs and trainings.

What happens on a kill:

- A worker is killed by the system, by a user, or by `Process.check`, where it takes too much time
  or memory. `Process.receive` returns its last messages, ends the programs of its group, and raises
  `WorkerEndedError` with the reason and the documents that it was processing.
- The caller that started it decides what is next. `fascicle.pipeline.running.supervisor` and
  `fascicle.serving.pool` start another worker, try these documents again alone, and quarantine a
  document at which two workers ended. `fascicle.training.experiments.queue` reports the training
  run as failed; `fascicle.serving.jobs` the job.
- The parent is killed: the system kills its workers (`settle`), elsewhere than on Linux the pipe or
  a thread ends them. Output is valid once its marker is written, so the same command continues
  after it.
- An interrupt of the terminal reaches the parent alone, which ends its workers.

By their documentation, Pebble kills a task that takes too long, but limits no memory and does not
report which document of a task a worker was processing; loky treats the death of a worker as a
broken pool.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import math
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path, PurePath
from typing import Any, Final, Generic, TypeVar

import msgspec

from fascicle.errors import FascicleError
from fascicle.settings.pipeline import Limits

T = TypeVar("T")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4_096
# objects that the garbage collector does not look at before there are so many of them
_NEW: Final = 20_000
_DEATH_SIGNAL: Final = 1  # PR_SET_PDEATHSIG of prctl


class WorkersError(FascicleError):
    """Error of workers that fail or end before a document is known to be the cause."""


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag="ready"):
    """Message: the worker has loaded everything, and takes orders."""


class Working(msgspec.Struct, frozen=True, kw_only=True, tag="working"):
    """Message: the worker starts to process documents by a step; there is none while it reads or
    writes.

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


class WorkerFailed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
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
    def of(cls, error: Exception) -> WorkerFailed:
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
        freeze_loaded()
        self.send(ready)
        while True:
            yield decoder.decode(self._pipe.recv_bytes())


def freeze_loaded() -> None:
    """Spares the garbage collector loaded objects, which stay, and most looks at new ones, which
    go by themselves.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW)


def run(pipe: Connection, main: Callable[[Channel], None], memory: int | None, parent: int) -> None:
    """Runs ``main`` in the started process; the target of each worker process.

    Args:
        pipe: of orders and messages.
        main: does the work in the process.
        memory: bytes of its own that the system lets a worker take which shares the machine with
            others.
        parent: process that it must not outlive.
    """
    settle(parent)
    if memory is not None:
        # of tokenizers; the other cores are for the other workers
        os.environ.setdefault("RAYON_NUM_THREADS", "1")
        limit_memory(memory)
    channel = Channel(pipe)
    # the parent has closed the pipe
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            main(channel)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise
        except Exception as error:
            channel.send(WorkerFailed.of(error))


def settle(parent: int) -> None:
    """Puts this process into its own process group, so that it ends with its child programs and
    with its parent.

    Only the parent handles an interrupt of the terminal.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)
    if sys.platform == "linux":
        # if memory is short, the system kills a worker and not its supervisor
        with contextlib.suppress(OSError):
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
    """Returns the places in the code that led to an error: modules, lines and functions, the
    innermost last.
    """
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    return [f"{PurePath(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]


def log_fault(error: BaseException) -> None:
    """Logs class and place of an error to standard error, without its message, which may hold
    text or file names.
    """
    sys.stderr.write(f"{type(error).__name__} at {', '.join(traceback_places(error))}\n")


def own_mebibytes(pid: int) -> int:
    """Returns the MiB of private memory of a process; 0 if the system does not report it or the
    process has ended.
    """
    try:
        resident, shared = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1:3]
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * _PAGE >> 20


def peak_bytes() -> int | None:
    """Returns the peak memory use of this process; ``None`` where the system does not report it."""
    # ru_maxrss would also count the process that this one was started from, before it became a
    # program of its own.
    with contextlib.suppress(OSError):
        for line in (
            Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
        ):
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


M = TypeVar("M")
_TICK: Final = 0.1  # seconds between two checks of the limits
_PATIENCE: Final = 5  # seconds that a process has to end by itself


class WorkerEndedError(Exception):
    """Error of a worker that ended before its order was done.

    Attributes:
        reason: ``"killed:SIGSEGV"``, ``"killed:time"``, ``"killed:memory"``, ``"exit:3"`` and the
            like.
        at: its last message about its current task, if any.
        seconds: the seconds that it spent on this task.
        memory: MiB that it used at the last check.
    """

    def __init__(
        self, reason: str, at: Working | None = None, *, seconds: float = 0.0, memory: int = 0
    ) -> None:
        """Sets the attributes."""
        super().__init__(reason)
        self.reason, self.at, self.seconds, self.memory = reason, at, seconds, memory


class Process(Generic[M]):
    """Running worker process; it ends with its parent.

    Attributes:
        pid: process id.
        at: its current task, if known.
        characters: number of characters that it got, as counted by the caller.
    """

    def __init__(
        self,
        main: Callable[[Channel], None],
        messages: msgspec.json.Decoder[M],
        *,
        limits: Limits | None = None,
        longest: float = math.inf,
        daemon: bool = False,
    ) -> None:
        """Starts the process.

        Args:
            main: function that is called in the process, which it must reach by pickling: a
                function of a module, or a partial.
            messages: reads what it sends.
            limits: of time, memory and work; none by default.
            longest: seconds that a step may take at most, since the caller waits no longer.
            daemon: whether the end of this program ends it rather than waits for it; then it can
                start no other.
        """
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        memory = limits and 2 * limits.memory << 20
        self._process = context.Process(
            target=run, args=(theirs, main, memory, os.getpid()), daemon=daemon
        )
        self._process.start()
        theirs.close()  # so that the end of the process is the end of the pipe
        self.pid = self._process.pid or 0
        self._messages, self._limits, self._longest = messages, limits, longest
        self._reason, self._is_over = "", False
        self._memory, self._first_memory = 0, 0
        self.characters = 0
        self._expect(limits.start if limits else math.inf, None)

    def _expect(self, seconds: float, at: Working | None) -> None:
        self.at, self._since = at, time.monotonic()
        self._deadline = self._since + seconds

    def send(self, order: msgspec.Struct, *, seconds: float) -> None:
        """Sends an order to the process, and sets the time limit until its first message."""
        self._expect(min(seconds, self._longest), None)
        with contextlib.suppress(OSError):  # its end is seen by `receive`
            self._pipe.send_bytes(msgspec.json.encode(order))

    def receive(self, seconds: float = _TICK) -> M | None:
        """Returns the next message; ``None`` if there is none within the given seconds.

        Raises:
            WorkerEndedError: the process has ended, and there is no other message.
        """
        ready = wait([self._pipe, self._process.sentinel], seconds)
        if self._pipe in ready:
            # the latter where it died in the middle of a message
            with contextlib.suppress(EOFError, OSError):
                message = self._messages.decode(self._pipe.recv_bytes())
                self._note(message)
                return message
        if not ready:
            return None
        at, since = self.at, self._since
        raise WorkerEndedError(
            self._reap(), at, seconds=time.monotonic() - since, memory=self._memory
        )

    def _note(self, message: M) -> None:
        """Records the current task and its deadline; after other messages than `Working` the
        process is idle.
        """
        limits = self._limits
        if not isinstance(message, Working) or limits is None:
            return self._expect(math.inf, None)
        allowed = limits.seconds + limits.seconds_per_million * message.characters / 1e6
        return self._expect(
            min(allowed if message.places else limits.start, self._longest), message
        )

    def check(self) -> None:
        """Kills the process if its current task takes too much time or memory."""
        if self._limits is None or math.isinf(self._deadline) or self._reason:
            return
        self._memory = own_mebibytes(self.pid)
        if time.monotonic() > self._deadline:
            self.kill("killed:time")
        elif self._memory > self._limits.memory:
            self.kill("killed:memory")

    @property
    def is_spent(self) -> bool:
        """True if the process is to be replaced: it has done much, or uses much more memory than
        at the first check.
        """
        assert self._limits is not None
        memory = own_mebibytes(self.pid)
        self._first_memory = self._first_memory or memory
        return (
            memory - self._first_memory > self._limits.growth
            or self.characters > self._limits.recycle * 1_000_000
        )

    def kill(self, reason: str = "") -> None:
        """Kills the process with all programs that it started.

        Args:
            reason: reported as the reason of its end.
        """
        self._reason = self._reason or reason
        if self._is_over:
            return
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)  # its group has its number
        self._process.kill()

    def close(self) -> None:
        """Closes the pipe so that the process ends by itself, and kills it if it does not."""
        self._pipe.close()
        self._reap()

    def _reap(self) -> str:
        """Waits until the process and its programs have ended; returns the reason."""
        if not self._is_over:
            self._process.join(_PATIENCE)
            self.kill()
            self._process.join()
            self._reason, self._is_over = (
                self._reason or _reason_of(self._process.exitcode or 0),
                True,
            )
            self._pipe.close()
            self._process.close()
        return self._reason


def wait_for_messages(
    processes: Iterable[Process[Any]], *, seconds: float | None = _TICK
) -> list[Process[Any]]:
    """Returns the processes that sent a message or have ended; waits until there are some.

    Args:
        processes: to wait for.
        seconds: to wait at most; ``None`` for ever.
    """
    by_handle: dict[Any, Process[Any]] = {
        handle: process
        for process in processes
        for handle in (process._pipe, process._process.sentinel)
    }
    return list(dict.fromkeys(by_handle[handle] for handle in wait(list(by_handle), seconds)))


def _reason_of(code: int) -> str:
    """Returns how a process ended, by its exit code."""
    if code >= 0:
        return f"exit:{code}"
    with contextlib.suppress(ValueError):
        return f"killed:{signal.Signals(-code).name}"
    return f"killed:{-code}"
