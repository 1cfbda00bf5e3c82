"""Definition of a route: its inputs, its response and its function; and what routes have in
common, such as files.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fascicle.formats.catalogue import Format
from fascicle.serving.content import format_suffix
from fascicle.serving.curation.rows import DamagedError
from fascicle.serving.curation.store import ConflictError, Store, UnknownDocumentError
from fascicle.serving.messages import FileRead, FileWritten, ReadFile, WriteFile, Wrong
from fascicle.serving.pool import Pool, Task, WorkerAnswer
from fascicle.serving.problems import STATUS, ProblemError
from fascicle.serving.service import Service, task_failure
from fascicle.settings.serving import Role

T = TypeVar("T")
_ENCODER: Final = msgspec.json.Encoder()


_Handle = Callable[[Request, Service], Awaitable[Response]]
JSON = "application/json"
NDJSON = "application/x-ndjson"
ANY = "application/octet-stream"


@dataclass(frozen=True, kw_only=True)
class QueryParameter:
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
        role: the role that a named token needs.
    """

    method: str
    path: str
    handle: _Handle
    means: str
    query: tuple[QueryParameter, ...] = ()
    body: Any = None
    takes: tuple[str, ...] = (JSON,)
    answers: Any = bytes
    gives: tuple[str, ...] = (JSON,)
    status: int = 200
    problems: tuple[int, ...] = ()
    example: Any = None
    open: bool = False
    role: Role = "curator"


PIPELINE_QUERY: Final = QueryParameter(
    name="pipeline", type=str, means="name of the pipeline; by default the first one"
)


async def use_store(service: Service, does: Callable[[Store], T]) -> T:
    """Runs a function with the store, and converts its errors to problems.

    Raises:
        ProblemError: no decisions are kept here, or what was asked for cannot be done.
    """
    store = service.curation
    if store is None:
        raise ProblemError(
            404,
            "no decisions are kept here; start one service for all curators, with `fascicle "
            "serve --curation FILE`",
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
        raise ProblemError(
            409, f"the file of decisions is damaged ({error}); repair it", code="damaged"
        ) from None


def _not_usable(error: sqlite3.OperationalError) -> ProblemError:
    """Makes the problem for a file that cannot be used: it is locked, or its disk is full or
    read-only.
    """
    if error.sqlite_errorcode == sqlite3.SQLITE_FULL:
        return ProblemError(
            507,
            "the disk of the service is full, and nothing was saved; make room, and send this "
            "again",
        )
    return ProblemError(
        503,
        f"the file of decisions cannot be used now ({error}), and nothing was saved; send this "
        "again later",
        headers={"Retry-After": "5"},
    )


def required_parameter(request: Request, name: str) -> str:
    """Returns the value of a query parameter.

    Raises:
        ProblemError: it is missing.
    """
    if not (value := request.query_params.get(name, "")):
        raise ProblemError(422, f"the parameter {name} is missing")
    return value


def pool_of(request: Request, service: Service) -> Pool:
    """Returns the workers of the pipeline that a request asks for, by default the first one.

    Raises:
        ProblemError: there is none of this name.
    """
    return service.pool(request.query_params.get("pipeline", ""))


def json_answer(content: Any, status: int = 200) -> Response:
    """Makes the response that sends JSON."""
    return Response(_ENCODER.encode(content), status, media_type=JSON)


@asynccontextmanager
async def folder_for_files() -> AsyncIterator[Path]:
    """Yields a temporary folder that is removed at the end of the block."""
    with tempfile.TemporaryDirectory(
        prefix="fascicle-serve-", ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


async def read_file(
    service: Service, path: Path, format_name: str, *, encoding: str = "auto", column: str = ""
) -> FileRead:
    """Reads the documents of a file in a worker; see `ReadFile`.

    Raises:
        ProblemError: it cannot be read, or has too many documents.
    """
    settings = service.settings
    order = ReadFile(
        path=str(path),
        format=format_name,
        documents=settings.documents,
        characters=settings.body,
        encoding=encoding,
        column=column,
    )
    answer = await _run_task(service, Task(order=order, characters=path.stat().st_size))
    assert isinstance(answer, FileRead)
    return answer


async def write_file(
    service: Service, documents: Sequence[msgspec.Raw], form: Format
) -> tuple[bytes, str]:
    """Writes documents to a file in a worker; returns its content and the losses.

    Args:
        service: with the worker.
        documents: as `fascicle.core.codec` writes them.
        form: a format.

    Returns:
        The content, and what the format cannot hold, such as ``"scores=3, link-names=2"``.

    Raises:
        ProblemError: the format cannot hold a document at all.
    """
    async with folder_for_files() as folder:
        path = folder / f"documents{format_suffix(form)}"
        order = WriteFile(documents=tuple(documents), format=form.name, path=str(path))
        answer = await _run_task(
            service,
            Task(order=order, characters=sum(len(bytes(document)) for document in documents)),
        )
        assert isinstance(answer, FileWritten)
        content = await asyncio.to_thread(path.read_bytes)
        return content, ", ".join(f"{code}={count}" for code, count in answer.losses.items())


def file_answer(content: bytes | str, name: str, losses: str = "") -> Response:
    """Makes the response that sends a file.

    Args:
        content: of the file.
        name: of the file.
        losses: what its format cannot hold, as of `write_file`.
    """
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Fascicle-Losses": losses}
    return Response(content, media_type="application/octet-stream", headers=headers)


async def _run_task(service: Service, task: Task) -> WorkerAnswer:
    (answer,) = await service.ask(service.files, [task])
    if answer is None:
        raise ProblemError(
            504, f"the file was not done within {service.settings.seconds:g} s; send less at once"
        )
    if isinstance(answer, Wrong) and answer.code:
        raise ProblemError(STATUS.get(answer.code, 422), answer.message, code=answer.code)
    if not isinstance(answer, FileRead | FileWritten):
        failure = task_failure(answer)
        raise ProblemError(
            422, f"the file cannot be used ({failure.error}); check its content", code="unreadable"
        )
    return answer
