"""Test F1 of each type of one corpus, system by system."""

from __future__ import annotations

import statistics

from benchmarks.tables.grids import NOT_RUN, markdown, rows_of
from fascicle.experiments.grid import Grid


def by_type(grid: Grid, corpus: str) -> str:
    """A row for each type: its gold mentions, and F1 in percent, the mean over the seeds of each system."""
    rows = [row for row in rows_of(grid, grid.results) if row.corpus == corpus and not row.variant and row.values]
    if not rows:
        return NOT_RUN
    gold = {name: of["support"] for name, of in rows[0].values[0]["test"]["types"].items() if of["support"]}
    body = [
        [name, f"{mentions:,}", *(f"{_mean([v['test']['types'][name]['f1'] for v in row.values]):.2f}" for row in rows)]
        for name, mentions in sorted(gold.items())
    ]
    return markdown(["test F1", "mentions", *(f"`{row.system}`" for row in rows)], body)


def _mean(shares: list[float]) -> float:
    return 100 * statistics.mean(shares)
