"""What does orders: a process of its own, which may die, or this process."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
import time
from collections.abc import Sequence
from multiprocessing.connection import wait
from typing import Final, Protocol

from fascicle.errors import FascicleError
from fascicle.running.memory import own_mebibytes
from fascicle.serving import messages
from fascicle.serving.child import serve
from fascicle.serving.messages import Failed, PipelineFacts, Ready, Working, Wrong
from fascicle.serving.work import OpenWork, Work
from fascicle.settings.pipeline import Limits

_TICK: Final = 0.1  # seconds between two looks at limits


class DiedError(Exception):
    """What did an order ended before it was done.

    Attributes:
        reason: ``"killed:SIGSEGV"``, ``"killed:time"``, ``"exit:3"`` and the like.
        step: at which it was.
        places: of the documents that it was at.
    """

    def __init__(self, reason: str, step: str = "", places: Sequence[int] = ()) -> None:
        """Takes what is known."""
        super().__init__(reason)
        self.reason, self.step, self.places = reason, step, tuple(places)


class StartError(FascicleError):
    """A worker that cannot open its pipeline."""


class Hand(Protocol):
    """Does one order after the other."""

    def start(self) -> PipelineFacts | None:
        """Opens the pipeline, and says what it is.

        Raises:
            StartError: it cannot be opened.
            DiedError: it ended meanwhile.
        """

    def do(self, order: messages.Order) -> messages.Result:
        """Does an order.

        Raises:
            DiedError: it ended meanwhile; `start` begins anew.
        """

    @property
    def is_spent(self) -> bool:
        """Whether it is to be replaced by a new one."""

    def close(self) -> None:
        """Ends it."""


class LocalHand:
    """Work in this process: nothing is begun, and nothing protects the process from it."""

    is_spent = False

    def __init__(self, work: Work) -> None:
        """Takes the work."""
        self._work = work

    def start(self) -> PipelineFacts | None:
        """What the pipeline is."""
        return self._work.facts

    def do(self, order: messages.Order) -> messages.Result:
        """Does an order in the thread that asks."""
        try:
            return self._work.do(order)
        except Exception as error:
            return Wrong(error=type(error).__name__, message=str(error))

    def close(self) -> None:
        """Nothing: whoever gave the pipeline closes it."""


class ProcessHand:
    """Work in a process of its own, whose time and memory are capped."""

    def __init__(self, open_work: OpenWork, limits: Limits, *, longest: float = math.inf) -> None:
        """Starts nothing yet.

        Args:
            open_work: is called in the process, which it must reach by pickling.
            limits: of time, memory and work.
            longest: seconds that it may be at a step at most, since nobody waits longer for it.
        """
        self._open, self._limits, self._longest = open_work, limits, longest
        self._characters, self._first_memory = 0, 0
        self._started = False

    @property
    def pid(self) -> int:
        """Of the process; 0 if there is none."""
        return (self._process.pid or 0) if self._started else 0

    def start(self) -> PipelineFacts | None:
        """Starts the process; returns when it has opened the pipeline."""
        self.close()
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        memory = 2 * self._limits.memory
        self._process = context.Process(target=serve, args=(theirs, self._open, memory, os.getpid()), daemon=False)
        self._process.start()
        self._started = True
        theirs.close()
        self._characters, self._first_memory = 0, 0
        said = self._hear(time.monotonic() + self._limits.start, None)
        if isinstance(said, Failed):
            self.close()
            raise StartError(said.message)
        assert isinstance(said, Ready)
        self._first_memory = own_mebibytes(self.pid)
        return said.facts

    def do(self, order: messages.Order) -> messages.Result:
        """Does an order in the process."""
        at = Working(step="", places=tuple(range(_count(order))), characters=0)
        with contextlib.suppress(OSError):  # its end is seen below
            self._pipe.send_bytes(messages.encode(order))
        deadline = time.monotonic() + min(self._limits.seconds, self._longest)
        while True:
            said = self._hear(deadline, at)
            if isinstance(said, Working):
                at = said
                allowed = self._limits.seconds + self._limits.seconds_per_million * at.characters / 1e6
                deadline = time.monotonic() + min(allowed, self._longest)
                self._characters += at.characters if at.step else 0
            elif isinstance(said, Failed):
                self.close()
                raise DiedError(f"failed: {said.message}", at.step, at.places)
            else:
                assert not isinstance(said, Ready)
                return said

    @property
    def is_spent(self) -> bool:
        """Whether it did much, or holds much more memory than at first."""
        grown = own_mebibytes(self.pid) - self._first_memory > self._limits.growth
        return grown or self._characters > self._limits.recycle * 1_000_000

    def close(self) -> None:
        """Lets the process end by itself, and ends it if it does not."""
        if not self._started:
            return
        self._started = False
        self._pipe.close()
        self._process.join(2)
        self._end()

    def _hear(self, deadline: float, at: Working | None) -> messages.Said:
        """What the process says next.

        Raises:
            DiedError: it ended, or took too much.
        """
        reason = ""
        while True:
            ready = wait([self._pipe, self._process.sentinel], timeout=_TICK)
            if self._pipe in ready:
                with contextlib.suppress(EOFError, ConnectionResetError):
                    return messages.said.decode(self._pipe.recv_bytes())
                ready = [self._process.sentinel]
                self._process.join(5)
            if ready:
                break
            if time.monotonic() > deadline:
                reason = "killed:time"
                break
            if own_mebibytes(self.pid) > self._limits.memory:
                reason = "killed:memory"
                break
        self._started = False
        ended = self._end()
        self._pipe.close()
        raise DiedError(reason or ended, at.step if at else "", at.places if at else ())

    def _end(self) -> str:
        """Ends the process with all programs that it started; says how it ended."""
        pid = self._process.pid
        if pid is not None and hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)  # its group has its number
        self._process.kill()
        self._process.join()
        code = self._process.exitcode or 0
        self._process.close()
        if code >= 0:
            return f"exit:{code}"
        with contextlib.suppress(ValueError):
            return f"killed:{signal.Signals(-code).name}"
        return f"killed:{-code}"


def _count(order: messages.Order) -> int:
    return len(order.documents) if isinstance(order, messages.Annotate) else 1
