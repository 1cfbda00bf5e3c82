"""Definition of a route of the service: its inputs, its response, and the function that handles it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from fascicle.serving.service import Service
from fascicle.settings.serving import Role

_Handle = Callable[[Request, Service], Awaitable[Response]]
JSON = "application/json"
NDJSON = "application/x-ndjson"
ANY = "application/octet-stream"


@dataclass(frozen=True, kw_only=True)
class Query:
    """Query parameter of a route.

    Attributes:
        name: of the parameter.
        type: class of its value, for the schema.
        means: its purpose.
        needed: whether it must be there.
    """

    name: str
    type: Any
    means: str
    needed: bool = False


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Route of the service; the app, its description and its tests are made from a table of these.

    Attributes:
        method: of HTTP.
        path: with the names of its parts in braces.
        handle: function that handles a request.
        means: description in one line.
        query: its parameters.
        body: class of the content of a request, ``bytes`` for a file; ``None`` for none.
        takes: media types of this content; empty for any.
        answers: class of the content of an answer, or ``bytes``.
        gives: media types of this content.
        status: of an answer.
        problems: statuses that it may have instead, beside those of every route.
        example: of the content of a request.
        open: whether it is there without the token.
        role: that a named token needs.
    """

    method: str
    path: str
    handle: _Handle
    means: str
    query: tuple[Query, ...] = ()
    body: Any = None
    takes: tuple[str, ...] = (JSON,)
    answers: Any = bytes
    gives: tuple[str, ...] = (JSON,)
    status: int = 200
    problems: tuple[int, ...] = ()
    example: Any = None
    open: bool = False
    role: Role = "curator"
