"""Access control of the service: the guard checks every request before its route and adds security headers."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Collection
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fascicle.pipeline.workers.child import traceback_places
from fascicle.serving.asked import WaitingRequests
from fascicle.serving.problems import ProblemError, answer_of, problem_of
from fascicle.settings.serving import ServeSettings


class CutError(Exception):
    """Error raised if a client does not read its response; the connection ends before the end of the response."""


class Pieces(Response):
    """Response that sends pieces as they are made.

    The streaming response of Starlette reads the messages of the server, to detect a lost client; here these messages
    are the content of the request, which is read elsewhere.
    """

    def __init__(self, pieces: AsyncGenerator[bytes, None], *, media_type: str, idle: float) -> None:
        """Stores the pieces.

        Args:
            pieces: of the content.
            media_type: of the content.
            idle: seconds that the client may take to read what was sent before.
        """
        super().__init__(None, media_type=media_type)
        del self.headers["content-length"]
        self._pieces, self._idle = pieces, idle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends all pieces.

        Raises:
            CutError: the client does not read.
        """
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            async for piece in self._pieces:
                try:
                    async with asyncio.timeout(self._idle):
                        await send({"type": "http.response.body", "body": piece, "more_body": True})
                except TimeoutError:
                    raise CutError from None
        finally:
            await self._pieces.aclose()
        await send({"type": "http.response.body", "body": b"", "more_body": False})


PAGE: Final = "/page/"  # files of the page are below it
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("X-Frame-Options", "DENY"),
)
_ALLOWED: Final = {
    "Access-Control-Allow-Methods": "GET, POST, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Accept",
    "Access-Control-Max-Age": "600",
}
_FAULT: Final = "this is a fault of Fascicle; its log has more under the Request-Id of this answer"
Log = Callable[[dict[str, Any]], None]


class Guard:
    """Middleware that checks host, origin and token, adds headers, and logs requests."""

    def __init__(
        self, app: ASGIApp, *, current: Callable[[], ServeSettings], open_paths: Collection[str], log: Log
    ) -> None:
        """Stores the app and the settings.

        Args:
            app: that is guarded.
            current: returns the current settings.
            open_paths: that are there without the token.
            log: is called for every request.
        """
        self._app, self._current, self._open, self._log = app, current, frozenset(open_paths), log
        self._running, self._waiting = 0, WaitingRequests()

    @property
    def _settings(self) -> ServeSettings:
        return self._current()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request itself, or passes it to the app."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # WebSocket is not supported
            return
        begun, status, number = time.perf_counter(), 500, secrets.token_hex(8)
        scope.setdefault("state", {}).update(told={}, waiting=self._waiting)
        begins = True

        async def answer(message: Message) -> None:
            nonlocal status, begins
            begins = False
            if message["type"] == "http.response.start":
                status = message["status"]
                self._add_headers(MutableHeaders(scope=message), scope, number)
            await send(message)

        self._running += 1
        try:
            try:
                self._check(scope)
                await self._find_place(scope)
            except ProblemError as error:
                await answer_of(error.problem, error.headers)(scope, receive, answer)
                return
            if self._is_question(scope):
                await Response(status_code=204, headers=_ALLOWED)(scope, receive, answer)
                return
            await self._app(scope, receive, answer)
        except CutError:
            scope["state"]["told"]["cut"] = True  # the server closes a connection whose answer has no end
        except Exception as error:  # logged by class and place only: its message may hold text or names
            scope["state"]["told"].update(fault=type(error).__name__, at=traceback_places(error))
            if begins:
                await answer_of(problem_of(500, _FAULT))(scope, receive, answer)
        finally:
            self._running -= 1
            self._log(
                {
                    "event": "request",
                    "request": number,
                    "method": scope["method"],
                    "route": getattr(scope.get("route"), "path", ""),
                    "status": status,
                    "ms": round((time.perf_counter() - begun) * 1000, 2),
                    **scope["state"]["told"],
                }
            )

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        hosts = self._settings.names
        host = headers.get("host", "")
        if hosts and _name_of(host) not in hosts:
            raise ProblemError(421, f"this service is not called {host[:100]!r}; it is {', '.join(hosts)}")
        origin = headers.get("origin")
        if origin is not None and origin not in self._settings.origins and origin.partition("://")[2] != host:
            raise ProblemError(403, "pages of other origins may not use this service; name them when it is started")
        is_open = self._is_open(scope["path"]) or self._is_question(scope)
        if self._settings.token and not is_open and not self._has_token(headers):
            raise ProblemError(
                401,
                "this needs the token of the service, as Authorization: Bearer TOKEN",
                headers={"WWW-Authenticate": "Bearer"},
            )

    async def _find_place(self, scope: Scope) -> None:
        """Cancels a request that waits for its client, if the maximum number of requests is running."""
        if self._running <= self._settings.requests or scope["path"] in self._open:
            return
        if not await self._waiting.make_room():
            raise ProblemError(
                503, "as many requests run as may run; send this again later", headers={"Retry-After": "1"}
            )

    def _is_question(self, scope: Scope) -> bool:
        """True if a request is the preflight request of a browser for an allowed origin."""
        headers = Headers(scope=scope)
        asks = scope["method"] == "OPTIONS" and "access-control-request-method" in headers
        return asks and headers.get("origin") in self._settings.origins

    def _is_open(self, path: str) -> bool:
        of_page = self._settings.open_page and (path == "/" or path.startswith(PAGE))
        return path in self._open or of_page

    def _has_token(self, headers: Headers) -> bool:
        given = headers.getlist("authorization")
        scheme, _, token = (given[0] if len(given) == 1 else "").partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(token.strip().encode(), self._settings.token.encode())

    def _add_headers(self, headers: MutableHeaders, scope: Scope, number: str) -> None:
        for name, value in _HEADERS:
            headers[name] = value
        headers["Content-Security-Policy"] = _POLICY
        headers["Request-Id"] = number
        if not scope["path"].startswith(PAGE):
            headers.setdefault("Cache-Control", "no-store")
        if (origin := Headers(scope=scope).get("origin")) in self._settings.origins:
            headers["Access-Control-Allow-Origin"] = origin or ""
            headers["Access-Control-Expose-Headers"] = "Fascicle-Losses, Location, Request-Id, Retry-After"
            headers.add_vary_header("Origin")


def _name_of(host: str) -> str:
    """Returns the name in a header ``Host``, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()
