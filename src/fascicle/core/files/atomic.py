"""Atomic writing: files and folders that appear under their name only when they are complete."""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO, Final, Protocol, TextIO, cast

from fascicle.core.files.owned import (
    Owned,
    check_replaceable,
    own_files,
    record_kind,
    retire,
    write_record,
)
from fascicle.core.files.pipes import open_descriptor
from fascicle.core.files.temporary import (
    interrupted_replacements,
    lock_abandoned,
    lock_folder,
    old_name,
    part_folder,
    remove_stale,
    temporary_file,
    temporary_folder,
)
from fascicle.errors import OutputError


class Opened(Protocol):
    """Function that opens one file for writing, as `open_output` does."""

    def __call__(
        self, path: str | os.PathLike[str], *, overwrite: bool = False
    ) -> AbstractContextManager[BinaryIO]:
        """Opens the stream; the file is complete when the block ends without an error."""


# Errors of the disk or file system, and not of the code that was writing.
_PLACE: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS})


@contextmanager
def atomic_writer(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[BinaryIO]:
    """Opens a binary file that takes its name when the block ends without an error.

    Until then the bytes are under a temporary name in the same folder; on any error, an interrupt
    included, that file is removed and a file of the final name stays as it was. A target that is no
    regular file (``/dev/null``, a pipe) is written directly, and an open descriptor
    (``/dev/stdout``, ``/dev/fd/3``) as it was opened; through a link, the file that it leads to is
    written. A file that is replaced keeps its permissions.

    Args:
        path: the final name.
        overwrite: replace an existing file.

    Raises:
        OutputError: the file exists and may not be overwritten, or the place cannot be written
            (missing folder, no permission, full disk).
    """
    if (number := open_descriptor(path)) is not None:
        with write_errors(Path(path)), _described(path, number) as device:
            yield device
        return
    output = Path(path)
    if output.exists() and not output.is_file() and not output.is_dir():
        with write_errors(output), output.open("wb") as device:
            yield device
        return
    target = _real(path)
    check_target(path, overwrite=overwrite)
    remove_stale(target.parent)
    with write_errors(target), temporary_file(target) as (temporary, descriptor):
        with os.fdopen(descriptor, "wb") as stream:
            copy_permissions(target, temporary)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        check_target(path, overwrite=overwrite)
        rename_to_final(temporary, target, overwrite=overwrite)
        sync_folder(target.parent)


@contextmanager
def _described(path: str | os.PathLike[str], number: int) -> Iterator[BinaryIO]:
    """Opens a copy of an open descriptor, at its current position."""
    for ours in (sys.stdout, sys.stderr):
        ours.flush()  # earlier output stays first
    try:
        copied = os.dup(number)
    except OSError as error:
        raise OutputError(
            f"{path} is not an open descriptor ({error.strerror}); give a file", file=str(path)
        ) from None
    with os.fdopen(copied, "wb") as stream:
        yield stream


@contextmanager
def atomic_text_writer(
    path: str | os.PathLike[str], *, overwrite: bool = False
) -> Iterator[TextIO]:
    """Opens a file like `atomic_writer`, for UTF-8 text; line ends are written unchanged."""
    with atomic_writer(path, overwrite=overwrite) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        try:
            yield text
            text.flush()
        finally:
            with contextlib.suppress(OSError):
                text.detach()  # the binary file below is closed by its own block


@contextmanager
def open_output(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[BinaryIO]:
    """Opens a file like `atomic_writer`; ``"-"`` is standard output, and a name that ends in
    ``.gz`` is compressed.
    """
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
def atomic_folder(
    path: str | os.PathLike[str],
    *,
    kind: str,
    overwrite: bool = False,
    keep: Callable[[], bool] | None = None,
) -> Iterator[Path]:
    """Makes a temporary folder that gets the final name when the block ends without an error.

    Args:
        path: the final name; an existing empty folder counts as free.
        kind: kind of the folder, e.g. ``"model"``; a hidden record in the folder holds it
            (`files.owned`).
        overwrite: replace an existing folder, if all its files were written as the same kind and
            are unchanged.
        keep: function that returns whether the temporary folder stays after an error, for the next
            call, which begins with it; see `files.temporary.part_folder`.

    Raises:
        OutputError: the folder exists and may not be overwritten, it holds something else, or the
            place cannot be written.
    """
    target = _real(path)
    _mend(target)
    own = check_folder(target, kind=kind, overwrite=overwrite)
    with _writing(target, kind, own, overwrite=overwrite, keep=keep) as folder:
        yield folder


@contextmanager
def rewritable_folder(path: str | os.PathLike[str], *, kind: str) -> Iterator[Path]:
    """Makes a folder like `atomic_folder`, for one that its own run rewrites again and again.

    It never raises an error for other files in the folder: files that this kind did not write, or
    that changed since, are moved into the new folder. One whose name is taken gets the suffix
    ``.kept``.
    """
    target = _real(path)
    _mend(target)
    own = own_files(target, kind=kind) if target.is_dir() else Owned()
    with _writing(target, kind, own, overwrite=True) as folder:
        yield folder


def complete_replacement(path: str | os.PathLike[str]) -> bool:
    """Completes a replacement that a killed process began; returns whether the folder exists
    now.
    """
    target = _real(path)
    _mend(target)
    return target.is_dir()


def check_target(path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Checks early, before long work, whether a file can be written.

    Raises:
        OutputError: it exists and may not be overwritten, it is a folder, or its folder is missing.
    """
    target = Path(path)
    if open_descriptor(path) is not None:
        return  # a descriptor replaces nothing
    if target.is_dir() or os.fspath(path).endswith("/"):
        raise OutputError(f"{path} is a folder; give the name of a file to write", file=str(path))
    if target.is_file() and not overwrite:
        raise _exists(str(path), path)
    if _real(path).is_symlink():
        raise OutputError(
            f"{path} is a link that leads in a circle; give another name", file=str(path)
        )
    for folder in (target.parent, _real(path).parent):
        if not folder.is_dir():
            raise no_folder(folder)


def check_folder(target: Path, *, kind: str, overwrite: bool) -> Owned:
    """Checks early whether a folder can be written, as ``check_target`` does for a file.

    Args:
        target: the folder.
        kind: kind of the new folder, see `atomic_folder`.
        overwrite: true if it may be replaced.

    Returns:
        The files of the folder that would be replaced.

    Raises:
        OutputError: it is not empty and may not be overwritten, it holds files not written as this
            kind, it is a file, the working folder or one above it, or its own folder is missing.
    """
    place = _real(target)
    if place.exists() and not place.is_dir():
        raise OutputError(
            f"{target} is a file; give the name of a folder to write", file=str(target)
        )
    if place.is_dir() and _is_above_us(place):
        raise OutputError(
            f"{target} is the working folder, or a folder above it; give another name",
            file=str(target),
        )
    if not place.parent.is_dir():
        raise no_folder(target.parent)
    if not place.is_dir() or not any(place.iterdir()):
        return Owned()
    if not overwrite:
        raise _exists(f"the folder {target}", target)
    return check_replaceable(place, kind=kind)


def _exists(what: str, path: str | os.PathLike[str]) -> OutputError:
    advice = "give another name, or overwrite=True to replace it"
    return OutputError(f"{what} exists already; {advice}", file=str(path), code="exists")


def no_folder(folder: Path) -> OutputError:
    """Returns the error for a place to write in that is not there, or is a file."""
    what = (
        f"{folder} is a file, and no folder"
        if folder.exists()
        else f"the folder {folder} does not exist"
    )
    advice = "give another place" if folder.exists() else "make it first, or give another place"
    return OutputError(f"{what}; {advice}", file=str(folder), code="not-found")


def _real(path: str | os.PathLike[str]) -> Path:
    # Path.resolve() raises an error of its own for links that lead in a circle.
    return Path(os.path.realpath(path))


def _is_above_us(place: Path) -> bool:
    try:
        current = Path.cwd()
    except OSError:  # it was removed
        return False
    return any(folder.samefile(place) for folder in (current, *current.parents))


@contextmanager
def _writing(
    target: Path,
    kind: str,
    own: Owned,
    *,
    overwrite: bool,
    keep: Callable[[], bool] | None = None,
) -> Iterator[Path]:
    """Makes a new folder that replaces the existing one, of which only own files are removed."""
    remove_stale(target.parent)
    opened = temporary_folder(target) if keep is None else part_folder(target, keep)
    with write_errors(target), opened as temporary:
        if target.is_dir():  # same permissions as the folder that it replaces
            temporary.chmod(target.stat().st_mode & 0o777 | 0o700)
        yield temporary
        write_record(temporary, kind=kind)
        for file in temporary.rglob("*"):
            if file.is_file():
                sync(file)
        _swap(temporary, target, own, overwrite=overwrite)
        sync_folder(target.parent)


def rename_to_final(temporary: Path, target: Path, *, overwrite: bool) -> None:
    """Renames a complete file to its final name; without ``overwrite`` the temporary name may
    remain.

    Raises:
        OutputError: there is a file of that name, perhaps just created, and it may not be
            overwritten.
    """
    if overwrite or not link_file(temporary, target):
        temporary.replace(target)


def link_file(file: str | os.PathLike[str], target: str | os.PathLike[str]) -> bool:
    """Gives a file another name by a link, which never replaces a file that was just created, as a
    rename would.

    Returns:
        False if the system or the file system has no hard links.

    Raises:
        OutputError: there is a file of this name.
    """
    if not hasattr(os, "link"):
        return False
    try:
        os.link(file, target)
    except FileExistsError:
        check_target(target)
        raise
    except OSError:
        return False
    return True


def _swap(temporary: Path, target: Path, own: Owned, *, overwrite: bool) -> None:
    if not target.is_dir() or not any(target.iterdir()):
        copy_permissions(target, temporary)
        try:
            temporary.rename(target)  # it fails if something was just created there
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
        else:
            return
    if not overwrite or not target.is_dir():
        raise _exists(str(target), target)
    for name in (name for name in own.files if (temporary / name).is_file()):
        copy_permissions(target / name, temporary / name)
    copy_permissions(target, temporary)
    old = old_name(target)
    with lock_folder(target):
        target.rename(old)
        try:
            temporary.rename(target)
        except OSError:
            old.rename(target)
            raise
        retire(old, target, own)


def _mend(target: Path) -> None:
    """Completes a replacement of a folder that a killed process began."""
    for old in interrupted_replacements(target):
        with lock_abandoned(old) as mine:
            if mine and target.is_dir():
                retire(old, target, own_files(old, kind=record_kind(old)))
            elif mine and not target.exists():
                old.rename(target)


def copy_permissions(old: Path, new: Path) -> None:
    """Copies permissions, and the owner as far as permitted, from a file or folder to its
    replacement.
    """
    try:
        status = old.stat()
    except OSError:
        return  # there is nothing to replace
    with contextlib.suppress(OSError):
        own = new.stat()
        for user, group in ((-1, status.st_gid), (status.st_uid, -1)):
            if hasattr(os, "chown") and (user, group) not in ((-1, own.st_gid), (own.st_uid, -1)):
                os.chown(new, user, group)
    with contextlib.suppress(OSError):
        new.chmod(status.st_mode & 0o7777)


def sync_folder(folder: Path) -> None:
    """Syncs the names in a folder to the disk; does nothing on systems that cannot open a
    folder.
    """
    with contextlib.suppress(OSError):
        sync(folder)


def sync(path: str | os.PathLike[str], flags: int = os.O_RDONLY) -> None:
    """Syncs a file or a folder to the disk; ``flags`` are those to open it."""
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def write_errors(target: Path) -> Iterator[None]:
    """Converts an error in the block to an `OutputError` if it means that a file or folder cannot
    be written.

    Raises:
        OutputError: the disk is full, there is no permission, or the like.
    """
    try:
        yield
    except OSError as error:
        # An error with the name of another file comes from the caller, and is passed on.
        own = error.filename is None or Path(str(error.filename)).absolute().is_relative_to(
            target.parent.absolute()
        )
        if error.errno in _PLACE or (own and isinstance(error, PermissionError)):
            raise _not_written(target, error.strerror) from error
        raise
    except Exception as error:
        number = next((number for number in _PLACE if _quotes(str(error), number)), None)
        if number is None:
            raise
        raise _not_written(target, os.strerror(number)) from error


def _quotes(message: str, number: int) -> bool:
    """True if a library quotes an error of the system: those in Rust its number, libxml2 its
    name, SQLite its own words for a full disk.
    """
    if number == errno.ENOSPC and message == "database or disk is full":
        return True
    return f"(os error {number})" in message or message == f"IO_{errno.errorcode[number]}"


def _not_written(target: Path, reason: str | None) -> OutputError:
    return OutputError(
        f"{target} cannot be written: {reason}; give another place", file=str(target)
    )
