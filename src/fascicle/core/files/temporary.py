"""Temporary names beside a target: held by the process that writes them, removed when that process is dead.

A temporary file or folder is locked (``flock``) as long as its process lives; the system lets go of the lock when a
process ends, however it ends. So whoever can lock a temporary knows that nobody is writing it any more. Where a system
or a file system has no such locks, nothing is ever removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Final

_TOKEN: Final = 12  # hexadecimal digits, of which a name is made unique
_CHECK: Final = 8  # hexadecimal digits by which a name is known as one of ours
_SHOWN: Final = 40  # characters of the final name: a longer one could pass the limit of the file system
_TEMPORARY: Final = re.compile(
    rf"(\..{{1,{_SHOWN}}}\.[0-9a-f]{{{_TOKEN}}})([0-9a-f]{{{_CHECK}}})\.fascicle-tmp", re.DOTALL
)
_OLD: Final = re.compile(rf"\..{{1,{_SHOWN}}}\.([0-9a-f]{{{_TOKEN}}})([0-9a-f]{{{_CHECK}}})\.fascicle-old", re.DOTALL)


def temporary_name(target: Path) -> Path:
    """A new name beside a target, which `is_temporary` knows."""
    start = f".{target.name[:_SHOWN]}.{secrets.token_hex(_TOKEN // 2)}"
    return target.with_name(f"{start}{_sum(start)}.fascicle-tmp")


def is_temporary(name: str) -> bool:
    """Whether a name was made by `temporary_name`: one that merely looks similar lacks the check sum."""
    found = _TEMPORARY.fullmatch(name)
    return found is not None and _sum(found[1]) == found[2]


def old_name(target: Path) -> Path:
    """A new name for what a target was, while it is being replaced."""
    token = secrets.token_hex(_TOKEN // 2)
    return target.with_name(f".{target.name[:_SHOWN]}.{token}{_sum(target.name + token)}.fascicle-old")


def replaced_before(target: Path) -> Iterator[Path]:
    """What a target was, where a process died while it was replacing it."""
    with contextlib.suppress(OSError):
        for path in target.parent.iterdir():
            found = _OLD.fullmatch(path.name)
            if found is not None and _sum(target.name + found[1]) == found[2]:
                yield path


@contextmanager
def temporary_file(target: Path) -> Iterator[tuple[Path, int]]:
    """Makes an empty file beside a target.

    Args:
        target: the final name.

    Yields:
        The path of the file, and a descriptor to write it, which the caller closes. The file is held until the block
        ends, and is removed then, if it still has its temporary name.
    """
    # Mode 0o666 under the umask, as open() does it: mkstemp would leave files that only their owner can read.
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    while True:
        path = temporary_name(target)
        descriptor = os.open(path, flags, 0o666)
        try:
            with _holding(path, os.dup(descriptor)) as held:
                if held:
                    yield path, descriptor
                    return
                os.close(descriptor)
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def temporary_folder(target: Path) -> Iterator[Path]:
    """Makes an empty folder beside a target; held and removed as `temporary_file` does it."""
    while True:
        path = temporary_name(target)
        path.mkdir()
        try:
            with held(path) as mine:
                if mine:
                    yield path
                    return
        finally:
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def held(folder: Path) -> Iterator[bool]:
    """Holds a folder for the block; gives whether that could be done, or need not be done on this system."""
    if sys.platform == "win32":
        yield True
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        yield False
        return
    except OSError:  # a folder that may be written and not read: it cannot be held
        yield True
        return
    with _holding(folder, descriptor) as mine:
        yield mine


@lru_cache(maxsize=256)
def remove_stale(folder: Path) -> None:
    """Removes the temporary files and folders in a folder whose processes are dead.

    Once for each folder and process: a command may write thousands of files into one folder.

    Args:
        folder: in which something is about to be written.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for path in [Path(entry.path) for entry in entries if is_temporary(entry.name)]:
            with taken_over(path) as mine:
                if mine and path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                elif mine:
                    path.unlink(missing_ok=True)


@contextmanager
def taken_over(path: Path) -> Iterator[bool]:
    """Holds what a dead process left; gives False for what a living one holds, or where that cannot be known."""
    if sys.platform == "win32":
        yield False
        return
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        yield False
        return
    try:
        kind = os.fstat(descriptor).st_mode
        mine = stat.S_ISREG(kind) or stat.S_ISDIR(kind)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            mine = False
        yield mine and _is_still(path, descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _holding(path: Path, descriptor: int) -> Iterator[bool]:
    """Locks a descriptor for the block, and closes it; False if another process took the path for a stale one."""
    if sys.platform == "win32":
        os.close(descriptor)
        yield True
        return
    import fcntl

    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        except OSError:  # no locks here: then nobody can take it for a stale one either
            pass
        yield _is_still(path, descriptor)
    finally:
        os.close(descriptor)


def _is_still(path: Path, descriptor: int) -> bool:
    """Whether a path still leads to what was opened there."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except OSError:
        return False


def _sum(text: str) -> str:
    return hashlib.sha256(os.fsencode(f"fascicle {text}")).hexdigest()[:_CHECK]
