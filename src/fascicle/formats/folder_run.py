"""A folder with one output file for each input: many small files, written one after the other and put away together.

A file takes its name when it is safe on the disk, as with ``formats.atomic.output``; the waiting for the disk is done
by a few threads beside the work. A journal in the folder says which inputs are done, so that a run which is killed can
go on; it goes when all are.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final

from fascicle.errors import OutputError
from fascicle.formats.atomic import check_target, output
from fascicle.formats.brat_lines import SUFFIXES
from fascicle.formats.journal import Journal, is_journal
from fascicle.formats.source import STDIN
from fascicle.formats.tree import archive_of, tree_sha256

JOURNAL: Final = ".fascicle-progress.jsonl"
_WORKERS: Final = 8
_WAITING: Final = 64  # files that are written, but not yet safe


def state_of(path: str) -> str:
    """What tells whether an input is still the same: size and time of a file, the hash of a folder of files.

    Args:
        path: of an input; that of standard input and of what is not there is empty.
    """
    if path == STDIN:
        return ""
    found = archive_of(path)
    place = Path(path) if found is None else found[0]
    if place.is_dir():
        return tree_sha256(path, suffixes=SUFFIXES)
    try:
        facts = place.stat()
    except OSError:
        return ""
    return f"{facts.st_size} {facts.st_mtime_ns}"


class FolderRun:
    """The output files of one run; a context manager that waits for all of them at its end."""

    def __init__(
        self,
        folder: Path,
        files: Mapping[str, Path],
        *,
        made_by: Mapping[str, str],
        overwrite: bool = False,
        resume: bool = False,
    ) -> None:
        """Looks at what is there, and makes the folder if it is not.

        Args:
            folder: of the output files.
            files: name of an input -> its output file.
            made_by: what decides the bytes of the files beside their inputs (name -> value).
            overwrite: replace existing files.
            resume: go on with an interrupted run, if there is one.

        Raises:
            OutputError: a file exists and may not be overwritten, another run writes into the folder, or the
                interrupted run cannot go on.
        """
        check_folder_of_files(folder, files.values(), overwrite=overwrite, resume=resume)
        folder.mkdir(parents=True, exist_ok=True)
        self.files = files
        self._folder, self._overwrite = folder, overwrite
        self._journal = Journal(folder / JOURNAL, made_by=made_by, resume=resume)
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(_WORKERS)
        self._waiting: deque[Future[None]] = deque()
        self._begun = bool(self._journal.entries)
        entries = {entry["input"]: entry for entry in self._journal.entries}
        self._own = {entry["output"] for entry in entries.values()}
        self.done: dict[str, dict[str, Any]] = {
            name: entry for name, entry in entries.items() if name in files and self._is_whole(name, entry)
        }
        try:
            self._refuse_others()
        except OutputError:
            self._journal.close()
            raise

    @contextmanager
    def opened(self, name: str, facts: Callable[[], Mapping[str, Any]]) -> Iterator[BinaryIO]:
        """Opens the output file of an input.

        Args:
            name: of the input.
            facts: gives, when all is written, what a later run needs to know of this file.

        Raises:
            OutputError: this file, or one before it, cannot be written.
        """
        state, path = state_of(name), self.files[name]
        opening = output(path, overwrite=self._overwrite or path.name in self._own)
        stream = opening.__enter__()
        try:
            yield stream
            size = stream.tell()
        except BaseException as error:
            opening.__exit__(type(error), error, error.__traceback__)
            raise
        entry = {"input": name, "state": state, "output": path.name, "bytes": size, **facts()}
        self._waiting.append(self._pool.submit(self._finish, opening, entry))
        while len(self._waiting) > _WAITING:
            self._waiting.popleft().result()

    def __enter__(self) -> FolderRun:
        """The run itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Waits for all files; the journal goes if the run is complete, or has done nothing."""
        try:
            self._pool.shutdown(wait=True)
            if kind is None:
                for future in self._waiting:
                    future.result()
        except BaseException:
            self._journal.close()
            raise
        if kind is None or not self._begun:
            self._journal.remove()
        else:
            self._journal.close()

    @property
    def can_go_on(self) -> bool:
        """Whether a later run can go on with this one."""
        return (self._folder / JOURNAL).exists() and self._begun

    def _finish(self, opening: AbstractContextManager[BinaryIO], entry: Mapping[str, Any]) -> None:
        with self._lock:
            # Before the file has its name: an entry without a file is done again, a file without one is in the way.
            self._journal.append(entry)
            self._begun = True
        opening.__exit__(None, None, None)

    def _is_whole(self, name: str, entry: Mapping[str, Any]) -> bool:
        place = self.files[name]
        if place.name != entry["output"] or not place.is_file() or place.stat().st_size != entry["bytes"]:
            return False
        return bool(entry["state"]) and entry["state"] == state_of(name)

    def _refuse_others(self) -> None:
        if self._overwrite:
            return
        there = _names(self._folder)
        for file in self.files.values():
            if file.name not in self._own and file.name.lower() in there:
                check_target(file)


def check_folder_of_files(folder: Path, files: Iterable[Path], *, overwrite: bool, resume: bool) -> None:
    """Says early whether files can be written into a folder: to be called before long work.

    Raises:
        OutputError: the folder is a file, or one of the files exists and may not be overwritten.
    """
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder} is a file; give the name of a folder to write, or remove the / at its end")
    if not folder.is_dir():
        return
    if resume and is_journal(folder / JOURNAL):
        return  # the run knows which of the files are its own
    there = _names(folder)
    for file in files:
        if file.name.lower() in there:
            if is_journal(folder / JOURNAL) and not overwrite:
                raise OutputError(
                    f"{file} exists already, made by a run that was interrupted; go on with it with --resume, or begin "
                    "anew with --overwrite"
                )
            check_target(file, overwrite=overwrite)


def _names(folder: Path) -> set[str]:
    return {entry.name.lower() for entry in os.scandir(folder)}
