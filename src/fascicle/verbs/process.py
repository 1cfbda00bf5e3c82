"""Process of a command: open standard streams, cleanup at the end, and a quick start."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any, BinaryIO, Final, NoReturn

from fascicle.errors import FascicleError, InputError, OutputError

_KEPT: Final = 1_000  # pieces of text
_NAMES: Final = ("SIGTERM", "SIGHUP")  # the second is not known on Windows


class EndedError(BaseException):
    """Signal to end the process; like an interrupt, it is no error that other code could handle."""

    def __init__(self, number: int) -> None:
        """Takes the number of the signal."""
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


@contextmanager
def end_cleanly() -> Iterator[None]:
    """Lets SIGTERM and SIGHUP end the block as an interrupt does, so that no temporary file is
    left.

    This works only in the main thread, and only for signals with default handlers: ``nohup``
    ignores hangups, and a program that calls a command may handle signals itself.

    Raises:
        EndedError: a signal came.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    ours = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]

    def end(number: int, frame: FrameType | None) -> NoReturn:
        for process in ours:
            signal.signal(process, signal.SIG_IGN)  # a second one would interrupt the cleanup
        raise EndedError(number)

    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def open_streams() -> Iterator[None]:
    """Replaces standard streams that are closed (``<&-``, ``>&-``), for the block.

    Their file descriptors are occupied too: else the next file that is opened would get one of
    them, and with it the output of libraries. Reading or writing a closed stream raises an error;
    output to standard error is dropped.
    """
    with ExitStack() as stack:
        for number in (0, 1, 2):
            try:
                os.fstat(number)
            except OSError:
                _take(number)
                stack.callback(os.close, number)
        streams: tuple[Any, Any, Any] = sys.stdin, sys.stdout, sys.stderr
        stack.callback(_put_back, streams)
        if streams[0] is None:
            sys.stdin = _Closed(
                InputError("standard input is closed, so nothing can be read from it; give a file")
            )
        if streams[1] is None:
            sys.stdout = _Closed(
                OutputError(
                    "standard output is closed, so nothing can be written there; open it, or "
                    "give a file with -o"
                )
            )
        if streams[2] is None:
            sys.stderr = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123
        yield


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Turns off garbage collection for a block that creates many objects that stay, such as
    modules.

    Repeated collections would take as long as the import of some modules.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def quiet_unless_failed(command: Callable[[Any], int]) -> Callable[[Any], int]:
    """Returns a command that says on standard error what it has to say only if it fails: the
    last lines of it.
    """

    def run(args: Any) -> int:
        stream, buffer = sys.stderr, _Buffer(sys.stderr)
        code = 1
        sys.stderr = buffer
        try:
            code = int(command(args))
        finally:
            sys.stderr = stream
            if code:
                stream.write("".join(buffer.parts))
        return code

    return run


class _Buffer(io.TextIOBase):
    """Text stream that keeps the last of what is written, and is no terminal."""

    def __init__(self, stream: Any) -> None:
        self._given = stream
        self.parts: deque[str] = deque(maxlen=_KEPT)

    def write(self, text: str, /) -> int:
        self.parts.append(text)
        return len(text)

    def fileno(self) -> int:
        return int(self._given.fileno())


class _Closed(io.TextIOWrapper):
    """Text stream that raises an error on use."""

    def __init__(self, error: FascicleError) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8")
        self._error = error

    @property
    def buffer(self) -> BinaryIO:
        raise self._error

    def write(self, text: str, /) -> int:
        raise self._error

    def isatty(self) -> bool:
        return False


def _take(number: int) -> None:
    opened = os.open(os.devnull, os.O_RDWR)
    if opened != number:  # a lower one is taken first, so that this one is the lowest that is free
        os.dup2(opened, number)
        os.close(opened)


def _put_back(streams: tuple[Any, Any, Any]) -> None:
    sys.stdin, sys.stdout, sys.stderr = streams
