"""Routes for the state of the service and for its description."""

from __future__ import annotations

from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fascicle.serving.endpoint import JSON, Endpoint
from fascicle.serving.records import Alive, Health, Pipelines
from fascicle.serving.service import METRICS_TYPE, Service
from fascicle.version import VERSION


async def health(request: Request, service: Service) -> Response:
    """Returns whether every pipeline has a running worker."""
    ready = service.is_ready
    content = msgspec.json.encode(Health(status="ready" if ready else "not-ready", version=VERSION))
    return Response(content, 200 if ready else 503, media_type=JSON)


async def live(request: Request, service: Service) -> Response:
    """Returns that the service answers, whatever its workers do; one that does not must be started again."""
    return Response(msgspec.json.encode(Alive(version=VERSION)), media_type=JSON)


async def ready(request: Request, service: Service) -> Response:
    """Returns what ``/health`` does; a service that is not ready must get no requests, and comes back by itself."""
    return await health(request, service)


async def pipelines(request: Request, service: Service) -> Response:
    """Returns facts about the pipelines that are served."""
    return Response(msgspec.json.encode(Pipelines(pipelines=service.facts)), media_type=JSON)


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
        method="GET", path="/health/live", handle=live, means="whether the service answers", answers=Alive, open=True
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
    Endpoint(method="GET", path="/v1/pipelines", handle=pipelines, means="what is served", answers=Pipelines),
    Endpoint(method="GET", path="/metrics", handle=metrics, means="numbers for Prometheus", gives=(METRICS_TYPE,)),
    Endpoint(method="GET", path="/openapi.json", handle=description, means="this description", answers=dict),
)
