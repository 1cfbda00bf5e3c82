"""Takes over results of runs that another grid has made already: same recipe, seed and data, as
their hash says.

usage: FASCICLE_DATA=... python -m studies.share_results GRID [--results FOLDER]

A result is copied under the names that GRID gives to it; nothing that is there is replaced. Runs of
bundles leave results of two heads, and are not copied. What is made of predictions or of run
folders needs the run itself.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fascicle.errors import InputError
from fascicle.training.experiments.grid import Grid, read_grid
from fascicle.training.experiments.hashes import data_hashes, recipe_hash
from fascicle.training.experiments.results import read_result, write_result
from studies.common import RESULTS


def main() -> int:
    """Parses, copies, tells."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("grid")
    parser.add_argument(
        "--results", type=Path, default=RESULTS, help="the folder with a folder of each grid"
    )
    args = parser.parse_args()
    for run, source in share(read_grid(args.grid), args.results):
        sys.stdout.write(f"{run}: from {source}\n")
    return 0


def share(grid: Grid, results: Path) -> Iterator[tuple[str, Path]]:
    """Copies what is there; yields the names of runs, and where their results are from.

    Args:
        grid: whose results are wanted.
        results: the folder with a folder of each grid.
    """
    made = {hash_: path for path in sorted(results.glob("*/*-s*.json")) if (hash_ := _hash(path))}
    known: dict[str, str] = {}
    for run in grid.runs:
        recipe = run.resolved()
        if recipe.bundle is not None or read_result(results / grid.name, run.name):
            continue
        try:
            source = made.get(recipe_hash(recipe, data_hashes(recipe, known)))
        except InputError:  # its data are made by the grid, or are not here
            continue
        if source is None:
            continue
        labels = {name: getattr(run, name) for name in ("tier", "corpus", "system", "variant")}
        value = read_result(source.parent, source.stem) | {
            "run": run.name,
            "grid": grid.name,
            **labels,
        }
        write_result(results / grid.name, value, None)
        yield run.name, source


def _hash(path: Path) -> str:
    value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return str(value.get("hash", "")) if isinstance(value, dict) else ""


if __name__ == "__main__":
    sys.exit(main())
