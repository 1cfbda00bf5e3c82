"""The app behind a port: bound before pipelines are opened, ended when all that was accepted is answered."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import threading
from collections.abc import Callable, Mapping
from functools import partial

from fascicle.errors import FascicleError
from fascicle.serving.app import app_of
from fascicle.serving.connections import Config, Connections, Server, most_connections
from fascicle.serving.log import Once, log
from fascicle.serving.log import Server as ServerLog
from fascicle.serving.opening import Opening
from fascicle.serving.service import Service
from fascicle.settings.serving import ServeSettings


def run(
    pipelines: Mapping[str, Opening],
    settings: ServeSettings,
    host: str,
    port: int,
    *,
    token: Callable[[], str] | None = None,
    started: Callable[[str], None] = lambda url: None,
) -> None:
    """Serves until the process is interrupted or asked to end.

    Args:
        pipelines: what opens each, by name.
        settings: of the service.
        host: address to listen at.
        port: to listen at; 0 for any that is free.
        token: reads the token again when the process is sent SIGHUP.
        started: is called with the address.

    Raises:
        FascicleError: a pipeline cannot be opened.
        OSError: the address cannot be listened at.
    """
    service = Service(pipelines, settings)
    with _listening(host, port) as sock:
        try:
            service.start()
            tell = Once(log)
            _take_logs(tell)
            config = Config(
                app_of(service, log=tell),
                _connections(settings, tell),
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=max(5, int(settings.idle)),
                ws="none",
            )
            shown = f"[{host}]" if ":" in host else host
            url = f"http://{shown}:{sock.getsockname()[1]}/"

            def ready() -> None:
                _on_hangup(partial(_reload, service, token, tell))
                started(url)

            server = Server(config, ready)
            server.run(sockets=[sock])
            tell.end()
        finally:
            service.close()


def _connections(settings: ServeSettings, tell: Once) -> Connections:
    most = most_connections(settings.connections)
    each = min(settings.of_address or most // 2, most)
    drop = partial(_drop, tell)
    return Connections(most=most, each=each, seconds=settings.headers, drop=drop)


def _drop(tell: Once, why: str) -> None:
    tell({"event": "connection", "why": why})


def _take_logs(tell: Once) -> None:
    """Lets what the server and the loop say go to the log of the service."""
    for name in ("uvicorn", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers[:], logger.propagate = [ServerLog(tell)], False


def _on_hangup(reload: Callable[[], None]) -> None:
    if hasattr(signal, "SIGHUP") and threading.current_thread() is threading.main_thread():
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload)


def _reload(service: Service, token: Callable[[], str] | None, tell: Once) -> None:
    """Takes the token anew; where it cannot be read the old one stays."""
    try:
        if token is not None:
            service.change_token(token())
        tell({"event": "token", "why": "reloaded" if token is not None else "no file"})
    except FascicleError as error:
        tell({"event": "token", "why": "kept", "error": error.code or type(error).__name__})


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, so that asyncio sends at once
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        raise OSError(error.errno, f"{error.strerror} ({host}:{port})") from None
    sock.listen(1024)
    return sock
