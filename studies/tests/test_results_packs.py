"""Archives of results: nothing is lost on the way, and no folder of the user is replaced."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from studies import results_packs as packs


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    (folder / "predictions").mkdir(parents=True)
    (folder / "one-s1.json").write_text('{"f1": 1}\n', encoding="utf-8")
    (folder / "predictions" / "one-s1.test.tsv.gz").write_bytes(
        gzip.compress(b"document\ttype\n", mtime=0)
    )
    return tmp_path


def content(folder: Path) -> dict[str, bytes]:
    files = [file for file in folder.rglob("*") if file.is_file() and not file.name.startswith(".")]
    return {
        file.relative_to(folder).as_posix(): gzip.decompress(file.read_bytes())
        if file.suffix == ".gz"
        else file.read_bytes()
        for file in files
    }


def test_what_was_packed_is_unpacked(results: Path) -> None:
    before = content(results / "study")
    assert packs.pack(results, "study")
    packed = (results / "study.tar.xz").read_bytes()
    assert not packs.pack(results, "study")
    (results / "study").rename(results / "elsewhere")
    assert packs.unpack_all(results) == ["study"]
    assert content(results / "study") == before
    assert packs.unpack_all(results) == []
    (results / "study.tar.xz").unlink()
    assert packs.pack(results, "study")
    assert (results / "study.tar.xz").read_bytes() == packed


def test_what_is_new_goes_into_an_archive_of_its_own(results: Path) -> None:
    folder = results / "study"
    packs.pack(results, "study")
    first = (results / "study.tar.xz").read_bytes()
    (folder / "two-s1.json").write_text("{}", encoding="utf-8")
    (folder / "one-s1.json").write_text('{"f1": 2}', encoding="utf-8")
    assert packs.pack(results, "study")
    assert not packs.pack(results, "study")
    assert (results / "study.tar.xz").read_bytes() == first
    with tarfile.open(results / "study.1.tar.xz") as added:
        assert sorted(added.getnames()) == ["one-s1.json", "two-s1.json"]
    before = content(folder)
    folder.rename(results / "elsewhere")
    assert packs.names_of(results) == packs.unpack_all(results) == ["study"]
    assert content(folder) == before


def test_a_removed_file_is_in_no_archive(results: Path) -> None:
    packs.pack(results, "study")
    (results / "study" / "two-s1.json").write_text("{}", encoding="utf-8")
    packs.pack(results, "study")
    (results / "study" / "one-s1.json").unlink()
    assert packs.pack(results, "study")
    assert [path.name for path in results.glob("*.tar.xz")] == ["study.tar.xz"]
    before = content(results / "study")
    (results / "study").rename(results / "elsewhere")
    packs.unpack_all(results)
    assert content(results / "study") == before


def test_a_newer_archive_replaces_what_nobody_changed(results: Path) -> None:
    packs.pack(results, "study")
    (results / "study" / "two-s1.json").write_text("{}", encoding="utf-8")
    packs.pack(results, "study")
    added = results / "study.1.tar.xz"
    newer = added.read_bytes()
    added.unlink()  # as in a checkout of before
    assert packs.unpack(results, "study")
    assert not (results / "study" / "two-s1.json").exists()
    added.write_bytes(newer)
    assert packs.unpack(results, "study")
    assert (results / "study" / "two-s1.json").exists()


@pytest.mark.parametrize("change", ["edit", "add", "stamp"])
def test_a_changed_folder_stays(results: Path, change: str) -> None:
    packs.pack(results, "study")
    folder = results / "study"
    (folder / "two-s1.json").write_text("{}", encoding="utf-8")
    packs.pack(results, "study")
    (results / "study.1.tar.xz").unlink()
    if change == "stamp":
        (folder / ".unpacked").unlink()
    else:
        (folder / ("one-s1.json" if change == "edit" else "mine.json")).write_text(
            "mine", encoding="utf-8"
        )
    before = content(folder)
    with pytest.raises(packs.PackError, match="study"):
        packs.unpack(results, "study")
    assert content(folder) == before


@pytest.mark.parametrize("name", ["../outside.json", "/tmp/outside.json"])
def test_an_archive_reaches_no_other_place(tmp_path: Path, name: str) -> None:
    with tarfile.open(tmp_path / "bad.tar.xz", mode="w:xz") as archive:
        member = tarfile.TarInfo(name)
        member.size = 2
        archive.addfile(member, io.BytesIO(b"{}"))
    with pytest.raises(packs.PackError):
        packs.unpack(tmp_path, "bad")
    assert not (tmp_path / "bad").exists()


def test_a_damaged_archive_is_named(results: Path) -> None:
    packs.pack(results, "study")
    whole = (results / "study.tar.xz").read_bytes()
    (results / "study.tar.xz").write_bytes(whole[: len(whole) // 2])
    (results / "study").rename(results / "elsewhere")
    with pytest.raises(packs.PackError, match=r"study\.tar\.xz"):
        packs.unpack(results, "study")
    assert not (results / "study").exists()


def test_every_archive_of_the_repository_is_unpacked() -> None:
    names = packs.names_of(packs.RESULTS)
    assert {"first", "combining"} <= set(names)
    assert packs.unpack_all() == []  # before any test, conftest has done it
