"""The service behind Ray Serve: replicas on the machines of a cluster, each with workers of its own.

serve run --app-dir deploy --working-dir deploy ray_serve:application pipelines=/data/pipeline.toml replicas=4 workers=2

Each machine needs Fascicle with the extras ``serve`` and ``scale``, the pipelines under the same paths, and the token
in a file (``token_file=/etc/fascicle/token``) or in ``FASCICLE_TOKEN`` of the process that starts Ray there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from ray import serve
from ray.serve import Application

if TYPE_CHECKING:
    from starlette.applications import Starlette

_JOBS = "/v1/jobs"  # the next request about a job may meet another replica
Count = Annotated[int, msgspec.Meta(ge=1)]


class Wanted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is served, as ``serve run`` and configurations of Ray Serve say it.

    Attributes:
        pipelines: with commas; as ``fascicle serve`` takes them.
        replicas: of the service.
        workers: processes of each pipeline in a replica; a CPU is asked for each.
        queue: characters of text that may wait in a replica.
        token_file: with the token, on every machine.
    """

    pipelines: str
    replicas: Count = 2
    workers: Count = 1
    queue: Count = 262_144
    token_file: str = ""


class Replica:
    """One service; Ray replaces it when its pipelines have had no worker for some time."""

    app: Starlette

    def check_health(self) -> None:
        """Tells Ray whether requests can be answered.

        Raises:
            RuntimeError: they cannot.
        """
        if not self.app.state.service.is_ready:
            raise RuntimeError("a pipeline has no worker")


def application(args: dict[str, str]) -> Application:
    """The service as an application of Ray Serve.

    Args:
        args: the fields of `Wanted`.
    """
    wanted = msgspec.convert(args, Wanted, strict=False)
    pipelines = [one for one in wanted.pipelines.split(",") if one]

    def build() -> Starlette:  # in each replica
        from fascicle.serving.app import create_app
        from fascicle.serving.opening import openings
        from fascicle.serving.routes.table import ROUTES
        from fascicle.settings.serving import ServeSettings
        from fascicle.tasks.serve import read_token

        token = read_token(wanted.token_file)
        settings = ServeSettings(workers=wanted.workers, queue=wanted.queue, token=token)
        routes = [one for one in ROUTES if not one.path.startswith(_JOBS)]
        return create_app(openings(pipelines), settings, routes=routes)

    made = serve.deployment(serve.ingress(build)(Replica))
    options = {"num_cpus": wanted.workers * len(pipelines)}
    return made.options(
        name="fascicle",
        num_replicas=wanted.replicas,
        ray_actor_options=options,
        max_ongoing_requests=256,  # as many as a service answers at a time: it is the service that refuses
    ).bind()
