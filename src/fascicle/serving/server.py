"""The app behind a port: bound before pipelines are opened, ended when all that was accepted is answered."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import msgspec
import uvicorn

from fascicle.serving.app import app_of
from fascicle.serving.opening import Opening
from fascicle.serving.service import Service
from fascicle.settings.serving import ServeSettings


def run(
    pipelines: Mapping[str, Opening],
    settings: ServeSettings,
    host: str,
    port: int,
    *,
    started: Callable[[str], None] = lambda url: None,
) -> None:
    """Serves until the process is interrupted or asked to end.

    Args:
        pipelines: what opens each, by name.
        settings: of the service.
        host: address to listen at.
        port: to listen at; 0 for any that is free.
        started: is called with the address.

    Raises:
        FascicleError: a pipeline cannot be opened.
        OSError: the address cannot be listened at.
    """
    service = Service(pipelines, settings)
    with _listening(host, port) as sock:
        try:
            service.start()
            config = uvicorn.Config(
                app_of(service, log=log),
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=max(5, int(settings.idle)),
                ws="none",
            )
            server = uvicorn.Server(config)
            shown = f"[{host}]" if ":" in host else host
            started(f"http://{shown}:{sock.getsockname()[1]}/")
            server.run(sockets=[sock])
        finally:
            service.close()


def log(told: Mapping[str, Any]) -> None:
    """One line of JSON on standard error; no text, no name of a file and no token is in it."""
    line = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **told}
    with suppress(OSError, ValueError):
        sys.stderr.write(msgspec.json.encode(line).decode() + "\n")
        sys.stderr.flush()


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        raise OSError(error.errno, f"{error.strerror} ({host}:{port})") from None
    sock.listen(1024)
    return sock
