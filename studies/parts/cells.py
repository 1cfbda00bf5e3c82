"""F1 of every cell of the grid ``parts``, arm by arm: what it is worth to know which types a corpus
annotates.

usage: python -m studies.parts.cells [GRID.toml]

Prints a table from the stored results alone. A cell is a type of a corpus that annotates it; all
numbers are of dev.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from fascicle.training.experiments.grid import Grid, read_grid
from studies.common import GRIDS
from studies.tables.grids import NOT_RUN, Row, markdown, rows_of

ALONE = "alone"  # one corpus, whose cells stand beside the same ones of the mixtures


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "grid",
        nargs="?",
        type=Path,
        default=GRIDS / "parts.toml",
        help="default: that of the project",
    )
    grid = read_grid(parser.parse_args(argv).grid)
    sys.stdout.write(table(grid, grid.results) + "\n")
    return 0


def table(grid: Grid, results: Path) -> str:
    """A row for each cell and one for their mean; a column for each arm, and what it has more than
    the first.

    Arms without any result are named below the table.

    Args:
        grid: of a study; the variants of its arms are left out.
        results: folder of its results files.
    """
    rows = rows_of(grid, results)
    planned = [row for row in rows if row.system != ALONE and not row.variant]
    arms = [row for row in planned if row.values] or planned
    alone = {
        name: share for row in rows if row.system == ALONE for name, share in cells_of(row).items()
    }
    found = {row.system: cells_of(row) for row in arms}
    names = sorted({name for cells in found.values() for name in cells})
    mean = {arm: _mean(cells.values()) for arm, cells in found.items()}
    of_alone = _mean(alone.values()) if alone.keys() >= set(names) else None
    body = [
        [name, *_shown([cells.get(name) for cells in found.values()], [alone.get(name)])]
        for name in names
    ]
    body.append(["mean", *_shown(list(mean.values()), [of_alone])])
    body.append(["seeds", *(row.seeds() for row in arms), "", *[""] * (len(arms) - 1)])
    first, *others = found
    made = markdown(["dev F1", *found, ALONE, *(f"{arm} less {first}" for arm in others)], body)
    left = [f"`{row.system}`" for row in planned if row not in arms]
    return f"{made}\n\nNot run: {', '.join(left)}." if left else made


def beside(found: Mapping[str, Mapping[str, float]]) -> str:
    """Systems of several grids on the cells that all of them have.

    Args:
        found: the name of each column and its cells, see `cells_of`; the first is what the others
            are compared with. Those without any cell are left out.
    """
    found = {name: cells for name, cells in found.items() if cells}
    if len(found) < 2:
        return NOT_RUN
    names = sorted(set.intersection(*(set(cells) for cells in found.values())))
    body = [[name, *_shown([cells[name] for cells in found.values()])] for name in names]
    mean = [_mean([cells[name] for name in names]) for cells in found.values()]
    first, *others = found
    head = ["dev F1", *found, *(f"{other} less {first}" for other in others)]
    return markdown(head, [*body, ["mean", *_shown(mean)]])


def cells_of(row: Row) -> dict[str, float]:
    """F1 in percent of each cell, the mean over seeds."""
    by_seed = [value["dev"]["types"] for value in row.values]
    names = sorted({name for types in by_seed for name, of in types.items() if of["support"]})
    return {name: 100 * statistics.mean(types[name]["f1"] for types in by_seed) for name in names}


def _mean(shares: object) -> float | None:
    known = list(shares) if shares else []  # type: ignore[call-overload]
    return statistics.mean(known) if known else None


def _shown(shares: Sequence[float | None], more: Sequence[float | None] = ()) -> list[str]:
    """Shares, more shares, and how much more the others of the first ones are than the first."""
    first, *others = shares
    told = [NOT_RUN if share is None else f"{share:.2f}" for share in (*shares, *more)]
    less = ["" if None in (share, first) else f"{share - first:+.2f}" for share in others]  # type: ignore[operator]
    return told + less


if __name__ == "__main__":
    raise SystemExit(main())
