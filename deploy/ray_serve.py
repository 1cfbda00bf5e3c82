"""The service behind Ray Serve: replicas on the machines of a cluster, each with workers of its
own.

serve run --app-dir deploy --working-dir deploy ray_serve:application pipelines=/data/pipeline.toml
replicas=4 workers=2

Each machine needs Fascicle with the extras ``serve`` and ``scale``, the pipelines under the same
paths, and the token in a file (``token_file=/etc/fascicle/token``) or in ``FASCICLE_TOKEN`` of the
process that starts Ray there.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import msgspec
from ray import serve
from ray.serve import Application

from fascicle.errors import UsageError

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request

_JOBS = "/v1/jobs"
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

    Raises:
        UsageError: one that is none.
    """
    try:
        wanted = msgspec.convert(args, Wanted, strict=False)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"{error}; give pipelines=PATHS, and what you want of replicas=, workers=, queue= "
            "(numbers above 0) and "
            "token_file=PATH"
        ) from None
    pipelines = [_placed(one) for one in wanted.pipelines.split(",") if one]
    token_file = wanted.token_file and str(Path(wanted.token_file).absolute())

    def build() -> Starlette:  # in each replica
        from starlette.routing import Route

        from fascicle.serving.app import ROUTES, create_app
        from fascicle.serving.server import pipeline_openers
        from fascicle.settings.serving import ServeSettings
        from fascicle.verbs.serve import read_token

        token = read_token(token_file)
        settings = ServeSettings(workers=wanted.workers, queue=wanted.queue, token=token)
        routes = [one for one in ROUTES if not one.path.startswith(_JOBS)]
        app = create_app(pipeline_openers(pipelines), settings, routes=routes)
        app.router.routes.append(
            Route(_JOBS + "{rest:path}", _no_jobs, methods=["GET", "POST", "DELETE"])
        )
        return app

    made = serve.deployment(serve.ingress(build)(Replica))
    options = {"num_cpus": wanted.workers * len(pipelines)}
    return made.options(
        name="fascicle",
        num_replicas=wanted.replicas,
        ray_actor_options=options,
        # as many as a service answers at a time: it is the service that refuses
        max_ongoing_requests=256,
    ).bind()


def _placed(given: str) -> str:
    """A pipeline as replicas find it, whose working folder is another one."""
    name, sign, path = given.partition("=") if "=" in given else ("", "", given)
    return name + sign + (str(Path(path).absolute()) if Path(path).exists() else path)


async def _no_jobs(request: Request) -> NoReturn:
    """Says why there are none: the next request about a job may meet another replica."""
    from fascicle.serving.problems import ProblemError

    raise ProblemError(
        404,
        "a service with replicas keeps no jobs; run files with `fascicle run --ray`, or send "
        "them to one service, "
        "started with `fascicle serve --jobs FOLDER`",
    )
