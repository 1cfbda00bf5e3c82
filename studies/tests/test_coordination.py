"""The study of coordinated names: what counts as one, its counts, and its tables."""

from __future__ import annotations

from pathlib import Path

from fascicle.core.document import Link
from studies.coordination.tables import concepts
from studies.coordination.tables import places as places_table

TEXT = "breast and ovarian cancer, hepatitis"
ONE, TWO = Link(id="1", curie="X:1"), Link(id="2", curie="X:2")


def test_tables(tmp_path: Path) -> None:
    results = Path(__file__).resolve().parents[2] / "studies" / "results"
    assert len(concepts(results).splitlines()) == 2 + 2 * 3 * (3 + 2)
    assert len(places_table(results).splitlines()) == 2 + 2 + 1
    assert all("not run" in table(tmp_path) for table in (concepts, places_table))
