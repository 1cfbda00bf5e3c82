"""What the tables of a grid average: test F1 of each type of a corpus, and differences seed by
seed.
"""

from __future__ import annotations

import statistics

from fascicle.evaluation.uncertainty.intervals import bootstrap_difference
from fascicle.training.experiments.grid import Grid
from fascicle.training.experiments.results import stored_scores
from studies.tables.grids import NOT_RUN, markdown, points, rows_of


def by_type(grid: Grid, corpus: str) -> str:
    """A row for each type: its gold mentions, and F1 in percent, the mean over the seeds of each
    system.
    """
    rows = [
        row
        for row in rows_of(grid, grid.results)
        if row.corpus == corpus and not row.variant and row.values
    ]
    if not rows:
        return NOT_RUN
    gold = {
        name: of["support"]
        for name, of in rows[0].values[0]["test"]["types"].items()
        if of["support"]
    }
    body = [
        [
            name,
            f"{mentions:,}",
            *(f"{_mean([v['test']['types'][name]['f1'] for v in row.values]):.2f}" for row in rows),
        ]
        for name, mentions in sorted(gold.items())
    ]
    return markdown(["test F1", "mentions", *(f"`{row.system}`" for row in rows)], body)


def by_seed(grid: Grid, system: str) -> str:
    """F1 of a system less that of what the grid compares with, in pairs, for each corpus and
    seed that both have.
    """
    rows = {
        (row.corpus, row.system): row
        for row in rows_of(grid, grid.results)
        if not row.variant and row.found
    }
    body = []
    for corpus in dict.fromkeys(name for name, _ in rows):
        of, less = rows.get((corpus, system)), rows.get((corpus, grid.compare))
        for seed in sorted(of.found.keys() & less.found.keys()) if of and less else ():
            both = (stored_scores(row.found[seed]["test_counts"]) for row in (of, less))
            body.append([corpus, str(seed), points(bootstrap_difference(*both))])
    return (
        markdown(["corpus", "seed", f"`{system}` less `{grid.compare}` (95 %)"], body)
        if body
        else NOT_RUN
    )


def _mean(shares: list[float]) -> float:
    return 100 * statistics.mean(shares)
