"""Time limit for regular expressions that users write, since some take exponential time."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


@contextmanager
def at_most(seconds: float, error: Exception) -> Iterator[None]:
    """Raises an error inside the block when it has used some seconds of processor time.

    The limit works only in the main thread of a process, and on systems with signals; elsewhere there is none. There is
    none either if another timer of this kind is already running. The matching of regular expressions checks for
    signals.

    Args:
        seconds: limit of processor time of this process, so that the result does not depend on the load of the machine.
        error: the error to raise.
    """
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
        or signal.getitimer(signal.ITIMER_VIRTUAL)[0]
    ):
        yield
        return

    def stop(number: int, frame: object) -> NoReturn:
        raise error

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before if before is not None else signal.SIG_DFL)
