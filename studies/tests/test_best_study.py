"""The table of the best single models, over results that were written for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from studies.best.tables import NAME, table
from studies.tables.grids import NOT_RUN


def one(seed: int, f1: float, *, refit: bool = False) -> dict[str, Any]:
    scores = {"micro": {"f1": f1}, "f1_interval": {"low": f1 - 0.02, "high": f1 + 0.02}}
    forms = {
        "whole": scores,
        "int8": {"micro": {"f1": f1 - 0.01}},
        "resolved": {**scores, "micro": {"f1": f1 + 0.01}},
    }
    rules = {"dev_f1": f1 + 0.03}
    return {"corpus": "c", "system": "s", "refit": refit, "seed": seed, "rules": rules, **forms}


def test_means_over_seeds_and_the_interval_of_the_first(tmp_path: Path) -> None:
    assert table(tmp_path) == NOT_RUN
    runs = {"c-s-s2": one(2, 0.86), "c-s-s1": one(1, 0.84), "c-refit-s-s1": one(1, 0.9, refit=True)}
    (tmp_path / f"{NAME}.json").write_text(json.dumps({"runs": runs}), encoding="utf-8")
    plain, refit = table(tmp_path).splitlines()[2:]
    assert [cell.strip() for cell in plain.strip("|").split("|")] == [
        "c",
        "`s`",
        "2",
        "85.00 ± 1.41",
        "84.00 ± 1.41",
        "86.00 ± 1.41",
        "82.0 to 86.0",
        "88.00 ± 1.41",
    ]
    assert "90.00" in refit
    assert "learnt" in refit
