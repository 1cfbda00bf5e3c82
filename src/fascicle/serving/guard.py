"""Access control of the service: the guard checks every request before its route and adds
security headers.
"""

from __future__ import annotations

import asyncio
import hmac
import math
import re
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fascicle.pipeline.workers import traceback_places
from fascicle.serving.content import WaitingRequests
from fascicle.serving.problems import ProblemError, make_problem, problem_response
from fascicle.settings.serving import ANYBODY, NamedToken, ServeSettings, hash_token


class CutError(Exception):
    """Error raised if a client does not read its response, or may no longer; the connection ends
    before the end.
    """


class PieceResponse(Response):
    """Response that sends pieces as they are made.

    The streaming response of Starlette reads the messages of the server, to detect a lost client;
    here these messages are the content of the request, which is read elsewhere.
    """

    def __init__(
        self, pieces: AsyncGenerator[bytes, None], *, media_type: str, idle: float
    ) -> None:
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
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
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
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src "
    "'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("X-Frame-Options", "DENY"),
)
_ALLOWED: Final = {
    "Access-Control-Allow-Methods": "GET, POST, DELETE",
    "Access-Control-Allow-Headers": (
        "Authorization, Content-Type, Content-Encoding, Accept, X-Request-ID, traceparent"
    ),
    "Access-Control-Max-Age": "600",
}
_MINUTE: Final = 60.0  # seconds
_FAULT: Final = "this is a fault of Fascicle; its log has more under the Request-Id of this answer"
WriteLog = Callable[[dict[str, Any]], None]


_REQUEST: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_HOST: Final = re.compile(r"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[^\[\]:]+))(?::[0-9]*)?")
_TRACE: Final = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
)


class RequestRates:
    """Rates of requests, each under the name of a token."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Stores a clock in seconds."""
        self._clock, self._free = clock, dict[str, float]()

    def check(self, name: str, most: int) -> None:
        """Counts a request.

        Args:
            name: of the token.
            most: requests in a minute; so many may come at once.

        Raises:
            ProblemError: it is one too many.
        """
        now, each = self._clock(), _MINUTE / most
        # when all requests so far are worth their time
        free = max(now, self._free.get(name, now)) + each
        if (wait := free - now - _MINUTE) > 1e-6:
            raise ProblemError(
                429,
                f"a token may make {most:,} requests in a minute; send this again later",
                headers={"Retry-After": str(math.ceil(wait))},
            )
        self._free[name] = free


def _identifiers(headers: Headers) -> dict[str, str]:
    """Returns the headers by which others know a request: those that came with it, or an
    identifier of its own.
    """
    name, trace = headers.get("x-request-id", ""), headers.get("traceparent", "")
    headers_of_request = {
        "X-Request-ID": name if _REQUEST.fullmatch(name) else secrets.token_hex(8)
    }
    return headers_of_request | ({"traceparent": trace} if _TRACE.fullmatch(trace) else {})


@dataclass
class _Exchange:
    """Request and its answer, for the log.

    Attributes:
        scope: of the request.
        identifiers: headers by which others know the request.
        begun: when it came, in seconds of the clock for performance.
        status: of the answer.
        is_answered: whether the answer has begun.
    """

    scope: Scope
    identifiers: Mapping[str, str]
    begun: float = field(default_factory=time.perf_counter)
    status: int = 500
    is_answered: bool = False

    def facts(self) -> dict[str, Any]:
        """Returns what is logged: no text, no file name and no token."""
        trace = self.identifiers.get("traceparent")
        return {
            "event": "request",
            "request": self.identifiers["X-Request-ID"],
            **({"trace": trace.split("-")[1]} if trace else {}),
            "method": self.scope["method"],
            "route": getattr(self.scope.get("route"), "path", ""),
            "status": self.status,
            "ms": round((time.perf_counter() - self.begun) * 1000, 2),
            **self.scope["state"]["facts"],
        }


