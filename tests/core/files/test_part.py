"""A journal and a growing file where there is no room."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.room import room

from fascicle.core.files.part import Journal, PartFile, part_paths
from fascicle.errors import OutputError


def test_a_journal_that_finds_no_room_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.part.journal"
    with room(4), pytest.raises(OutputError, match=r"x\.part\.journal cannot be written"):
        Journal(path, made_by={"model": "m"}, resume=False)
    assert not path.exists()


def test_a_journal_that_cannot_grow_keeps_what_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.part.journal"
    journal = Journal(path, made_by={"model": "m"}, resume=False)
    journal.append({"bytes": 1})
    with room(path.stat().st_size + 4), pytest.raises(OutputError, match="cannot be written"):
        journal.append({"bytes": 2})
    with room(path.stat().st_size):
        journal.close()
    again = Journal(path, made_by={"model": "m"}, resume=True)
    assert [entry["bytes"] for entry in again.entries] == [1]
    again.remove()


def test_a_journal_of_another_run_or_with_damage_is_not_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "x.part.journal"
    journal = Journal(path, made_by={"model": "m"}, resume=False)
    journal.append({"bytes": 1234})
    with pytest.raises(OutputError, match="another run is writing"):
        Journal(path, made_by={"model": "m"}, resume=True)
    journal.close()
    with pytest.raises(OutputError, match="another model"):
        Journal(path, made_by={"model": "other"}, resume=True)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"1234", b"1243"))
    with pytest.raises(OutputError, match="damaged") as refused:
        Journal(path, made_by={"model": "m"}, resume=True)
    assert refused.value.code == "damaged"
    path.write_bytes(content)
    again = Journal(path, made_by={"model": "m"}, resume=True)
    assert [entry["bytes"] for entry in again.entries] == [1234]
    again.remove()


def test_a_device_is_no_place_for_a_file_that_grows() -> None:
    with pytest.raises(OutputError, match="/dev/full"):
        PartFile("/dev/full", made_by={})
    assert not any(path.exists() for path in part_paths("/dev/full"))
