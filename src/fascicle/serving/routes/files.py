"""Routes for files: those that clients send to be read or written, and jobs that annotate files in
the background.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Annotated, Final

import msgspec
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from fascicle.core import codec
from fascicle.formats.catalogue import FORMATS
from fascicle.serving.content import (
    check_names,
    check_readable,
    find_writable,
    format_suffix,
    plain_name,
    query_value,
    read_json,
    save_content,
)
from fascicle.serving.endpoint import (
    ANY,
    JSON,
    Endpoint,
    QueryParameter,
    file_answer,
    folder_for_files,
    json_answer,
    read_file,
    write_file,
)
from fascicle.serving.jobs import Job, JobList
from fascicle.serving.problems import ProblemError
from fascicle.serving.records import Documents, FileFormat, FileFormats, RawDocuments, ReadAnswer
from fascicle.serving.service import Service

_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]


async def formats(request: Request, service: Service) -> Response:
    """Returns the formats."""
    facts = tuple(
        FileFormat(
            name=form.name,
            means=form.means,
            suffixes=form.suffixes,
            reads=bool(form.reads),
            writes=bool(form.writes),
            suffix=format_suffix(form) if form.suffixes else "",
        )
        for form in FORMATS.values()
    )
    return json_answer(FileFormats(formats=facts))


async def read(request: Request, service: Service) -> Response:
    """Returns the documents of a file."""
    check_names(request, ("name", "format", "encoding", "column"))
    encoding = request.query_params.get("encoding", "auto")
    column = request.query_params.get("column", "")
    name, form = (
        request.query_params.get("name", ""),
        check_readable(request.query_params.get("format", "auto")),
    )
    if not name:
        raise ProblemError(
            422,
            "the name of the file is missing; its suffix tells the format: ?name=articles.pubtator",
        )
    async with folder_for_files() as folder:
        path = folder / plain_name(name)
        await save_content(request, service.settings, path, most=service.settings.body)
        file = await read_file(service, path, form, encoding=encoding, column=column)
    if file.problems and not file.documents:
        raise ProblemError(422, file.problems[0], code="format")
    answer = {name: getattr(file, name) for name in ("documents", "format", "notes", "problems")}
    return json_answer(answer)


async def write(request: Request, service: Service) -> Response:
    """Returns documents as a file."""
    check_names(request, ("format",))
    form = find_writable(request.query_params.get("format", "jsonl"))
    raw = (await read_json(request, service.settings, RawDocuments)).documents
    documents = [msgspec.Raw(codec.encode(document)) for document in service.documents(raw)]
    content, losses = await write_file(service, documents, form)
    return file_answer(content, f"documents{format_suffix(form)}", losses)


_FORMAT: Final = QueryParameter(
    name="format", type=str, means="name of the format, one of GET /v1/formats"
)
ROUTES: Final = (
    Endpoint(
        method="GET",
        path="/v1/formats",
        handle=formats,
        means="formats of files",
        answers=FileFormats,
    ),
    Endpoint(
        method="POST",
        path="/v1/read",
        handle=read,
        means="read a file in any format",
        query=(
            QueryParameter(
                name="name",
                type=_Name,
                means="name of the file, whose suffix helps to tell the format",
                needed=True,
            ),
            _FORMAT,
            QueryParameter(name="encoding", type=str, means="of the file; by default detected"),
            QueryParameter(
                name="column", type=str, means="of a table or of records, which has the texts"
            ),
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
        means="write documents as a file in any format; the header Fascicle-Losses says what it "
        "cannot hold",
        query=(_FORMAT,),
        body=Documents,
        answers=bytes,
        gives=(ANY,),
        problems=(413, 429),
        example={"documents": [{"id": "a", "text": "Lithium can cause tremor."}]},
    ),
)


async def submit(request: Request, service: Service) -> Response:
    """Accepts a file, and returns the id of its job."""
    check_names(request, [query.name for query in _QUERY])
    params = request.query_params
    pipeline = service.name_of(params.get("pipeline", ""))
    texts: bool = query_value(request, "texts", bool, False)
    if not params.get("name"):
        raise ProblemError(
            422,
            "the name of the file is missing; its suffix tells the format: ?name=articles.jsonl",
        )
    if texts and "format" in params:
        raise ProblemError(
            422, "a job that only reads texts always writes JSON Lines; leave the format out"
        )
    new = service.jobs.open(
        pipeline=pipeline,
        # a folder of its own, for the name of the file is an id of documents
        file=f"input/{plain_name(params['name'])}",
        reading=check_readable(params.get("input_format", "auto")),
        format=find_writable(params.get("format", "jsonl")).name,
        who=request.state.who.name,
        kind="texts" if texts else "annotate",
    )
    path, most = service.jobs.path_of(new), service.settings.job
    return await begin_job(
        service, new, lambda _: save_content(request, service.settings, path, most=most)
    )


async def begin_job(
    service: Service, new: Job, place: Callable[[Job], Awaitable[None]]
) -> Response:
    """Queues a job when its file is there, and returns it; removes it if that fails.

    Args:
        service: with the job.
        new: the job.
        place: writes its file.
    """
    try:
        await place(new)
        content = msgspec.json.encode(service.jobs.begin(new))
    except BaseException:
        with suppress(ProblemError):  # it was removed meanwhile
            service.jobs.remove(new.id)
        raise
    return Response(content, 202, {"Location": f"/v1/jobs/{new.id}"}, JSON)


async def job(request: Request, service: Service) -> Response:
    """Returns the progress of a job."""
    return json_answer(own_job(request, service))


async def jobs(request: Request, service: Service) -> Response:
    """Returns all jobs that the token may see: its own, or for an administrator all."""
    check_names(request, ())
    visible = tuple(job for job in service.jobs.all() if _sees(request, job))
    return json_answer(JobList(jobs=visible))


def own_job(request: Request, service: Service) -> Job:
    """Returns a job that the token may see.

    Raises:
        ProblemError: there is none of this id.
    """
    job = service.jobs.get(request.path_params["id"])
    return job if _sees(request, job) else service.jobs.get("")


def _sees(request: Request, job: Job) -> bool:
    return job.who == request.state.who.name or bool(request.state.who.may("administrator"))


async def result(request: Request, service: Service) -> Response:
    """Returns the result of a job."""
    path = service.jobs.result(own_job(request, service).id)
    return FileResponse(path, media_type=ANY, filename=path.name)


async def cancel(request: Request, service: Service) -> Response:
    """Cancels a job, or removes one that has ended."""
    service.jobs.cancel(own_job(request, service).id)
    return Response(status_code=204)


_QUERY: Final = (
    QueryParameter(
        name="name",
        type=str,
        means="name of the file, whose suffix helps to tell the format",
        needed=True,
    ),
    QueryParameter(
        name="format", type=str, means="of the result, one of GET /v1/formats; by default jsonl"
    ),
    QueryParameter(
        name="input_format",
        type=str,
        means="of the file; by default its content and its suffix tell",
    ),
    QueryParameter(
        name="texts",
        type=bool,
        means="only read the texts, of all files if it is a zip; POST /v1/jobs/{id}/names then "
        "tries rows of curation on them",
    ),
    QueryParameter(
        name="pipeline", type=str, means="name of the pipeline; by default the first one"
    ),
)
JOB_ROUTES: Final = (
    Endpoint(
        method="POST",
        path="/v1/jobs",
        handle=submit,
        means="annotate a file as a job",
        query=_QUERY,
        body=bytes,
        takes=(),
        answers=Job,
        status=202,
        problems=(404, 413, 429, 501),
    ),
    Endpoint(
        method="GET",
        path="/v1/jobs",
        handle=jobs,
        means="all jobs of the token, with their states",
        answers=JobList,
    ),
    Endpoint(
        method="GET",
        path="/v1/jobs/{id}",
        handle=job,
        means="how far a job is",
        answers=Job,
        problems=(404,),
    ),
    Endpoint(
        method="GET",
        path="/v1/jobs/{id}/result",
        handle=result,
        means="the result of a job, as a file",
        gives=(ANY,),
        problems=(404, 409),
    ),
    Endpoint(
        method="DELETE",
        path="/v1/jobs/{id}",
        handle=cancel,
        means="cancel a job, or remove one that has ended",
        answers=None,
        status=204,
        problems=(404,),
    ),
)
