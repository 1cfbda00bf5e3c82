"""The study of abbreviations: its records, its baseline, and predictions of sentences put back
into abstracts.
"""

from __future__ import annotations

import gzip
from pathlib import Path

from studies.abbreviations.finder import plain, records, scored
from studies.abbreviations.tables import ablation, finder, rules


def test_records_and_their_scores(tmp_path: Path) -> None:
    content = (
        "12\nA title.\nThe heart rate (HR) rose.\n  HR|heart  rate\n\n13\nNo "
        "pair.\n\n12\nAgain.\n  AB|a b\n"
    )
    (tmp_path / "records.gz").write_bytes(gzip.compress(content.encode("latin-1")))
    found = list(records(tmp_path / "records.gz"))
    assert [(one.id, len(one.lines), one.pairs) for one in found] == [
        ("12", 2, {("HR", "heart rate")}),
        ("13", 1, set()),
        ("12", 1, {("AB", "a b")}),
    ]
    counts = scored(found, plain).counts
    assert (counts.tp, counts.fp, counts.fn) == (1, 0, 1)


def test_tables_have_a_row_for_each_system(tmp_path: Path) -> None:
    results = Path(__file__).resolve().parents[2] / "studies" / "results"
    lines = rules(results).splitlines()
    assert len(lines) == len(ablation(results).splitlines()) == 2 + 17
    assert all(line.count("|") == lines[0].count("|") for line in lines)
    assert len(finder(results).splitlines()) == 2 + 4
    assert "not run" in finder(tmp_path)
