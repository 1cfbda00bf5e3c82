"""Problems of requests in the format of RFC 9457: one sentence, and never a stack trace."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

import msgspec
from starlette.responses import Response

from fascicle.errors import FascicleError
from fascicle.serving.records import Problem

MEDIA_TYPE: Final = "application/problem+json"
# The status of an error that a request causes, by its code; others are of its content.
STATUS: Final = MappingProxyType({"too-large": 413, "missing-extra": 501})


class ProblemError(Exception):
    """Error raised if a request cannot be fulfilled.

    Attributes:
        problem: why.
        headers: of the answer.
    """

    def __init__(
        self, status: int, detail: str, *, code: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        """Makes the problem.

        Args:
            status: of HTTP.
            detail: one sentence.
            code: by default the name of the status.
            headers: of the answer.
        """
        super().__init__(detail)
        self.problem = make_problem(status, detail, code=code)
        self.headers = dict(headers or {})

    @classmethod
    def of(cls, error: FascicleError) -> ProblemError:
        """Makes the problem for an error that the content of a request causes."""
        return cls(STATUS.get(error.code, 422), str(error), code=error.code)


def make_problem(status: int, detail: str, *, code: str = "") -> Problem:
    """Makes a problem; see `ProblemError`."""
    title = HTTPStatus(status).phrase
    return Problem(
        title=title, status=status, detail=detail, code=code or title.lower().replace(" ", "-")
    )


def problem_response(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """Makes the response for a problem."""
    content = msgspec.json.encode(msgspec.structs.replace(problem))
    return Response(content, problem.status, dict(headers or {}), MEDIA_TYPE)
