"""The analysis of bundling: pairs, gaps, correlations, and tables from results files that the
tests write.
"""

from __future__ import annotations

import itertools
import json
import statistics
from pathlib import Path

import pytest
from tests.support.grids import ON_DEV, both, make_grid, store, write_json

from fascicle.training.experiments.grid import Grid
from studies.bundling import gains, pooled, tables
from studies.bundling.hierarchical import bootstrap_pooled
from studies.tests.tables import rows

SINGLES = ("SeqNER", "SpanNER")
FILES = {
    "SeqNER": "softmax-s{}",
    "SpanNER": "spanner-s{}",
    "BL-SpanNER": "bundle-s{}",
    "BL-SeqNER": "bundle-s{}.softmax",
}
GOLD = (4, 3, 5, 2, 6)  # mentions of each test unit


@pytest.fixture
def grid(tmp_path: Path) -> Grid:
    seq, span = "", 'model.family = "span"'
    return make_grid(
        tmp_path,
        "bundling",
        corpora={"conll04": "", "wnut16": 'corpus.train = "d"', "other": 'corpus.train = "e"'},
        systems={"softmax": seq, "spanner": span, "bundle": f'{span}\nbundle.family = "softmax"'},
        variants={"rate": f"training.learning_rate = 1e-5\n{ON_DEV}"},
        runs=[
            {"seeds": [1, 2]},
            {"corpora": ["conll04"], "systems": ["bundle"], "variants": ["rate"]},
        ],
    )


def counts_of(found: int, *, wrong: int = 1) -> list[list[int]]:
    """Counts of all units: so many mentions found, taken from the units in turn."""
    left, counts = found, []
    for gold in GOLD:
        tp = min(left, gold)
        left -= tp
        counts.append([tp, wrong, gold - tp])
    return counts


def points(found: int) -> float:
    """Test F1 of ``counts_of``, by hand."""
    return 100 * 2 * found / (found + len(GOLD) + sum(GOLD))


def write(grid: Grid, corpus: str, model: str, seed: int, found: int) -> None:
    name, _, head = f"{corpus}-{FILES[model].format(seed)}".partition(".")
    store(grid, name, counts_of(found), head=head)


PLAN = {  # corpus -> model -> mentions found with seeds 1, 2
    "conll04": {
        "SeqNER": (10, 12),
        "SpanNER": (13, 12),
        "BL-SeqNER": (12, 13),
        "BL-SpanNER": (13, 14),
    },
    "wnut16": {"SeqNER": (6, 5), "SpanNER": (10, 11), "BL-SeqNER": (8, 8), "BL-SpanNER": (9, 9)},
    "other": {
        "SeqNER": (15, 15),
        "SpanNER": (16, 17),
        "BL-SeqNER": (16, 15),
        "BL-SpanNER": (16, 18),
    },
}


def write_all(grid: Grid, *, but: tuple[str, str, int] | None = None) -> None:
    for corpus, models in PLAN.items():
        for model, found in models.items():
            for seed in (1, 2):
                if (corpus, model, seed) != but:
                    write(grid, corpus, model, seed, found[seed - 1])


def test_gains_and_gaps_are_paired_by_seed(grid: Grid) -> None:
    write_all(grid, but=("wnut16", "SeqNER", 2))
    corpora = {c.name: c for c in gains.corpora_of(grid)}
    assert list(corpora) == ["conll04", "wnut16", "other"]
    for name, corpus in corpora.items():
        for single, other in itertools.permutations(SINGLES):
            seeds = [1] if name == "wnut16" else [1, 2]
            of = PLAN[name]
            own_seeds = seeds if single == "SeqNER" else [1, 2]
            expected = {
                s: points(of[f"BL-{single}"][s - 1]) - points(of[single][s - 1]) for s in own_seeds
            }
            assert corpus.gains(single) == pytest.approx(expected)
            gaps = {s: points(of[single][s - 1]) - points(of[other][s - 1]) for s in seeds}
            assert corpus.gaps(single) == pytest.approx(gaps)
            apart = [pytest.approx((gaps[1], expected[2]))] if 2 in expected else []
            assert corpus.apart(single) == apart
            assert list(corpus.pairs(single)) == own_seeds


def test_nothing_is_run_yet(grid: Grid) -> None:
    for make in (tables.published, tables.gains, tables.gaps, tables.unknown_words):
        own = [
            row
            for row in rows(make(grid))
            if row.get("", "here") == "here" and row["corpus"] in PLAN
        ]
        assert ["not run" in row.values() for row in own] == [True] * 3
    found = [row["points"] for row in rows(tables.relations(grid)) if "paper" not in row[""]]
    assert set(found) == {"not run"}


