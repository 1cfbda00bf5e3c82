"""Log of the server: lines of JSON; similar lines are logged once, with their count."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec

_EVERY: Final = 10.0  # seconds between two similar lines
_REFUSED: Final = (400, 401, 403, 408, 421, 429, 503)


def log(told: Mapping[str, Any]) -> None:
    """Writes one line of JSON to standard error; it contains no text, no file name and no token."""
    line = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **told}
    with suppress(OSError, ValueError):
        sys.stderr.write(msgspec.json.encode(line).decode() + "\n")
        sys.stderr.flush()


class LogRateLimiter:
    """Rate limiter for the log: of each kind of refusal or abort one line in ten seconds, with a count."""

    def __init__(self, tell: Callable[[dict[str, Any]], None], clock: Callable[[], float] = time.monotonic) -> None:
        """Stores the function that writes lines, and a clock in seconds."""
        self._tell, self._clock = tell, clock
        self._told: dict[tuple[Any, ...], tuple[float, int]] = {}

    def __call__(self, told: dict[str, Any]) -> None:
        """Logs a line now, or counts it."""
        if told["event"] == "request" and told["status"] not in _REFUSED:
            self._tell(told)
            return
        kind = tuple(told.get(name) for name in ("event", "route", "status", "why", "error"))
        last, count = self._told.get(kind, (-_EVERY, 0))
        if self._clock() - last < _EVERY:
            self._told[kind] = (last, count + 1)
            return
        self._told[kind] = (self._clock(), 0)
        self._tell({**told, "times": count + 1})

    def end(self) -> None:
        """Logs the lines that were counted and not yet logged."""
        for (event, route, status, why, error), (_, count) in self._told.items():
            if count:
                named = {"route": route, "status": status, "why": why, "error": error}
                self._tell({"event": event, **{k: v for k, v in named.items() if v is not None}, "times": count})
        self._told.clear()


class Server(logging.Handler):
    """Log handler for the server and the event loop; keeps only the message template and the error class."""

    def __init__(self, tell: Callable[[dict[str, Any]], None]) -> None:
        """Stores the function that writes lines."""
        super().__init__(logging.WARNING)
        self._once = tell

    def emit(self, record: logging.LogRecord) -> None:
        """Logs the message template of a record, without the values formatted into it."""
        error = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
        self._once({"event": "server", "why": str(record.msg).partition("\n")[0][:200], "error": error})
