"""A majority vote of small models of several corpora beside the big teacher, on the cells of dev."""

from __future__ import annotations

from pathlib import Path

from fascicle.training.experiments.grid import read_grid
from fascicle.training.experiments.results import read_result
from studies.common import GRIDS, RESULTS
from studies.parts.cells import beside, cells_of
from studies.tables.grids import rows_of

NAME = "teachers-vote"
_COLUMNS = (
    ("teachers", "mpnet"),
    ("six", "shape"),
    ("teachers", "minilm-crf"),
    ("teachers", "minilm-span"),
)


def table(grids: Path = GRIDS, results: Path = RESULTS) -> str:
    """What small models, and their vote, have on the cells of the big teacher."""
    read = {name: read_grid(grids / f"{name}.toml") for name in ("teachers", "six")}
    rows = {
        (name, row.system): row
        for name, grid in read.items()
        for row in rows_of(grid, grid.results)
        if not row.variant
    }
    found = {system: cells_of(rows[name, system]) for name, system in _COLUMNS}
    vote = (read_result(results, NAME) or {}).get("systems", {}).get("vote", {"f1": {}})
    return beside({**found, "vote": {cell: 100 * f1 for cell, f1 in vote["f1"].items()}})
