"""The table of the best recipes so far, from results files that the test writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.grids import both, make_grid, shown, store

from fascicle.evaluation.uncertainty.intervals import bootstrap_difference
from fascicle.training.experiments.grid import Grid
from studies.tables import best as tables
from studies.tests.tables import cells

WORSE = [[3, 1, 0], [1, 0, 2], [2, 2, 2], [0, 0, 0]]
BETTER = [[3, 0, 0], [2, 0, 1], [3, 2, 1], [0, 1, 0]]


def grid(folder: Path, name: str) -> Grid:
    systems = {"plain": "", "crf": 'model.family = "crf"'}
    return make_grid(folder, name, corpora=["bc5cdr"], systems=systems, runs=[{"seeds": [1, 2]}])


def test_the_best_single_model_is_the_reference_and_the_order_is_that_of_dev(
    tmp_path: Path,
) -> None:
    first, second = grid(tmp_path, "first"), grid(tmp_path, "second")
    store(first, "bc5cdr-plain-s1", BETTER, dev=0.80)
    store(first, "bc5cdr-crf-s1", WORSE, dev=0.81)
    store(second, "bc5cdr-plain-s1", BETTER, dev=0.82)
    store(second, "bc5cdr-crf-s1", [*WORSE, [1, 0, 0]], dev=0.79)
    found = cells(tables.best_recipes(first, [second], ["bc5cdr"]))
    assert [row[3] for row in found] == ["82.00", "81.00", "80.00", "79.00"]
    gained = shown(bootstrap_difference(*both(BETTER, WORSE)))
    assert [row[5] for row in found] == [gained, "reference", gained, "other units"]


def test_a_second_seed_is_no_candidate_and_nothing_is_said_of_what_is_not_run(
    tmp_path: Path,
) -> None:
    first = grid(tmp_path, "first")
    assert "not run" in tables.best_recipes(first, [], ["bc5cdr"])
    store(first, "bc5cdr-plain-s1", WORSE, dev=0.70)
    store(first, "bc5cdr-plain-s2", BETTER, dev=0.90)
    assert "90.00" not in tables.best_recipes(first, [], ["bc5cdr"])


def test_the_reference_is_shown_also_where_many_are_better_on_dev(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "SHOWN", 1)
    first, second = grid(tmp_path, "first"), grid(tmp_path, "second")
    store(first, "bc5cdr-plain-s1", WORSE, dev=0.5)
    store(second, "bc5cdr-plain-s1", BETTER, dev=0.6)
    store(second, "bc5cdr-crf-s1", BETTER, dev=0.55)
    text = tables.best_recipes(first, [second], ["bc5cdr"])
    assert [word in text for word in ("60.00", "reference", "55.00")] == [True, True, False]
