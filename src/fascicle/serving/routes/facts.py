"""Routes for what a service is and knows: its state, its description, concepts, and explanations
of links.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.core.mention import concept_page, is_curie
from fascicle.serving.content import (
    Candidates,
    check_names,
    query_value,
    read_content,
)
from fascicle.serving.endpoint import (
    JSON,
    PIPELINE_QUERY,
    Endpoint,
    QueryParameter,
    json_answer,
    pool_of,
)
from fascicle.serving.messages import (
    Answer,
    Explain,
    Look,
    Looked,
    Search,
    Searched,
    TriedRules,
)
from fascicle.serving.pool import Pool, Task, WorkerAnswer
from fascicle.serving.problems import ProblemError
from fascicle.serving.records import (
    Alive,
    ConceptAnswer,
    ConceptsFound,
    Decisions,
    Health,
    Pipelines,
)
from fascicle.serving.service import METRICS_TYPE, Service, task_failure
from fascicle.version import VERSION


async def health(request: Request, service: Service) -> Response:
    """Returns whether every pipeline has a running worker."""
    ready = service.is_ready
    health = Health(status="ready" if ready else "not-ready", version=VERSION)
    return json_answer(health, 200 if ready else 503)


async def live(request: Request, service: Service) -> Response:
    """Returns that the service answers, whatever its workers do; one that does not must be
    started again.
    """
    return json_answer(Alive(version=VERSION))


async def ready(request: Request, service: Service) -> Response:
    """Returns what ``/health`` does; a service that is not ready must get no requests, and comes
    back by itself.
    """
    return await health(request, service)


async def pipelines(request: Request, service: Service) -> Response:
    """Returns facts about the pipelines that are served."""
    return json_answer(Pipelines(pipelines=service.facts))


async def metrics(request: Request, service: Service) -> Response:
    """Returns metrics for Prometheus."""
    return Response(service.metrics.text(service.gauges()), media_type=METRICS_TYPE)


async def description(request: Request, service: Service) -> Response:
    """Returns the description of all routes."""
    return Response(request.app.state.description, media_type=JSON)


ROUTES: Final = (
    Endpoint(
        method="GET",
        path="/health",
        handle=health,
        means="whether the service can annotate",
        answers=Health,
        problems=(503,),
        open=True,
    ),
    Endpoint(
        method="GET",
        path="/health/live",
        handle=live,
        means="whether the service answers",
        answers=Alive,
        open=True,
    ),
    Endpoint(
        method="GET",
        path="/health/ready",
        handle=ready,
        means="whether requests may be sent here",
        answers=Health,
        problems=(503,),
        open=True,
    ),
    Endpoint(
        method="GET",
        path="/v1/pipelines",
        handle=pipelines,
        means="what is served",
        answers=Pipelines,
    ),
    Endpoint(
        method="GET",
        path="/metrics",
        handle=metrics,
        means="numbers for Prometheus",
        gives=(METRICS_TYPE,),
    ),
    Endpoint(
        method="GET",
        path="/openapi.json",
        handle=description,
        means="this description",
        answers=dict,
    ),
)

_Part = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
_Most = Annotated[int, msgspec.Meta(ge=1, le=50)]


async def concept(request: Request, service: Service) -> Response:
    """Returns a concept by its CURIE."""
    check_names(request, ("pipeline",))
    curie = request.path_params["curie"]
    if not is_curie(curie):
        raise ProblemError(
            422, f"{curie[:100]!r} is not a CURIE; give prefix:local, such as MESH:D003920"
        )
    pool = pool_of(request, service)
    answer = await run_task(service, pool, Task(order=Look(curie=curie)))
    assert isinstance(answer, Looked)
    if answer.concept is None:
        raise ProblemError(
            404, f"no pack of this pipeline has the concept {curie[:100]!r}", code="unknown-name"
        )
    return json_answer({**answer.concept, "page": concept_page(curie)})


async def concepts(request: Request, service: Service) -> Response:
    """Returns the concepts that a part of a name may mean."""
    check_names(request, ("q", "type", "most", "pipeline"))
    query: str = query_value(request, "q", _Part, "")
    if not query.strip():
        raise ProblemError(422, "the parameter q is missing; give a part of a name, such as q=diab")
    kind: str = query_value(request, "type", str, "")
    most: int = query_value(request, "most", _Most, 10)
    pool = pool_of(request, service)
    answer = await run_task(service, pool, Task(order=Search(query=query, kind=kind, most=most)))
    assert isinstance(answer, Searched)
    return json_answer({"concepts": answer.concepts})


async def why(request: Request, service: Service) -> Response:
    """Returns the candidates of the links of a document, with their features and weights."""
    check_names(request, ("pipeline", "candidates"))
    pool = pool_of(request, service)
    most: int = query_value(request, "candidates", Candidates, 5)
    document = service.read(await read_content(request, service.settings), name="text-1")
    if not isinstance(document, Document):
        assert document.problem is not None
        raise ProblemError(
            document.problem.status, document.problem.detail, code=document.problem.code
        )
    order = Explain(document=msgspec.Raw(codec.encode(document)), candidates=most)
    answer = await run_task(service, pool, Task(order=order, characters=len(document.text) + 1))
    assert isinstance(answer, Answer)
    return json_answer({"decisions": answer.decisions or ()})


async def run_task(service: Service, pool: Pool, task: Task) -> WorkerAnswer:
    """Returns the answer of a worker to a task.

    Raises:
        ProblemError: there is none in time, or it cannot be answered.
    """
    (answer,) = await service.ask(pool, [task])
    if answer is None:
        raise ProblemError(
            504, f"this was not done within {service.settings.seconds:g} s; ask again later"
        )
    if isinstance(answer, Looked | Searched | TriedRules) or (
        isinstance(answer, Answer) and answer.failure is None
    ):
        return answer
    failure = task_failure(answer)
    raise ProblemError(
        422, f"this cannot be answered ({failure.error}: {failure.message})", code="prediction"
    )


CONCEPT_ROUTES: Final = (
    Endpoint(
        method="GET",
        path="/v1/concepts",
        handle=concepts,
        means="concepts by a part of a name, as one types it",
        query=(
            QueryParameter(
                name="q",
                type=_Part,
                means="the beginning of a name, or of a word in it",
                needed=True,
            ),
            QueryParameter(name="type", type=str, means="of the concepts; by default any"),
            QueryParameter(name="most", type=_Most, means="concepts; by default 10"),
            PIPELINE_QUERY,
        ),
        answers=ConceptsFound,
        problems=(404, 429),
    ),
    Endpoint(
        method="GET",
        path="/v1/concepts/{curie:path}",
        handle=concept,
        means="a concept: names, definition, parents, references",
        query=(PIPELINE_QUERY,),
        answers=ConceptAnswer,
        problems=(404, 429),
    ),
    Endpoint(
        method="POST",
        path="/v1/why",
        handle=why,
        means="why the mentions of a document are linked as they are: candidates, features and "
        "weights",
        query=(
            PIPELINE_QUERY,
            QueryParameter(
                name="candidates", type=Candidates, means="concepts of each mention; by default 5"
            ),
        ),
        body=codec.GivenDocument,
        answers=Decisions,
        problems=(404, 413, 429),
        example={
            "id": "a",
            "text": "Lithium can cause tremor.",
            "mentions": [{"spans": [[18, 24]], "type": "Disease"}],
        },
    ),
)
