"""``fascicle plot``: a picture of a training, of what a model says of the gold, or of a report."""

from __future__ import annotations

import argparse

from fascicle.commands.parsing import add_overwrite
from fascicle.commands.places import reads, writes
from fascicle.commands.saying import say
from fascicle.core.html import harmless
from fascicle.reports.plots.canvas import SUFFIXES
from fascicle.tasks.plot import KINDS, plot


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.add_argument("kind", metavar="KIND", choices=KINDS, help=f"{', '.join(KINDS)}; see below")
    parser.add_argument(
        "files", nargs="*", type=reads, metavar="INPUT", help="run folders, or a file, as the kind asks for"
    )
    parser.add_argument(
        "-o", "--output", type=writes, required=True, metavar="FILE", help=f"the picture; ends in {', '.join(SUFFIXES)}"
    )
    parser.add_argument("--title", help="over the picture")
    parser.add_argument(
        "--system",
        action="append",
        default=[],
        metavar="NAME",
        help="of a report, only this system; may be repeated, and a heat map takes the first for its baseline",
    )
    add_overwrite(parser)
    parser.epilog = "kinds: " + "; ".join(f"{name}: {kind.help}" for name, kind in KINDS.items())


def run(args: argparse.Namespace) -> int:
    """Draws; returns the exit code."""
    notes = plot(
        args.kind,
        args.files,
        args.output,
        systems=args.system,
        title=args.title or "",
        overwrite=args.overwrite,
    )
    for note in notes:
        say(f"note: {' '.join(harmless(note).split())}")
    return 0
