"""Clients of a service: a blocking one, and one for asyncio."""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Self

import httpx2

from fascicle.core.arguments import AnyPath, check_argument, check_optional
from fascicle.core.document import Document, TextInput
from fascicle.errors import InputError, UsageError
from fascicle.serving.client import calls
from fascicle.serving.client.calls import AnnotateOptions, Answer, Call, ServiceError
from fascicle.serving.records import ConceptAnswer, Decisions, Health, PipelineFacts, Pipelines


@dataclass(frozen=True, kw_only=True)
class ClientSettings:
    """Number of attempts, timeout and parallel requests of a client.

    Attributes:
        attempts: of a request, the first one among them; with pauses between them, eight take about
            half a minute.
        seconds: timeout for a response.
        ahead: number of portions of documents that are sent in parallel.
    """

    attempts: int = 8
    seconds: float = 180.0
    ahead: int = 4


class Client:
    """Client of a service; a context manager that closes its connections.

    Requests are sent again with growing pauses if the service is busy or the connection is lost.
    All requests except jobs change nothing, so they can be repeated safely.
    """

    def __init__(
        self, url: str, *, token: str = "", settings: ClientSettings | None = None
    ) -> None:
        """Creates the client; no connection is opened yet.

        Args:
            url: address of the service, such as ``"http://127.0.0.1:8080"``.
            token: of the service; by default that of the environment variable ``FASCICLE_TOKEN``.
            settings: number of attempts and timeout of requests.

        Raises:
            UsageError: an argument of another type, or an address that is none.
        """
        self._settings = _settings_of(url, token, settings)
        self._http = httpx2.Client(**_http_options(url, token, self._settings))

    def __enter__(self) -> Self:
        """Returns the client."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the client."""
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def health(self) -> Health:
        """Returns whether the service is ready; the request is not repeated."""
        response = self._http.get("/health")
        return calls.decode_content(response.content, Health)

    def pipelines(self) -> tuple[PipelineFacts, ...]:
        """Returns facts about the pipelines that are served."""
        return calls.decode_content(
            self.call(Call(method="GET", path="/v1/pipelines")), Pipelines
        ).pipelines

    def __call__(self, text: TextInput, **choice: Any) -> Document:
        """Annotates one text, pair ``(id, text)``, or document; see `stream`."""
        (document,) = self.stream([text], **choice)
        return document

    def annotate(self, documents: Iterable[TextInput], **choice: Any) -> list[Document]:
        """Annotates texts, pairs ``(id, text)``, or documents; see `stream`."""
        return list(self.stream(documents, **choice))

    def stream(
        self,
        documents: Iterable[TextInput],
        *,
        aside: Callable[[InputError], None] | None = None,
        **choice: Any,
    ) -> Iterator[Document]:
        """Annotates any number of documents, in order and in bounded memory.

        Args:
            documents: texts, pairs ``(id, text)``, or documents; several portions are sent in
                parallel.
            aside: function that is called with an error for each document that is not done, and the
                others go on; by default the error is raised.
            choice: fields of `fascicle.serving.client.calls.AnnotateOptions`: ``pipeline``,
                ``threshold``, ``only``, ``links``.

        Raises:
            InputError: see ``aside``.
            ServiceError: the service refuses, or does not respond, at every attempt.
        """
        options = calls.annotate_options(choice)
        yield from calls.annotated_documents(self._ahead(calls.portions(documents), options), aside)

    def read(self, path: AnyPath, *, format: str = "auto") -> list[Document]:  # noqa: A002
        """Returns the documents of a file in any format, read by the service."""
        place = Path(path).expanduser()
        params = {"name": place.name, "format": format}
        call = Call(
            method="POST",
            path="/v1/read",
            params=params,
            content=place.read_bytes(),
            media_type=calls.FILE,
        )
        return calls.documents(self.call(call))

    def write(self, documents: Iterable[Document], *, format: str = "jsonl") -> bytes:  # noqa: A002
        """Returns documents encoded as a file in any format, written by the service."""
        return self.call(calls.write(list(documents), format))

    def concept(self, curie: str, *, pipeline: str = "") -> ConceptAnswer:
        """Returns a concept of a pipeline."""
        return calls.decode_content(self.call(calls.concept(curie, pipeline)), ConceptAnswer)

    def why(self, document: Document, *, pipeline: str = "", candidates: int = 5) -> Decisions:
        """Explains the links of the mentions of a document."""
        call = calls.why(document, pipeline, candidates)
        return calls.decode_content(self.call(call), Decisions)

    def call(self, call: Call) -> bytes:
        """Sends a request and returns the content of the response.

        Raises:
            ServiceError: the request is refused, or gets no response, at every attempt.
        """
        outcome: httpx2.Response | httpx2.TransportError
        for attempt in count(1):
            try:
                outcome = self._http.request(**call.arguments)
                if outcome.is_success:
                    return outcome.content
            except httpx2.TransportError as error:
                outcome = error
            last = attempt >= self._settings.attempts
            time.sleep(_pause_after(outcome, call, attempt, last=last))
        raise AssertionError("the last attempt ends the loop")

    def _ahead(
        self, portions: Iterator[list[Document]], choice: AnnotateOptions
    ) -> Iterator[Answer]:
        running: deque[Future[list[Answer]]] = deque()
        with ThreadPoolExecutor(self._settings.ahead) as threads:
            try:
                for portion in portions:
                    running.append(threads.submit(self._answers, portion, choice))
                    while len(running) >= self._settings.ahead or (running and running[0].done()):
                        yield from running.popleft().result()
                while running:
                    yield from running.popleft().result()
            finally:
                for future in running:
                    future.cancel()

    def _answers(self, documents: list[Document], choice: AnnotateOptions) -> list[Answer]:
        try:
            return calls.answers(self.call(calls.annotate(documents, choice)), documents)
        except ServiceError as error:
            if error.status != calls.TOO_LARGE or len(documents) == 1:
                raise
        first, second = calls.split_portion(documents)
        return [*self._answers(first, choice), *self._answers(second, choice)]


