"""Buckets and errors by family: counts against naive ones, intervals against a literal
bootstrap.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fascicle.core.document import Mention
from fascicle.evaluation.breakdown.errors import error_rates, find_mistakes
from studies.families import reports, tables

GOLD = {
    "a": (Mention(spans=((0, 4),), type="X"), Mention(spans=((10, 14),), type="Y")),
    "b": (Mention(spans=((2, 9),), type="X"),),
    "c": (),
}
SAID = {
    "a": (Mention(spans=((0, 4),), type="Y"), Mention(spans=((10, 12),), type="Y")),
    "b": (Mention(spans=((2, 9),), type="X"), Mention(spans=((20, 22),), type="X")),
    "c": (Mention(spans=((0, 1),), type="X"),),
}


def test_the_table_of_errors_adds_up_to_the_rates() -> None:
    found = find_mistakes(GOLD, SAID)
    table = reports.error_table(GOLD, found)
    rates = error_rates(found)
    assert table.sum(axis=0).tolist() == [
        rates["boundary_errors"],
        rates["type_errors"],
        rates["errors"],
        3,
    ]
    assert table[1].tolist() == [0, 0, 1, 1]
    nothing = reports.error_table(GOLD, [])
    same = reports.measures(np.array([table.sum(axis=0), nothing.sum(axis=0)]))
    assert same[:2] == pytest.approx([100 * rates["boundary_rate"], 100 * rates["type_rate"]])
    assert same[2:] == pytest.approx(
        [100 * rates["boundary_errors"] / 3, 100 * rates["type_errors"] / 3]
    )


def test_differences_of_a_system_with_itself_are_nothing() -> None:
    table = reports.error_table(GOLD, find_mistakes(GOLD, SAID))
    pair = {"SeqNER": {1: table}, "SpanNER": {1: table}}
    found = reports.differences({"one": pair}, draws=50)
    assert set(found) == {"SpanNER less SeqNER"}
    assert set(found["SpanNER less SeqNER"]) == {"one"}
    found = reports.differences({"one": pair, "two": pair}, draws=50)
    assert set(found["SpanNER less SeqNER"]) == {"one", "two", "all corpora"}
    for told in found["SpanNER less SeqNER"].values():
        assert all(values == [0, 0, 0] for values in told.values())


def test_the_interval_is_that_of_a_literal_bootstrap() -> None:
    chance = np.random.default_rng(5)
    gold = chance.integers(1, 5, size=60)
    tables = {}
    for model, rate in (("SeqNER", 0.5), ("SpanNER", 0.2)):
        boundary = chance.binomial(gold, rate)
        tables[model] = {
            1: np.stack([boundary, 0 * gold, boundary + chance.binomial(gold, 0.3), gold], axis=1)
            * 1.0
        }
    found = reports.differences({"one": tables, "two": tables}, draws=1500)["SpanNER less SeqNER"]
    drawn = []
    for _ in range(1500):
        picked = chance.integers(0, 60, size=60)
        first, second = (sum(tables[m][1][u] for u in picked) for m in ("SpanNER", "SeqNER"))
        drawn.append(100 * (first[0] / first[2] - second[0] / second[2]))
    estimate, low, high = found["one"]["boundary share"]
    assert estimate == pytest.approx(np.mean(drawn), abs=1)
    assert [low, high] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=2)
    assert found["two"]["boundary share"] == pytest.approx([estimate, low, high], abs=2)
    assert found["all corpora"]["boundary share"][0] == pytest.approx(estimate)
    assert high < 0


def test_what_is_not_measured_is_not_told(tmp_path: Path) -> None:
    assert {
        tables.bucketed(tmp_path, "length"),
        tables.errors(tmp_path),
        tables.moved(tmp_path),
    } == {"not run"}
    assert (
        tables._bucket((30, 5, 5), (20, 20, 15), first=False)
        == f"{200 * 30 / 70 - 200 * 20 / 75:+.1f}"
    )


def test_an_interval_with_hardly_any_gold_is_a_dash(tmp_path: Path) -> None:
    # over two seeds: 21, 19 and 21 gold mentions
    buckets = {"length": [[30, 2, 12], [15, 3, 23], [40, 1, 2]]}
    systems = {"`softmax`": {"seeds": [1, 2], "buckets": buckets}}
    of = {"gold": 61, "intervals": {"length": ["1", "2", "3+"]}, "systems": systems}
    text = json.dumps({"grids": {"span-heads": {"one": of}}})
    (tmp_path / "family-reports.json").write_text(text, encoding="utf-8")
    assert (
        tables.bucketed(tmp_path, "length").splitlines()[-1]
        == "| one | `softmax` | 81.1 | – | 96.4 |"
    )
