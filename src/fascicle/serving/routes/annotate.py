"""Routes that annotate documents: all at once, or line by line."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Collection,
    Coroutine,
    Sequence,
)
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fascicle.core.document import Document
from fascicle.core.wording import plural, typo_hint
from fascicle.formats.catalogue import format_named
from fascicle.serving.content import (
    MEDIA_TYPES,
    Candidates,
    Score,
    check_names,
    media_type,
    read_chunks,
    read_json,
    read_options,
)
from fascicle.serving.endpoint import (
    JSON,
    NDJSON,
    PIPELINE_QUERY,
    Endpoint,
    QueryParameter,
    json_answer,
    pool_of,
    write_file,
)
from fascicle.serving.guard import PieceResponse
from fascicle.serving.messages import Options
from fascicle.serving.pool import Pool
from fascicle.serving.problems import MEDIA_TYPE, ProblemError
from fascicle.serving.records import (
    Answers,
    DocumentAnswer,
    Documents,
    PipelineFacts,
    RawAnswer,
    RawAnswers,
    RawDocuments,
)
from fascicle.serving.service import Service

_AHEAD: Final = 64  # documents of a stream that are waiting or being processed
_ENCODER: Final = msgspec.json.Encoder()
_QUERY: Final = (
    PIPELINE_QUERY,
    QueryParameter(name="threshold", type=Score, means="leave out mentions with a lower score"),
    QueryParameter(
        name="only", type=str, means="only mentions of these types, separated by commas"
    ),
    QueryParameter(name="links", type=bool, means="false: leave out the steps that only link"),
    QueryParameter(
        name="candidates",
        type=Candidates,
        means="tell so many concepts of each mention, the best first",
    ),
    QueryParameter(name="steps", type=str, means="do only these steps, separated by commas"),
)
_NAMES: Final = tuple(query.name for query in _QUERY)


async def annotate(request: Request, service: Service) -> Response:
    """Annotates documents."""
    check_names(request, _NAMES)
    form = media_type(request, (JSON, *MEDIA_TYPES))
    pool, options = _pool_and_options(request, service)
    raw = (await read_json(request, service.settings, RawDocuments)).documents
    if len(raw) > (most := service.settings.documents):
        raise ProblemError(
            413, f"{len(raw):,} documents were sent at once, and {most:,} are allowed; send fewer"
        )
    inputs = [
        service.read(bytes(document), name=f"text-{at}") for at, document in enumerate(raw, start=1)
    ]
    has_mentions = any(isinstance(item, Document) and item.mentions for item in inputs)
    _check_steps(pool.facts, options.steps, parts={"mentions"} if has_mentions else set())
    answers = await service.annotate(pool, inputs, options)
    request.state.facts = _log_facts(inputs, answers)
    if form == JSON:
        return json_answer(RawAnswers(documents=tuple(answers)))
    return await _in_format(service, answers, form)


def _pool_and_options(request: Request, service: Service) -> tuple[Pool, Options]:
    """Returns the workers and the options that a request asks for.

    Raises:
        ProblemError: there is no such pipeline, or it has no step that finds such a type.
    """
    pool, options = pool_of(request, service), read_options(request)
    facts = pool.facts
    if (
        facts is not None
        and facts.all_types
        and (unknown := sorted({*options.only} - {*facts.types}))
    ):
        raise ProblemError(
            422,
            f"{facts.name} does not look for the type "
            f"{unknown[0][:100]!r}{typo_hint(unknown[0], facts.types)}; its "
            f"types are {', '.join(facts.types)}; a type that its model keeps apart is named "
            "by only in the pipeline",
            code="unknown-name",
        )
    return pool, options


def _check_steps(
    facts: PipelineFacts | None, names: Sequence[str], *, parts: Collection[str]
) -> None:
    """Raises an error for names of steps that do not fit together.

    Args:
        facts: of the pipeline.
        names: of the steps to do; all fit if there are none.
        parts: of documents that are there before.

    Raises:
        ProblemError: there is no such step, or one needs what none before it gives.
    """
    steps = facts.steps if facts else ()
    step_names = [step.name for step in steps]
    if unknown := [name for name in names if name not in step_names]:
        raise ProblemError(
            422,
            f"there is no step {unknown[0][:100]!r}{typo_hint(unknown[0], step_names)}; the steps "
            f"are {', '.join(step_names) or 'none'}",
            code="unknown-name",
        )
    missing = {part for step in steps for part in step.gives} - {*parts}
    for step in steps if names else ():
        if step.name in names:
            if lacking := sorted(missing.intersection(step.needs)):
                raise ProblemError(
                    422,
                    f"the step {step.name!r} needs {lacking[0]}, which no chosen step before it "
                    "gives; choose such a step too",
                )
            missing -= {*step.gives}


async def _in_format(service: Service, answers: list[RawAnswer], form: str) -> Response:
    """Writes documents in a format that cannot hold problems; responds with the problems if any
    document failed.
    """
    if wrong := [answer for answer in answers if answer.problem is not None]:
        content = _ENCODER.encode(
            {
                "title": "Not all documents are done",
                "status": 422,
                "detail": f"{plural(len(wrong), 'document')} of {len(answers):,} not done, which "
                f"{form} cannot say; "
                f"take {JSON}, or leave them out",
                "code": "prediction",
                "type": "about:blank",
                "documents": wrong,
            }
        )
        return Response(content, 422, media_type=MEDIA_TYPE)
    documents = [answer.document for answer in answers if isinstance(answer.document, msgspec.Raw)]
    content, losses = await write_file(service, documents, format_named(MEDIA_TYPES[form]))
    return Response(content, media_type=form, headers={"Fascicle-Losses": losses})


def _log_facts(inputs: list[Document | RawAnswer], answers: list[RawAnswer]) -> dict[str, object]:
    """Returns the facts about documents that may be logged: counts and lengths."""
    return {
        "characters": sum(len(item.text) for item in inputs if isinstance(item, Document)),
        "documents": Counter(answer.status for answer in answers),
    }


async def stream(request: Request, service: Service) -> Response:
    """Annotates documents line by line, while they arrive."""
    check_names(request, _NAMES)
    media_type(request, (NDJSON, JSON))
    pool, options = _pool_and_options(request, service)
    _check_steps(pool.facts, options.steps, parts={"mentions"})  # each document may have some
    ahead = _Ahead(most=service.settings.queue)
    documents = _documents(_lines(request, service), service)

    def annotate(document: Document | RawAnswer) -> Coroutine[Any, Any, list[RawAnswer]]:
        return service.annotate(pool, [document], options, waits=True)

    async def lines() -> AsyncGenerator[bytes, None]:
        reading = asyncio.create_task(ahead.fill(documents, annotate))
        try:
            async for line in _encode_answers(ahead, counts):
                yield line
        finally:
            reading.cancel()
            ahead.cancel()

    counts: Counter[str] = Counter()
    request.state.facts = {"documents": counts}
    return PieceResponse(lines(), media_type=NDJSON, idle=service.settings.idle)


async def _encode_answers(ahead: _Ahead, counts: Counter[str]) -> AsyncIterator[bytes]:
    """Yields a line for each answer, and counts them by status."""
    while (entry := await ahead.get()) is not None:
        if isinstance(entry, ProblemError):
            yield _ENCODER.encode({"problem": entry.problem}) + b"\n"
        else:
            (answer,) = await entry
            counts[answer.status] += 1
            yield _ENCODER.encode(answer) + b"\n"


class _Ahead:
    """Queue of responses not sent yet; while it is long, no more of the content is read."""

    def __init__(self, *, most: int) -> None:
        self._most, self._characters = most, 0
        self._queue: asyncio.Queue[
            tuple[asyncio.Task[list[RawAnswer]] | ProblemError | None, int]
        ] = asyncio.Queue()
        self._room = asyncio.Condition()

    async def fill(
        self,
        documents: AsyncIterator[Document | RawAnswer],
        annotate: Callable[[Document | RawAnswer], Coroutine[Any, Any, list[RawAnswer]]],
    ) -> None:
        """Puts in the answers of all documents, the problem that ends them, and ``None``."""
        try:
            async for document in documents:
                size = len(document.text) if isinstance(document, Document) else 0
                await self.put(asyncio.create_task(annotate(document)), size)
        except ProblemError as error:
            await self.put(error, 0)
        finally:
            await self.put(None, 0)

    async def put(
        self, entry: asyncio.Task[list[RawAnswer]] | ProblemError | None, characters: int
    ) -> None:
        async with self._room:
            await self._room.wait_for(
                lambda: self._characters <= self._most and self._queue.qsize() < _AHEAD
            )
            self._characters += characters
            self._queue.put_nowait((entry, characters))

    async def get(self) -> asyncio.Task[list[RawAnswer]] | ProblemError | None:
        entry, characters = await self._queue.get()
        if isinstance(entry, asyncio.Task):
            await asyncio.wait([entry])
        async with self._room:
            self._characters -= characters
            self._room.notify_all()
        return entry

    def cancel(self) -> None:
        while not self._queue.empty():
            entry, _ = self._queue.get_nowait()
            if isinstance(entry, asyncio.Task):
                entry.cancel()


async def _documents(
    lines: AsyncIterator[bytes], service: Service
) -> AsyncIterator[Document | RawAnswer]:
    number = 0
    async for line in lines:
        if line.strip():
            number += 1
            yield service.read(line, name=f"text-{number}")


async def _lines(request: Request, service: Service) -> AsyncIterator[bytes]:
    """Yields the lines of the content; a line above the size limit for a request ends the
    reading.
    """
    parts: list[bytes] = []
    size = 0
    async for chunk in read_chunks(request, service.settings, most=1 << 62, paced=False):
        first, *rest = chunk.split(b"\n")
        parts.append(first)
        size += len(first)
        if size > service.settings.body:
            raise ProblemError(
                413, f"a line has more than {service.settings.body:,} bytes; divide its document"
            )
        for line in rest:
            yield b"".join(parts)
            parts, size = [line], len(line)
    yield b"".join(parts)


_EXAMPLE: Final = {"documents": [{"id": "a", "text": "Lithium can cause tremor."}]}
ROUTES: Final = (
    Endpoint(
        method="POST",
        path="/v1/annotate",
        handle=annotate,
        means="annotate documents",
        query=_QUERY,
        body=Documents,
        answers=Answers,
        gives=(JSON, *MEDIA_TYPES),
        problems=(404, 406, 413, 429),
        example=_EXAMPLE,
    ),
    Endpoint(
        method="POST",
        path="/v1/stream",
        handle=stream,
        means="annotate any number of documents, one on each line, while they come",
        query=_QUERY,
        body=bytes,
        takes=(NDJSON,),
        answers=DocumentAnswer,
        gives=(NDJSON,),
        problems=(404, 406, 429),
    ),
)
