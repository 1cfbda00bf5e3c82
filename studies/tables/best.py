"""Which recipe is the best so far? All of several grids on one corpus, by dev F1, beside the
best of the first grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fascicle.errors import InputError
from fascicle.evaluation.uncertainty.intervals import bootstrap_difference
from fascicle.training.experiments.grid import Grid
from fascicle.training.experiments.results import stored_scores
from studies.tables.grids import NOT_RUN, Row, Value, markdown, points, rows_of

SHOWN = 6  # of each corpus, beside the one that all are compared with


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A system that is scored on test, by the results of its first seed."""

    grid: str
    row: Row
    value: Value

    @property
    def dev(self) -> float:
        """F1 on dev, in points."""
        return 100 * float(self.value["dev"]["micro"]["f1"])

    @property
    def test(self) -> float:
        """F1 on test, in points."""
        return 100 * float(self.value["test"]["micro"]["f1"])


def best_recipes(first: Grid, others: Sequence[Grid], corpora: Sequence[str]) -> str:
    """For each corpus the candidates with the highest dev F1, and what they gain on test over the
    reference.

    Args:
        first: the grid whose best single model, by dev F1, is the reference; its recipes are named
            after corpora.
        others: more grids.
        corpora: names.
    """
    body = []
    for corpus in corpora:
        reference = max(_of(first, corpus), key=lambda one: one.dev, default=None)
        found = sorted(
            [c for grid in (first, *others) for c in _of(grid, corpus)], key=lambda one: -one.dev
        )
        shown = found[:SHOWN]
        if reference is not None and reference not in shown:
            shown.append(reference)
        body += [_cells(corpus, one, reference) for one in shown] or [[corpus, NOT_RUN, *[""] * 4]]
    return markdown(
        ["corpus", "plan", "system", "dev F1", "test F1", "less the best single of `first`"], body
    )


def _of(grid: Grid, corpus: str) -> list[Candidate]:
    rows = [
        row
        for row in rows_of(grid, grid.results)
        if _name(row) == corpus and row.runs[0].recipe.corpus.test
    ]
    found = [(row, row.found.get(row.runs[0].recipe.seed)) for row in rows]
    return [Candidate(grid=grid.name, row=row, value=value) for row, value in found if value]


def _name(row: Row) -> str:
    """The corpus; a recipe file is named after it, with what it is behind."""
    if row.corpus:
        return row.corpus
    name = row.runs[0].recipe.name
    return next((known for known in ("ncbi-disease", "bc5cdr") if name.startswith(known)), name)


def _cells(corpus: str, one: Candidate, reference: Candidate | None) -> list[str]:
    return [
        corpus,
        f"`{one.grid}`",
        one.row.name,
        f"{one.dev:.2f}",
        f"{one.test:.2f}",
        _less(one, reference),
    ]


def _less(one: Candidate, reference: Candidate | None) -> str:
    """The paired difference on test."""
    if reference is None or one == reference:
        return "reference" if reference else ""
    try:
        paired = bootstrap_difference(
            *(stored_scores(c.value["test_counts"]) for c in (one, reference))
        )
    except InputError:
        return "other units"
    return points(paired)
