"""A folder is replaced only where nothing but what the same kind of command wrote is in it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fascicle.core.files.atomic import atomic_folder, rewritable_folder
from fascicle.core.files.owned import RECORD, Ledger, remove_owned
from fascicle.core.files.temporary import old_name
from fascicle.errors import OutputError


def write(
    place: Path, files: dict[str, str], *, kind: str = "model", overwrite: bool = False
) -> Path:
    with atomic_folder(place, kind=kind, overwrite=overwrite) as folder:
        fill(folder, files)
    return place


def fill(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")


def content(folder: Path) -> dict[str, str]:
    """Every visible file below a folder; links by what they lead to."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != RECORD
    }


def test_what_was_written_is_replaced(tmp_path: Path) -> None:
    place = write(tmp_path / "m", {"a": "1", "deep/b": "2"})
    write(place, {"a": "3"}, overwrite=True)
    assert content(place) == {"a": "3"}
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def add(name: str, text: str = "mine") -> Callable[[Path], None]:
    return lambda folder: fill(folder, {name: text})


def link(folder: Path) -> None:
    (folder / "link").symlink_to(folder.parent)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (add("notes.txt"), "notes.txt"),
        (add(".hidden"), ".hidden"),
        (add("deep/thesis.docx"), "deep/thesis.docx"),
        (add("deeper/still/notes"), "deeper/still/notes"),
        (add("a", "9"), "a"),
        (add("a", "longer than before"), "a"),
        (lambda folder: (folder / "empty").mkdir(), "empty/"),
        (link, "link"),
        (lambda folder: (folder / RECORD).unlink(), "a"),
        (lambda folder: (folder / RECORD).write_text("{}"), "a"),
        (lambda folder: (folder / RECORD).write_text('["a"]\n'), "a"),
    ],
)
def test_what_is_the_users_is_named_and_stays(
    tmp_path: Path, change: Callable[[Path], None], named: str
) -> None:
    place = write(tmp_path / "m", {"a": "1", "deep/b": "2"})
    change(place)
    before = content(place)
    with pytest.raises(OutputError) as caught:
        write(place, {"a": "3"}, overwrite=True)
    assert repr(named) in str(caught.value)
    assert str(place) in str(caught.value)
    assert content(place) == before
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_three_names_and_how_many_more(tmp_path: Path) -> None:
    place = write(tmp_path / "m", {"a": "1"})
    fill(place, dict.fromkeys("zyxwv", "mine"))
    with pytest.raises(OutputError, match=r"'v', 'w', 'x' and 2 more"):
        write(place, {"a": "3"}, overwrite=True)


def test_another_kind_is_not_replaced(tmp_path: Path) -> None:
    place = write(tmp_path / "m", {"a": "1"}, kind="brat")
    with pytest.raises(OutputError, match="'a'"):
        write(place, {"a": "3"}, kind="model", overwrite=True)
    assert content(place) == {"a": "1"}


def test_a_folder_without_a_record_is_not_replaced(tmp_path: Path) -> None:
    place = write(tmp_path / "m", {"a": "1"})
    (place / RECORD).unlink()
    with pytest.raises(OutputError, match="'a'"):
        write(place, {"a": "3"}, overwrite=True)
    assert content(place) == {"a": "1"}


def test_the_same_files_give_the_same_record(tmp_path: Path) -> None:
    for name in ("m", "n"):
        write(tmp_path / name, {"b": "1", "a": "2", "deep/ü": "3"})
    assert (tmp_path / "m" / RECORD).read_bytes() == (tmp_path / "n" / RECORD).read_bytes()


def test_a_name_that_is_no_unicode_is_known_again(tmp_path: Path) -> None:
    with atomic_folder(tmp_path / "m", kind="model") as folder:
        (folder / os.fsdecode(b"caf\xe9")).write_text("1")
    write(tmp_path / "m", {"a": "2"}, overwrite=True)
    assert content(tmp_path / "m") == {"a": "2"}


def test_the_working_folder_and_those_above_it_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work" / "here").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work" / "here")
    for place in (".", "..", tmp_path, tmp_path / "work" / "here"):
        with pytest.raises(OutputError, match="working folder"):
            write(Path(place), {"a": "1"}, overwrite=True)
    assert list((tmp_path / "work" / "here").iterdir()) == []


def test_a_file_that_comes_while_the_new_folder_is_written_is_kept(tmp_path: Path) -> None:
    place = write(tmp_path / "m", {"a": "1", "b": "2"})
    with atomic_folder(place, kind="model", overwrite=True) as folder:
        fill(folder, {"a": "3"})
        fill(place, {"notes.txt": "mine", "b": "edited"})
    assert content(place) == {"a": "3", "notes.txt": "mine", "b": "edited"}


