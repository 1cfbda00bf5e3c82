"""The description of the service: everything that runs is in it, and what it says is so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from standing import TOKEN, Poison, Standing, standing

from fascicle.serving.app import ROUTES, app_of
from fascicle.settings.serving import Project, ServeSettings

schemathesis = pytest.importorskip("schemathesis")
pytestmark = pytest.mark.loopback


def operations(description: dict[str, Any]) -> set[tuple[str, str]]:
    return {(method.upper(), path) for path, one in description["paths"].items() for method in one}


def test_every_route_is_described(served: Standing) -> None:
    found = served.ask("GET", "/openapi.json").json
    assert operations(found) == {(one.method, one.path.replace(":path", "")) for one in ROUTES}
    running = {
        (method, route.path)
        for route in app_of(served.service).routes
        for method in getattr(route, "methods", None) or ()
        if method != "HEAD" and route.path != "/"
    }
    assert running == {(one.method, one.path) for one in ROUTES}
    assert len(
        {one["operationId"] for path in found["paths"].values() for one in path.values()}
    ) == len(ROUTES)


def test_examples_are_answered(served: Standing) -> None:
    for one in ROUTES:
        # which is about a mention that is there
        if one.example is not None and one.path != "/v1/curation/steps":
            reply = served.ask(one.method, one.path, json.loads(json.dumps(one.example)))
            assert reply.status == one.status, one.path


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    kept = str(tmp_path_factory.mktemp("described") / "decisions.sqlite")
    of_team = ServeSettings(tokens=(), curation=kept, project=Project(curators=("Ada",)))
    small = replace(of_team, body=50_000, text=5_000, documents=20, idle=2, token=TOKEN, jobs=1)
    with standing({"poison": Poison()}, small) as found:
        yield found


@pytest.mark.slow
def test_whatever_is_sent_is_answered_as_described(locked: Standing) -> None:
    url = f"http://127.0.0.1:{locked.port}/openapi.json"
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    schema = schemathesis.openapi.from_url(url, headers=bearer)
    schemathesis.serializer("application/x-ndjson")(lambda _, value: value)
    checks = schemathesis.checks.CHECKS.get_all()
    # A document that is not allowed is refused by itself, in an answer of 200; and a schema cannot
    # say that offsets lie in a text, nor how much may be sent.
    left_out = {"negative_data_rejection", "positive_data_acceptance"}

    ran = set()
    for result in schema.get_all_operations():
        operation = result.ok()
        strategy = operation.as_strategy()
        ran.add((operation.method.upper(), operation.path))
        _ask(strategy, locked, bearer, [one for one in checks if one.__name__ not in left_out])
    described = {(one.method, one.path.replace(":path", "")) for one in ROUTES}
    assert described - ran <= {("GET", "/openapi.json")}


def _ask(strategy: Any, locked: Standing, bearer: dict[str, str], checks: list[Any]) -> None:
    @settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(case=strategy)
    def each(case: Any) -> None:
        case.call_and_validate(
            headers=bearer, base_url=f"http://127.0.0.1:{locked.port}", timeout=60, checks=checks
        )

    each()
