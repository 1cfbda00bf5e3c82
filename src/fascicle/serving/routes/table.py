"""Table of all routes of the service."""

from __future__ import annotations

from typing import Final

from fascicle.serving.endpoint import Endpoint
from fascicle.serving.routes import annotate, concepts, curation, files, jobs, kazu, review, state

ROUTES: Final[tuple[Endpoint, ...]] = (
    *state.ROUTES,
    *annotate.ROUTES,
    *files.ROUTES,
    *concepts.ROUTES,
    *jobs.ROUTES,
    *curation.ROUTES,
    *review.ROUTES,
    *kazu.ROUTES,
)
