"""A service on a real port of this machine, in a thread of the test, and what asks it."""

from __future__ import annotations

import http.client
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn

from fascicle.pipeline.pipeline import Pipeline
from fascicle.serving.app import app_of, service_of
from fascicle.serving.jobs import Served
from fascicle.serving.service import Service
from fascicle.settings.pipeline import Limits
from fascicle.settings.serving import ServeSettings

sys.path.insert(
    0, str(Path(__file__).parents[1] / "pipeline" / "running")
)  # for the module of poison steps, here and in workers
from poison import LIMITS, open_poison

TOKEN = "0123456789abcdef-secret"
JSON = {"Content-Type": "application/json"}


class Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)


@dataclass(frozen=True)
class Poison:
    """Opens a pipeline that does what its texts say; see ``tests/pipeline/running/poison.py``."""

    seconds: float = 0.0
    limits: Limits = LIMITS
    examples: tuple[str, ...] = ("x and x",)

    def __call__(self) -> Pipeline:
        return open_poison(self.seconds)


@dataclass
class Standing:
    """A service that runs."""

    port: int
    service: Service
    log: list[dict[str, Any]] = field(default_factory=list)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 60,
    ) -> Reply:
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        given = {
            **(JSON if body is not None and not isinstance(body, bytes) else {}),
            **(headers or {}),
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, content, given)
            found = connection.getresponse()
            return Reply(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read())
        finally:
            connection.close()

    def annotate(self, *documents: dict[str, Any], query: str = "", **rest: Any) -> Reply:
        return self.ask("POST", f"/v1/annotate{query}", {"documents": list(documents)}, **rest)

    def raw(self, content: bytes, timeout: float = 10) -> bytes:
        """What comes back for some bytes, until the service closes the connection or is silent."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as sock:
            sock.sendall(content)
            found = b""
            try:
                while piece := sock.recv(65_536):
                    found += piece
            except TimeoutError:
                pass
            return found


@contextmanager
def standing(
    pipelines: Mapping[str, Served], settings: ServeSettings | None = None
) -> Iterator[Standing]:
    service = service_of(pipelines, settings or ServeSettings())
    service.start()
    log: list[dict[str, Any]] = []
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        config = uvicorn.Config(
            app_of(service, log=log.append), log_config=None, server_header=False, ws="none"
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield Standing(sock.getsockname()[1], service, log)
        finally:
            server.should_exit = True
            thread.join(30)
            service.close()
            state = server.server_state
            assert not thread.is_alive(), (
                f"{len(state.connections)} connections and {len(state.tasks)} requests are open"
            )
