"""The service as an ASGI app: a table of routes, a guard before them, and the page."""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from fascicle.errors import FascicleError, UsageError
from fascicle.pipeline.pipeline import Pipeline
from fascicle.serving.endpoint import Endpoint
from fascicle.serving.guard import PAGE, Guard, Log
from fascicle.serving.openapi import description_of
from fascicle.serving.problems import ProblemError, answer_of, problem_of
from fascicle.serving.routes.table import ROUTES
from fascicle.serving.service import Service
from fascicle.serving.work import Served
from fascicle.settings.serving import ServeSettings

_LOGGER: Final = logging.getLogger("fascicle.serving")
_FORMS: Final = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data")
_INDEX: Final = "index.html"


def create_app(
    pipelines: Pipeline | Mapping[str, Served],
    settings: ServeSettings | None = None,
    *,
    routes: Sequence[Endpoint] = ROUTES,
    log: Log | None = None,
) -> Starlette:
    """Makes the app; pipelines are opened when it is started.

    Args:
        pipelines: by the names under which they are served, or an open one under its own name. Functions that open
            pipelines are called in processes of their own; they may have ``limits`` of these, and ``examples``. An open
            pipeline runs in this process, which texts that crash it crash.
        settings: what the service may cost, and whom it answers.
        routes: of the service.
        log: is told of every request; by default the logger ``fascicle.serving`` is, in JSON.

    Raises:
        UsageError: no pipeline.
    """
    settings = settings or ServeSettings()
    named = {pipelines.name: pipelines} if isinstance(pipelines, Pipeline) else dict(pipelines)
    if not named:
        raise UsageError("a service needs at least one pipeline; give one")
    return app_of(Service(named, settings), routes=routes, log=log)


def app_of(service: Service, *, routes: Sequence[Endpoint] = ROUTES, log: Log | None = None) -> Starlette:
    """The app of a service, which may be started already; see `create_app`."""
    settings = service.settings

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await asyncio.to_thread(service.start)
        yield
        await asyncio.to_thread(service.close)

    tell = log or _log

    def see(told: dict[str, Any]) -> None:
        service.metrics.see(told)
        tell(told)

    guard = Middleware(
        Guard, current=lambda: service.settings, open_paths=[one.path for one in routes if one.open], log=see
    )
    app = Starlette(
        routes=[*(_route(one, service) for one in routes), *(_page() if settings.page else ())],
        middleware=[guard],
        exception_handlers={
            ProblemError: _told_error,
            FascicleError: _told_error,
            HTTPException: _told_status,
            OSError: _told_disk,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.description = msgspec.json.encode(description_of(routes, with_token=bool(settings.token)))
    app.state.service = service
    return app


def _route(endpoint: Endpoint, service: Service) -> Route:
    async def answer(request: Request) -> Response:
        _check_type(request, endpoint)
        return await endpoint.handle(request, service)

    return Route(endpoint.path, answer, methods=[endpoint.method], name=endpoint.handle.__name__)


def _check_type(request: Request, endpoint: Endpoint) -> None:
    """Refuses content of another type, and that of forms everywhere, which any page in a browser can send."""
    if endpoint.body is None:
        return
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given in _FORMS or (endpoint.takes and given not in endpoint.takes):
        allowed = " or ".join(endpoint.takes) or "application/octet-stream"
        raise ProblemError(415, f"content of the type {given[:100]!r} is not taken; send {allowed}")


def _page() -> Sequence[BaseRoute]:
    folder = Path(str(resources.files("fascicle"))) / "serving" / "page"

    async def index(request: Request) -> Response:
        return Response((folder / _INDEX).read_bytes(), media_type="text/html")

    if not (folder / _INDEX).is_file():
        return ()
    return (Route("/", index, methods=["GET"]), Mount(PAGE.rstrip("/"), StaticFiles(directory=folder)))


async def _told_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ProblemError | FascicleError)
    found = ProblemError.of(error) if isinstance(error, FascicleError) else error
    return answer_of(found.problem, found.headers)


_SENTENCES: Final[Mapping[int, str]] = {
    404: "there is nothing here; GET /openapi.json lists what there is",
    405: "this path has other methods; GET /openapi.json lists them",
}


async def _told_status(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = _SENTENCES.get(error.status_code, error.detail)
    return answer_of(problem_of(error.status_code, detail), error.headers)


async def _told_disk(request: Request, error: Exception) -> Response:
    if not (isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)):
        raise error
    return answer_of(problem_of(507, "the disk of the service is full; send less, or remove jobs"))


def _log(told: dict[str, Any]) -> None:
    _LOGGER.info(msgspec.json.encode(told).decode())