def _settings_of(url: str, token: str, settings: ClientSettings | None) -> ClientSettings:
    """Returns the settings of a client, and checks its other arguments.

    Raises:
        UsageError: an argument of another type, or an address that is none.
    """
    check_argument(url, str, name="url", means="an address, such as 'http://127.0.0.1:8080'")
    check_argument(token, str, name="token", means="a str")
    check_optional(settings, ClientSettings, name="settings", means="ClientSettings")
    if not url.startswith(("http://", "https://")):
        raise UsageError(
            f"url={url!r} is not an address of a service; give one such as 'http://127.0.0.1:8080'"
        )
    if not token.isascii() or not token.isprintable():
        raise UsageError(
            "the token has characters that an HTTP header cannot contain; give the token of the "
            "service"
        )
    return settings or ClientSettings()


def _http_options(url: str, token: str, settings: ClientSettings) -> dict[str, Any]:
    """Returns the arguments of a client of HTTP."""
    token = token or os.environ.get("FASCICLE_TOKEN", "").strip()
    return {
        "base_url": url.rstrip("/"),
        "headers": {"Authorization": f"Bearer {token}"} if token else {},
        "timeout": settings.seconds,
        "trust_env": False,
    }


def _pause_after(
    outcome: httpx2.Response | httpx2.TransportError, call: Call, attempt: int, *, last: bool
) -> float:
    """Returns the seconds between a failed attempt and the next.

    Raises:
        ServiceError: it was the last attempt, or another would be in vain.
    """
    if isinstance(outcome, httpx2.Response):
        if last or not calls.should_retry(call, outcome.status_code, outcome.content):
            raise calls.response_error(outcome.status_code, outcome.content)
        return calls.retry_pause(attempt, outcome.headers.get("retry-after", ""))
    if last or not (call.again or isinstance(outcome, httpx2.ConnectError)):
        raise ServiceError(
            f"the service does not answer ({str(outcome) or type(outcome).__name__}); check its "
            "address, and that it runs"
        )
    return calls.retry_pause(attempt, "")


