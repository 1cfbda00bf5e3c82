"""The study of sequence variants: gold identifiers as HGVS names, and its tables."""

from __future__ import annotations

from pathlib import Path

from studies.variants.tables import identifiers, mentions, read_one_by_one


def test_tables(tmp_path: Path) -> None:
    results = Path(__file__).resolve().parents[2] / "studies" / "results"
    assert len(mentions(results).splitlines()) == 2 + 3
    assert len(identifiers(results).splitlines()) == 2 + 4
    assert len(read_one_by_one(results).splitlines()) == 2 + 1
    assert all("not run" in table(tmp_path) for table in (mentions, identifiers, read_one_by_one))