def test_permissions_of_a_replaced_folder_stay(tmp_path: Path) -> None:
    place = write(tmp_path / "m", {"a": "1", "b": "2"})
    place.chmod(0o750)
    (place / "a").chmod(0o640)
    write(place, {"a": "3", "c": "4"}, overwrite=True)
    assert (place.stat().st_mode & 0o777, (place / "a").stat().st_mode & 0o777) == (0o750, 0o640)


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    place = write(tmp_path / "m", {"a": "1"})
    (tmp_path / "link").symlink_to(place)
    with pytest.raises(OutputError):
        write(tmp_path / "link", {"a": "2"})
    write(tmp_path / "link", {"a": "2"}, overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert content(place) == {"a": "2"}


# Folders of a run, which it writes anew


def renew(place: Path, files: dict[str, str]) -> None:
    with rewritable_folder(place, kind="run") as folder:
        fill(folder, files)


def test_a_renewed_folder_takes_over_what_is_not_its_own(tmp_path: Path) -> None:
    place = tmp_path / "best"
    renew(place, {"weights": "1", "old": "2"})
    fill(place, {"notes.txt": "mine", "weights": "edited", "deep/x": "mine"})
    renew(place, {"weights": "3"})
    expected = {"weights": "3", "weights.kept": "edited", "notes.txt": "mine", "deep/x": "mine"}
    assert content(place) == expected
    fill(place, {"weights": "again"})
    renew(place, {"weights": "4"})
    assert content(place) == {
        **expected,
        "weights": "4",
        "weights.kept": "edited",
        "weights.kept-2": "again",
    }


def test_only_what_is_ours_is_removed(tmp_path: Path) -> None:
    place = tmp_path / "state"
    renew(place, {"state.json": "1", "state.safetensors": "2"})
    fill(place, {"notes.txt": "mine"})
    remove_owned(place, kind="run")
    assert content(place) == {"notes.txt": "mine"}
    (place / "notes.txt").unlink()
    renew(place, {"state.json": "1"})
    remove_owned(place, kind="run")
    assert not place.exists()


# A process that dies in the middle of a replacement


def test_a_folder_that_was_moved_away_comes_back(tmp_path: Path) -> None:
    place = write(tmp_path / "m", {"a": "1"})
    place.rename(old_name(place))
    with pytest.raises(OutputError, match="exists already"):
        write(place, {"a": "2"})
    assert content(place) == {"a": "1"}
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_what_a_killed_replacement_left_is_cleared_and_files_of_others_are_kept(
    tmp_path: Path,
) -> None:
    place = write(tmp_path / "m", {"a": "1", "b": "2"})
    left = old_name(place)
    place.rename(left)
    (left / "a").unlink()
    fill(left, {"notes.txt": "mine"})
    write(place.with_name("new"), {"a": "3"}).rename(place)
    with pytest.raises(OutputError, match="exists already"):
        write(place, {"a": "4"})
    assert content(place) == {"a": "3", "notes.txt": "mine"}
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


# Files that are written one by one beside others


def test_a_ledger_knows_its_files(tmp_path: Path) -> None:
    fill(tmp_path, {"theirs.jsonl": "mine", "a.jsonl": "1", "b.jsonl": "2"})
    ledger = Ledger(tmp_path, kind="annotate")
    ledger.note("a.jsonl")
    ledger.note("b.jsonl")
    again = Ledger(tmp_path, kind="annotate")
    again.check(["a.jsonl", "b.jsonl", "new.jsonl"])
    with pytest.raises(OutputError, match=r"theirs\.jsonl"):
        again.check(["a.jsonl", "theirs.jsonl"])
    fill(tmp_path, {"a.jsonl": "9"})
    with pytest.raises(OutputError, match=r"a\.jsonl"):
        again.check(["a.jsonl"])


def test_a_ledger_whose_last_line_was_cut_off_goes_on(tmp_path: Path) -> None:
    fill(tmp_path, {"a": "1", "b": "2", "c": "3"})
    ledger = Ledger(tmp_path, kind="annotate")
    ledger.note("a")
    ledger.note("b")
    text = (tmp_path / RECORD).read_text()
    (tmp_path / RECORD).write_text(text[:-20])
    ledger = Ledger(tmp_path, kind="annotate")
    ledger.note("c")
    Ledger(tmp_path, kind="annotate").check(["a", "c"])
    with pytest.raises(OutputError, match="'b'"):
        Ledger(tmp_path, kind="annotate").check(["b"])
