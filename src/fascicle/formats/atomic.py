"""Files and folders that appear under their name only when they are complete."""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO, Final, Protocol, TextIO, cast

from fascicle.errors import OutputError


class Opened(Protocol):
    """Opens one file for writing, as `output` does."""

    def __call__(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> AbstractContextManager[BinaryIO]:
        """Gives the stream; the file is complete when the block ends without an error."""
        ...


# Errors that mean the place is at fault, and not the code that was writing.
_PLACE: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS})


@contextmanager
def atomic_writer(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[BinaryIO]:
    """Opens a binary file that takes its name when the block ends without an error.

    Until then the bytes lie under a temporary name in the same folder; on any error, an interrupt included, that
    file is removed and a file of the final name stays as it was. A target that is no regular file (``/dev/null``, a
    pipe) is written directly.

    Args:
        path: the final name.
        overwrite: replace an existing file.

    Raises:
        OutputError: the file exists and may not be overwritten, or the place cannot be written (missing folder, no
            permission, full disk).
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file() and not target.is_dir():
        with _place_errors(target), target.open("wb") as device:
            yield device
        return
    check_target(path, overwrite=overwrite)
    temporary = _temporary_name(target)
    try:
        with _place_errors(target):
            with _create(temporary) as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            check_target(path, overwrite=overwrite)
            temporary.replace(target)
            _sync_folder(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_text_writer(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[TextIO]:
    """Like `atomic_writer`, for UTF-8 text; line ends are written as they are given."""
    with atomic_writer(path, overwrite=overwrite) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        try:
            yield text
            text.flush()
        finally:
            with contextlib.suppress(OSError):
                text.detach()  # the binary file below is closed by its own block


@contextmanager
def output(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[BinaryIO]:
    """Like `atomic_writer`, but ``"-"`` is standard output, and a name that ends with ``.gz`` packs the file."""
    if os.fspath(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with atomic_writer(path, overwrite=overwrite) as stream:
        if not os.fspath(path).endswith(".gz"):
            yield stream
            return
        # No name and no time in the header: the same content gives the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
            yield cast(BinaryIO, packed)


@contextmanager
def atomic_folder(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """Gives a temporary folder beside the final one; it takes the final name when the block ends without an error.

    Args:
        path: the final name; an empty folder there counts as free.
        overwrite: replace an existing folder.

    Raises:
        OutputError: the folder exists and may not be overwritten, or the place cannot be written.
    """
    target = Path(path).resolve()
    check_folder(target, overwrite=overwrite)
    temporary = _temporary_name(target)
    with _place_errors(target):
        temporary.mkdir()
    try:
        with _place_errors(target):
            yield temporary
            _sync_files(temporary)
            check_folder(target, overwrite=overwrite)
            _swap(temporary, target)
            _sync_folder(target.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def check_target(path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Says early whether a file can be written: to be called before long work.

    Raises:
        OutputError: it exists and may not be overwritten, it is a folder, or its folder is missing.
    """
    target = Path(path)
    if target.is_dir():
        raise OutputError(f"{path} is a folder; give the name of a file to write")
    if target.is_file() and not overwrite:
        raise OutputError(f"{path} exists already; give another name, or overwrite=True to replace it")
    if not target.resolve().parent.is_dir():
        raise OutputError(f"the folder {target.parent} does not exist; make it first, or give another place")


def check_folder(target: Path, *, overwrite: bool) -> None:
    """Says early whether a folder can be written, as ``check_target`` does for a file.

    Raises:
        OutputError: it holds something and may not be overwritten, it is a file, or its own folder is missing.
    """
    if target.exists() and not target.is_dir():
        raise OutputError(f"{target} is a file; give the name of a folder to write")
    if target.is_dir() and not overwrite and any(target.iterdir()):
        raise OutputError(f"the folder {target} exists already; give another name, or overwrite=True to replace it")
    if not target.parent.is_dir():
        raise OutputError(f"the folder {target.parent} does not exist; make it first, or give another place")


def _temporary_name(target: Path) -> Path:
    # Short, so that a long final name does not push it over the limit of the file system.
    return target.with_name(f".{target.name[:60]}.{secrets.token_hex(6)}.tmp")


def _create(temporary: Path) -> BinaryIO:
    # Mode 0o666 under the umask, as open() does it: mkstemp would leave files that only their owner can read.
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(temporary, flags, 0o666), "wb")


def _swap(temporary: Path, target: Path) -> None:
    if not target.exists():
        temporary.rename(target)
        return
    old = _temporary_name(target)
    target.rename(old)
    try:
        temporary.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _sync_files(folder: Path) -> None:
    for file in folder.rglob("*"):
        if file.is_file():
            with file.open("rb") as stream:
                os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    # Makes the new name itself durable; some systems cannot open a folder, and then there is nothing to do.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _place_errors(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # An error with another file's name comes from the caller's own reading, and is not ours to explain.
        own = error.filename is None or str(error.filename).startswith(str(target.parent))
        if error.errno in _PLACE or (own and isinstance(error, PermissionError)):
            raise OutputError(f"{target} cannot be written: {error.strerror}; give another place") from error
        raise
