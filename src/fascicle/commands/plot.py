"""``fascicle plot``: a picture of a training, of what a model says of the gold, or of a report."""

from __future__ import annotations

from fascicle.commands.options import Overwrite, called, option
from fascicle.commands.places import reads, writes
from fascicle.commands.saying import say
from fascicle.core.html import harmless
from fascicle.reports.plots.canvas import SUFFIXES
from fascicle.tasks.plot import KINDS, plot


class Options(Overwrite):
    """Options of ``fascicle plot``.

    In Python: ``fascicle.tasks.plot.plot("learning", "runs/mine", "learning.svg")``

    Attributes:
        files: run folders, or a file, as the kind asks for.
        title: over the picture.
        system: of a report, only this system; may be repeated, and a heat map takes the first for its baseline.
    """

    epilog = "kinds: " + "; ".join(f"{name}: {kind.help}" for name, kind in KINDS.items())
    kind: str = option("KIND", choices=KINDS, help=f"{', '.join(KINDS)}; see below")
    files: list[str] = option("INPUT *", reads)
    output: str = option("-o --output FILE", writes, required=True, help=f"the picture; ends in {', '.join(SUFFIXES)}")
    title: str | None = option("--title TITLE")
    system: list[str] = option("--system NAME ...")


def run(args: Options) -> int:
    """Draws; returns the exit code."""
    for note in called(plot, args, systems=args.system):
        say(f"note: {' '.join(harmless(note).split())}")
    return 0
