"""Files that were changed are found, whatever their times and sizes say; a stamp vouches for
what was read alone.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fascicle.core.files import intact
from fascicle.core.files.owned import file_facts

Facts = dict[str, tuple[int, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    place = tmp_path / "folder"
    place.mkdir()
    draw = random.Random(1)
    for name, size in (("a.u4", 4_000), ("b.u1", 90_000), ("none.u1", 0)):
        (place / name).write_bytes(draw.randbytes(size))
    return place


@pytest.fixture
def stamped(monkeypatch: pytest.MonkeyPatch) -> None:
    """All folders are large, and no clock is coarse."""
    monkeypatch.setattr(intact, "LARGE", 0)
    monkeypatch.setattr(intact, "SETTLED", 0)


def facts_of(folder: Path) -> Facts:
    return {path.name: file_facts(path) for path in sorted(folder.iterdir())}


def flip(place: Path, at: int) -> None:
    """Another bit, in place; size and time of change stay."""
    before = place.stat()
    with place.open("r+b") as stream:
        stream.seek(at)
        (byte,) = stream.read(1)
        stream.seek(at)
        stream.write(bytes([byte ^ 1]))
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (place.stat().st_size, place.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def check_damages(folder: Path, facts: Facts) -> None:
    draw = random.Random(2)
    for _ in range(50):
        name = draw.choice(["a.u4", "b.u1"])
        at = draw.randrange(facts[name][0])
        flip(folder / name, at)
        assert intact.first_changed(folder, facts) == name
        flip(folder / name, at)
        assert intact.first_changed(folder, facts) is None


def test_damage_of_equal_size_and_time_is_found(folder: Path) -> None:
    check_damages(folder, facts_of(folder))
    assert not intact.stamp_path(folder).exists()


@pytest.mark.usefixtures("stamped")
def test_damage_is_found_beside_a_stamp(folder: Path) -> None:
    check_damages(folder, facts_of(folder))
    assert intact.stamp_path(folder).is_file()


def test_a_missing_file_and_one_of_another_size(folder: Path) -> None:
    facts = facts_of(folder)
    (folder / "b.u1").write_bytes(b"")
    assert intact.first_changed(folder, facts) == "b.u1"
    (folder / "none.u1").unlink()
    (folder / "b.u1").unlink()
    assert intact.first_changed(folder, facts) == "b.u1"


@pytest.mark.usefixtures("stamped")
def test_files_with_a_stamp_are_not_read_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = facts_of(folder)
    assert intact.first_changed(folder, facts) is None
    monkeypatch.setattr(intact, "file_facts", lambda path: pytest.fail(f"{path} was read"))
    assert intact.first_changed(folder, facts) is None


@pytest.mark.usefixtures("stamped")
def test_a_stamp_does_not_vouch_for_other_facts_or_another_folder(
    folder: Path, tmp_path: Path
) -> None:
    facts = facts_of(folder)
    assert intact.first_changed(folder, facts) is None
    assert intact.first_changed(folder, facts | {"a.u4": (4_000, "0" * 64)}) == "a.u4"
    other = Path(shutil.copytree(folder, tmp_path / "other"))  # with the times of the first one
    flip(other / "a.u4", 0)
    assert intact.first_changed(other, facts) == "a.u4"
    shutil.rmtree(folder)
    other.rename(folder)  # a damaged copy at the place that has a stamp
    assert intact.first_changed(folder, facts) == "a.u4"


def test_what_was_written_just_now_gets_no_stamp(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intact, "LARGE", 0)
    facts = facts_of(folder)
    assert intact.first_changed(folder, facts) is None
    assert not intact.stamp_path(folder).exists()


@pytest.mark.usefixtures("stamped")
def test_what_is_written_while_it_is_read_gets_no_stamp(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = facts_of(folder)

    def read(path: Path) -> tuple[int, str]:
        found = file_facts(path)
        if path.name == "a.u4":
            flip(path, 7)  # right behind the reader
        return found

    monkeypatch.setattr(intact, "file_facts", read)
    assert intact.first_changed(folder, facts) is None
    assert not intact.stamp_path(folder).exists()
    monkeypatch.setattr(intact, "file_facts", file_facts)
    assert intact.first_changed(folder, facts) == "a.u4"


@pytest.mark.usefixtures("stamped")
@pytest.mark.parametrize("damage", [b"", b"[]", b"\xff"])
def test_a_damaged_stamp_is_made_again(folder: Path, damage: bytes) -> None:
    facts = facts_of(folder)
    assert intact.first_changed(folder, facts) is None
    whole = intact.stamp_path(folder).read_bytes()
    intact.stamp_path(folder).write_bytes(damage)
    assert intact.first_changed(folder, facts) is None
    assert intact.stamp_path(folder).read_bytes() == whole


@pytest.mark.usefixtures("stamped")
def test_without_a_place_for_stamps_files_are_read_each_time(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "file"))
    check_damages(folder, facts_of(folder))


_PROCESS = """
import json, sys
from pathlib import Path
from fascicle.core.files import intact
intact.LARGE = intact.SETTLED = 0
folder, facts = Path(sys.argv[1]), json.loads(sys.argv[2])
facts = {name: tuple(value) for name, value in facts.items()}
assert all(intact.first_changed(folder, facts) is None for _ in range(50))
"""


def test_several_processes_at_once(folder: Path, stamped: Callable[[], None]) -> None:
    import json

    facts = facts_of(folder)
    asked = [sys.executable, "-c", _PROCESS, str(folder), json.dumps(facts)]
    running = [subprocess.Popen(asked) for _ in range(3)]
    assert [one.wait(timeout=60) for one in running] == [0, 0, 0]
    assert [path.name for path in intact.stamp_path(folder).parent.iterdir()] == [
        intact.stamp_path(folder).name
    ]
    flip(folder / "b.u1", 5)
    assert intact.first_changed(folder, facts) == "b.u1"
