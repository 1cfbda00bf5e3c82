"""Tables of a grid, from results files that the test writes."""

from __future__ import annotations

import importlib
import json
import statistics
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fascicle.evaluation.uncertainty.intervals import bootstrap_difference
from fascicle.experiments.grid import Grid, GridRun, read_grid
from fascicle.experiments.hashes import recipe_hash
from fascicle.experiments.results import scores_of

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
TEXT = """\
name = "small"
compare = "plain"
[recipe]
model.encoder = "tiny"
corpus = { train = "a", dev = "b", test = "c" }
[corpora.one]
[corpora.two]
corpus.train = "d"
[systems.plain]
[systems.crf]
model.family = "crf"
[systems.span]
model.family = "span"
[variants.nested]
model.decoding = "nested"
[variants.slow]
training.learning_rate = 1e-5
corpus.test = ""
[variants.fast]
training.learning_rate = 1e-3
corpus.test = ""
[[run]]
corpora = ["one"]
systems = ["plain", "crf"]
seeds = [1, 2]
tier = "cpu"
[[run]]
corpora = ["two"]
systems = ["plain"]
seeds = [1]
tier = "cpu"
[[run]]
corpora = ["two"]
systems = ["span"]
variants = ["nested"]
seeds = [1]
tier = "cpu"
[[run]]
corpora = ["one"]
systems = ["plain", "crf"]
variants = ["slow", "fast"]
seeds = [1]
tier = "cpu"
"""
PLAIN = [[3, 1, 0], [1, 0, 2], [2, 2, 2], [0, 0, 0]]
BETTER = [[3, 0, 0], [2, 0, 1], [3, 2, 1], [0, 1, 0]]


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("grid_tables")


@pytest.fixture
def grid(tmp_path: Path) -> Grid:
    path = tmp_path / "small.toml"
    path.write_text(TEXT, encoding="utf-8")
    (tmp_path / "results" / "small").mkdir(parents=True)
    return read_grid(path)


def write(grid: Grid, name: str, counts: list[list[int]] | None, *, head: str = "", **more: Any) -> None:
    """A results file as far as tables look at it; of the other head of a bundle, if one is named."""
    run: GridRun = next(run for run in grid.runs if run.name == name)
    parts = ("train", "dev", "test") if counts else ("train", "dev")
    data = {part: {"sha256": part * 3, "documents": 1000, "mentions": 1234} for part in parts}
    micro = scores_of(counts).as_dict()["micro"] if counts else None
    value: dict[str, Any] = {
        "hash": recipe_hash(run.recipe, {part: facts["sha256"] for part, facts in data.items()}),
        "dev": {"micro": {"f1": 0.81234}},
        "test": {"micro": micro} if counts else None,
        "test_f1_interval": {"low": 0.5, "high": 0.75},
        "test_counts": counts,
        "seconds": 600,
        "peak_rss_bytes": 2_340_000_000,
        "facts": {"data": data},
    }
    path = grid.results / f"{name}{'.' * bool(head)}{head}.json"
    path.write_text(json.dumps({key: v for key, v in {**value, **more}.items() if v is not ...}), encoding="utf-8")


def rows(table: str) -> dict[str, dict[str, str]]:
    """Corpus and system -> column -> cell."""
    found: dict[str, dict[str, str]] = {}
    corpus, head = "", [""]
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("**"):
            corpus = line.split("**")[1]
        elif line.startswith("| system"):
            head = cells
        elif line.startswith("|") and "---" not in line:
            found[f"{corpus} {cells[0]}"] = dict(zip(head, cells, strict=True))
    return found


def recalls(inner: int) -> dict[str, Any]:
    nothing = {"gold": 0, "found": 0, "recall": None}
    return {
        "seen": {"gold": 10, "found": 9, "recall": 0.9},
        "unseen": nothing,
        "outermost": {"gold": 8, "found": 4, "recall": 0.5},
        "inner": {"gold": inner, "found": 1, "recall": 0.25} if inner else nothing,
    }


def test_nothing_is_run_yet(tables: ModuleType, grid: Grid) -> None:
    told = tables.grid_table(grid, grid.results).split("\n\n")
    assert told == [
        "**one**: not run; 4 runs of the tier cpu are planned",
        "**two**: not run; 2 runs of the tier cpu are planned",
    ]
    assert tables.dev_table(grid, grid.results).count("not run") == 4


def test_some_are_run(tables: ModuleType, grid: Grid) -> None:
    write(grid, "one-crf-s2", PLAIN)
    told = tables.grid_table(grid, grid.results)
    found = rows(told)
    assert {name: row["seeds"] for name, row in found.items()} == {"one `plain`": "0 of 2", "one `crf`": "1 of 2"}
    assert found["one `plain`"]["test F1"] == "not run"
    assert told.endswith("**two**: not run; 2 runs of the tier cpu are planned")


