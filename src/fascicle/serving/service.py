"""Pipelines that are served, without HTTP: takes documents, returns a result for each, and
counts its work.
"""

from __future__ import annotations

import asyncio
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, Final

import msgspec

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.core.wording import plural
from fascicle.errors import FormatError, UsageError
from fascicle.pipeline.runner import Failure
from fascicle.serving.curation.listing import Made
from fascicle.serving.curation.store import Store
from fascicle.serving.curation.versions import uncounted
from fascicle.serving.jobs import Jobs
from fascicle.serving.messages import Answer, Options, Wrong
from fascicle.serving.pool import ClosedError, FullError, Pool, Task, WorkerAnswer
from fascicle.serving.problems import ProblemError, make_problem
from fascicle.serving.records import PipelineFacts, RawAnswer
from fascicle.settings.serving import NamedToken, ServeSettings

METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
# seconds
_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_ESCAPED: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
_Labels = tuple[tuple[str, str], ...]
_Gauges = Iterable[tuple[str, str, Mapping[_Labels, float]]]


class _Metrics:
    """Counts of requests and documents; safe for several threads."""

    def __init__(self) -> None:
        """Creates metrics with all counts at zero."""
        self._lock = threading.Lock()
        self._requests: Counter[_Labels] = Counter()
        self._documents: Counter[_Labels] = Counter()
        self._characters = 0
        self._buckets: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()

    def see(self, facts: Mapping[str, Any]) -> None:
        """Counts a request.

        Args:
            facts: facts that `fascicle.serving.guard.Guard` logs.
        """
        route = facts["route"] or "none"
        seconds = facts["ms"] / 1000
        with self._lock:
            self._requests[(("route", route), ("status", str(facts["status"])))] += 1
            for status, count in facts.get("documents", {}).items():
                self._documents[(("status", status),)] += count
            self._characters += facts.get("characters", 0)
            buckets = self._buckets.setdefault(route, [0] * (len(_BOUNDS) + 1))
            buckets[bisect_left(_BOUNDS, seconds)] += 1
            self._seconds[route] += seconds

    def text(self, gauges: _Gauges) -> str:
        """Returns all metrics as text.

        Args:
            gauges: further ones: name, what it means, and the values by labels. A name that ends
                with ``_total`` is that of a counter.
        """
        with self._lock:
            counters: _Gauges = (
                ("fascicle_requests_total", "requests that were answered", self._requests),
                ("fascicle_documents_total", "documents that were answered", self._documents),
                (
                    "fascicle_characters_total",
                    "characters of text of annotated documents",
                    {(): self._characters},
                ),
                *gauges,
            )
            lines = [line for counter in counters for line in _lines(*counter)]
            return "\n".join([*lines, *self._histogram(), ""])

    def _histogram(self) -> Iterator[str]:
        name = "fascicle_request_seconds"
        yield f"# HELP {name} time from a request to the end of its answer"
        yield f"# TYPE {name} histogram"
        for route, buckets in sorted(self._buckets.items()):
            for bound, count in zip((*_BOUNDS, "+Inf"), accumulate(buckets), strict=True):
                yield f"{name}_bucket{_label_set((('route', route), ('le', str(bound))))} {count}"
            yield f"{name}_sum{_label_set((('route', route),))} {self._seconds[route]:.6f}"
            yield f"{name}_count{_label_set((('route', route),))} {sum(buckets)}"


def _lines(name: str, means: str, values: Mapping[_Labels, float]) -> Iterator[str]:
    yield f"# HELP {name} {means}"
    yield f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}"
    for labels, value in sorted(values.items()):
        yield f"{name}{_label_set(labels)} {value}"


def _label_set(labels: _Labels) -> str:
    pairs = [f'{name}="{value.translate(_ESCAPED)}"' for name, value in labels]
    return f"{{{','.join(pairs)}}}" if labels else ""


