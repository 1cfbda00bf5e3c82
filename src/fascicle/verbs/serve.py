"""Command ``fascicle serve``: serves pipelines and models over HTTP, with a page."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fascicle.errors import InputError, UsageError
from fascicle.settings.choices import LINKED_MODEL, Choices
from fascicle.settings.folders.vocabularies import demo_pipeline
from fascicle.settings.serving import LOCAL, NamedToken, ServeSettings, read_project
from fascicle.verbs.console import explain_missing_extra
from fascicle.verbs.messages import say
from fascicle.verbs.options import call, fills, natural, option, positive, reads
from fascicle.verbs.shared import AllChoices, choices_of

if TYPE_CHECKING:
    from starlette.applications import Starlette


_TOKEN: Final = "FASCICLE_TOKEN"  # environment variable
_LAST_PORT: Final = 65_535


def _serve(  # noqa: PLR0913
    pipelines: Sequence[str],
    *,
    demo: bool = False,
    choices: Choices = LINKED_MODEL,
    device: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    token_file: str = "",
    tokens_file: str = "",
    settings: ServeSettings | None = None,
    started: Callable[[str], None] = lambda url: None,
) -> None:
    """Serves until the process is interrupted or gets a signal to end; then it finishes the
    accepted requests.

    Args:
        pipelines: paths of pipelines, or names that `fascicle.load` takes; ``NAME=PATH`` gives one
            a name.
        demo: also serve the shipped pipeline.
        choices: about the mentions of models, which are linked by default.
        device: where the networks of models compute, see `fascicle.load`.
        host: address to listen at.
        port: to listen at; 0 for any that is free.
        token_file: file with the token; by default it is that of the environment variable
            ``FASCICLE_TOKEN``.
        tokens_file: file of named tokens, see `fascicle.serving.tokens`.
        settings: limits of the service.
        started: called with the address when requests are accepted.

    Raises:
        UsageError: an address beyond this machine without a token, or wrong settings.
        FascicleError: a pipeline cannot be opened.
        OSError: the server cannot listen at the address.
    """
    from fascicle.serving.server import pipeline_openers, run

    if not 0 <= port <= _LAST_PORT:
        raise UsageError(f"port={port} is not allowed; give a number from 0 to {_LAST_PORT}")
    read_tokens_again = partial(_all_tokens, token_file, tokens_file)
    token, tokens = read_tokens_again()
    limits = replace(settings or ServeSettings(), token=token, tokens=tokens)
    if not limits.guarded and host not in LOCAL:
        raise UsageError(
            f"host={host} is reached from other machines, and there is no token; put one into a "
            f"file and name it with token_file=FILE, set {_TOKEN}, or listen at 127.0.0.1"
        )
    names = [*pipelines, *([str(demo_pipeline())] if demo else ())]
    if not names:
        raise UsageError("nothing to serve was given; name pipelines or models, or give demo=True")
    again = read_tokens_again if token_file or tokens_file else None
    openers = pipeline_openers(names, choices=choices, device=device)
    run(openers, limits, host, port, tokens=again, started=started)


def app(
    *pipelines: str | os.PathLike[str],
    settings: ServeSettings | None = None,
    choices: Choices = LINKED_MODEL,
    device: str | None = None,
) -> Starlette:
    """Builds a service as an ASGI app, for servers such as uvicorn; pipelines are opened when it is
    started.

    Args:
        pipelines: see `_serve`.
        settings: limits of the service, and who may use it.
        choices: see `_serve`.
        device: see `_serve`.

    Raises:
        UsageError: no pipeline, or two of one name.
    """
    from fascicle.serving.app import create_app
    from fascicle.serving.server import pipeline_openers

    names = [os.fspath(name) for name in pipelines]
    return create_app(pipeline_openers(names, choices=choices, device=device), settings)


def read_token(path: str) -> str:
    """Reads the token from a file, else from the environment; empty if there is none.

    Raises:
        InputError: the file cannot be read, or is empty.
    """
    if not path:
        return os.environ.get(_TOKEN, "").strip()
    try:
        token = Path(path).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the token cannot be read from {path} ({error})", file=path, code="unreadable"
        ) from None
    if not token:
        raise InputError(f"{path} is empty; put the token into it", file=path, code="empty")
    return token


def _all_tokens(token_file: str, tokens_file: str) -> tuple[str, tuple[NamedToken, ...] | None]:
    """Returns the token without a name, and the named ones."""
    from fascicle.serving.tokens import read_tokens

    return read_token(token_file), read_tokens(tokens_file) if tokens_file else None


_DEFAULTS: Final = ServeSettings()
_QUEUE: Final = f"highest number of characters of waiting texts; default: {_DEFAULTS.queue:,}"


class Options(AllChoices):
    """Options of ``fascicle serve``.

    In Python: ``fascicle.verbs.serve.app("pipeline.toml")``

    Attributes:
        files: pipelines, models, packs; NAME=PATH sets a name.
        demo: serve the shipped model and vocabularies, with examples.
        device: where the networks of models compute, as in annotate.
        host: address to listen at; default: 127.0.0.1.
        port: 0 for any free port; default: 8080.
        workers: worker processes of each pipeline; default: 1.
        token_file: file with the token; default: $FASCICLE_TOKEN, or none.
        tokens_file: file of named tokens with roles, made by fascicle tokens.
        rate: highest number of requests a minute for each token; default: no limit.
        jobs: folder for jobs, so that a restarted service continues them.
        origin: origin of pages that may use the service.
        curation: save decisions of curators in this file (SQLite).
        project: settings of a project of several curators, each with a separate version of every
            document; needs --curation and --tokens.
        page: do not serve the page.
        open_page: serve the files of the page without a token.
    """

    files: list[str] = option("PIPELINE *", reads)
    demo: bool = option("--demo")
    device: str | None = option("--device DEVICE")
    host: str = option("--host ADDRESS", default="127.0.0.1")
    port: int = option("--port N", natural, default=8080)
    workers: int = option("--workers N", positive, default=_DEFAULTS.workers)
    token_file: str | None = option("--token-file FILE", reads)
    tokens_file: str | None = option("--tokens FILE", reads)
    rate: int = option("--rate N", positive, default=_DEFAULTS.rate)
    queue: int = option("--queue N", positive, default=_DEFAULTS.queue, help=_QUEUE)
    jobs: str | None = option("--jobs FOLDER", fills)
    origin: list[str] = option("--origin URL ...")
    curation: str | None = option("--curation FILE", fills)
    project: str | None = option("--project FILE", reads)
    page: bool = option("--no-page", action="store_false")
    open_page: bool = option("--open-page")


def run(args: Options) -> int:
    """Runs the service; returns the exit code."""
    settings = call(
        ServeSettings,
        args,
        jobs=_DEFAULTS.jobs,
        jobs_folder=args.jobs or "",
        origins=tuple(args.origin),
        project=read_project(args.project) if args.project else None,
    )
    if args.demo:
        say(
            "note: the demo also finds the names of the shipped pack; fascicle annotate uses only "
            "the model by default, and finds fewer"
        )
    if (
        args.curation
        and args.page
        and not args.open_page
        and (args.tokens_file or read_token(args.token_file or ""))
    ):
        say(
            "note: browsers send no token for the files of the page, so they cannot open it; add "
            "--open-page"
        )
    with explain_missing_extra("serve"):
        call(
            _serve,
            args,
            pipelines=args.files,
            choices=choices_of(args),
            settings=settings,
            started=_say_started,
        )
    return 0


def _say_started(url: str) -> None:
    say(f"serving at {url} (end with Ctrl-C)")
