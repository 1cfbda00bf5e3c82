"""Rows that do not fit into memory come back sorted, each as often as it was added."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.terms.pack.sorting import SortedSpill


@given(
    rows=st.lists(st.binary(max_size=40), max_size=300),
    memory=st.sampled_from([1, 500, 5_000, 1 << 20]),
)
def test_any_rows_come_back_sorted(rows: list[bytes], memory: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        spill = SortedSpill(Path(place) / "runs", memory=memory)
        for row in rows:
            spill.add(row)
        assert [row for batch in spill.batches() for row in batch] == sorted(rows)
        assert not list(Path(place).iterdir())  # the runs are gone


@pytest.mark.parametrize("count", [0, 1, 70_000])
def test_blocks_of_a_run_are_read_one_after_the_other(tmp_path: Path, count: int) -> None:
    spill = SortedSpill(tmp_path / "runs", memory=2 << 20)
    rows = [b"%06d" % ((number * 7919) % 70_001) for number in range(count)]
    for row in rows:
        spill.add(row)
    assert [row for batch in spill.batches() for row in batch] == sorted(rows)
