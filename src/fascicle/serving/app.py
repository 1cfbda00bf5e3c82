"""ASGI app of the service: a table of routes, a guard before them, and the page."""

from __future__ import annotations

import asyncio
import errno
import gzip
import logging
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Mount, Route
from starlette.staticfiles import StaticFiles

from fascicle.errors import FascicleError, UsageError
from fascicle.pipeline.pipeline import Pipeline
from fascicle.serving.content import check_once, takes_gzip
from fascicle.serving.endpoint import ANY, Endpoint, QueryParameter
from fascicle.serving.guard import PAGE, Guard, WriteLog
from fascicle.serving.jobs import Jobs, Served
from fascicle.serving.pool import Pool, Worker
from fascicle.serving.problems import MEDIA_TYPE, ProblemError, make_problem, problem_response
from fascicle.serving.records import Problem
from fascicle.serving.routes import annotate, curation, facts, files, kazu, names, review
from fascicle.serving.service import Service
from fascicle.serving.work import FileWork, PipelineWork, open_work
from fascicle.serving.worker import LocalWorker, ProcessWorker, do_job
from fascicle.settings.pipeline import Limits
from fascicle.settings.serving import NamedToken, ServeSettings
from fascicle.version import VERSION

ROUTES: Final[tuple[Endpoint, ...]] = (
    *facts.ROUTES,
    *annotate.ROUTES,
    *files.ROUTES,
    *facts.CONCEPT_ROUTES,
    *names.ROUTES,
    *files.JOB_ROUTES,
    *curation.ROUTES,
    *review.ROUTES,
    *kazu.ROUTES,
)
# statuses of problems that any route may have
_EVERYWHERE: Final = (400, 401, 403, 408, 421, 422, 429, 500, 503)
_WITH_BODY: Final = (413, 415, 507)
_MEANS: Final = MappingProxyType(
    {
        401: "the token is missing or wrong",
        403: "a page of another origin, or a token whose role does not allow it",
        404: "it does not exist",
        406: "no form of the answer is taken",
        408: "the content did not come",
        409: "it is not done yet, or does not go with what is there",
        413: "more was sent than is allowed",
        415: "content of another type",
        421: "another name of the service",
        422: "the content or a parameter is not allowed",
        429: "more text is waiting, or more requests came with one token, than may; Retry-After "
        "says for how long",
        503: "the service is ending, or not ready",
        507: "the disk of the service is full",
    }
)
_PART: Final = re.compile(r"{(\w+)(?::\w+)?}")


def _description_of(routes: Sequence[Endpoint], *, with_token: bool) -> dict[str, Any]:
    """Returns the OpenAPI description of some routes.

    Args:
        routes: of the service.
        with_token: whether they need a token.
    """
    kinds: list[Any] = [Problem]
    for endpoint in routes:
        kinds += [kind for kind in (endpoint.body, endpoint.answers) if kind not in (None, bytes)]
    schemas, components = _plain(
        msgspec.json.schema_components(
            list(dict.fromkeys(kinds)), ref_template="#/components/schemas/{name}"
        )
    )
    by_kind = dict(zip(dict.fromkeys(kinds), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in routes:
        paths.setdefault(_PART.sub(r"{\1}", endpoint.path), {})[endpoint.method.lower()] = (
            _operation(endpoint, by_kind)
        )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Fascicle",
            "version": VERSION,
            "description": "Named entities and concepts of texts.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}
            if with_token
            else {},
        },
        "security": [{"token": []}] if with_token else [],
    }


def _plain(schema: Any) -> Any:
    """Returns a schema in which arrays with one schema for each place are arrays with one for all
    places.

    Generators of clients, such as openapi-python-client, know no others.
    """
    if isinstance(schema, list | tuple):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {name: _plain(part) for name, part in schema.items() if name != "prefixItems"}
    if parts := schema.get("prefixItems"):
        kinds = [
            part
            for at, part in enumerate(map(_plain, parts))
            if part not in [*map(_plain, parts)][:at]
        ]
        plain["items"] = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    return plain


