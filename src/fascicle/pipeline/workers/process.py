"""Supervised worker process: its current task is known, time and memory are limited, and why it ended is reported.

By their documentation, Pebble kills a task that takes too long, but limits no memory and does not report which document
of a task a worker was processing; loky treats the death of a worker as a broken pool.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable
from multiprocessing.connection import wait
from typing import Any, Final, Generic, TypeVar

import msgspec

from fascicle.pipeline.workers.child import Channel, Working, own_mebibytes, run
from fascicle.settings.pipeline import Limits

M = TypeVar("M")
_TICK: Final = 0.1  # seconds between two checks of the limits
_PATIENCE: Final = 5  # seconds that a process has to end by itself


class WorkerEndedError(Exception):
    """Error of a worker that ended before its order was done.

    Attributes:
        reason: ``"killed:SIGSEGV"``, ``"killed:time"``, ``"killed:memory"``, ``"exit:3"`` and the like.
        at: its last message about its current task, if any.
        seconds: that it spent on this task.
        memory: MiB that it used at the last check.
    """

    def __init__(self, reason: str, at: Working | None = None, *, seconds: float = 0.0, memory: int = 0) -> None:
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
            main: is called in the process, which it must reach by pickling: a function of a module, or a partial.
            messages: reads what it sends.
            limits: of time, memory and work; none by default.
            longest: seconds that a step may take at most, since the caller waits no longer.
            daemon: whether the end of this program ends it rather than waits for it; then it can start no other.
        """
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        memory = limits and 2 * limits.memory << 20
        self._process = context.Process(target=run, args=(theirs, main, memory, os.getpid()), daemon=daemon)
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
            with contextlib.suppress(EOFError, OSError):  # the latter where it died in the middle of a message
                message = self._messages.decode(self._pipe.recv_bytes())
                self._note(message)
                return message
        if not ready:
            return None
        at, since = self.at, self._since
        raise WorkerEndedError(self._reap(), at, seconds=time.monotonic() - since, memory=self._memory)

    def _note(self, message: M) -> None:
        """Records the current task and its deadline; after other messages than `Working` the process is idle."""
        limits = self._limits
        if not isinstance(message, Working) or limits is None:
            return self._expect(math.inf, None)
        allowed = limits.seconds + limits.seconds_per_million * message.characters / 1e6
        return self._expect(min(allowed if message.places else limits.start, self._longest), message)

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
        """True if the process is to be replaced: it has done much, or uses much more memory than at the first check."""
        assert self._limits is not None
        memory = own_mebibytes(self.pid)
        self._first_memory = self._first_memory or memory
        return memory - self._first_memory > self._limits.growth or self.characters > self._limits.recycle * 1_000_000

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
            self._reason, self._is_over = self._reason or _reason_of(self._process.exitcode or 0), True
            self._pipe.close()
            self._process.close()
        return self._reason


def with_news(processes: Iterable[Process[Any]], *, seconds: float | None = _TICK) -> list[Process[Any]]:
    """Returns the processes that sent a message or have ended; waits until there are some.

    Args:
        processes: to wait for.
        seconds: to wait at most; ``None`` for ever.
    """
    by_handle: dict[Any, Process[Any]] = {
        handle: process for process in processes for handle in (process._pipe, process._process.sentinel)
    }
    return list(dict.fromkeys(by_handle[one] for one in wait(list(by_handle), seconds)))


def _reason_of(code: int) -> str:
    """Returns how a process ended, by its exit code."""
    if code >= 0:
        return f"exit:{code}"
    with contextlib.suppress(ValueError):
        return f"killed:{signal.Signals(-code).name}"
    return f"killed:{-code}"