def test_seeds_are_counted_by_tier(tables: ModuleType, grid: Grid) -> None:
    both = grid.path.read_text(encoding="utf-8")
    more = '[[run]]\ncorpora = ["one"]\nsystems = ["plain"]\nseeds = [3, 4, 5]\ntier = "gpu"\n'
    grid.path.write_text(both + more, encoding="utf-8")
    write(grid, "one-plain-s1", PLAIN)
    found = rows(tables.grid_table(read_grid(grid.path), grid.results))
    assert {name: row["seeds"] for name, row in found.items()} == {
        "one `plain`": "cpu 1 of 2, gpu 0 of 3",
        "one `crf`": "0 of 2",
    }


def test_means_spreads_and_paired_differences(tables: ModuleType, grid: Grid) -> None:
    write(grid, "one-plain-s1", PLAIN, test_recall=recalls(0))
    write(grid, "one-crf-s1", BETTER, test_recall=recalls(0), seconds=1200)
    write(grid, "one-crf-s2", PLAIN, test_recall=recalls(0), peak_rss_bytes=2_990_000_000)
    found = rows(tables.grid_table(grid, grid.results))
    plain, crf = found["one `plain`"], found["one `crf`"]
    assert (plain["seeds"], crf["seeds"]) == ("1 of 2", "2 of 2")
    scores = [100 * scores_of(counts).micro.f1 for counts in (BETTER, PLAIN)]
    assert crf["test F1"] == f"{statistics.mean(scores):.2f} ± {statistics.stdev(scores):.2f}"
    assert plain["test F1"] == f"{scores[1]:.2f}"
    assert crf["95 % interval"] == "50.0 to 75.0"
    paired = bootstrap_difference(scores_of(BETTER), scores_of(PLAIN))
    expected = f"{100 * paired.estimate:+.2f} ({100 * paired.low:+.1f} to {100 * paired.high:+.1f})"
    assert (crf["less `plain`"], plain["less `plain`"]) == (expected, "reference")
    assert (crf["recall, seen"], crf["recall, unseen"]) == ("90.0", "none")
    assert (crf["minutes a run"], crf["peak memory"], crf["dev F1"]) == ("15", "3.0 GB", "81.2")
    assert "recall, inner" not in crf
    assert "**one** (test: 1,000 documents, 1,234 mentions)" in tables.grid_table(grid, grid.results)


def test_nested_corpora_have_two_more_columns(tables: ModuleType, grid: Grid) -> None:
    write(grid, "two-plain-s1", PLAIN, test_recall=recalls(4))
    write(grid, "two-span-nested-s1", BETTER, test_recall=recalls(4))
    row = rows(tables.grid_table(grid, grid.results))["two `span`, nested"]
    assert (row["recall, outermost"], row["recall, inner"]) == ("50.0", "25.0")
    assert row["less `plain`"].startswith("+")  # with the plain system, where it has no such variant


def test_what_an_older_file_does_not_say(tables: ModuleType, grid: Grid) -> None:
    write(grid, "one-plain-s1", PLAIN)
    write(grid, "one-crf-s1", BETTER, test_counts=..., test_recall=..., peak_rss_bytes=...)
    row = rows(tables.grid_table(grid, grid.results))["one `crf`"]
    for column in ("less `plain`", "recall, seen", "recall, unseen", "peak memory"):
        assert row[column] == "not measured"


def test_scores_of_other_units_are_not_paired(tables: ModuleType, grid: Grid) -> None:
    write(grid, "one-plain-s1", PLAIN)
    write(grid, "one-crf-s1", [*BETTER[:-1], [0, 1, 3]])
    assert rows(tables.grid_table(grid, grid.results))["one `crf`"]["less `plain`"] == "other units"
    write(grid, "one-crf-s2", BETTER)
    (grid.results / "one-crf-s1.json").unlink()
    assert rows(tables.grid_table(grid, grid.results))["one `crf`"]["less `plain`"] == ""  # no seed in common


def test_a_stale_result_is_not_shown(tables: ModuleType, grid: Grid) -> None:
    write(grid, "one-plain-s1", PLAIN, hash="0" * 64)
    write(grid, "one-plain-s2", PLAIN)
    row = rows(tables.grid_table(grid, grid.results))["one `plain`"]
    assert row["seeds"] == "1 of 2 (1 stale)"


