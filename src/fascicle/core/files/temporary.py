"""Temporary names beside a target: locked by the process that writes them, removed when that
process is dead.

A temporary file or folder is locked (``flock``) as long as its process lives; the system releases
the lock when a process ends for any reason. So a process that can lock a temporary file knows that
no other one is writing it. On systems and file systems without such locks, nothing is ever removed.
Other files can be locked in the same way.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Final

from fascicle.errors import OutputError

_TOKEN: Final = 12  # hexadecimal digits that make a name unique
_CHECK: Final = 8  # hexadecimal digits of the checksum of a name
# characters of the final name: a longer one could pass the limit of the file system
_SHOWN: Final = 40
_TEMPORARY: Final = re.compile(
    rf"(\..{{1,{_SHOWN}}}\.[0-9a-f]{{{_TOKEN}}})([0-9a-f]{{{_CHECK}}})\.fascicle-tmp", re.DOTALL
)
_PART: Final = ".fascicle-part"
_OLD: Final = re.compile(
    rf"\..{{1,{_SHOWN}}}\.([0-9a-f]{{{_TOKEN}}})([0-9a-f]{{{_CHECK}}})\.fascicle-old", re.DOTALL
)


def temporary_name(target: Path) -> Path:
    """Returns a new name beside a target, which `is_temporary` recognises."""
    start = f".{target.name[:_SHOWN]}.{secrets.token_hex(_TOKEN // 2)}"
    return target.with_name(f"{start}{_sum(start)}.fascicle-tmp")


def is_temporary(name: str) -> bool:
    """True if `temporary_name` made a name: similar names lack the checksum."""
    match = _TEMPORARY.fullmatch(name)
    return match is not None and _sum(match[1]) == match[2]


def old_name(target: Path) -> Path:
    """Returns a new name for the old content of a target during its replacement."""
    token = secrets.token_hex(_TOKEN // 2)
    return target.with_name(
        f".{target.name[:_SHOWN]}.{token}{_sum(target.name + token)}.fascicle-old"
    )


def interrupted_replacements(target: Path) -> Iterator[Path]:
    """Yields old contents of a target that killed processes left during a replacement."""
    with contextlib.suppress(OSError):
        for path in target.parent.iterdir():
            match = _OLD.fullmatch(path.name)
            if match is not None and _sum(target.name + match[1]) == match[2]:
                yield path


@contextmanager
def temporary_file(target: Path) -> Iterator[tuple[Path, int]]:
    """Makes an empty file beside a target.

    Args:
        target: the final name.

    Yields:
        The path of the file, and a descriptor for writing, which the caller closes. The file is
        locked until the block ends, and is removed then, if it still has its temporary name.
    """
    # Mode 0o666 under the umask, as open() does it: mkstemp would leave files that only their owner
    # can read.
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    while True:
        path = temporary_name(target)
        descriptor = os.open(path, flags, 0o666)
        try:
            with _holding(path, os.dup(descriptor)) as lock:
                if lock:
                    yield path, descriptor
                    return
                os.close(descriptor)
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def temporary_folder(target: Path) -> Iterator[Path]:
    """Makes an empty folder beside a target; locked and removed as by `temporary_file`."""
    while True:
        path = temporary_name(target)
        path.mkdir()
        try:
            with lock_folder(path) as mine:
                if mine:
                    yield path
                    return
        finally:
            shutil.rmtree(path, ignore_errors=True)


def part_name(target: Path) -> Path:
    """Returns the name beside a target for what an interrupted process leaves to the next one."""
    return target.with_name(f".{target.name[:_SHOWN]}.{_sum(target.name)}{_PART}")


def refuse_foreign(path: Path) -> None:
    """Refuses what lies where an interrupted process leaves its work, if another user may have put
    it there: the name can be foretold.

    Raises:
        OutputError: it is a link, or another user has it.
    """
    with contextlib.suppress(FileNotFoundError):
        facts = path.lstat()
        is_mine = sys.platform == "win32" or facts.st_uid == os.geteuid()
        if stat.S_ISLNK(facts.st_mode) or not is_mine:
            raise OutputError(
                f"{path} is a link or belongs to another user, and not what an interrupted call "
                "wrote; remove it, or write to another folder",
                file=str(path),
            )


@contextmanager
def part_folder(target: Path, keep: Callable[[], bool]) -> Iterator[Path]:
    """Makes a folder beside a target, or opens the one of an interrupted process.

    Args:
        target: the final name.
        keep: function that returns whether the folder stays at the end of the block; else it is
            removed, if it still has this name.
    """
    path = part_name(target)
    try:
        path.mkdir()
    except FileExistsError:
        refuse_foreign(path)
    try:
        yield path
    finally:
        if not keep():
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def lock_folder(folder: Path) -> Iterator[bool]:
    """Locks a folder for the block; yields true if that succeeded, or is not needed on this
    system.
    """
    if sys.platform == "win32":
        yield True
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        yield False
        return
    except OSError:  # a folder that is writable but not readable cannot be locked
        yield True
        return
    with _holding(folder, descriptor) as mine:
        yield mine


@lru_cache(maxsize=256)
def remove_stale(folder: Path) -> None:
    """Removes the temporary files and folders of dead processes in a folder.

    It runs once for each folder and process: a command may write thousands of files into one
    folder.

    Args:
        folder: folder that is about to be written to.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for path in [Path(entry.path) for entry in entries if is_temporary(entry.name)]:
            with lock_abandoned(path) as mine:
                if mine and path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                elif mine:
                    path.unlink(missing_ok=True)


@contextmanager
def lock_abandoned(path: Path) -> Iterator[bool]:
    """Locks a file or folder of a dead process; yields false if a living one holds it, or if
    that is unknown.
    """
    if sys.platform == "win32":
        yield False
        return
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        yield False
        return
    try:
        kind = os.fstat(descriptor).st_mode
        mine = (stat.S_ISREG(kind) or stat.S_ISDIR(kind)) and bool(_locked(descriptor))
        yield mine and _is_still(path, descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _holding(path: Path, descriptor: int) -> Iterator[bool]:
    """Locks a descriptor for the block, and closes it; yields false if another process claimed
    the path as stale.
    """
    if sys.platform == "win32":
        os.close(descriptor)
        yield True
        return
    try:
        # Without locks no process removes it as stale either.
        yield _locked(descriptor) is not False and _is_still(path, descriptor)
    finally:
        os.close(descriptor)


def _is_still(path: Path, descriptor: int) -> bool:
    """True if a path still leads to the opened file."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except OSError:
        return False


def _sum(text: str) -> str:
    return hashlib.sha256(os.fsencode(f"fascicle {text}")).hexdigest()[:_CHECK]


def lock(stream: BinaryIO, *, refusal: OutputError) -> bool:
    """Locks an open file until it is closed, where the system and the file system support such
    locks.

    Args:
        stream: the open file.
        refusal: error to raise if another process has the lock.

    Returns:
        True if the file is locked; if not, two processes at once are not detected.

    Raises:
        OutputError: another process has the lock.
    """
    is_locked = _locked(stream.fileno())
    if is_locked is False:
        raise refusal
    return bool(is_locked)


def _locked(descriptor: int) -> bool | None:
    """Locks an open file; returns false if another process has the lock, and ``None`` where
    there are no locks.
    """
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True
