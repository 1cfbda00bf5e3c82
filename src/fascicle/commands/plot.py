"""``fascicle plot``: a picture of a training, of what a model says of the gold, or of a report."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from fascicle.commands.console import say
from fascicle.commands.parsing import add_overwrite
from fascicle.commands.places import reads, writes
from fascicle.core.html import harmless
from fascicle.errors import OutputError, UsageError
from fascicle.files.atomic import check_target
from fascicle.reports.plots.canvas import SUFFIXES, save, sheet
from fascicle.reports.plots.densities import draw_densities, load_densities
from fascicle.reports.plots.densities import size as size_of_densities
from fascicle.reports.plots.distribution_data import load_distributions
from fascicle.reports.plots.distributions import draw_pca, draw_violins, draw_volcano
from fascicle.reports.plots.learning import draw_learning, load_runs
from fascicle.reports.plots.learning import size as size_of_learning
from fascicle.reports.plots.report_plots import REPORT_PLOTS, load_drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of picture.

    Attributes:
        help: what it shows, and of what input.
        load: inputs and names of systems -> what is drawn; each thing in it has a ``note``, which may be empty.
        draw: on a sheet, what was loaded.
        size: of the sheet in inches, for what was loaded.
        several: whether it takes several inputs.
        systems: whether some of several systems can be chosen.
    """

    help: str
    load: Callable[[Sequence[str], Sequence[str]], Sequence[Any]]
    draw: Callable[[Figure, Sequence[Any]], None]
    size: Callable[[Sequence[Any]], tuple[float, float]]
    several: bool = False
    systems: bool = False


def _one(
    load: Callable[[str], Any],
    draw: Callable[[Figure, Any], None],
    size: Callable[[Any], tuple[float, float]],
    what: str,
) -> Kind:
    """A kind that takes one input."""
    return Kind(
        help=what,
        load=lambda given, _: [load(given[0])],
        draw=lambda figure, loaded: draw(figure, loaded[0]),
        size=lambda loaded: size(loaded[0]),
    )


def _of_report(name: str) -> Kind:
    """A kind that is drawn from a report."""
    return Kind(
        help=f"a report as JSON: {REPORT_PLOTS[name].means}",
        load=lambda given, systems: [load_drawing(name, given[0], systems=systems)],
        draw=lambda figure, loaded: loaded[0].draw(figure),
        size=lambda loaded: (loaded[0].width, loaded[0].height),
        systems=True,
    )


KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "learning": Kind(
            help="loss and dev F1 of one or several run folders",
            load=lambda given, _: load_runs(given),
            draw=draw_learning,
            size=size_of_learning,
            several=True,
        ),
        "pca": _one(
            load_distributions, draw_pca, lambda _: (7.4, 4.6), "a distributions file: where the probabilities lie"
        ),
        "violin": _one(
            load_distributions,
            draw_violins,
            lambda data: (max(4.8, 1.2 + 0.9 * len(data.header.types)), 4.2),
            "a distributions file: the probability of the gold type, by type",
        ),
        "volcano": _one(
            load_distributions, draw_volcano, lambda _: (6.4, 4.8), "a distributions file: other classes against gold"
        ),
        "densities": _one(
            load_densities, draw_densities, size_of_densities, "a densities file: similarities of a bi-encoder"
        ),
        **{name: _of_report(name) for name in REPORT_PLOTS},
    }
)


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
    kind = KINDS[args.kind]
    if not args.files:
        raise UsageError(f"nothing to draw was given; {args.kind} takes {kind.help}")
    if len(args.files) > 1 and not kind.several:
        raise UsageError(f"{len(args.files)} inputs were given; {args.kind} draws one file")
    if args.system and not kind.systems:
        raise UsageError(
            f"--system {args.system[0]} was given; {args.kind} takes {kind.help}, without a choice of systems"
        )
    target = Path(args.output)
    if target.suffix not in SUFFIXES:
        raise OutputError(f"the picture {target} was asked for; its name must end with {', '.join(SUFFIXES)}")
    check_target(target, overwrite=args.overwrite)
    loaded = kind.load(args.files, args.system)
    width, height = kind.size(loaded)
    with sheet(width=width, height=height) as figure:
        if args.title:
            figure.suptitle(args.title)
        kind.draw(figure, loaded)
        save(figure, target, overwrite=args.overwrite)
    for note in (one.note for one in loaded):
        if note:
            say(f"note: {' '.join(harmless(note).split())}")
    return 0