class Service:
    """Set of pipelines with their workers.

    Attributes:
        settings: limits of the service.
        metrics: counts of its work.
        pools: the workers of each pipeline, by name, in order.
        jobs: files that are annotated in the background.
        files: the worker that reads and writes files, which come from anywhere.
        curation: decisions of curators, if they are kept.
        listed: what is known of their documents, see `fascicle.serving.curation.listing`.
    """

    def __init__(
        self, pools: Mapping[str, Pool], *, files: Pool, jobs: Jobs, settings: ServeSettings
    ) -> None:
        """Creates the service; nothing is started yet.

        Args:
            pools: the workers of each pipeline, by the name under which it is served.
            files: the worker that reads and writes files.
            jobs: files that are annotated in the background.
            settings: limits of the service.

        Raises:
            UsageError: a project without a file of decisions, or without named tokens.
        """
        if settings.project is not None and (settings.tokens is None or not settings.curation):
            raise UsageError(
                "a project needs a file of decisions and named tokens; give curation=FILE and "
                "tokens=FILE"
            )
        self.settings, self.metrics = settings, _Metrics()
        self.pools, self.files, self.jobs = pools, files, jobs
        self.curation: Store | None = None
        self.listed: Made = {}
        self.uncounted: tuple[str, ...] = ()

    def start(self) -> None:
        """Starts all workers; returns when each pipeline is open.

        Raises:
            FascicleError: a pipeline cannot be opened, or decisions cannot be kept in the file that
                is named for them.
        """
        for pool in (self.files, *self.pools.values()):
            pool.begin()
        for pool in (self.files, *self.pools.values()):
            pool.start()
        if self.settings.curation and self.curation is None:
            self.curation = Store.open(self.settings.curation)
            if self.settings.project is None and self.curation.has_versions:
                raise UsageError(
                    f"{self.settings.curation} has versions of several curators; give project=FILE"
                )
            if self.settings.project is not None:
                self.uncounted = uncounted(self.curation.version_names, self.settings.project)
        self.jobs.start()

    def close(self) -> None:
        """Finishes the waiting tasks, and ends the workers."""
        for pool in (*self.pools.values(), self.files):
            pool.close()
        self.jobs.close()
        if self.curation is not None:
            self.curation.close()

    def change_tokens(self, token: str, tokens: tuple[NamedToken, ...] | None = None) -> None:
        """Replaces the token and the named tokens from now on.

        Raises:
            UsageError: the token is too short, or none is left where there was one.
        """
        changed = replace(self.settings, token=token, tokens=tokens)
        if self.settings.guarded and not changed.guarded:
            raise UsageError("the service has a token, and none was given; give one")
        self.settings = changed

    @property
    def is_ready(self) -> bool:
        """True if every pipeline has a running worker."""
        return all(pool.ready for pool in self.pools.values())

    @property
    def facts(self) -> tuple[PipelineFacts, ...]:
        """Facts about the pipelines, in order."""
        return tuple(pool.facts for pool in self.pools.values() if pool.facts is not None)

    def gauges(self) -> _Gauges:
        """Returns the current state of the workers as gauges."""
        pools: dict[_Labels, Pool] = {
            (("pipeline", name),): pool for name, pool in self.pools.items()
        }
        return (
            (
                "fascicle_waiting_characters",
                "text that waits or is worked on",
                _of(pools, lambda pool: pool.waiting),
            ),
            ("fascicle_workers_ready", "workers that run", _of(pools, lambda pool: pool.ready)),
            (
                "fascicle_worker_deaths_total",
                "workers that ended before their time",
                _of(pools, lambda pool: pool.deaths),
            ),
        )

    def name_of(self, name: str) -> str:
        """Returns the name of a pipeline; that of the first one for an empty name.

        Raises:
            ProblemError: there is none of this name.
        """
        name = name or next(iter(self.pools))
        if name not in self.pools:
            names = ", ".join(self.pools)
            raise ProblemError(
                404, f"there is no pipeline {name[:100]!r}; there are {names}", code="unknown-name"
            )
        return name

    def pool(self, name: str) -> Pool:
        """Returns the workers of a pipeline, see `name_of`."""
        return self.pools[self.name_of(name)]

    def read(self, data: bytes, *, name: str) -> Document | RawAnswer:
        """Returns a document from a client, or the refusal if it is not valid.

        Args:
            data: JSON.
            name: its id, if it has none.
        """
        try:
            return self.checked(codec.decode_given(data, name=name))
        except FormatError as error:
            return _refused(codec.id_in(data) or name, str(error), code=error.code)

    def documents(self, raw: Sequence[msgspec.Raw]) -> list[Document]:
        """Returns documents from a client; raises an error for the first that is not valid.

        Raises:
            ProblemError: a document is refused.
        """
        documents = []
        for at, data in enumerate(raw, start=1):
            document = self.read(bytes(data), name=f"text-{at}")
            if not isinstance(document, Document):
                assert document.problem is not None
                raise ProblemError(
                    422, f"documents[{at}]: {document.problem.detail}", code=document.problem.code
                )
            documents.append(document)
        return documents

    def checked(self, document: Document) -> Document | RawAnswer:
        """Returns a document, or the refusal if its text is too long."""
        if (length := len(document.text)) > self.settings.text:
            most = self.settings.text
            return _refused(
                document.id,
                f"the text has {plural(length, 'character')}, and {most:,} are allowed; divide "
                "it, or send a job",
                code="too-large",
            )
        return document

    async def annotate(
        self,
        pool: Pool,
        inputs: Sequence[Document | RawAnswer],
        options: Options,
        *,
        waits: bool = False,
    ) -> list[RawAnswer]:
        """Annotates documents and returns a result for each, in order.

        Args:
            pool: of the pipeline.
            inputs: documents, and answers for those that were refused.
            options: of the annotation.
            waits: as of `Pool.submit`.

        Raises:
            ProblemError: there is no room for the documents now.
        """
        tasks = [
            None
            if isinstance(document, RawAnswer)
            else Task.annotate(codec.encode(document), options, characters=len(document.text))
            for document in inputs
        ]
        answers = await self.ask(pool, [task for task in tasks if task is not None], waits=waits)
        results = iter(answers)
        return [
            document
            if isinstance(document, RawAnswer)
            else self._answer(document.id, next(results))
            for document in inputs
        ]

    async def ask(
        self, pool: Pool, tasks: Sequence[Task], *, waits: bool = False
    ) -> list[WorkerAnswer | None]:
        """Runs tasks and returns their results; ``None`` for those not finished in time.

        Raises:
            ProblemError: there is no room for them now.
        """
        if not tasks:
            return []
        _submit(pool, tasks, waits=waits)
        futures = [asyncio.wrap_future(task.future) for task in tasks]
        try:
            await asyncio.wait(futures, timeout=self.settings.seconds)
        finally:
            for future in futures:
                future.cancel()
        return [
            future.result() if future.done() and not future.cancelled() else None
            for future in futures
        ]

    def _answer(self, name: str, answer: WorkerAnswer | None) -> RawAnswer:
        if answer is None:
            return _timed_out(
                name,
                f"it was not done within {self.settings.seconds:g} s; send less at once, or later",
            )
        if isinstance(answer, Answer) and answer.failure is None:
            return RawAnswer(
                id=name, status="done", document=answer.document, candidates=answer.decisions
            )
        failure = task_failure(answer)
        if failure.error == "killed:time":
            return _timed_out(name, f"the step {failure.step!r} took too long for it")
        where = f"the step {failure.step!r}" if failure.step else "the pipeline"
        detail = f"{where} failed at it ({failure.error}: {failure.message})"
        problem = make_problem(500, _short(detail), code="prediction")
        return RawAnswer(id=name, status="failed", problem=problem)


