"""The table of cells of several corpora, from results files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.grids import grid_text

from fascicle.training.experiments.grid import Grid, read_grid
from fascicle.training.experiments.hashes import recipe_hash
from fascicle.training.experiments.results import write_result
from studies.parts.cells import beside, cells_of, main, table
from studies.tables.grids import dev_table, rows_of


@pytest.fixture
def grid(tmp_path: Path) -> Grid:
    part_a, part_b = (
        f'parts.{n} = {{ train = "{n}", dev = "{n}", annotates = ["{t}"] }}'
        for n, t in ("aX", "bY")
    )
    text = grid_text(
        "toy",
        recipe='model = { encoder = "tiny", family = "multilabel" }',
        corpora={"both": f"{part_a}\n{part_b}", "a": part_a},
        systems={"masked": "", "absent": 'mixture.unannotated = "absent"', "alone": ""},
        runs=[
            {"corpora": ["both"], "systems": ["masked", "absent"], "seeds": [1, 2]},
            {"corpora": ["a"], "systems": ["alone"]},
        ],
    )
    (tmp_path / "toy.toml").write_text(text, encoding="utf-8")
    return read_grid(tmp_path / "toy.toml")


def store(grid: Grid, name: str, **cells: float) -> None:
    (run,) = [run for run in grid.runs if run.name == name]
    data = {key: {"sha256": "1"} for key in run.recipe.files()}
    types = {key.replace("_", "/"): {"f1": f1, "support": 3} for key, f1 in cells.items()}
    types["a/Z"] = {"f1": 0.0, "support": 0}  # predicted only, which is no cell
    share = sum(cells.values()) / len(cells)
    value: dict[str, Any] = {
        "run": name,
        "hash": recipe_hash(run.recipe, dict.fromkeys(data, "1")),
        "dev": {"average": "macro", "types": types, "macro": {"f1": share}, "micro": {"f1": 0.0}},
        "facts": {"data": data},
    }
    write_result(grid.results, value, None)


def rows(text: str) -> dict[str, list[str]]:
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    return {name: cells for name, *cells in lines}


def test_cells_and_their_mean(grid: Grid, capsys: pytest.CaptureFixture[str]) -> None:
    store(grid, "both-masked-s1", a_X=0.8, b_Y=0.4)
    store(grid, "both-masked-s2", a_X=0.9, b_Y=0.6)
    store(grid, "both-absent-s1", a_X=0.7, b_Y=0.55)
    store(grid, "a-alone-s1", a_X=0.95)
    found = rows(table(grid, grid.results))
    assert found["dev F1"] == ["masked", "absent", "alone", "absent less masked"]
    assert found["a/X"] == ["85.00", "70.00", "95.00", "-15.00"]
    assert found["b/Y"] == ["50.00", "55.00", "not run", "+5.00"]
    assert found["mean"] == ["67.50", "62.50", "not run", "-5.00"]
    assert found["seeds"][:2] == ["2 of 2", "1 of 2"]
    assert main([str(grid.path)]) == 0
    assert rows(capsys.readouterr().out) == found
    assert "67.50" in dev_table(grid, grid.results)


def test_an_arm_that_was_not_run_has_no_column(grid: Grid) -> None:
    store(grid, "both-masked-s1", a_X=0.8, b_Y=0.4)
    made = table(grid, grid.results)
    assert rows(made)["dev F1"] == ["masked", "alone"]
    assert "absent" in made


def test_before_anything_is_run(grid: Grid) -> None:
    assert rows(table(grid, grid.results))["mean"][0] == "not run"


def test_systems_of_several_grids_are_compared_on_the_cells_of_both(grid: Grid) -> None:
    store(grid, "both-masked-s1", a_X=0.8, b_Y=0.4)
    assert "not run" in beside(found_in(grid))
    store(grid, "a-alone-s1", a_X=0.95)
    found = rows(beside(found_in(grid)))  # without `absent`, which has no results
    assert found.keys() >= {"a/X", "mean"}
    assert "b/Y" not in found
    assert found["a/X"] == found["mean"] == ["80.00", "95.00", "+15.00"]


def found_in(grid: Grid) -> dict[str, dict[str, float]]:
    return {row.system: cells_of(row) for row in rows_of(grid, grid.results)}
