"""Tables of a grid, from results files that the test writes."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pytest
from tests.support.grids import ON_DEV, both, make_grid, shown, store

from fascicle.evaluation.uncertainty.intervals import bootstrap_difference
from fascicle.training.experiments.grid import Grid
from fascicle.training.experiments.results import stored_scores
from studies.common import GRIDS
from studies.tables import grids as tables
from studies.tables import pages
from studies.tables.within import by_seed, by_type
from studies.tests.tables import rows

PLAIN = [[3, 1, 0], [1, 0, 2], [2, 2, 2], [0, 0, 0]]
BETTER = [[3, 0, 0], [2, 0, 1], [3, 2, 1], [0, 1, 0]]
RUNS: list[dict[str, Any]] = [
    {"corpora": ["one"], "systems": ["plain", "crf"], "seeds": [1, 2]},
    {"corpora": ["two"], "systems": ["plain"]},
    {"corpora": ["two"], "systems": ["span"], "variants": ["nested"]},
    {"corpora": ["one"], "systems": ["plain", "crf"], "variants": ["slow", "fast"]},
]
BUNDLES: list[dict[str, Any]] = [
    {"corpora": ["one"], "systems": ["both"], "seeds": [1, 2]},
    {"corpora": ["one"], "systems": ["both", "plain"], "variants": ["slow"], "seeds": [3]},
]


def small(folder: Path, *more: dict[str, Any], compare: str = "plain", answer: str = "") -> Grid:
    answers = f', answer = "{answer}"' * bool(answer)
    bundle = f'model = {{ family = "span" }}\nbundle = {{ family = "softmax"{answers} }}'
    return make_grid(
        folder,
        "small",
        compare=compare,
        corpora={"one": "", "two": 'corpus.train = "d"'},
        systems={
            "plain": "",
            "crf": 'model.family = "crf"',
            "span": 'model.family = "span"',
            "both": bundle,
        },
        variants={
            "nested": 'model.decoding = "nested"',
            "slow": f"training.learning_rate = 1e-5\n{ON_DEV}",
            "fast": f"training.learning_rate = 1e-3\n{ON_DEV}",
        },
        runs=[*RUNS, *more],
    )


@pytest.fixture
def grid(tmp_path: Path) -> Grid:
    return small(tmp_path)


def by_name(grid: Grid) -> dict[str, dict[str, str]]:
    """Corpus and system -> column -> cell."""
    # of each corpus its name, and what follows
    parts = tables.grid_table(grid, grid.results).split("**")
    pairs = list(zip(parts[1::2], parts[2::2], strict=True))
    return {f"{corpus} {row['system']}": row for corpus, text in pairs for row in rows(text)}


def recalls(inner: int) -> dict[str, Any]:
    nothing = {"gold": 0, "found": 0, "recall": None}
    return {
        "seen": {"gold": 10, "found": 9, "recall": 0.9},
        "unseen": nothing,
        "outermost": {"gold": 8, "found": 4, "recall": 0.5},
        "inner": {"gold": inner, "found": 1, "recall": 0.25} if inner else nothing,
    }


def test_what_is_not_run_is_planned(grid: Grid) -> None:
    told = tables.grid_table(grid, grid.results)
    assert [text in told for text in ("4 runs of the tier cpu", "2 runs of the tier cpu")] == [
        True,
        True,
    ]
    assert tables.dev_table(grid, grid.results).count("not run") == 4
    store(grid, "one-crf-s2", PLAIN)
    found = by_name(grid)
    assert {name: row["seeds"] for name, row in found.items()} == {
        "one `plain`": "0 of 2",
        "one `crf`": "1 of 2",
    }
    assert found["one `plain`"]["test F1"] == "not run"


def test_seeds_are_counted_by_tier(tmp_path: Path) -> None:
    grid = small(
        tmp_path, {"corpora": ["one"], "systems": ["plain"], "seeds": [3, 4, 5], "tier": "gpu"}
    )
    store(grid, "one-plain-s1", PLAIN)
    seeds = {name: row["seeds"] for name, row in by_name(grid).items()}
    assert seeds == {"one `plain`": "cpu 1 of 2, gpu 0 of 3", "one `crf`": "0 of 2"}


def test_means_spreads_and_paired_differences(grid: Grid) -> None:
    store(grid, "one-plain-s1", PLAIN, test_recall=recalls(0))
    of = {"test_recall": recalls(0), "test_f1_interval": {"low": 0.5, "high": 0.75}}
    store(grid, "one-crf-s1", BETTER, dev=0.81234, seconds=1200, **of)
    store(grid, "one-crf-s2", PLAIN, dev=0.81234, peak_rss_bytes=2_990_000_000, **of)
    found = by_name(grid)
    plain, crf = found["one `plain`"], found["one `crf`"]
    assert (plain["seeds"], crf["seeds"]) == ("1 of 2", "2 of 2")
    scores = [100 * stored_scores(counts).micro.f1 for counts in (BETTER, PLAIN)]
    assert crf["test F1"] == f"{statistics.mean(scores):.2f} ± {statistics.stdev(scores):.2f}"
    assert plain["test F1"] == f"{scores[1]:.2f}"
    assert crf["95 % interval"] == "50.0 to 75.0"
    assert (crf["less `plain`"], plain["less `plain`"]) == (
        shown(bootstrap_difference(*both(BETTER, PLAIN))),
        "reference",
    )
    assert (crf["recall, seen"], crf["recall, unseen"]) == ("90.0", "none")
    assert (crf["minutes a run"], crf["peak memory"], crf["dev F1"]) == ("15", "3.0 GB", "81.2")
    assert "recall, inner" not in crf
    assert "1,000 documents, 1,234 mentions" in tables.grid_table(grid, grid.results)


def test_nested_corpora_have_two_more_columns(grid: Grid) -> None:
    store(grid, "two-plain-s1", PLAIN, test_recall=recalls(4))
    store(grid, "two-span-nested-s1", BETTER, test_recall=recalls(4))
    row = by_name(grid)["two `span`, nested"]
    assert (row["recall, outermost"], row["recall, inner"]) == ("50.0", "25.0")
    # with the plain system, where it has no such variant
    assert row["less `plain`"].startswith("+")


def test_what_an_older_file_does_not_say(grid: Grid) -> None:
    store(grid, "one-plain-s1", PLAIN)
    store(grid, "one-crf-s1", BETTER, test_counts=..., test_recall=..., peak_rss_bytes=...)
    row = by_name(grid)["one `crf`"]
    columns = ("less `plain`", "recall, seen", "recall, unseen", "peak memory")
    assert {row[column] for column in columns} == {"not measured"}


def test_scores_of_other_units_or_seeds_are_not_paired(grid: Grid) -> None:
    store(grid, "one-plain-s1", PLAIN)
    store(grid, "one-crf-s1", [*BETTER[:-1], [0, 1, 3]])
    assert by_name(grid)["one `crf`"]["less `plain`"] == "other units"
    store(grid, "one-crf-s2", BETTER)
    (grid.results / "one-crf-s1.json").unlink()
    assert by_name(grid)["one `crf`"]["less `plain`"] == ""


def test_a_stale_result_is_not_shown(grid: Grid) -> None:
    store(grid, "one-plain-s1", PLAIN, hash="0" * 64)
    store(grid, "one-plain-s2", PLAIN)
    assert by_name(grid)["one `plain`"]["seeds"] == "1 of 2 (1 stale)"


def test_types_of_a_corpus_stand_in_rows(grid: Grid) -> None:
    assert by_type(grid, "one") == "not run"
    for name, of in {"plain-s1": (0.5, 0.0), "plain-s2": (0.6, 0.5), "crf-s1": (0.25, 1.0)}.items():
        store(grid, f"one-{name}", PLAIN)
        path = grid.results / f"one-{name}.json"
        value = json.loads(path.read_text(encoding="utf-8"))
        types = {kind: {"f1": f1, "support": 1200} for kind, f1 in zip("XY", of, strict=True)}
        value["test"]["types"] = {**types, "Z": {"f1": 0.0, "support": 0}}  # predicted only
        path.write_text(json.dumps(value), encoding="utf-8")
    assert [list(row.values()) for row in rows(by_type(grid, "one"))] == [
        ["X", "1,200", "55.00", "25.00"],
        ["Y", "1,200", "25.00", "100.00"],
    ]


def test_differences_stand_seed_by_seed(grid: Grid) -> None:
    assert by_seed(grid, "crf") == "not run"
    for name, counts in {"plain-s1": PLAIN, "plain-s2": PLAIN, "crf-s1": BETTER}.items():
        store(grid, f"one-{name}", counts)
    assert [list(row.values()) for row in rows(by_seed(grid, "crf"))] == [
        ["one", "1", shown(bootstrap_difference(*both(BETTER, PLAIN)))]
    ]


def test_rates(grid: Grid) -> None:
    store(grid, "one-plain-slow-s1", dev=0.81234)
    store(grid, "one-crf-fast-s1", dev=0.5)
    plain, crf = rows(tables.dev_table(grid, grid.results))
    assert [plain[f"dev F1, {rate}"] for rate in ("slow", "fast")] == ["81.23", "not run"]
    assert [crf[f"dev F1, {rate}"] for rate in ("slow", "fast")] == ["not run", "50.00"]


def test_a_bundle_has_a_row_for_each_head(tmp_path: Path) -> None:
    grid = small(tmp_path, *BUNDLES)
    store(grid, "one-plain-s1", PLAIN)
    store(grid, "one-both-s1", BETTER)
    store(grid, "one-both-s1", PLAIN, head="softmax", dev=0.5)
    store(grid, "one-both-s2", BETTER, head="softmax", hash="0" * 64)
    found = by_name(grid)
    heads = [found[f"one `both`, head `{head}`"] for head in ("span", "softmax")]
    assert [row["seeds"] for row in heads] == ["1 of 2", "1 of 2 (1 stale)"]
    assert [row["test F1"] for row in heads] == [
        f"{100 * stored_scores(c).micro.f1:.2f}" for c in (BETTER, PLAIN)
    ]
    assert [row["dev F1"] for row in heads] == ["80.0", "50.0"]
    assert [row["less `plain`"] for row in heads] == [
        shown(bootstrap_difference(*both(counts, PLAIN))) for counts in (BETTER, PLAIN)
    ]
    store(grid, "one-both-slow-s3", dev=0.75)
    store(grid, "one-both-slow-s3", head="softmax", dev=0.25)
    assert [row["dev F1, slow"] for row in rows(tables.dev_table(grid, grid.results))[-2:]] == [
        "75.00",
        "25.00",
    ]


def test_the_answering_head_comes_from_the_file_of_the_run(tmp_path: Path) -> None:
    grid = small(tmp_path, *BUNDLES, answer="softmax")
    store(grid, "one-both-s1", BETTER)
    found = {name: row["seeds"] for name, row in by_name(grid).items() if "`both`" in name}
    assert list(found.items()) == [
        ("one `both`, head `softmax`", "1 of 2"),
        ("one `both`, head `span`", "0 of 2"),
    ]


def test_a_bundle_to_compare_with(tmp_path: Path) -> None:
    grid = small(tmp_path, *BUNDLES, compare="both")
    store(grid, "one-plain-s1", PLAIN)
    store(grid, "one-both-s1", BETTER)
    store(grid, "one-both-s1", PLAIN, head="softmax")
    found = by_name(grid)
    with_answer = shown(bootstrap_difference(*both(PLAIN, BETTER)))
    assert found["one `plain`"]["less `both`"] == with_answer
    assert {found[f"one `both`, head `{head}`"]["less `both`"] for head in ("span", "softmax")} == {
        "reference"
    }


@pytest.mark.slow
def test_every_grid_of_the_project_has_its_tables() -> None:
    """Those on a page are made where the pages are checked."""
    text = "".join(page.read_text(encoding="utf-8") for page in pages.PAGES)
    for path in GRIDS.glob("*.toml"):
        if f"<!-- table {path.stem}" in text:
            continue
        on_test, on_dev = (pages.table(name) for name in (path.stem, f"{path.stem}-dev"))
        assert (
            "planned" in on_test
            or "not run" in on_dev
            or len(rows(on_test)) + len(rows(on_dev)) > 1
        )
