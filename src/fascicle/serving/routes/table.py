"""All routes of the service."""

from __future__ import annotations

from typing import Final

from fascicle.serving.endpoint import Endpoint
<<<<<<< HEAD
from fascicle.serving.routes import annotate, concepts, files, jobs, kazu, state
=======
from fascicle.serving.routes import annotate, concepts, curation, files, kazu, state
>>>>>>> w-page

ROUTES: Final[tuple[Endpoint, ...]] = (
    *state.ROUTES,
    *annotate.ROUTES,
    *files.ROUTES,
    *concepts.ROUTES,
<<<<<<< HEAD
    *jobs.ROUTES,
=======
    *curation.ROUTES,
>>>>>>> w-page
    *kazu.ROUTES,
)
