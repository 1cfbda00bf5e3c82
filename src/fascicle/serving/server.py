"""Server of the app, and its log: the port is bound before pipelines are opened, and accepted
requests are answered.

It limits the number of connections, and the time for the headers of a request.
"""

from __future__ import annotations

import asyncio
import logging
import math
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import h11
import msgspec
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from fascicle.errors import FascicleError, UsageError
from fascicle.pipeline.loading import PipelineOpener
from fascicle.serving.app import app_of, service_of
from fascicle.serving.content import SLOWEST
from fascicle.serving.service import Service
from fascicle.settings.choices import LINKED_MODEL, Choices
from fascicle.settings.serving import NamedToken, ServeSettings

_EVERY: Final = 10.0  # seconds between two similar lines
_REFUSED: Final = (400, 401, 403, 408, 421, 429, 503)


def _log(facts: Mapping[str, Any]) -> None:
    """Writes one line of JSON to standard error; it contains no text, no file name and no token."""
    line = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **facts}
    with suppress(OSError, ValueError):
        sys.stderr.write(msgspec.json.encode(line).decode() + "\n")
        sys.stderr.flush()


class _LogRateLimiter:
    """Rate limiter for the log: of each kind of refusal or abort one line in ten seconds, with a
    count.
    """

    def __init__(
        self, tell: Callable[[dict[str, Any]], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Stores the function that writes lines, and a clock in seconds."""
        self._tell, self._clock = tell, clock
        self._told: dict[tuple[Any, ...], tuple[float, int]] = {}

    def __call__(self, facts: dict[str, Any]) -> None:
        """Logs a line now, or counts it."""
        if facts["event"] == "request" and facts["status"] not in _REFUSED:
            self._tell(facts)
            return
        kind = tuple(facts.get(name) for name in ("event", "route", "status", "why", "error"))
        last, count = self._told.get(kind, (-_EVERY, 0))
        if self._clock() - last < _EVERY:
            self._told[kind] = (last, count + 1)
            return
        self._told[kind] = (self._clock(), 0)
        self._tell({**facts, "times": count + 1})

    def end(self) -> None:
        """Logs the lines that were counted and not yet logged."""
        for (event, route, status, why, error), (_, count) in self._told.items():
            if count:
                labels = {"route": route, "status": status, "why": why, "error": error}
                self._tell(
                    {
                        "event": event,
                        **{k: v for k, v in labels.items() if v is not None},
                        "times": count,
                    }
                )
        self._told.clear()


class _ServerLog(logging.Handler):
    """Log handler for the server and the event loop; keeps only the message template and the
    error class.
    """

    def __init__(self, tell: Callable[[dict[str, Any]], None]) -> None:
        """Stores the function that writes lines."""
        super().__init__(logging.WARNING)
        self._once = tell

    def emit(self, record: logging.LogRecord) -> None:
        """Logs the message template of a record, without the values formatted into it."""
        error = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
        self._once(
            {"event": "server", "why": str(record.msg).partition("\n")[0][:200], "error": error}
        )


_Tokens = tuple[str, tuple[NamedToken, ...] | None]  # the one without a name, and the others
_BATCH: Final = 32  # connections that are accepted at once, before any of them can be refused
_QUEUE: Final = 4_096  # connections that the system queues until they are accepted
# bytes of an answer that the system keeps, so that it is seen how fast a client reads
_UNSENT: Final = 1 << 18
# descriptors for workers, files, and connections that are being opened or closed
_SPARE: Final = 256


def _most_connections(limit: int) -> int:
    """Returns the number of connections: as many as wanted, limited by the file descriptors of
    this process.
    """
    try:
        import resource
    except ImportError:  # Windows has no limit of this kind
        return limit
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return limit if soft == resource.RLIM_INFINITY else min(limit, max(soft - _SPARE, soft // 4))


@dataclass(eq=False)
class _Connections:
    """Set of all open connections.

    Attributes:
        most: in all.
        each: of one address.
        seconds: the seconds that a client has for the headers of a request.
        idle: seconds that a client may leave an answer unread, in addition to those that its bytes
            read are worth.
        drop: function that is called with the reason when a connection is closed.
    """

    most: int
    each: int
    seconds: float
    idle: float
    drop: Callable[[str], None]
    _all: dict[Any, str] = field(default_factory=dict)
    _silent: dict[Any, asyncio.TimerHandle] = field(default_factory=dict)
    _count: Counter[str] = field(default_factory=Counter)

    def enter(self, connection: _Connection, address: str) -> None:
        """Adds a connection; if there are too many, closes a silent one, or else this one."""
        full = len(self._all) >= self.most
        if full or self._count[address] >= self.each:
            silent = (other for other in self._silent if full or self._all[other] == address)
            if (gone := next(silent, None)) is None:
                self.give_up(connection, "full")
                return
            self.give_up(gone, "full")
        self._all[connection] = address
        self._count[address] += 1
        self.wait(connection)

    def wait(self, connection: _Connection) -> None:
        """Starts the timer for the headers of a request, unless it runs."""
        if connection in self._all and connection not in self._silent:
            later = asyncio.get_running_loop().call_later
            self._silent[connection] = later(self.seconds, self.give_up, connection, "slow")

    def speaks(self, connection: _Connection) -> None:
        """Stops this timer: the headers have arrived."""
        if (timer := self._silent.pop(connection, None)) is not None:
            timer.cancel()

    def leave(self, connection: _Connection) -> None:
        """Removes a connection."""
        self.speaks(connection)
        if (address := self._all.pop(connection, None)) is not None:
            self._count[address] -= 1
            if not self._count[address]:
                del self._count[address]

    def give_up(self, connection: _Connection, why: str) -> None:
        """Closes a connection, and drops what is not read of its answer."""
        self.leave(connection)
        self.drop(why)
        connection.transport.abort()


class _Connection(H11Protocol):
    """Connection that registers itself in the `_Connections` of its configuration."""

    config: _Config
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Registers the connection."""
        super().connection_made(transport)
        self.config.connections.enter(self, self.client[0] if self.client else "")

    def data_received(self, data: bytes) -> None:
        """Passes the data on, and updates the timer."""
        super().data_received(data)
        self._see()

    def on_response_complete(self) -> None:
        """Waits for the next request."""
        super().on_response_complete()
        self._see()

    def connection_lost(self, exc: Exception | None) -> None:
        """Removes the connection from the set."""
        self.config.connections.leave(self)
        self._stop_waiting()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Waits for the client to read."""
        super().pause_writing()
        self._see()
        self._stop_waiting()
        self._wait_for_reader(self.transport.get_write_buffer_size(), self.loop.time())

    def resume_writing(self) -> None:
        """Stops waiting: nearly everything is read."""
        super().resume_writing()
        self._stop_waiting()
        self._see()

    def _wait_for_reader(self, size: int, begun: float) -> None:
        """Ends the connection if too little was read of so many bytes since this time, or looks
        again later.
        """
        idle, received = self.config.connections.idle, size - self.transport.get_write_buffer_size()
        remaining = begun + idle + received / SLOWEST - self.loop.time()
        if remaining > 0:
            self._unread = self.loop.call_later(
                min(remaining, idle), self._wait_for_reader, size, begun
            )
        else:
            self.config.connections.give_up(self, "unread")

    def _stop_waiting(self) -> None:
        if self._unread is not None:
            self._unread.cancel()

    def _see(self) -> None:
        busy = self.cycle is not None and not self.cycle.response_complete
        if self.flow.write_paused or (busy and self.conn.our_state is not h11.ERROR):
            self.config.connections.speaks(self)
        else:
            self.config.connections.wait(self)


class _Config(uvicorn.Config):
    """Configuration of the server, with its connections."""

    def __init__(self, app: Any, connections: _Connections, **rest: Any) -> None:
        """Stores the connections; see `uvicorn.Config`."""
        super().__init__(app, http=_Connection, loop="asyncio", backlog=_BATCH, **rest)
        self.connections = connections


class _Server(uvicorn.Server):
    """Server that accepts few connections at a time, and leaves the others in the queue of the
    system.
    """

    def __init__(self, config: _Config, ready: Callable[[], None] = lambda: None) -> None:
        """Stores the configuration, and the function to call when the server listens."""
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[Any] | None = None) -> None:
        """Starts listening."""
        await super().startup(sockets)
        for sock in sockets or ():
            sock.listen(_QUEUE)
        self._ready()


def pipeline_openers(
    paths: list[str],
    *,
    choices: Choices = LINKED_MODEL,
    device: str | None = None,
) -> dict[str, PipelineOpener]:
    """Returns the opener of each pipeline, by the name under which it is served.

    Args:
        paths: pipelines and models; ``NAME=PATH`` gives one a name.
        choices: about the mentions of models, which are linked by default.
        device: where the networks of models compute, see `fascicle.load`.

    Raises:
        UsageError: two with one name, an empty name, or choices or a device beside a pipeline.
        RecipeError: a pipeline that cannot be read.
    """
    openers: dict[str, PipelineOpener] = {}
    for entry in paths:
        name, sign, path = entry.partition("=")
        opening = PipelineOpener(given=path if sign else entry, choices=choices, device=device)
        opening.refuse_choices()
        name = name if sign else opening.name
        if not name or not opening.given:
            raise UsageError(f"{entry!r} has no name or no path; give PATH or NAME=PATH")
        if name in openers:
            raise UsageError(
                f"two pipelines are called {name!r}; give one another name with NAME=PATH"
            )
        openers[name] = opening
    return openers


def run(
    pipelines: Mapping[str, PipelineOpener],
    settings: ServeSettings,
    host: str,
    port: int,
    *,
    tokens: Callable[[], _Tokens] | None = None,
    started: Callable[[str], None] = lambda url: None,
) -> None:
    """Runs the server until the process is interrupted or terminated.

    Args:
        pipelines: what opens each, by name.
        settings: of the service.
        host: address to listen at.
        port: to listen at; 0 for any that is free.
        tokens: reads the token and the named tokens again when the process is sent SIGHUP.
        started: function that is called with the address.

    Raises:
        FascicleError: a pipeline cannot be opened.
        OSError: the address cannot be listened at.
    """
    service = service_of(pipelines, settings)
    with _listening(host, port) as sock:
        try:
            service.start()
            tell = _LogRateLimiter(_log)
            _take_logs(tell)
            config = _Config(
                app_of(service, log=tell),
                _connections(settings, tell),
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=max(5, int(settings.idle)),
                # when all documents that were accepted are done, and clients had time to read
                timeout_graceful_shutdown=math.ceil(settings.seconds + settings.idle),
                ws="none",
            )
            address = f"[{host}]" if ":" in host else host
            url = f"http://{address}:{sock.getsockname()[1]}/"

            def ready() -> None:
                _on_hangup(partial(_reload, service, tokens, tell))
                started(url)

            server = _Server(config, ready)
            server.run(sockets=[sock])
            tell.end()
        finally:
            service.close()


def _connections(settings: ServeSettings, tell: _LogRateLimiter) -> _Connections:
    most = _most_connections(settings.connections)
    each = min(settings.of_address or most // 2, most)
    drop = partial(_drop, tell)
    return _Connections(
        most=most, each=each, seconds=settings.headers, idle=settings.idle, drop=drop
    )


def _drop(tell: _LogRateLimiter, why: str) -> None:
    tell({"event": "connection", "why": why})


def _take_logs(tell: _LogRateLimiter) -> None:
    """Redirects the messages of the server and the event loop to the log of the service."""
    for name in ("uvicorn", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers[:], logger.propagate = [_ServerLog(tell)], False


def _on_hangup(reload: Callable[[], None]) -> None:
    if hasattr(signal, "SIGHUP") and threading.current_thread() is threading.main_thread():
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload)


def _reload(service: Service, tokens: Callable[[], _Tokens] | None, tell: _LogRateLimiter) -> None:
    """Reads the tokens again; if they cannot be read the old ones stay."""
    try:
        if tokens is not None:
            service.change_tokens(*tokens())
        tell({"event": "token", "why": "reloaded" if tokens is not None else "no file"})
    except FascicleError as error:
        tell({"event": "token", "why": "kept", "error": error.code or type(error).__name__})


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # named, so that asyncio sends at once
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNSENT)
    try:
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        raise OSError(error.errno, f"{error.strerror} ({host}:{port})") from None
    sock.listen(1024)
    return sock
