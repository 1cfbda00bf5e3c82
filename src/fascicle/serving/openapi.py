"""The description of the service, made from the table of its routes (OpenAPI 3.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final

import msgspec

from fascicle.serving.endpoint import ANY, Endpoint, Query
from fascicle.serving.problems import MEDIA_TYPE
from fascicle.serving.records import Problem
from fascicle.version import VERSION

_EVERYWHERE: Final = (400, 401, 403, 408, 421, 422, 500, 503)  # statuses of problems that any route may have
_WITH_BODY: Final = (413, 415, 507)
_MEANS: Final[Mapping[int, str]] = MappingProxyType(
    {
        401: "the token is missing or wrong",
        403: "a page of another origin",
        404: "it does not exist",
        406: "no form of the answer is taken",
        408: "the content did not come",
        409: "it is not done yet",
        413: "more was sent than is allowed",
        415: "content of another type",
        421: "another name of the service",
        422: "the content or a parameter is not allowed",
        429: "as much text is waiting as may wait; Retry-After says for how long",
        503: "the service is ending, or not ready",
        507: "the disk of the service is full",
    }
)
_PART: Final = re.compile(r"{(\w+)(?::\w+)?}")


def description_of(routes: Sequence[Endpoint], *, with_token: bool) -> dict[str, Any]:
    """The description of some routes.

    Args:
        routes: of the service.
        with_token: whether they need a token.
    """
    kinds: list[Any] = [Problem]
    for one in routes:
        kinds += [kind for kind in (one.body, one.answers) if kind not in (None, bytes)]
    schemas, components = msgspec.json.schema_components(
        list(dict.fromkeys(kinds)), ref_template="#/components/schemas/{name}"
    )
    by_kind = dict(zip(dict.fromkeys(kinds), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for one in routes:
        paths.setdefault(_PART.sub(r"{\1}", one.path), {})[one.method.lower()] = _operation(one, by_kind)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Fascicle", "version": VERSION, "description": "Named entities and concepts of texts."},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}} if with_token else {},
        },
        "security": [{"token": []}] if with_token else [],
    }


def _operation(one: Endpoint, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    done = {str(one.status): {"description": one.means, **_answer(one, schemas)}}
    problems = {str(status): _problem(status, schemas) for status in _problems_of(one)}
    found: dict[str, Any] = {
        "summary": one.means,
        "operationId": one.handle.__name__,
        "parameters": [*map(_path_parameter, _PART.findall(one.path)), *map(_query_parameter, one.query)],
        "responses": done | problems,
    }
    if one.open:
        found["security"] = []
    if one.body is not None:
        content = _content(one.body, schemas)
        if one.example is not None:
            content["example"] = one.example
        found["requestBody"] = {"required": True, "content": dict.fromkeys(one.takes or (ANY,), content)}
    return found


def _path_parameter(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _query_parameter(query: Query) -> dict[str, Any]:
    return {
        "name": query.name,
        "in": "query",
        "required": query.needed,
        "description": query.means,
        "schema": msgspec.json.schema(query.type),
    }


def _answer(one: Endpoint, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    """The content of an answer; only its first form has a schema, the others are files."""
    if one.answers is None:
        return {}
    first, *others = one.gives
    return {"content": {first: _content(one.answers, schemas), **{kind: {} for kind in others}}}


def _problems_of(one: Endpoint) -> list[int]:
    return sorted({*_EVERYWHERE, *one.problems, *(_WITH_BODY if one.body is not None else ())} - {one.status})


def _content(kind: Any, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    return {"schema": {"type": "string", "format": "binary"} if kind is bytes else schemas[kind]}


def _problem(status: int, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    means = _MEANS.get(status, HTTPStatus(status).phrase)
    found: dict[str, Any] = {"description": means, "content": {MEDIA_TYPE: {"schema": schemas[Problem]}}}
    if status == 429:
        found["headers"] = {"Retry-After": {"schema": {"type": "integer"}, "description": "seconds"}}
    return found