def _of(pools: Mapping[_Labels, Pool], value: Callable[[Pool], int]) -> dict[_Labels, float]:
    return {labels: value(pool) for labels, pool in pools.items()}


def task_failure(answer: WorkerAnswer) -> Failure:
    """Returns the failure of a task."""
    if isinstance(answer, Wrong):
        return Failure("", answer.error, answer.message)
    assert isinstance(answer, Answer)
    assert answer.failure is not None
    return answer.failure


def _submit(pool: Pool, tasks: Sequence[Task], *, waits: bool = False) -> None:
    """Adds tasks to the queue of a pool, see `Pool.submit`.

    Raises:
        ProblemError: there is no room for them now, or the service ends.
    """
    try:
        pool.submit(tasks, waits=waits)
    except FullError as error:
        after = str(max(1, round(error.seconds)))
        raise ProblemError(
            429,
            f"as much text is waiting as may wait; send this again after {after} s",
            headers={"Retry-After": after},
        ) from None
    except ClosedError:
        raise ProblemError(
            503,
            "the service is ending; send this to another one, or later",
            headers={"Retry-After": "5"},
        ) from None


def _refused(name: str, detail: str, *, code: str) -> RawAnswer:
    """Makes the result for a document that cannot be used as given."""
    return RawAnswer(
        id=name, status="refused", problem=make_problem(422, _short(detail), code=code)
    )


def _timed_out(name: str, detail: str) -> RawAnswer:
    return RawAnswer(
        id=name, status="timed_out", problem=make_problem(504, detail, code="timed-out")
    )


def _short(text: str, most: int = 500) -> str:
    return text if len(text) <= most else f"{text[:most]} …"
