"""Storage of the files of a run: a local folder, or a folder of an object store."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Final

from fascicle.core.files.atomic import no_folder, sync_folder, write_errors
from fascicle.core.files.remote import RemoteFolder, is_url
from fascicle.core.files.temporary import lock
from fascicle.errors import OutputError

_LOCK: Final = ".fascicle-run.lock"
_TEMPORARY: Final = ".fascicle-run-*.tmp"


class LocalPlace:
    """Local or shared folder, in which files appear completely or not at all.

    Attributes:
        pause: seconds of work that are worth a small file.
    """

    pause = 0.5

    def __init__(self, path: Path) -> None:
        """Sets the path; reads nothing yet."""
        self._path, self._mark = path, ""

    def at(self, name: str) -> str:
        """Returns the full path of a file, or its URL."""
        return str((self._path / name).absolute())

    def check(self) -> None:
        """Checks early that files can be written there.

        Raises:
            OutputError: files cannot be written there.
        """
        path = self._path
        if path.exists() and not path.is_dir():
            raise OutputError(
                f"{path} is a file; give the name of a folder to write", file=str(path)
            )
        if not path.is_dir() and not path.absolute().parent.is_dir():
            raise no_folder(path.parent)

    @contextmanager
    def held(self) -> Iterator[str]:
        """Locks the place against other runs if it supports locks, and removes unfinished files of
        a killed run.

        Yields:
            The mark of this run, see `of_run`; empty where the place has no locks.

        Raises:
            OutputError: another run holds it, or it cannot be written.
        """
        with _locked(self._path) as mark:
            self._clear()
            try:
                yield mark
            finally:
                self._clear()

    def of_run(self, mark: str) -> None:
        """From now on, completes files only while the run with this mark holds the lock."""
        self._mark = mark

    def sizes(self) -> dict[str, int]:
        """Returns names and sizes of all files."""
        sizes = {}
        with (
            contextlib.suppress(FileNotFoundError, NotADirectoryError),
            os.scandir(self._path) as entries,
        ):
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):  # a worker may be giving it its name
                    sizes[entry.name] = entry.stat().st_size
        return sizes

    def read(self, names: Sequence[str]) -> Iterator[bytes]:
        """Yields the contents of files, in order.

        Raises:
            OSError: one cannot be read.
        """
        return ((self._path / name).read_bytes() for name in names)

    def opened(self, name: str) -> AbstractContextManager[BufferedReader]:
        """Opens a file for reading."""
        return (self._path / name).open("rb")

    def remove(self, names: Sequence[str]) -> None:
        """Removes files of a run if they exist."""
        for name in names:
            (self._path / name).unlink(missing_ok=True)
        sync_folder(self._path)

    @contextmanager
    def written(self, name: str, *, durable: bool = True) -> Iterator[BinaryIO]:
        """Opens a file that takes its name when it is complete; one of that name is replaced.

        Args:
            name: of the file.
            durable: whether it is kept even if the power fails, which takes longer.
        """
        target = self._path / name
        temporary = self._path / f".fascicle-run-{name}.{secrets.token_hex(8)}.tmp"
        with write_errors(target):
            try:
                with temporary.open("wb") as stream:
                    yield stream
                    stream.flush()
                    if durable:
                        os.fsync(stream.fileno())
                self._check_run()
                temporary.replace(target)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
            if durable:
                sync_folder(self._path)

    def _check_run(self) -> None:
        """Raises an error in a worker that outlived its run, such as one on another machine."""
        if self._mark and (self._path / _LOCK).read_text(encoding="ascii") != self._mark:
            raise OutputError(
                f"another run has begun to write into {self._path}", file=str(self._path)
            )

    def _clear(self) -> None:
        """Removes unfinished files."""
        for file in self._path.glob(_TEMPORARY):
            file.unlink(missing_ok=True)


class _RemotePlace(RemoteFolder):
    """Folder of an object store, which has no locks: two runs at once do the same work twice,
    with the same bytes.
    """

    pause = 2.0

    def check(self) -> None:
        """Checks that the object store can be reached; see `LocalPlace`."""
        self.sizes()

    @contextmanager
    def held(self) -> Iterator[str]:
        """Yields an empty mark, since there is no lock; see `LocalPlace`."""
        self.make()
        with _locked(Path(self.near)) if self.near else contextlib.nullcontext():
            yield ""

    def of_run(self, mark: str) -> None:
        """Does nothing, since there is no lock; see `LocalPlace`."""

    @contextmanager
    def written(self, name: str, *, durable: bool = True) -> Iterator[BinaryIO]:
        """Opens a file for writing, as `LocalPlace`; a sent file is kept."""
        with super().written(name) as stream:
            yield stream


_Place = LocalPlace | _RemotePlace


def open_place(path: str) -> _Place:
    """Returns the place for a path or a URL."""
    return _RemotePlace(path) if is_url(path) else LocalPlace(Path(path))


@contextmanager
def _locked(path: Path) -> Iterator[str]:
    """Locks a folder, which is made if it does not exist; nothing else is changed before the lock
    is held.

    A run that failed before it wrote anything leaves nothing behind.
    """
    is_new = not path.exists()
    with write_errors(path):
        path.mkdir(exist_ok=True)
        stream = (path / _LOCK).open("ab")
    with stream:
        refusal = f"another run is writing into {path}; wait for it, or stop it"
        is_alone = lock(stream, refusal=OutputError(refusal, file=str(path)))
        mark = secrets.token_hex(16) if is_alone else ""
        with write_errors(path):
            stream.truncate(0)
            stream.write(mark.encode())
            stream.flush()
        try:
            yield mark
        finally:
            with contextlib.suppress(OSError):
                if is_alone and [file.name for file in path.iterdir()] == [_LOCK]:
                    (path / _LOCK).unlink()
                    if is_new:
                        path.rmdir()


def is_run_file(name: str) -> bool:
    """True if a file is one that a run writes before its manifest, or for a moment."""
    return name.startswith(".fascicle-run")
