"""``fascicle serve``: pipelines and models as a service over HTTP, with a page."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Final

from fascicle.commands.console import needs_extra
from fascicle.commands.parsing import natural, positive
from fascicle.commands.places import fills, reads
from fascicle.commands.saying import say
from fascicle.settings.folders.vocabularies import AUTO
from fascicle.settings.serving import ServeSettings
from fascicle.tasks.serve import ServeRequest, serve

_DEFAULTS: Final = ServeSettings()


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "files", nargs="*", type=reads, metavar="PIPELINE", help="pipelines, models, packs; NAME=PATH gives one a name"
    )
    parser.add_argument("--demo", action="store_true", help="serve the shipped model and vocabularies, with examples")
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="to listen at; default: 127.0.0.1")
    parser.add_argument("--port", type=natural, default=8080, metavar="N", help="0 for any that is free; default: 8080")
    parser.add_argument(
        "--workers", type=positive, default=_DEFAULTS.workers, metavar="N", help="processes of each; default: 1"
    )
    parser.add_argument("--no-link", dest="link", action="store_const", const=None, default=AUTO, help="no links")
    parser.add_argument(
        "--token-file", type=reads, default="", metavar="FILE", help="with the token; default: $FASCICLE_TOKEN, or none"
    )
    parser.add_argument(
        "--queue",
        type=positive,
        default=_DEFAULTS.queue,
        metavar="N",
        help=f"characters of text that may wait; default: {_DEFAULTS.queue:,}",
    )
    parser.add_argument(
        "--jobs",
        type=fills,
        metavar="FOLDER",
        help="keeps jobs, so that the next service goes on with them",
    )
    parser.add_argument("--origin", action="append", default=[], metavar="URL", help="of pages that may use it")
    parser.add_argument(
        "--curation", type=fills, metavar="FILE", help="keep decisions of curators in this file (SQLite)"
    )
    parser.add_argument("--no-page", dest="page", action="store_false", help="without the page")
    parser.add_argument("--open-page", action="store_true", help="give the files of the page without the token")


def run(args: argparse.Namespace) -> int:
    """Serves; returns the exit code."""
    settings = replace(
        _DEFAULTS,
        workers=args.workers,
        queue=args.queue,
        jobs_folder=args.jobs or "",
        origins=tuple(args.origin),
        curation=args.curation or "",
        page=args.page,
        open_page=args.open_page,
    )
    request = ServeRequest(
        pipelines=tuple(args.files),
        demo=args.demo,
        link=args.link,
        host=args.host,
        port=args.port,
        token_file=args.token_file,
        settings=settings,
    )
    if args.demo:
        say(
            "note: the demo finds the names of the shipped pack beside those of the model, and links all; fascicle "
            "annotate uses the model alone unless told otherwise, so that it finds less"
        )
    with needs_extra("serve"):
        serve(request, started=lambda url: say(f"serving at {url} (end with Ctrl-C)"))
    return 0