class AsyncClient:
    """Client of a service like `fascicle.serving.client.clients.Client`, with methods to be
    awaited.
    """

    def __init__(
        self, url: str, *, token: str = "", settings: ClientSettings | None = None
    ) -> None:
        """Creates the client; no connection is opened yet, see
        `fascicle.serving.client.clients.Client`.
        """
        self._settings = _settings_of(url, token, settings)
        self._http = httpx2.AsyncClient(**_http_options(url, token, self._settings))

    async def __aenter__(self) -> Self:
        """Returns the client."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Closes the client."""
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def pipelines(self) -> tuple[PipelineFacts, ...]:
        """Returns facts about the pipelines that are served."""
        return calls.decode_content(
            await self.call(Call(method="GET", path="/v1/pipelines")), Pipelines
        ).pipelines

    async def annotate(self, documents: Iterable[TextInput], **choice: Any) -> list[Document]:
        """Annotates texts, pairs ``(id, text)``, or documents; see `stream`."""
        return [document async for document in self.stream(documents, **choice)]

    async def stream(
        self,
        documents: Iterable[TextInput],
        *,
        aside: Callable[[InputError], None] | None = None,
        **choice: Any,
    ) -> AsyncIterator[Document]:
        """Annotates any number of documents, in order; see
        `fascicle.serving.client.clients.Client.stream`.
        """
        options = calls.annotate_options(choice)
        running: deque[asyncio.Task[list[Answer]]] = deque()
        try:
            for portion in calls.portions(documents):
                running.append(asyncio.create_task(self._answers(portion, options)))
                while len(running) >= self._settings.ahead:
                    for document in calls.annotated_documents(await running.popleft(), aside):
                        yield document
            while running:
                for document in calls.annotated_documents(await running.popleft(), aside):
                    yield document
        finally:
            for task in running:
                task.cancel()

    async def write(self, documents: Iterable[Document], *, format: str = "jsonl") -> bytes:  # noqa: A002
        """Returns documents encoded as a file in any format, written by the service."""
        return await self.call(calls.write(list(documents), format))

    async def concept(self, curie: str, *, pipeline: str = "") -> ConceptAnswer:
        """Returns a concept of a pipeline."""
        return calls.decode_content(await self.call(calls.concept(curie, pipeline)), ConceptAnswer)

    async def why(
        self, document: Document, *, pipeline: str = "", candidates: int = 5
    ) -> Decisions:
        """Explains the links of the mentions of a document."""
        call = calls.why(document, pipeline, candidates)
        return calls.decode_content(await self.call(call), Decisions)

    async def call(self, call: Call) -> bytes:
        """Sends a request and returns the content; see
        `fascicle.serving.client.clients.Client.call`.
        """
        outcome: httpx2.Response | httpx2.TransportError
        for attempt in count(1):
            try:
                outcome = await self._http.request(**call.arguments)
                if outcome.is_success:
                    return outcome.content
            except httpx2.TransportError as error:
                outcome = error
            last = attempt >= self._settings.attempts
            await asyncio.sleep(_pause_after(outcome, call, attempt, last=last))
        raise AssertionError("the last attempt ends the loop")

    async def _answers(self, documents: list[Document], choice: AnnotateOptions) -> list[Answer]:
        try:
            return calls.answers(await self.call(calls.annotate(documents, choice)), documents)
        except ServiceError as error:
            if error.status != calls.TOO_LARGE or len(documents) == 1:
                raise
        first, second = calls.split_portion(documents)
        return [*await self._answers(first, choice), *await self._answers(second, choice)]
