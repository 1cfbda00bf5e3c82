"""``fascicle serve``: pipelines and models as a service over HTTP, with a page."""

from __future__ import annotations

from typing import Final

from fascicle.commands.console import needs_extra
from fascicle.commands.options import called, option
from fascicle.commands.parsing import natural, positive
from fascicle.commands.places import fills, reads
from fascicle.commands.saying import say
from fascicle.settings.folders.vocabularies import AUTO
from fascicle.settings.serving import ServeSettings
from fascicle.tasks.serve import serve

_DEFAULTS: Final = ServeSettings()
_QUEUE: Final = f"characters of text that may wait; default: {_DEFAULTS.queue:,}"


class Options:
    """Options of ``fascicle serve``.

    In Python: ``fascicle.tasks.serve.app("pipeline.toml")``

    Attributes:
        files: pipelines, models, packs; NAME=PATH gives one a name.
        demo: serve the shipped model and vocabularies, with examples.
        host: to listen at; default: 127.0.0.1.
        port: 0 for any that is free; default: 8080.
        workers: processes of each; default: 1.
        link: no links.
        token_file: with the token; default: $FASCICLE_TOKEN, or none.
        jobs: keeps jobs, so that the next service goes on with them.
        origin: of pages that may use it.
        curation: keep decisions of curators in this file (SQLite).
        page: without the page.
        open_page: give the files of the page without the token.
    """

    files: list[str] = option("PIPELINE *", reads)
    demo: bool = option("--demo")
    host: str = option("--host ADDRESS", default="127.0.0.1")
    port: int = option("--port N", natural, default=8080)
    workers: int = option("--workers N", positive, default=_DEFAULTS.workers)
    link: str | None = option("--no-link", action="store_const", const=None, default=AUTO)
    token_file: str = option("--token-file FILE", reads, default="")
    queue: int = option("--queue N", positive, default=_DEFAULTS.queue, help=_QUEUE)
    jobs: str | None = option("--jobs FOLDER", fills)
    origin: list[str] = option("--origin URL ...")
    curation: str | None = option("--curation FILE", fills)
    page: bool = option("--no-page", action="store_false")
    open_page: bool = option("--open-page")


def run(args: Options) -> int:
    """Serves; returns the exit code."""
    settings = called(ServeSettings, args, jobs=_DEFAULTS.jobs, jobs_folder=args.jobs or "", origins=tuple(args.origin))
    if args.demo:
        say(
            "note: the demo finds the names of the shipped pack beside those of the model, and links all; fascicle "
            "annotate uses the model alone unless told otherwise, so that it finds less"
        )
    with needs_extra("serve"):
        called(serve, args, pipelines=args.files, link=args.link, settings=settings, started=_say_started)
    return 0


def _say_started(url: str) -> None:
    say(f"serving at {url} (end with Ctrl-C)")
