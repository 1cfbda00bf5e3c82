"""Kazu beside a term pack: the page has the stored numbers, and what both find is compared as it
is told.
"""

from __future__ import annotations

import json
from pathlib import Path

from studies.common import RESULTS
from studies.speed.kazu_beside import POISONS, summary, tables_of

PAGE = Path(__file__).resolve().parents[2] / "studies" / "docs" / "kazu.md"


def test_the_page_has_the_stored_numbers() -> None:
    report = json.loads((RESULTS / "kazu-beside.json").read_text(encoding="utf-8"))
    assert report["poison"].keys() == set(POISONS)
    for table in tables_of(report).split("\n\n"):
        assert table.strip() in PAGE.read_text(encoding="utf-8")
    alone = report["mentions"]
    for count in (alone["both"], alone["ours alone"]["all"], alone["kazu alone"]["all"]):
        assert f"{count:,}" in PAGE.read_text(encoding="utf-8")


def test_what_both_find_is_compared() -> None:
    run = {"build": 1.0, "wall": 2.0, "cpu": 0.5, "megabytes": 10.0}
    ours = {**run, "found": [["1", 0, 5], ["1", 8, 9], ["2", 0, 5]]}
    kazu = {**run, "found": [["1", 0, 5], ["1", 3, 9], ["3", 0, 5]]}
    found = summary([{"ours": ours, "kazu": kazu}], 1_000_000)
    assert found["mentions"] == {
        "both": 1,
        "ours alone": {"all": 2, "overlapping one of the others": 1},
        "kazu alone": {"all": 2, "overlapping one of the others": 1},
    }
    assert found["ours"] == {**run, "megabytes_a_second": 2.0}
