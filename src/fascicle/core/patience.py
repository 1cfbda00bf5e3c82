"""A limit of time for patterns that users write: some regular expressions need longer than anybody lives."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


@contextmanager
def at_most(seconds: float, error: Exception) -> Iterator[None]:
    """Raises an error in what runs inside after some seconds of processor time.

    Only the main thread of a process can be stopped, and on systems with signals alone; elsewhere there is no limit. So
    it is where another timer of this kind runs already. Matching of regular expressions looks at signals now and then.

    Args:
        seconds: of processor time of this process, so that a busy machine does not change what is refused.
        error: what is raised.
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