def _operation(endpoint: Endpoint, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    success = {str(endpoint.status): {"description": endpoint.means, **_answer(endpoint, schemas)}}
    problems = {str(status): _problem(status, schemas) for status in _problems_of(endpoint)}
    operation: dict[str, Any] = {
        "summary": endpoint.means,
        "operationId": endpoint.handle.__name__,
        "parameters": [
            *map(_path_parameter, _PART.findall(endpoint.path)),
            *map(_query_parameter, endpoint.query),
        ],
        "responses": success | problems,
    }
    if endpoint.open:
        operation["security"] = []
    if endpoint.body is not None:
        content = _content(endpoint.body, schemas)
        if endpoint.example is not None:
            content["example"] = endpoint.example
        operation["requestBody"] = {
            "required": True,
            "content": dict.fromkeys(endpoint.takes or (ANY,), content),
        }
    return operation


def _path_parameter(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _query_parameter(query: QueryParameter) -> dict[str, Any]:
    return {
        "name": query.name,
        "in": "query",
        "required": query.needed,
        "description": query.means,
        "schema": _plain(msgspec.json.schema(query.type)),
    }


def _answer(endpoint: Endpoint, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    """Returns the content of a response in the description; only its first media type has a
    schema.
    """
    if endpoint.answers is None:
        return {}
    first, *alternatives = endpoint.gives
    return {
        "content": {
            first: _content(endpoint.answers, schemas),
            **{kind: {} for kind in alternatives},
        }
    }


def _problems_of(endpoint: Endpoint) -> list[int]:
    return sorted(
        {*_EVERYWHERE, *endpoint.problems, *(_WITH_BODY if endpoint.body is not None else ())}
        - {endpoint.status}
    )


def _content(kind: Any, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    return {"schema": {"type": "string", "format": "binary"} if kind is bytes else schemas[kind]}


def _problem(status: int, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    means = _MEANS.get(status, HTTPStatus(status).phrase)
    response: dict[str, Any] = {
        "description": means,
        "content": {MEDIA_TYPE: {"schema": schemas[Problem]}},
    }
    if status == 429:
        response["headers"] = {
            "Retry-After": {"schema": {"type": "integer"}, "description": "seconds"}
        }
    return response


_LOGGER: Final = logging.getLogger("fascicle.serving")
_SHORT: Final = 1_024  # bytes of a response that is not worth packing
_LEVEL: Final = 5  # of packing
_FORMS: Final = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data")
_INDEX: Final = "index.html"
_OF_FILES: Final = ("GET", "HEAD")  # methods of the files of the page


def create_app(
    pipelines: Pipeline | Mapping[str, Served],
    settings: ServeSettings | None = None,
    *,
    routes: Sequence[Endpoint] = ROUTES,
    log: WriteLog | None = None,
) -> Starlette:
    """Makes the app; the pipelines are opened when the app starts.

    Args:
        pipelines: by the names under which they are served, or an open one under its own name.
            Functions that open pipelines are called in processes of their own; they may have
            ``limits`` of these, and ``examples``. An open pipeline runs in this process, so a text
            that crashes it crashes the service.
        settings: limits of the service, and its access rules.
        routes: of the service.
        log: function that is called for every request; by default, the logger ``fascicle.serving``
            writes JSON.

    Raises:
        UsageError: no pipeline.
    """
    settings = settings or ServeSettings()
    by_name = {pipelines.name: pipelines} if isinstance(pipelines, Pipeline) else dict(pipelines)
    if not by_name:
        raise UsageError("a service needs at least one pipeline; give one")
    return app_of(service_of(by_name, settings), routes=routes, log=log)


def service_of(pipelines: Mapping[str, Served], settings: ServeSettings) -> Service:
    """Makes a service with its workers; nothing is started yet.

    Args:
        pipelines: by the names under which they are served: functions that open them, for workers
            in processes of their own, which they must reach by pickling; or open pipelines, which
            are run in this process.
        settings: limits of the service.

    Raises:
        UsageError: a project without a file of decisions, or without named tokens.
    """
    pools = {
        name: Pool(
            _maker(name, served, settings.seconds),
            workers=1 if isinstance(served, Pipeline) else settings.workers,
            batch=settings.batch,
            queue=settings.queue,
        )
        for name, served in pipelines.items()
    }
    reader = partial(ProcessWorker, FileWork, Limits(memory=2_048), longest=settings.seconds)
    return Service(
        pools,
        files=Pool(reader, workers=1, batch=1, queue=settings.queue),
        jobs=Jobs(pipelines, settings, do=do_job),
        settings=settings,
    )


def _maker(name: str, served: Served, longest: float) -> Callable[[], Worker]:
    if isinstance(served, Pipeline):
        return partial(LocalWorker, PipelineWork(served, name))
    limits = getattr(served, "limits", None) or Limits()
    return partial(ProcessWorker, partial(open_work, served, name), limits, longest=longest)


def app_of(
    service: Service, *, routes: Sequence[Endpoint] = ROUTES, log: WriteLog | None = None
) -> Starlette:
    """Makes the app of a service, which may be started already; see `create_app`."""
    settings = service.settings

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await asyncio.to_thread(service.start)
        yield
        await asyncio.to_thread(service.close)

    tell = log or _log

    def see(facts: dict[str, Any]) -> None:
        service.metrics.see(facts)
        tell(facts)

    guard = Middleware(
        Guard,
        current=lambda: service.settings,
        open_paths=[endpoint.path for endpoint in routes if endpoint.open],
        log=see,
    )
    app = Starlette(
        routes=[
            *(_route(endpoint, service) for endpoint in routes),
            *(_page() if settings.page else ()),
        ],
        middleware=[guard],
        exception_handlers={
            ProblemError: _respond_to_error,
            FascicleError: _respond_to_error,
            HTTPException: _respond_to_status,
            OSError: _respond_to_full_disk,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.description = msgspec.json.encode(
        _description_of(routes, with_token=settings.guarded)
    )
    app.state.service = service
    return app


def _route(endpoint: Endpoint, service: Service) -> Route:
    async def answer(request: Request) -> Response:
        who: NamedToken = request.state.who
        if not who.may(endpoint.role):
            raise ProblemError(
                403,
                f"this needs the token of a {endpoint.role}, and that of {who.name!r} is one of "
                f"a {who.role}",
            )
        check_once(request)
        _check_type(request, endpoint)
        return await _pack(request, await endpoint.handle(request, service))

    return Route(endpoint.path, answer, methods=[endpoint.method], name=endpoint.handle.__name__)


async def _pack(request: Request, response: Response) -> Response:
    """Packs the text of a whole response, if the client takes it; streams and files stay as they
    are.
    """
    body = response.body if type(response) is Response else b""
    if len(body) < _SHORT or response.media_type in (None, ANY):
        return response
    response.headers.add_vary_header("Accept-Encoding")
    if takes_gzip(request):
        response.body = await asyncio.to_thread(gzip.compress, bytes(body), _LEVEL, mtime=0)
        response.headers["Content-Encoding"] = "gzip"
        response.headers["Content-Length"] = str(len(response.body))
    return response


def _check_type(request: Request, endpoint: Endpoint) -> None:
    """Raises an error for a wrong content type; those of HTML forms are never allowed: any web
    page can send them.
    """
    if endpoint.body is None:
        return
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media in _FORMS or (endpoint.takes and media not in endpoint.takes):
        allowed = " or ".join(endpoint.takes) or "application/octet-stream"
        raise ProblemError(415, f"content of the type {media[:100]!r} is not taken; send {allowed}")


def _page() -> Sequence[BaseRoute]:
    folder = Path(str(resources.files("fascicle"))) / "serving" / "page"

    async def index(request: Request) -> Response:
        return Response((folder / _INDEX).read_bytes(), media_type="text/html")

    if not (folder / _INDEX).is_file():
        return ()
    return (
        Route("/", index, methods=["GET"]),
        Mount(PAGE.rstrip("/"), StaticFiles(directory=folder)),
    )


async def _respond_to_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ProblemError | FascicleError)
    problem = ProblemError.of(error) if isinstance(error, FascicleError) else error
    return problem_response(problem.problem, problem.headers)


_SENTENCES: Final[Mapping[int, str]] = {
    404: "there is nothing here; GET /openapi.json lists what there is",
    405: "this path has other methods; GET /openapi.json lists them",
}


async def _respond_to_status(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail, headers = _SENTENCES.get(error.status_code, error.detail), error.headers
    # the router names the methods of one route alone
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        routes = [
            route
            for route in request.app.routes
            if isinstance(route, Route) and route.matches(request.scope)[0] != Match.NONE
        ]
        methods = sorted({method for route in routes for method in route.methods or ()})
        headers = {"Allow": ", ".join(methods or _OF_FILES)}
    return problem_response(make_problem(error.status_code, detail), headers)


async def _respond_to_full_disk(request: Request, error: Exception) -> Response:
    if not (
        isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    ):
        raise error
    return problem_response(
        make_problem(507, "the disk of the service is full; send less, or remove jobs")
    )


def _log(facts: dict[str, Any]) -> None:
    _LOGGER.info(msgspec.json.encode(facts).decode())
