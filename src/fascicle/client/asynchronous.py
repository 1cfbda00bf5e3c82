"""A client for programs that do other things meanwhile."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any, Self

import httpx2

from fascicle.client import calls
from fascicle.client.calls import Answer, Call, Choice, ServiceError
from fascicle.client.settings import ClientSettings
from fascicle.client.sync import headers_of, lost, settings_of
from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.core.stream import Given
from fascicle.errors import InputError
from fascicle.serving.messages import PipelineFacts
from fascicle.serving.records import ConceptAnswer, Decisions, Pipelines


class AsyncClient:
    """A client of a service, as `fascicle.client.sync.Client`, whose methods are awaited."""

    def __init__(self, url: str, *, token: str = "", settings: ClientSettings | None = None) -> None:
        """Connects to nothing yet; see `fascicle.client.sync.Client`."""
        self._settings = settings_of(url, token, settings)
        self._http = httpx2.AsyncClient(
            base_url=url.rstrip("/"), headers=headers_of(token), timeout=self._settings.seconds, trust_env=False
        )

    async def __aenter__(self) -> Self:
        """Itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Closes it."""
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def pipelines(self) -> tuple[PipelineFacts, ...]:
        """What is served."""
        return calls.decoded(await self.call(Call(method="GET", path="/v1/pipelines")), Pipelines).pipelines

    async def annotate(self, documents: Iterable[Given], **choice: Any) -> list[Document]:
        """Annotates texts, pairs ``(id, text)``, or documents; see `stream`."""
        return [document async for document in self.stream(documents, **choice)]

    async def stream(
        self, documents: Iterable[Given], *, aside: Callable[[InputError], None] | None = None, **choice: Any
    ) -> AsyncIterator[Document]:
        """Annotates any number of documents, in order; see `fascicle.client.sync.Client.stream`."""
        asked = Choice(**choice)
        running: deque[asyncio.Task[list[Answer]]] = deque()
        try:
            for portion in calls.portions(documents):
                running.append(asyncio.create_task(self._answers(portion, asked)))
                while len(running) >= self._settings.ahead:
                    for document in calls.done(await running.popleft(), aside):
                        yield document
            while running:
                for document in calls.done(await running.popleft(), aside):
                    yield document
        finally:
            for one in running:
                one.cancel()

    async def write(self, documents: Iterable[Document], *, format: str = "jsonl") -> bytes:  # noqa: A002
        """Documents as a file in any format, written by the service."""
        return await self.call(calls.write(list(documents), format))

    async def concept(self, curie: str, *, pipeline: str = "") -> ConceptAnswer:
        """A concept of a pipeline."""
        return calls.decoded(await self.call(calls.concept(curie, pipeline)), ConceptAnswer)

    async def why(self, document: Document, *, pipeline: str = "", candidates: int = 5) -> Decisions:
        """Why the mentions of a document are linked as they are."""
        params = {"candidates": candidates, **Choice(pipeline=pipeline).params}
        call = Call(method="POST", path="/v1/why", params=params, content=codec.encode(document))
        return calls.decoded(await self.call(call), Decisions)

    async def call(self, call: Call) -> bytes:
        """The content of the answer to a request; see `fascicle.client.sync.Client.call`."""
        for attempt in range(1, self._settings.attempts + 1):
            last = attempt == self._settings.attempts
            try:
                found = await self._http.request(
                    call.method, call.path, params=call.params, content=call.content, headers=call.headers
                )
            except httpx2.TransportError as error:
                if last or not (call.again or isinstance(error, httpx2.ConnectError)):
                    raise lost(error) from None
                await asyncio.sleep(calls.pause(attempt, ""))
                continue
            if found.is_success:
                return found.content
            if last or not calls.asked_again(call, found.status_code, found.content):
                raise calls.error_of(found.status_code, found.content)
            await asyncio.sleep(calls.pause(attempt, found.headers.get("retry-after", "")))
        raise AssertionError("the last attempt ends the loop")

    async def _answers(self, documents: list[Document], choice: Choice) -> list[Answer]:
        try:
            return calls.answers(await self.call(calls.annotate(documents, choice)), documents)
        except ServiceError as error:
            if error.status != calls.TOO_LARGE or len(documents) == 1:
                raise
        first, second = calls.halves(documents)
        return [*await self._answers(first, choice), *await self._answers(second, choice)]
