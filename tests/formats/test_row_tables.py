"""Tables of any rows: no cell is a formula of a spreadsheet."""

from __future__ import annotations

from pathlib import Path

import pytest

from fascicle.formats.row_tables import open_rows


@pytest.mark.parametrize(("suffix", "between"), [("csv", ","), ("tsv", "\t")])
def test_a_text_is_no_formula_and_a_number_stays_one(
    tmp_path: Path, suffix: str, between: str
) -> None:
    path = tmp_path / f"rows.{suffix}"
    with open_rows(str(path), {"note": str, "weight": float, "rank": int}) as add:
        add(["=1+1", -0.5, None])
        add(["plain", None, -1])
    _header, *rows = path.read_text(encoding="utf-8-sig").splitlines()
    assert rows == [f"'=1+1{between}-0.5{between}", f"plain{between}{between}-1"]
