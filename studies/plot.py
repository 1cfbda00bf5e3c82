"""Draws a picture of a paper from a distributions file or a densities file; see
``studies/docs/pictures.md``.

usage: python -m studies.plot pca|violin|volcano|densities FILE -o PICTURE
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from fascicle.errors import FascicleError
from fascicle.evaluation.reports.plots.canvas import open_sheet, save_figure
from studies.binder.densities_picture import draw_densities, load_densities, size
from studies.span_typer.distributions_pictures import (
    Distributions,
    draw_pca,
    draw_violins,
    draw_volcano,
    load_distributions,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Kind(NamedTuple):
    """Kind of picture.

    Attributes:
        load: function from a file to the data.
        draw: draws the data on a sheet.
        size: function from the data to the size of the sheet in inches.
    """

    load: Callable[[str], Any]
    draw: Callable[[Figure, Any], None]
    size: Callable[[Any], tuple[float, float]]


def size_of_violins(data: Distributions) -> tuple[float, float]:
    """The size of the sheet in inches."""
    return max(4.8, 1.2 + 0.9 * len(data.header.types)), 4.2


KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "pca": Kind(load_distributions, draw_pca, lambda _: (7.4, 4.6)),
        "violin": Kind(load_distributions, draw_violins, size_of_violins),
        "volcano": Kind(load_distributions, draw_volcano, lambda _: (6.4, 4.8)),
        "densities": Kind(load_densities, draw_densities, size),
    }
)


def plot(kind: str, path: str, out: Path) -> str:
    """Draws a picture; returns what its reader must know."""
    load, draw, size_of = KINDS[kind]
    data = load(path)
    width, height = size_of(data)
    with open_sheet(width=width, height=height) as figure:
        draw(figure, data)
        save_figure(figure, out, overwrite=True)
    return str(data.note)


def main(argv: Sequence[str] | None = None) -> int:
    """Draws a picture; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("file")
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args(argv)
    try:
        note = plot(args.kind, args.file, args.output)
    except FascicleError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stderr.write(f"{note}\n" if note else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
