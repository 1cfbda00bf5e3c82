"""The tables of the service: what they say of results, and that they say so where there are
none.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from studies.tables.grids import MISSING
from studies.tables.serving import ROWS, curve, measured


def put(folder: Path, name: str, value: dict[str, Any]) -> None:
    (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")


def cells(table: str) -> list[list[str]]:
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_what_was_not_measured_is_said(tmp_path: Path) -> None:
    assert [row[-1] for row in cells(measured(tmp_path))] == [MISSING] * len(ROWS)
    assert curve(tmp_path) == MISSING


def test_every_fault_of_a_load_is_counted(tmp_path: Path) -> None:
    half = {"p99": 0.1, "wrong": 1, "sent": 10, "statuses": {"200": 8, "503": 2}}
    twice = {
        "p99": 0.25,
        "wrong": 2,
        "sent": 20,
        "statuses": {"200": 5, "429": 11, "500": 3, "0": 1},
    }
    put(
        tmp_path,
        "serving-load",
        {"half": half, "twice": twice, "memory_mib": [[at, 100 + at] for at in range(10)]},
    )
    found = [row[-1] for row in cells(measured(tmp_path))][4:8]
    assert found[0].startswith("2.50 times")
    assert found[1] == "3 wrong, 5 with 5xx, 1 without an answer"
    assert found[2] == "5 accepted, 11 refused, of 20"
    assert found[3] == "100 MiB in the first fifth, 108 MiB in the last"


def test_kills_add_up_what_was_lost(tmp_path: Path) -> None:
    counts = {"answers_wrong": 1, "given_up": 2, "jobs_wrong": 3, "decisions_lost": 4, "errors": 5}
    more = {"kills": 50, "kills_when_ready": 30, "answers": 1_000, "jobs": 7, "decisions": 80}
    put(tmp_path, "killed-service", {**counts, **more})
    assert "15 lost" in cells(measured(tmp_path))[0][-1]


def test_a_curve_has_both_arms_of_each_seed(tmp_path: Path) -> None:
    rows = [
        {
            "seed": seed,
            "arm": arm,
            "documents": count,
            "characters": 1_000 * count,
            "f1": 0.01 * count + 0.1 * (seed - 1),
        }
        for seed in (2, 1)
        for arm in ("uncertainty", "random")
        for count in (40, 15)
    ]
    rows[0]["f1"] = 0.999  # uncertainty, 40 documents, seed 2
    put(tmp_path, "curation-curve", {"rows": rows})
    assert [row[:4] for row in cells(curve(tmp_path))] == [
        ["15", "15.0; 25.0", "15.0; 25.0", "none"],
        ["40", "40.0; 99.9", "40.0; 50.0", "seeds disagree"],
    ]
    for row in rows:
        row["recall@1"] = 0.5 + 0.1 * (row["arm"] == "random")
    put(tmp_path, "curation-curve", {"rows": rows})
    assert cells(curve(tmp_path))[1][3:7] == ["50.0; 50.0", "60.0; 60.0", "seeds disagree", "-10.0"]


def test_every_fault_of_kills_crowds_and_attackers_is_counted(tmp_path: Path) -> None:
    kinds = {
        "lost": 1,
        "doubled": 2,
        "moved": 3,
        "exports_wrong": 4,
        "refused": 5,
        "errors": 6,
        "damages": 7,
        "orphans": 8,
    }
    run = {"kills": 9, "answered": 1_000, **kinds}
    put(
        tmp_path,
        "killed-project",
        {"runs": [{"seed": 1, **run}, {"seed": 2, "kills": 1, "answered": 5}]},
    )
    twice = {"sent": 20, "wrong": 4, "statuses": {"200": 5, "429": 11, "500": 3, "0": 1}}
    flat = {"memory_mib": [[at, 100 + at] for at in range(10)]}
    readers = {"steady whole": 5, "steady cut": 2}
    put(
        tmp_path,
        "serving-overload",
        {"twice": twice, "readers": readers, "log_faults": 7, "connections_left": 9, **flat},
    )
    attack = {
        "drawn": 900,
        "statuses": {"200": 1, "500": 2},
        "wrong": 3,
        "log_faults": 4,
        "schemathesis_requests": 100,
    }
    put(tmp_path, "serving-hostile", {**attack, "schemathesis_failures": {"a": 5}, **flat})
    found = [row[-1] for row in cells(measured(tmp_path))][1:4]
    assert found[0] == "10 kills, 1,005 steps answered: 1 lost, 2 doubled, 3 moved, 30 other faults"
    assert found[1].startswith(
        "11 of 20 requests refused; 4 wrong, 11 faults, 2 of 7 steady readers cut, 9 connections"
    )
    assert found[2].startswith("1,000 requests: 8 wrong, 6 faults; 100 MiB")
