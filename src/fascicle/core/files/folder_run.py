"""A folder with one output file for each input: many small files, written in sequence and finished
in groups.

A file gets its name when it is complete and synced to the disk. Syncing each file would take longer
than the work, so files are gathered in a hidden folder for half a second, synced together by
another thread, and then renamed. A journal in the folder records the finished inputs, so that a
killed run can be resumed; journal and hidden folder are removed at the end.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import stat
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

import msgspec

from fascicle.core.files.atomic import check_target, link_file, sync, write_errors
from fascicle.core.files.owned import Ledger
from fascicle.core.files.part import Journal, is_journal
from fascicle.core.files.source import LONGEST_NAME, stem
from fascicle.errors import OutputError

if TYPE_CHECKING:
    from concurrent.futures import Future

JOURNAL: Final = ".fascicle-progress.jsonl"
_UNNAMED: Final = ".fascicle-unnamed"
_KIND: Final = "annotate"  # kind in the record of the folder
_TOGETHER: Final = 256  # most files in a group
_EVERY: Final = 0.5  # seconds that a file waits for others
_NUMBER: Final = 8  # bytes of a file name for a number that makes it unique
_WAITING: Final = 2  # most groups that are written, but not yet finished


class _File(NamedTuple):
    """A complete file before renaming, and its entry for the journal."""

    unnamed: str
    path: str
    replace: bool
    entry: Mapping[str, Any]


def name_files(inputs: Iterable[str], folder: Path, *, suffix: str) -> dict[str, Path]:
    """Returns an output file for each input, named after it; equal names get a number, and long
    names are cut.

    Args:
        inputs: names of the inputs.
        folder: folder of the files.
        suffix: suffix of the files.
    """
    paths: dict[str, Path] = {}
    used: set[str] = set()
    numbers: Counter[str] = Counter()
    for source in inputs:
        base = stem(source)
        while len(os.fsencode(base + suffix)) > LONGEST_NAME - _NUMBER:
            base = base[:-1]
        name = base
        while name.lower() in used:
            numbers[base.lower()] = max(numbers[base.lower()], 1) + 1
            name = f"{base}-{numbers[base.lower()]}"
        used.add(name.lower())
        paths[source] = folder / f"{name}{suffix}"
    return paths


class OutputFiles(msgspec.Struct, frozen=True, kw_only=True):
    """One output file for each input, in one folder.

    Attributes:
        folder: folder of the files.
        of: name of an input -> its output file.
        overwrite: replace existing files that such a run wrote there.
        resume: resume an interrupted run, if there is one.
    """

    folder: Path
    of: Mapping[str, Path]
    overwrite: bool = False
    resume: bool = False

    def check(self) -> None:
        """Checks early, before long work, whether the files can be written.

        Raises:
            OutputError: the folder is a file, or one of the files exists and may not be
                overwritten: without ``overwrite`` any file, with it a file that no such run wrote
                    there, or that was changed since.
        """
        folder = self.folder
        if folder.exists() and not folder.is_dir():
            message = (
                f"{folder} is a file; give the name of a folder to write, or remove the / "
                "at its end"
            )
            raise OutputError(message, file=str(folder))
        was_interrupted = is_journal(folder / JOURNAL)
        if not folder.is_dir() or (self.resume and was_interrupted):
            return  # the run knows its own files
        if self.overwrite:  # the names are made from those of the inputs, not given by the user
            Ledger(folder, kind=_KIND).check(file.name for file in self.of.values())
        present = _names(folder)
        for file in self.of.values():
            if file.name.lower() in present:
                if was_interrupted and not self.overwrite:
                    raise OutputError(
                        f"{file} exists already, made by a run that was interrupted; continue with "
                        "resume=True, or start again with overwrite=True",
                        file=str(file),
                        code="exists",
                    )
                check_target(file, overwrite=self.overwrite)


def _check_unnamed(unnamed: Path, journal: Path) -> None:
    if unnamed.exists() and not journal.exists():
        raise OutputError(
            f"{unnamed} is of no interrupted run; move it elsewhere: a run needs its name"
        )


class FolderRun:
    """Output files of one run; a context manager that waits for all of them at its end."""

    def __init__(
        self, files: OutputFiles, *, made_by: Mapping[str, str], state_of: Callable[[str], str]
    ) -> None:
        """Checks the existing files, and makes the folder if it is missing.

        Args:
            files: the output files.
            made_by: everything except the inputs that determines the bytes of the files (name ->
                value).
            state_of: function from the name of an input to a text that changes when the input
                changes; empty if unknown.

        Raises:
            OutputError: a file exists and may not be overwritten, another run writes into the
                folder, or the interrupted run cannot be resumed.
        """
        from concurrent.futures import ThreadPoolExecutor

        files.check()
        folder = files.folder
        self._is_new = not folder.is_dir()
        folder.mkdir(parents=True, exist_ok=True)
        self._files, self._state_of = files, state_of
        self._unnamed = folder / _UNNAMED
        _check_unnamed(self._unnamed, folder / JOURNAL)
        self._ledger = Ledger(folder, kind=_KIND)
        self._journal = self._open_journal(made_by)
        self._pool = ThreadPoolExecutor(1)
        self._waiting: deque[Future[None]] = deque()
        self._group: list[_File] = []
        self._put_away = -_EVERY  # the first file does not wait for others
        self._begun = bool(self._journal.entries)
        entries = {entry["input"]: entry for entry in self._journal.entries}
        self._own = {entry["output"] for entry in entries.values()}
        self.done = self._whole_entries(entries)
        self._begin()

    def _begin(self) -> None:
        """Refuses files of others, and empties the folder of files without their final names."""
        try:
            self._refuse_others()
            # left by a killed run: this process holds the journal
            shutil.rmtree(self._unnamed, ignore_errors=True)
            self._unnamed.mkdir()
        except BaseException:
            self._journal.close()
            raise

    def _whole_entries(self, entries: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """Returns what is done: the entries of inputs whose output is as it was written."""
        return {
            name: entry
            for name, entry in entries.items()
            if name in self._files.of and self._is_whole(name, entry)
        }

    def _open_journal(self, made_by: Mapping[str, str]) -> Journal:
        """Opens the journal; a folder that was made for it goes if it cannot be opened."""
        folder = self._files.folder
        try:
            return Journal(folder / JOURNAL, made_by=made_by, resume=self._files.resume)
        except BaseException:
            if self._is_new:
                folder.rmdir()
            raise

    @contextmanager
    def opened(self, name: str, facts: Callable[[], Mapping[str, Any]]) -> Iterator[BinaryIO]:
        """Opens the output file of an input.

        Args:
            name: name of the input.
            facts: function, called after writing, that returns what a later run needs to know of
                this file.

        Raises:
            OutputError: this file, or one before it, cannot be written.
        """
        state, path = self._state_of(name), self._files.of[name]
        unnamed = self._unnamed / path.name
        try:
            with write_errors(path), unnamed.open("wb") as stream:
                yield stream
                size = stream.tell()
        except BaseException:
            unnamed.unlink(missing_ok=True)
            raise
        entry = {"input": name, "state": state, "output": path.name, "bytes": size, **facts()}
        replace = self._files.overwrite or path.name in self._own
        self._group.append(_File(str(unnamed), str(path), replace, entry))
        if len(self._group) == _TOGETHER or time.monotonic() - self._put_away >= _EVERY:
            self._send()

    def __enter__(self) -> FolderRun:
        """Returns the run itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finishes the last files; removes the journal if the run is complete, or has done
        nothing.
        """
        whole = False
        try:
            self._send()
            self._pool.shutdown(wait=True)
            for future in self._waiting:
                future.result()
            whole = kind is None
        finally:
            self._pool.shutdown(wait=True)
            shutil.rmtree(self._unnamed, ignore_errors=True)
            if whole or not self._begun:
                self._journal.remove()
            else:
                self._journal.close()
            if self._is_new and not self._begun:
                self._files.folder.rmdir()

    @property
    def kept(self) -> bool:
        """True if a later run can resume this one, which ended before all was done."""
        return self._begun and (self._files.folder / JOURNAL).exists()

    def _send(self) -> None:
        """Passes the group to the thread that finishes files."""
        group, self._group = self._group, []
        self._put_away = time.monotonic()
        if group:
            self._begun = True
            self._waiting.append(self._pool.submit(self._name, group))
        while len(self._waiting) > _WAITING:
            self._waiting.popleft().result()

    def _name(self, group: list[_File]) -> None:
        """Renames files, once they are on the disk."""
        with write_errors(self._files.folder):
            # Before renaming: an entry without a file is repeated, but a file without an entry
            # would be refused.
            self._journal.append(*(file.entry for file in group))
            _sync([file.unnamed for file in group], self._files.folder)
            self._ledger.note_all({Path(file.path).name: file.unnamed for file in group})
            for file in group:
                _take_name(file)

    def _is_whole(self, name: str, entry: Mapping[str, Any]) -> bool:
        place = self._files.of[name]
        if (
            place.name != entry["output"]
            or not place.is_file()
            or place.stat().st_size != entry["bytes"]
        ):
            return False
        return bool(entry["state"]) and entry["state"] == self._state_of(name)

    def _refuse_others(self) -> None:
        again = [file.name for name, file in self._files.of.items() if name not in self.done]
        # Also files of the interrupted run: the user may have edited them since.
        self._ledger.check(name for name in again if self._files.overwrite or name in self._own)
        if self._files.overwrite:
            return
        present = _names(self._files.folder)
        for file in self._files.of.values():
            if file.name not in self._own and file.name.lower() in present:
                check_target(file)


def _names(folder: Path) -> set[str]:
    return {entry.name.lower() for entry in os.scandir(folder)}


def _take_name(file: _File) -> None:
    if not file.replace and link_file(file.unnamed, file.path):
        os.unlink(file.unnamed)  # noqa: PTH108 - ten thousand times
        return
    with suppress(OSError):
        os.chmod(file.unnamed, stat.S_IMODE(os.stat(file.path).st_mode))  # noqa: PTH101, PTH116
    os.replace(file.unnamed, file.path)  # noqa: PTH105


def _sync(files: Iterable[str], folder: Path) -> None:
    """Syncs files to the disk; on Linux by one sync of the file system, which costs as much as
    one file.
    """
    if sys.platform == "linux":
        handle = os.open(folder, os.O_RDONLY)
        try:
            if ctypes.CDLL(None).syncfs(handle) == 0:
                return
        except AttributeError:  # another library of C
            pass
        finally:
            os.close(handle)
    for file in files:
        sync(file, os.O_RDWR)
