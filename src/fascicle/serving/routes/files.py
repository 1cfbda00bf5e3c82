"""Routes that read files of any format as documents, and write documents as files."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fascicle.core import codec
from fascicle.formats.catalogue import FORMATS
from fascicle.serving.asked import check_names, json_of, plain_name, readable, save, suffix_of, writable
from fascicle.serving.endpoint import ANY, JSON, Endpoint, Query, file_answer, folder_for_files, read_file, write_file
from fascicle.serving.problems import ProblemError
from fascicle.serving.records import Documents, FileFormat, FileFormats, RawDocuments, ReadAnswer
from fascicle.serving.service import Service

_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]


async def formats(request: Request, service: Service) -> Response:
    """Returns the formats."""
    found = tuple(
        FileFormat(
            name=form.name,
            means=form.means,
            suffixes=form.suffixes,
            reads=bool(form.reads),
            writes=bool(form.writes),
            suffix=suffix_of(form) if form.suffixes else "",
        )
        for form in FORMATS.values()
    )
    return Response(msgspec.json.encode(FileFormats(formats=found)), media_type=JSON)


async def read(request: Request, service: Service) -> Response:
    """Returns the documents of a file."""
    check_names(request, ("name", "format"))
    name, form = request.query_params.get("name", ""), readable(request.query_params.get("format", "auto"))
    if not name:
        raise ProblemError(422, "the name of the file is missing; its suffix tells the format: ?name=articles.pubtator")
    async with folder_for_files() as folder:
        path = folder / plain_name(name)
        await save(request, service.settings, path, most=service.settings.body)
        found = await read_file(service, path, form)
    if found.problems and not found.documents:
        raise ProblemError(422, found.problems[0], code="format")
    answer = {name: getattr(found, name) for name in ("documents", "format", "notes", "problems")}
    return Response(msgspec.json.encode(answer), media_type=JSON)


async def write(request: Request, service: Service) -> Response:
    """Returns documents as a file."""
    check_names(request, ("format",))
    form = writable(request.query_params.get("format", "jsonl"))
    raw = (await json_of(request, service.settings, RawDocuments)).documents
    documents = [msgspec.Raw(codec.encode(one)) for one in service.documents(raw)]
    content, losses = await write_file(service, documents, form)
    return file_answer(content, f"documents{suffix_of(form)}", losses)


_FORMAT: Final = Query(name="format", type=str, means="name of the format, one of GET /v1/formats")
ROUTES: Final = (
    Endpoint(method="GET", path="/v1/formats", handle=formats, means="formats of files", answers=FileFormats),
    Endpoint(
        method="POST",
        path="/v1/read",
        handle=read,
        means="read a file in any format",
        query=(
            Query(
                name="name", type=_Name, means="name of the file, whose suffix helps to tell the format", needed=True
            ),
            _FORMAT,
        ),
        body=bytes,
        takes=(),
        answers=ReadAnswer,
        problems=(413, 429),
    ),
    Endpoint(
        method="POST",
        path="/v1/write",
        handle=write,
        means="write documents as a file in any format; the header Fascicle-Losses says what it cannot hold",
        query=(_FORMAT,),
        body=Documents,
        answers=bytes,
        gives=(ANY,),
        problems=(413, 429),
        example={"documents": [{"id": "a", "text": "Lithium can cause tremor."}]},
    ),
)