def test_gains_have_intervals_once_they_are_computed(grid: Grid) -> None:
    write_all(grid, but=("other", "BL-SpanNER", 2))
    before = {row["corpus"]: row["gain of SpanNER"] for row in rows(tables.gains(grid))}
    gain = points(13) - points(13), points(14) - points(12)
    assert before["conll04"].startswith(
        f"{statistics.mean(gain):+.2f} ± {statistics.stdev(gain):.2f}"
    )
    assert before["other"].startswith("+0.00 (1 of 2 seeds)")
    assert all("not computed" in cell for name, cell in before.items() if name in PLAN)

    report = pooled.pooled(grid, draws=200)
    write_json(grid.results.parent / "bundling-gains.json", {"heads": report})
    pairs = [
        [
            both(counts_of(of["BL-SpanNER"][s]), counts_of(of["SpanNER"][s]))
            for s in range(1 if name == "other" else 2)
        ]
        for name, of in PLAN.items()
    ]
    whole, one = (bootstrap_pooled(given, resamples=200) for given in (pairs, pairs[1:2]))
    after = {row["corpus"]: row for row in rows(tables.gains(grid))}
    shown = f"**{100 * whole.estimate:+.2f}**, {100 * whole.low:+.2f} to {100 * whole.high:+.2f}"
    assert after["mean of the corpora"]["gain of SpanNER"] == shown
    assert after["wnut16"]["gain of SpanNER"].endswith(
        f", {100 * one.low:+.2f} to {100 * one.high:+.2f}"
    )

    # results change: intervals of this head are no longer theirs
    write(grid, "wnut16", "BL-SpanNER", 1, 12)
    changed = {row["corpus"]: row for row in rows(tables.gains(grid))}
    assert all(changed[name]["gain of SpanNER"].endswith("not computed") for name in PLAN)
    assert changed["wnut16"]["gain of SeqNER"] == after["wnut16"]["gain of SeqNER"]


def test_results_over_other_units_are_refused_by_name(
    grid: Grid, capsys: pytest.CaptureFixture[str]
) -> None:
    write_all(grid)
    path = grid.results / "wnut16-spanner-s1.json"
    value = json.loads(path.read_text(encoding="utf-8"))
    value["test_counts"].append([0, 0, 1])
    path.write_text(json.dumps(value), encoding="utf-8")
    assert pooled.main(grid.path) == 2
    assert capsys.readouterr().err.startswith(
        "wnut16: two systems over 5 and 6 documents were given"
    )


def test_points_and_relations(grid: Grid) -> None:
    write_all(grid, but=("wnut16", "BL-SeqNER", 1))
    found = {(row["corpus"], row["seed"]): row for row in rows(tables.gaps(grid))}
    assert len(found) == 6
    assert found["wnut16", "1"]["SpanNER less SeqNER"] == f"{points(10) - points(6):+.2f}"
    assert found["wnut16", "1"]["gain of SeqNER"] == "not run"
    related = {(row[""], row["against"]): row for row in rows(tables.relations(grid))}
    same = related["gain of SpanNER", "SpanNER less SeqNER, same seed"]
    models = ("SeqNER", "SpanNER", "BL-SpanNER")
    reached = {
        name: [[points(of[model][s]) for model in models] for s in (0, 1)]
        for name, of in PLAN.items()
    }
    expected = gains.relation(
        {name: [(b - a, c - b) for a, b, c in of] for name, of in reached.items()}
    )
    assert (same["points"], same["corpora"]) == ("6", "3")
    assert same["Pearson"] == f"{expected.of_points[0]:+.2f}"
    assert same["Spearman of means"] == f"{expected.of_means[1]:+.2f} (p = {expected.p[1]:.2f})"
    assert related["gain of SeqNER", "SeqNER less SpanNER, same seed"]["points"] == "5"
    apart = related["gain of SpanNER, other seeds", "SpanNER less SeqNER, first seed"]
    assert (apart["points"], apart["corpora"], apart["Pearson"]) == (
        "3",
        "3",
        apart["Pearson of means"].split()[0],
    )
    assert apart["Pearson"] != same["Pearson of means"].split()[0]
    assert related["gain of SpanNER", "OOV density"]["points"] == "not run"


def test_densities_of_other_data_are_not_shown(grid: Grid) -> None:
    write_all(grid)
    told = {"words": 1000, "density": 0.25, "density_folded": 0.2}
    right = {part: part for part in ("train", "dev", "test")}
    corpora = {
        "conll04": {"sha256": right, "test": told},
        "wnut16": {"sha256": right, "test": {**told, "density": 0.5}},
        "other": {"sha256": {**right, "train": "changed"}, "test": told},
    }
    write_json(grid.results.parent / "bundling-oov.json", {"corpora": corpora})
    found = {row["corpus"]: row for row in rows(tables.unknown_words(grid))}
    assert (found["conll04"]["words of test"], found["conll04"]["OOV density"]) == (
        "1,000",
        "0.250",
    )
    assert found["other"]["OOV density"] == "not run"
    related = {(row[""], row["against"]): row for row in rows(tables.relations(grid))}
    assert related["gain of SpanNER", "OOV density"]["corpora"] == "2"
    lead = related["SpanNER less SeqNER", "OOV density"]
    # two corpora are always in line
    assert (lead["Pearson of means"], lead["points"]) == ("not measured", "4")
