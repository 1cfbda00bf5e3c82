"""Temporary files: removed at every end of a process that it can see, and by the next run after
the others.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fascicle.core.files.temporary import is_temporary, remove_stale, temporary_name

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs locks of files")
SOURCES = Path(__file__).resolve().parents[3] / "src"
WRITING = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a background job inherits is to ignore it
from fascicle.core.files.atomic import atomic_folder, atomic_writer
if sys.argv[2] == "file":
    with atomic_writer(sys.argv[1]) as stream:
        stream.write(b"half")
        stream.flush()
        print("writing", flush=True)
        time.sleep(60)
else:
    with atomic_folder(sys.argv[1], kind="test") as folder:
        (folder / "half").write_text("half")
        print("writing", flush=True)
        time.sleep(60)
"""
WRITE = """
import sys
from fascicle.core.files.atomic import atomic_writer
with atomic_writer(sys.argv[1], overwrite=True) as stream:
    stream.write(b"whole")
"""


@contextmanager
def writing(path: Path, what: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process in the middle of writing."""
    command = [sys.executable, "-c", WRITING, str(path), what]
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        try:
            yield process
        finally:
            process.kill()


def write(path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    subprocess.run([sys.executable, "-c", WRITE, str(path)], check=True, env=environment)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("what", ["file", "folder"])
def test_the_next_run_removes_what_a_killed_one_left(tmp_path: Path, what: str) -> None:
    with writing(tmp_path / "x", what) as process:
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=120)
    (left,) = tmp_path.iterdir()
    assert is_temporary(left.name)
    write(tmp_path / "other")
    assert names(tmp_path) == {"other"}


@pytest.mark.parametrize("what", ["file", "folder"])
def test_an_interrupted_run_leaves_nothing(tmp_path: Path, what: str) -> None:
    with writing(tmp_path / "x", what) as process:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) != 0
    assert names(tmp_path) == set()


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_a_living_process_writes_stays(tmp_path: Path, what: str) -> None:
    with writing(tmp_path / "x", what):
        write(tmp_path / "other")
        write(tmp_path / "x")
        found = names(tmp_path) - {"other", "x"}
        assert len(found) == 1
        assert is_temporary(found.pop())


def test_what_merely_looks_similar_stays(tmp_path: Path) -> None:
    real = temporary_name(tmp_path / "x").name
    other = real.replace(".x.", ".y.")
    similar = [
        other,
        real[1:],
        f"{real}.bak",
        ".x.tmp",
        ".x.0123456789ab.tmp",
        ".x.fascicle-tmp",
        real[:-5] + "old",
    ]
    for name in similar:
        (tmp_path / name).write_text("mine")
    # the name is ours, but nobody here makes links
    (tmp_path / real).symlink_to(tmp_path / ".x.tmp")
    remove_stale.cache_clear()
    remove_stale(tmp_path)
    assert names(tmp_path) == {*similar, real}


def test_long_names_and_names_that_are_no_unicode(tmp_path: Path) -> None:
    for name in ("x" * 250, "ü" * 120, "日" * 80, os.fsdecode(b"caf\xe9\xff")):
        place = temporary_name(tmp_path / name)
        assert len(os.fsencode(place.name)) < 255
        assert is_temporary(place.name)
