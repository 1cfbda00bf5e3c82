"""Definition of a route of the service: its inputs, its response and its function; and what routes have in common."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fascicle.serving.curation.rows import DamagedError
from fascicle.serving.curation.store import ConflictError, Store, UnknownDocumentError
from fascicle.serving.problems import ProblemError
from fascicle.serving.service import Service
from fascicle.settings.serving import Role

T = TypeVar("T")
_ENCODER: Final = msgspec.json.Encoder()


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


async def done(service: Service, does: Callable[[Store], T]) -> T:
    """Runs a function with the store, and converts its errors to problems.

    Raises:
        ProblemError: no decisions are kept here, or what was asked for cannot be done.
    """
    store = service.curation
    if store is None:
        raise ProblemError(
            404, "no decisions are kept here; start one service for all curators, with `fascicle serve --curation FILE`"
        )
    try:
        return await asyncio.to_thread(does, store)
    except ConflictError as error:
        raise ProblemError(409, str(error)) from None
    except UnknownDocumentError as error:
        raise ProblemError(404, str(error), code="unknown-name") from None
    except ValueError as error:
        raise ProblemError(422, str(error)) from None
    except DamagedError as error:
        raise ProblemError(409, str(error), code="damaged") from None
    except sqlite3.OperationalError as error:
        raise _not_usable(error) from None
    except sqlite3.DatabaseError as error:
        raise ProblemError(409, f"the file of decisions is damaged ({error}); repair it", code="damaged") from None


def _not_usable(error: sqlite3.OperationalError) -> ProblemError:
    """Makes the problem for a file that cannot be used: it is locked, or its disk is full or read-only."""
    if error.sqlite_errorcode == sqlite3.SQLITE_FULL:
        return ProblemError(
            507, "the disk of the service is full, and nothing was saved; make room, and send this again"
        )
    return ProblemError(
        503,
        f"the file of decisions cannot be used now ({error}), and nothing was saved; send this again later",
        headers={"Retry-After": "5"},
    )


def needed(request: Request, name: str) -> str:
    """Returns the value of a query parameter.

    Raises:
        ProblemError: it is missing.
    """
    if not (found := request.query_params.get(name, "")):
        raise ProblemError(422, f"the parameter {name} is missing")
    return found


def json_answer(content: Any) -> Response:
    """Makes the response that sends JSON."""
    return Response(_ENCODER.encode(content), media_type=JSON)
