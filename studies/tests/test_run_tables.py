"""The tables of runs: an extrapolation that can be followed by hand, and cells for what was not
measured.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studies.tables import runs
from studies.tables.grids import MISSING


def test_costs_are_the_rate_of_one_worker_extrapolated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {"documents": 10, "characters": 20_000, "documents_per_second": {"1": 5.0, "2": 9.0}}
    (tmp_path / "runs-workers.json").write_text(json.dumps(found), encoding="utf-8")
    monkeypatch.setattr(runs, "LIBRARIES", (("texts", 3_600e3, 1_000),))
    first, second = runs.costs(tmp_path).splitlines()[2:]
    # 5 documents of 2,000 characters a second: 10,000 characters; 3.6 billion take 360,000 seconds
    assert [cell.strip() for cell in first.split("|")[3:-1]] == ["10", "100", "1.0", "4"]
    assert second.count(MISSING) == 4


def test_what_differs_after_kills_is_shown(tmp_path: Path) -> None:
    found = {"kills": 7, "runs": 2, "starts": 4, "same_bytes": False}
    (tmp_path / "killed-runs.json").write_text(json.dumps(found), encoding="utf-8")
    table = runs.measured(tmp_path)
    assert "7 kills, 2 runs, 4 starts: OTHER BYTES" in table
    assert table.count(MISSING) == len(runs.ROWS) - 1
