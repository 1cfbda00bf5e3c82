"""Connections: how many there may be, how long one may say nothing, and which one goes where there are too many."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

_BATCH: Final = 32  # connections that are taken at once, before any of them can be refused
_QUEUE: Final = 4_096  # connections that the system keeps until they are taken
_SPARE: Final = 256  # descriptors for workers, files, and connections that are taken or closed at this moment


def most_connections(wanted: int) -> int:
    """As many connections as are wanted and as the descriptors of this process allow."""
    try:
        import resource
    except ImportError:  # Windows has no limit of this kind
        return wanted
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if soft == resource.RLIM_INFINITY else min(wanted, max(soft - _SPARE, soft // 4))


@dataclass(eq=False)
class Connections:
    """All connections.

    Attributes:
        most: in all.
        each: of one address.
        seconds: that a client has for the headers of a request.
        drop: is told why a connection is given up.
    """

    most: int
    each: int
    seconds: float
    drop: Callable[[str], None]
    _all: dict[Any, str] = field(default_factory=dict)
    _silent: dict[Any, asyncio.TimerHandle] = field(default_factory=dict)
    _count: Counter[str] = field(default_factory=Counter)

    def enter(self, one: Connection, address: str) -> None:
        """Takes a connection; where there are too many, one that says nothing goes, or else this one."""
        full = len(self._all) >= self.most
        if full or self._count[address] >= self.each:
            silent = (other for other in self._silent if full or self._all[other] == address)
            if (gone := next(silent, None)) is None:
                self._give_up(one, "full")
                return
            self._give_up(gone, "full")
        self._all[one] = address
        self._count[address] += 1
        self.wait(one)

    def wait(self, one: Connection) -> None:
        """Begins the time for the headers of a request, unless it runs."""
        if one in self._all and one not in self._silent:
            later = asyncio.get_running_loop().call_later
            self._silent[one] = later(self.seconds, self._give_up, one, "slow")

    def speaks(self, one: Connection) -> None:
        """Ends this time: the headers are there."""
        if (timer := self._silent.pop(one, None)) is not None:
            timer.cancel()

    def leave(self, one: Connection) -> None:
        """Forgets a connection."""
        self.speaks(one)
        if (address := self._all.pop(one, None)) is not None:
            self._count[address] -= 1
            if not self._count[address]:
                del self._count[address]

    def _give_up(self, one: Connection, why: str) -> None:
        self.leave(one)
        self.drop(why)
        one.transport.abort()


class Connection(H11Protocol):
    """A connection that is one of `Connections`, which it finds in its configuration."""

    config: Config

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Takes a place."""
        super().connection_made(transport)
        self.config.connections.enter(self, self.client[0] if self.client else "")

    def data_received(self, data: bytes) -> None:
        """Reads on."""
        super().data_received(data)
        self._see()

    def on_response_complete(self) -> None:
        """Waits for the next request."""
        super().on_response_complete()
        self._see()

    def connection_lost(self, exc: Exception | None) -> None:
        """Gives the place back."""
        self.config.connections.leave(self)
        super().connection_lost(exc)

    def _see(self) -> None:
        busy = self.cycle is not None and not self.cycle.response_complete
        if busy and self.conn.our_state is not h11.ERROR:
            self.config.connections.speaks(self)
        else:
            self.config.connections.wait(self)


class Config(uvicorn.Config):
    """The configuration of the server, with its connections."""

    def __init__(self, app: Any, connections: Connections, **rest: Any) -> None:
        """Takes them; see `uvicorn.Config`."""
        super().__init__(app, http=Connection, loop="asyncio", backlog=_BATCH, **rest)
        self.connections = connections


class Server(uvicorn.Server):
    """A server that takes few connections at once, and lets the system keep the others."""

    def __init__(self, config: Config, ready: Callable[[], None] = lambda: None) -> None:
        """Takes the configuration, and what is called when the server listens."""
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[Any] | None = None) -> None:
        """Listens."""
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(_QUEUE)
        self._ready()
