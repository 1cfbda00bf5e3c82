"""Command ``fascicle plot``: draws a training or a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from fascicle.core.arguments import AnyPath, Paths, to_path_list, validate_arguments
from fascicle.core.files.atomic import check_target
from fascicle.core.marks import escape_controls
from fascicle.errors import OutputError, UsageError
from fascicle.evaluation.reports.plots.canvas import SUFFIXES, open_sheet, save_figure
from fascicle.evaluation.reports.plots.learning import draw_learning, load_runs
from fascicle.evaluation.reports.plots.learning import size as size_of_learning
from fascicle.evaluation.reports.plots.report_plots import REPORT_PLOTS, load_drawing
from fascicle.verbs.messages import say
from fascicle.verbs.options import Overwrite, call, option, reads, writes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class _Kind(NamedTuple):
    """Kind of picture.

    Attributes:
        help: content and input of the picture.
        load: function from an input (or several inputs) to the data; for a report, also from the
            names of systems.
        draw: draws the data on a sheet.
        size: function from the data to the size of the sheet in inches.
        several: whether it takes several inputs.
        systems: whether some of the systems can be chosen.
    """

    help: str
    load: Callable[..., Any]
    draw: Callable[[Figure, Any], None]
    size: Callable[[Any], tuple[float, float]]
    several: bool = False
    systems: bool = False

    def loaded(self, paths: Sequence[str], systems: Sequence[str]) -> Any:
        """Returns the data of the picture."""
        if self.systems:
            return self.load(paths[0], systems=systems)
        return self.load(paths if self.several else paths[0])


KINDS: Final[Mapping[str, _Kind]] = MappingProxyType(
    {
        "learning": _Kind(
            "one or several run folders: loss, and F1 on dev",
            load_runs,
            draw_learning,
            size_of_learning,
            several=True,
        ),
        **{
            name: _Kind(
                f"a report as JSON: {one.means}",
                partial(load_drawing, name),
                lambda figure, drawing: drawing.draw(figure),
                lambda drawing: (drawing.width, drawing.height),
                systems=True,
            )
            for name, one in REPORT_PLOTS.items()
        },
    }
)


@validate_arguments
def plot(
    kind: str,
    files: Paths,
    output: AnyPath,
    *,
    systems: Sequence[str] = (),
    title: str = "",
    overwrite: bool = False,
) -> tuple[str, ...]:
    """Draws a picture; needs the extra ``plots``.

    Args:
        kind: one of `KINDS`.
        files: run folders, or a file, as the kind requires.
        output: the picture; its suffix is one of ``reports.plots.canvas.SUFFIXES``.
        systems: of a report, only these; a heat map takes the first for its baseline.
        title: title above the picture.
        overwrite: replace an existing picture.

    Returns:
        Sentences that a reader of the picture must know.

    Raises:
        UsageError: no such kind, or inputs or systems that it does not take.
        InputError: an input that cannot be read.
        OutputError: the picture exists, or no picture has such a name.
        MissingExtraError: Matplotlib is not installed.
    """
    if kind not in KINDS:
        raise UsageError(f"the kind {kind!r} is not known; choose from {', '.join(KINDS)}")
    plot_kind, paths, target = KINDS[kind], to_path_list(files), Path(output)
    _check_inputs(kind, paths, systems)
    _check_output(target, title)
    check_target(target, overwrite=overwrite)
    loaded = plot_kind.loaded(paths, systems)
    width, height = plot_kind.size(loaded)
    with open_sheet(width=width, height=height) as figure:
        if title:
            figure.suptitle(title)
        plot_kind.draw(figure, loaded)
        save_figure(figure, target, overwrite=overwrite)
    return tuple(data.note for data in (loaded if plot_kind.several else [loaded]) if data.note)


def _check_inputs(kind: str, paths: Sequence[str], systems: Sequence[str]) -> None:
    """Refuses inputs and systems that a kind does not take."""
    plot_kind = KINDS[kind]
    if not paths:
        raise UsageError(f"nothing to draw was given; {kind} takes {plot_kind.help}")
    if len(paths) > 1 and not plot_kind.several:
        raise UsageError(f"{len(paths)} inputs were given; {kind} draws one file")
    if systems and not plot_kind.systems:
        raise UsageError(
            f"the system {systems[0]} was chosen, but {kind} draws {plot_kind.help}; choose no "
            "system"
        )


def _check_output(target: Path, title: str) -> None:
    """Refuses a name that no picture has, and a title that cannot be drawn."""
    if target.suffix not in SUFFIXES:
        raise OutputError(
            f"the picture {target} was asked for; its name must end with {', '.join(SUFFIXES)}"
        )
    if not title.replace("\n", "").isprintable():
        raise UsageError(
            f"the title {title!r} has control characters; leave them out, all but line breaks"
        )


class Options(Overwrite):
    """Options of ``fascicle plot``.

    In Python: ``fascicle.verbs.plot.plot("learning", "runs/mine", "learning.svg")``

    Attributes:
        files: one or several run folders, or one file, as the kind requires.
        title: title above the picture.
        system: draw only this system of a report; may be repeated; the first is the baseline of a
            heat map.
    """

    epilog = "kinds, with their INPUT: " + "; ".join(
        f"{name} takes {kind.help}" for name, kind in KINDS.items()
    )
    kind: str = option(
        "KIND", choices=KINDS, help=f"the kind of picture: {', '.join(KINDS)}; see below"
    )
    files: list[str] = option("INPUT *", reads)
    output: str = option(
        "-o --output FILE",
        writes,
        required=True,
        help=f"the picture; ends in {' or '.join(SUFFIXES)}",
    )
    title: str | None = option("--title TITLE")
    system: list[str] = option("--system NAME ...")


def run(args: Options) -> int:
    """Draws the picture; returns the exit code."""
    for note in call(plot, args, systems=args.system):
        say(f"note: {' '.join(escape_controls(note).split())}")
    return 0
