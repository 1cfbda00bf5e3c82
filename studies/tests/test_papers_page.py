"""The page of the papers: each row has a state, and a place and a command that exist; no table is forgotten."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from fascicle.cli import COMMANDS
from fascicle.settings.recipes.strict import read_toml

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "studies" / "docs" / "papers.md"
RAN = {"reproduced", "differs", "tested here", "drawn"}
STATES = {*RAN, "not at hand"}
# What reports a result, paper by paper: tables, figures.
RESULTS: dict[str, tuple[set[int], set[int]]] = {
    "Comparing": ({1}, set()),
    "Bundling": ({3, 4, 6, 7, 8}, {5, 6, 7}),
    "Optimizing": (set(range(1, 12)), {2, 3}),
    "A span-level": ({2}, {3, 4, 5, 6}),
    "Biomedical": ({1, 2, 3}, set()),
}


def sections() -> dict[str, list[list[str]]]:
    """First words of each heading -> the cells of the rows of its table."""
    found = {}
    for part in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        name = next(key for key in RESULTS if part.startswith(key))
        lines = [line for line in part.splitlines() if line.startswith("|")][2:]
        found[name] = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return found


ROWS = [row for rows in sections().values() for row in rows]


def numbers(word: str, what: str) -> set[int]:
    """The numbers of the tables or figures that a cell names: ``Figures 3 to 6`` are four."""
    found = set()
    for first, sign, last in re.findall(rf"{word}s? (\d+)(?: (to|and) (\d+))?", what):
        found |= {int(first), int(last or first)}
        found |= set(range(int(first), int(last))) if sign == "to" else set()
    return found


@pytest.mark.parametrize("paper", RESULTS)
def test_every_table_and_figure_with_a_result_has_a_row(paper: str) -> None:
    told = [row[0] for row in sections()[paper]]
    tables, figures = RESULTS[paper]
    assert set().union(*(numbers("Table", what) for what in told)) == tables
    assert set().union(*(numbers("Figure", what) for what in told)) == figures


def test_every_row_has_a_state_and_one_sentence() -> None:
    assert all(len(row) == 5 for row in ROWS)
    assert {row[1] for row in ROWS} == STATES
    assert all(row[2].endswith(".") and ". " not in row[2] for row in ROWS)
    assert len({(name, row[0]) for name, rows in sections().items() for row in rows}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_the_command_of_a_row_exists(row: list[str]) -> None:
    commands = re.findall(r"`([^`]+)`", row[4])
    assert bool(commands) != (row[4] == "none")
    for command in commands:
        if command.endswith(".toml"):
            assert read_toml(ROOT / command)
        elif command.startswith("fascicle "):
            assert command.split()[1] in COMMANDS
        else:
            assert importlib.util.find_spec(command) is not None, command


@pytest.mark.parametrize("row", [row for row in ROWS if row[1] in RAN], ids=lambda row: row[0])
def test_what_was_repeated_has_results(row: list[str]) -> None:
    for grid in re.findall(r"`studies/grids/([\w-]+)\.toml`", row[4]):
        assert (ROOT / "studies" / "results" / f"{grid}.tar.xz").is_file()