class Guard:
    """Middleware that checks host, origin and token, adds headers, and logs requests."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        current: Callable[[], ServeSettings],
        open_paths: Collection[str],
        log: WriteLog,
    ) -> None:
        """Stores the app and the settings.

        Args:
            app: the app that is guarded.
            current: returns the current settings.
            open_paths: paths that need no token.
            log: function that is called for every request.
        """
        self._app, self._current, self._open, self._log = app, current, frozenset(open_paths), log
        self._running, self._waiting, self._rates = 0, WaitingRequests(), RequestRates()

    @property
    def _settings(self) -> ServeSettings:
        return self._current()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request itself, or passes it to the app."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":  # WebSocket is not supported
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, and logs it."""
        exchange = _Exchange(scope, _identifiers(Headers(scope=scope)))
        scope.setdefault("state", {}).update(facts={}, waiting=self._waiting, who=ANYBODY)

        async def answer(message: Message) -> None:
            exchange.is_answered = True
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                self._add_headers(MutableHeaders(scope=message), scope, exchange.identifiers)
            # the token was withdrawn meanwhile
            if message.get("more_body") and not self._may_ask(scope):
                raise CutError
            await send(message)

        self._running += 1
        try:
            responder = await self._responder(scope)
            await responder(scope, receive, answer)
        except CutError:
            # the server closes a connection whose answer has no end
            scope["state"]["facts"]["cut"] = True
        # logged by class and place only: its message may hold text or names
        except Exception as error:
            scope["state"]["facts"].update(fault=type(error).__name__, at=traceback_places(error))
            if not exchange.is_answered:
                await problem_response(make_problem(500, _FAULT))(scope, receive, answer)
        finally:
            self._running -= 1
            self._log(exchange.facts())

    async def _responder(self, scope: Scope) -> ASGIApp:
        """Returns what answers a request: the app, or the answer of the guard itself."""
        try:
            self._check(scope)
            await self._find_place(scope)
        except ProblemError as error:
            return problem_response(error.problem, error.headers)
        if self._is_question(scope):
            return Response(status_code=204, headers=_ALLOWED)
        return self._app

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        hosts = self._settings.names
        host = headers.get("host", "")
        if hosts and _name_of(host) not in hosts:
            raise ProblemError(
                421, f"this service is not called {host[:100]!r}; it is {', '.join(hosts)}"
            )
        origin = headers.get("origin")
        if origin is not None and origin not in (
            *self._settings.origins,
            f"http://{host}",
            f"https://{host}",
        ):
            raise ProblemError(
                403, "pages of other origins may not use this service; name them when it is started"
            )
        if self._is_open(scope["path"]) or self._is_question(scope):
            return
        who = self._who(headers)
        if who is None:
            raise ProblemError(
                401,
                "this needs the token of the service, as Authorization: Bearer TOKEN",
                headers={"WWW-Authenticate": "Bearer"},
            )
        scope["state"]["who"] = who
        if self._settings.rate and not (scope["path"] == "/" or scope["path"].startswith(PAGE)):
            self._rates.check(who.name, self._settings.rate)

    async def _find_place(self, scope: Scope) -> None:
        """Cancels a request that waits for its client, if the maximum number of requests is
        running.
        """
        if self._running <= self._settings.requests or scope["path"] in self._open:
            return
        if not await self._waiting.make_room():
            raise ProblemError(
                503,
                "as many requests run as may run; send this again later",
                headers={"Retry-After": "1"},
            )

    def _is_question(self, scope: Scope) -> bool:
        """True if a request is the preflight request of a browser for an allowed origin."""
        headers = Headers(scope=scope)
        asks = scope["method"] == "OPTIONS" and "access-control-request-method" in headers
        return asks and headers.get("origin") in self._settings.origins

    def _is_open(self, path: str) -> bool:
        of_page = self._settings.open_page and (path == "/" or path.startswith(PAGE))
        return path in self._open or of_page

    def _may_ask(self, scope: Scope) -> bool:
        return self._is_open(scope["path"]) or self._who(Headers(scope=scope)) is not None

    def _who(self, headers: Headers) -> NamedToken | None:
        """Returns whose token a request has; ``None`` if it is nobody's although one is needed."""
        if not self._settings.guarded:
            return ANYBODY
        values = headers.getlist("authorization")
        scheme, _, token = (values[0] if len(values) == 1 else "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        shared, digest = self._settings.token, hash_token(token.strip())
        if shared and hmac.compare_digest(digest, hash_token(shared)):
            return ANYBODY
        owners = (
            owner
            for owner in self._settings.tokens or ()
            if hmac.compare_digest(digest, owner.hash)
        )
        return next(owners, None)

    def _add_headers(
        self, headers: MutableHeaders, scope: Scope, identifiers: Mapping[str, str]
    ) -> None:
        for name, value in _HEADERS:
            headers[name] = value
        headers["Content-Security-Policy"] = _POLICY
        headers["Request-Id"] = identifiers["X-Request-ID"]
        # which hold one end each (RFC 9112)
        if {"content-length", "transfer-encoding"} <= set(Headers(scope=scope)):
            headers["Connection"] = "close"
        headers.update(identifiers)
        if not scope["path"].startswith(PAGE):
            headers.setdefault("Cache-Control", "no-store")
        if (origin := Headers(scope=scope).get("origin")) in self._settings.origins:
            headers["Access-Control-Allow-Origin"] = origin or ""
            headers["Access-Control-Expose-Headers"] = (
                "Fascicle-Losses, Location, Request-Id, Retry-After, X-Request-ID, traceparent"
            )
            headers.add_vary_header("Origin")


def _name_of(host: str) -> str:
    """Returns the name in a header ``Host``, without its port; empty if it has another form."""
    match = _HOST.fullmatch(host)
    return (match["address"] or match["name"]).lower() if match else ""
