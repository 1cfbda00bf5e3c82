"""Nothing half written under a final name."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest
from tests.support.room import room

from fascicle.core.document import Document, Mention
from fascicle.core.files.atomic import (
    atomic_folder,
    atomic_text_writer,
    atomic_writer,
    write_errors,
)
from fascicle.core.files.owned import RECORD
from fascicle.errors import OutputError
from fascicle.formats import write


def test_the_file_appears_when_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    with atomic_writer(path) as stream:
        stream.write(b"abc")
        assert not path.exists()
    assert path.read_bytes() == b"abc"
    assert list(tmp_path.iterdir()) == [path]
    umask = os.umask(0)
    os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask


def test_text_is_utf8_and_line_ends_stay(tmp_path: Path) -> None:
    with atomic_text_writer(tmp_path / "a.txt") as stream:
        stream.write("β\r\n\n")
    assert (tmp_path / "a.txt").read_bytes() == "β\r\n\n".encode()


def _write_half(path: Path, error: BaseException) -> None:
    with atomic_writer(path, overwrite=True) as stream:
        stream.write(b"half")
        raise error


def _write_half_text(path: Path, error: BaseException) -> None:
    with atomic_text_writer(path, overwrite=True) as stream:
        stream.write("half")
        raise error


def _write_half_folder(path: Path) -> None:
    with atomic_folder(path, kind="test") as folder:
        (folder / "half").write_text("x")
        raise KeyboardInterrupt


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
@pytest.mark.parametrize("before", [None, b"old"])
def test_any_error_leaves_things_as_they_were(
    tmp_path: Path, error: type[BaseException], before: bytes | None
) -> None:
    path = tmp_path / "a.bin"
    if before is not None:
        path.write_bytes(before)
    with pytest.raises(error):
        _write_half(path, error())
    with pytest.raises(error):
        _write_half_text(path, error())
    assert [p.name for p in tmp_path.iterdir()] == (["a.bin"] if before is not None else [])
    assert before is None or path.read_bytes() == before


def test_what_exists_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with pytest.raises(OutputError, match=r"exists already; .*overwrite"), atomic_writer(path):
        pass
    with atomic_writer(path, overwrite=True) as stream:
        stream.write(b"new")
    assert path.read_bytes() == b"new"


def test_a_file_that_comes_up_meanwhile_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"

    def write() -> None:
        with atomic_writer(path) as stream:
            stream.write(b"mine")
            path.write_bytes(b"theirs")

    with pytest.raises(OutputError, match="exists already"):
        write()
    assert path.read_bytes() == b"theirs"
    assert list(tmp_path.iterdir()) == [path]


def test_places_that_cannot_be(tmp_path: Path) -> None:
    with (
        pytest.raises(OutputError, match="does not exist; make it first"),
        atomic_writer(tmp_path / "no" / "a"),
    ):
        pass
    with pytest.raises(OutputError, match="is a folder"), atomic_writer(tmp_path):
        pass
    (tmp_path / "file").write_text("x")
    with (
        pytest.raises(OutputError, match="is a file"),
        atomic_folder(tmp_path / "file", kind="test"),
    ):
        pass


def test_a_file_is_no_folder_to_write_in(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises(OutputError, match="file is a file"), atomic_writer(tmp_path / "file" / "a"):
        pass
    with (
        pytest.raises(OutputError, match="file is a file"),
        atomic_folder(tmp_path / "file" / "a", kind="run"),
    ):
        pass
    assert (tmp_path / "file").read_text() == "kept"


def test_a_full_disk(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written: No space left"):
        _write_half(tmp_path / "a", OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert not list(tmp_path.iterdir())


def test_a_full_disk_as_a_workbook_tells_it(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    mentions = tuple(Mention(((at, at + 1),), "A") for at in range(5_000))
    with (
        room(1 << 12),
        pytest.raises(OutputError, match=r"a\.xlsx cannot be written: File too large"),
    ):
        write(tmp_path / "a.xlsx", [Document(id="1", text="x" * 5_001, mentions=mentions)])
    assert not list(tmp_path.iterdir())


def test_a_full_disk_as_a_library_in_rust_tells_it(tmp_path: Path) -> None:
    numpy_files = pytest.importorskip("safetensors.numpy")

    def write() -> None:
        with atomic_folder(tmp_path / "a", kind="run") as folder:
            numpy_files.save_file({"x": np.zeros(1 << 17)}, folder / "x.safetensors")

    with room(1 << 16), pytest.raises(OutputError, match=r"a cannot be written: File too large"):
        write()
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_devices_are_written_directly() -> None:
    with atomic_writer("/dev/null") as stream:
        stream.write(b"gone")
    with pytest.raises(OutputError, match="No space left"), atomic_writer("/dev/full") as stream:
        stream.write(b"x" * 100_000)
    assert Path("/dev/null").is_char_device()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_a_link_to_a_pipe_is_written_directly() -> None:
    """``/dev/stdout`` before a pipe is such a link; what it leads to has no path."""
    reading, writing = os.pipe()
    try:
        with atomic_writer(f"/proc/self/fd/{writing}") as stream:
            stream.write(b"here")
        assert os.read(reading, 9) == b"here"
    finally:
        os.close(reading)
        os.close(writing)


def test_errors_of_reading_are_not_ours(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomic_writer(tmp_path / "a"):
        (tmp_path / "missing").read_bytes()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target = tmp_path / "real"
    target.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(target)
    with atomic_writer(link, overwrite=True) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def replace(path: Path, content: bytes, *, overwrite: bool = True) -> None:
    with atomic_writer(path, overwrite=overwrite) as stream:
        stream.write(content)


@pytest.mark.skipif(os.name == "nt", reason="needs permissions of Unix")
@pytest.mark.parametrize("mode", [0o640, 0o600, 0o444, 0o755, 0o666])
def test_permissions_of_a_replaced_file_stay(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    with atomic_writer(path, overwrite=True) as stream:
        (temporary,) = (other for other in tmp_path.iterdir() if other != path)
        # nobody may read it meanwhile who may not read it later
        assert temporary.stat().st_mode & 0o777 == mode
        stream.write(b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", mode)


def test_through_a_link_nothing_is_replaced_unasked(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "chain").symlink_to("link")
    for name in ("link", "chain"):
        with pytest.raises(OutputError, match="exists already"):
            replace(tmp_path / name, b"new", overwrite=False)
    assert (tmp_path / "real").read_bytes() == b"old"
    replace(tmp_path / "chain", b"new")
    assert (tmp_path / "chain").is_symlink()
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_links_that_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "free").symlink_to(tmp_path / "made")
    replace(tmp_path / "free", b"new", overwrite=False)
    assert (tmp_path / "made").read_bytes() == b"new"
    (tmp_path / "circle").symlink_to("elcric")
    (tmp_path / "elcric").symlink_to("circle")
    (tmp_path / "lost").symlink_to(tmp_path / "none" / "made")
    for name in ("circle", "lost"):
        with pytest.raises(OutputError):
            replace(tmp_path / name, b"new")
        assert (tmp_path / name).is_symlink()
    with pytest.raises(OutputError), atomic_folder(tmp_path / "circle", kind="test"):
        pass
    assert (tmp_path / "circle").is_symlink()


def test_other_names_of_a_replaced_file_keep_what_they_had(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    os.link(tmp_path / "a", tmp_path / "b")
    replace(tmp_path / "a", b"new")
    assert ((tmp_path / "a").read_bytes(), (tmp_path / "b").read_bytes()) == (b"new", b"old")


def test_folders(tmp_path: Path) -> None:
    path = tmp_path / "model"
    with (
        pytest.raises(OutputError, match="exists already"),
        atomic_folder(path, kind="test") as folder,
    ):
        _ = (folder / "half").write_text("x"), path.mkdir(), (path / "theirs").write_text("y")
    assert [p.name for p in path.iterdir()] == ["theirs"]
    (path / "theirs").unlink()
    path.rmdir()
    with pytest.raises(KeyboardInterrupt):
        _write_half_folder(path)
    assert not list(tmp_path.iterdir())
    path.mkdir()  # an empty folder counts as free
    with atomic_folder(path, kind="test") as folder:
        (folder / "sub").mkdir()
        (folder / "sub" / "a").write_text("1")
    assert (path / "sub" / "a").read_text() == "1"
    with pytest.raises(OutputError, match="exists already"), atomic_folder(path, kind="test"):
        pass
    with atomic_folder(path, kind="test", overwrite=True) as folder:
        (folder / "b").write_text("2")
    assert {p.name for p in path.iterdir()} == {"b", RECORD}
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("target", ["out", "folder/out"])
def test_a_place_is_told_by_a_relative_name_too(target: str) -> None:
    with pytest.raises(OutputError, match=target), write_errors(Path(target)):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), f"{target}/inner/file")
    with pytest.raises(PermissionError), write_errors(Path(target).absolute()):
        # of what is read
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/elsewhere/file")
