"""The log of the server: lines of JSON, of which those that are alike are told once, with their count."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec

_EVERY: Final = 10.0  # seconds between two lines that are alike
_REFUSED: Final = (400, 401, 403, 408, 421, 429, 503)


def log(told: Mapping[str, Any]) -> None:
    """One line of JSON on standard error; no text, no name of a file and no token is in it."""
    line = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **told}
    with suppress(OSError, ValueError):
        sys.stderr.write(msgspec.json.encode(line).decode() + "\n")
        sys.stderr.flush()


class Once:
    """Tells what is refused or given up once in ten seconds for each kind, with the number since the line before."""

    def __init__(self, tell: Callable[[dict[str, Any]], None], clock: Callable[[], float] = time.monotonic) -> None:
        """Takes where lines go, and a clock in seconds."""
        self._tell, self._clock = tell, clock
        self._told: dict[tuple[Any, ...], tuple[float, int]] = {}

    def __call__(self, told: dict[str, Any]) -> None:
        """Tells a line now, or counts it."""
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
        """Tells what was counted and not told."""
        for (event, route, status, why, error), (_, count) in self._told.items():
            if count:
                named = {"route": route, "status": status, "why": why, "error": error}
                self._tell({"event": event, **{k: v for k, v in named.items() if v is not None}, "times": count})
        self._told.clear()


class Server(logging.Handler):
    """Takes what the server and the loop say; only that they said something, and of which kind an error was."""

    def __init__(self, tell: Callable[[dict[str, Any]], None]) -> None:
        """Takes where lines go."""
        super().__init__(logging.WARNING)
        self._once = tell

    def emit(self, record: logging.LogRecord) -> None:
        """Tells the message as it is in the source, without what was put into it."""
        error = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
        self._once({"event": "server", "why": str(record.msg).partition("\n")[0][:200], "error": error})