def test_rates(tables: ModuleType, grid: Grid) -> None:
    write(grid, "one-plain-slow-s1", None)
    write(grid, "one-crf-fast-s1", None, dev={"micro": {"f1": 0.5}})
    assert tables.dev_table(grid, grid.results).splitlines() == [
        "| corpus | system | dev F1, slow | dev F1, fast |",
        "| --- | --- | --- | --- |",
        "| one | `plain` | 81.23 | not run |",
        "| one | `crf` | not run | 50.00 |",
    ]


BUNDLES = """\
[[run]]
corpora = ["one"]
systems = ["both"]
seeds = [1, 2]
tier = "cpu"
[[run]]
corpora = ["one"]
systems = ["both", "plain"]
variants = ["slow"]
seeds = [3]
tier = "cpu"
[systems.both]
model = { family = "span" }
bundle = { family = "softmax" }
"""


def with_bundles(grid: Grid, *, compare: str = "plain", answer: str = "") -> Grid:
    head, _, runs = TEXT.partition("[[run]]")
    text = f"{head}[[run]]{runs}{BUNDLES}".replace('compare = "plain"', f'compare = "{compare}"')
    grid.path.write_text(text.replace('family = "softmax" }', f'family = "softmax", answer = "{answer}" }}'))
    return read_grid(grid.path)


def test_a_bundle_has_a_row_for_each_head(tables: ModuleType, grid: Grid) -> None:
    grid = with_bundles(grid)
    write(grid, "one-plain-s1", PLAIN)
    write(grid, "one-both-s1", BETTER)
    write(grid, "one-both-s1", PLAIN, head="softmax", dev={"micro": {"f1": 0.5}})
    write(grid, "one-both-s2", BETTER, head="softmax", hash="0" * 64)
    found = rows(tables.grid_table(grid, grid.results))
    own, other = found["one `both`, head `span`"], found["one `both`, head `softmax`"]
    assert list(found)[2:4] == ["one `both`, head `span`", "one `both`, head `softmax`"]
    assert (own["seeds"], other["seeds"]) == ("1 of 2", "1 of 2 (1 stale)")
    assert [row["test F1"] for row in (own, other)] == [
        f"{100 * scores_of(c).micro.f1:.2f}" for c in (BETTER, PLAIN)
    ]  # fmt: skip
    assert (own["dev F1"], other["dev F1"]) == ("81.2", "50.0")
    paired = bootstrap_difference(scores_of(BETTER), scores_of(PLAIN))
    assert own["less `plain`"].startswith(f"{100 * paired.estimate:+.2f} (")
    assert other["less `plain`"] == "+0.00 (+0.0 to +0.0)"


def test_the_answering_head_comes_from_the_file_of_the_run(tables: ModuleType, grid: Grid) -> None:
    grid = with_bundles(grid, answer="softmax")
    write(grid, "one-both-s1", BETTER)
    found = rows(tables.grid_table(grid, grid.results))
    names = [name for name in found if "`both`" in name]
    assert names == ["one `both`, head `softmax`", "one `both`, head `span`"]
    assert [found[name]["seeds"] for name in names] == ["1 of 2", "0 of 2"]


def test_a_bundle_to_compare_with(tables: ModuleType, grid: Grid) -> None:
    grid = with_bundles(grid, compare="both")
    write(grid, "one-plain-s1", PLAIN)
    write(grid, "one-both-s1", BETTER)
    write(grid, "one-both-s1", PLAIN, head="softmax")
    found = rows(tables.grid_table(grid, grid.results))
    paired = bootstrap_difference(scores_of(PLAIN), scores_of(BETTER))  # with the answering head
    assert found["one `plain`"]["less `both`"].startswith(f"{100 * paired.estimate:+.2f} (")
    assert {found[f"one `both`, head `{head}`"]["less `both`"] for head in ("span", "softmax")} == {"reference"}


def test_heads_on_dev_alone(tables: ModuleType, grid: Grid) -> None:
    grid = with_bundles(grid)
    write(grid, "one-both-slow-s3", None)
    write(grid, "one-both-slow-s3", None, head="softmax", dev={"micro": {"f1": 0.25}})
    assert tables.dev_table(grid, grid.results).splitlines()[-2:] == [
        "| one | `both`, head `span` | 81.23 |  |",
        "| one | `both`, head `softmax` | 25.00 |  |",
    ]


@pytest.mark.slow
def test_every_grid_of_the_project_has_its_tables(tables: ModuleType) -> None:
    script = importlib.import_module("tables")
    for path in (BENCHMARKS / "grids").glob("*.toml"):
        on_test, on_dev = (script.table(name) for name in (path.stem, f"{path.stem}-dev"))
        assert "planned" in on_test or "not run" in on_dev or on_test.count("| ") + on_dev.count("| ") > 30
        assert on_dev.startswith("| corpus | system |")
