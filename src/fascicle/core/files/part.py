"""Partial output files with a journal, so that a killed run can be resumed.

``OUT.part`` holds the output so far, ``OUT.part.journal`` records how much of it is complete. At
the end the part is renamed to the final name and the journal is removed.
"""

from __future__ import annotations

import contextlib
import io
import os
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import msgspec

from fascicle.core.files.atomic import (
    check_target,
    copy_permissions,
    rename_to_final,
    sync_folder,
    write_errors,
)
from fascicle.core.files.pipes import open_descriptor
from fascicle.core.files.source import LONGEST_NAME
from fascicle.core.files.temporary import lock
from fascicle.errors import OutputError, Place

_KEY: Final = "fascicle_progress"
_SCHEMA: Final = 1
_LONGEST: Final = 1 << 16  # bytes of a header
_CHECKED: Final = b'{"check":"%08x",'  # start of each line: the checksum of the rest
_ANEW: Final = "leave out resume=True to begin anew, and give overwrite=True for a folder"


class Journal:
    """Journal of one output file; open until `close` or `remove`.

    Attributes:
        path: path of the journal.
        entries: entries of an interrupted run, if this one resumes it.
        was_there: true if an interrupted run left the file.
    """

    def __init__(self, path: Path, *, made_by: Mapping[str, str], resume: bool) -> None:
        """Opens a journal, and empties it unless the run is resumed.

        Args:
            path: path of the journal; created if missing.
            made_by: everything that determines the bytes of the output (name -> value); a run is
                resumed only if all are equal.
            resume: resume an interrupted run, if there is one.

        Raises:
            OutputError: another run holds it, the file is no journal or is damaged, it cannot be
                written, or the interrupted run had other values of ``made_by``.
        """
        self.path = path
        is_new = not os.path.lexists(path)
        self._stream = _opened(path)
        try:
            content = self._stream.read()
            self.was_there = bool(content)
            self.entries = self._parse(content, made_by) if content and resume else []
            if content:
                _header(content, path)
            if not self.entries:
                self._stream.seek(0)
                self._stream.truncate()
                self.append({_KEY: _SCHEMA, **made_by})
        except BaseException:
            if is_new:
                self.path.unlink(missing_ok=True)
            self.close()
            raise

    def append(self, *entries: Mapping[str, Any]) -> None:
        """Writes a line for each entry and flushes them to the operating system.

        Raises:
            OutputError: the file cannot be written, e.g. because the disk is full.
        """
        with write_errors(self.path):
            self._stream.write(b"".join(_line(entry) for entry in entries))
            self._stream.flush()

    def close(self) -> None:
        """Closes the file and keeps it."""
        with contextlib.suppress(OSError):  # failed writes were reported already
            self._stream.close()

    def remove(self) -> None:
        """Removes the file, since the work is done."""
        self.path.unlink(missing_ok=True)
        self.close()

    def _parse(self, content: bytes, made_by: Mapping[str, str]) -> list[dict[str, Any]]:
        header = _header(content, self.path)
        other = [name for name, value in made_by.items() if header.get(name) != value]
        if other:
            raise OutputError(
                f"{self.path} is of a run with "
                f"{' and '.join(f'another {name}' for name in other)}, so it cannot go "
                f"on; give what was given then, or {_ANEW}"
            )
        end = content.rfind(b"\n") + 1  # the rest is an incomplete line
        lines = content[:end].split(b"\n")[:-1]
        entries = [
            _entry(line, Place(self.path, number)) for number, line in enumerate(lines, start=1)
        ]
        self._stream.truncate(end)
        self._stream.seek(end)
        return entries[1:]


def is_journal(path: Path) -> bool:
    """True if a file is the journal of an interrupted run."""
    try:
        if not path.is_file():
            return False  # opening a pipe would wait for its writer
        with path.open("rb") as stream:
            return _is_header(stream.readline(_LONGEST))
    except OSError:
        return False


def _line(entry: Mapping[str, Any]) -> bytes:
    rest = msgspec.json.encode(dict(entry))[1:]
    return _CHECKED % zlib.crc32(rest) + rest + b"\n"


def _entry(line: bytes, place: str) -> dict[str, Any]:
    """Decodes an entry and verifies its checksum: work is only skipped if the journal is
    undamaged.
    """
    rest = line[len(_CHECKED % 0) :]
    if line != _CHECKED % zlib.crc32(rest) + rest:
        message = f"{place} is damaged, so the interrupted run cannot go on; {_ANEW}"
        raise OutputError(message, file=place, code="damaged")
    entry: dict[str, Any] = msgspec.json.decode(line)
    return entry


def _header(content: bytes, path: Path) -> dict[str, Any]:
    line = content.partition(b"\n")[0]
    if not _is_header(line):
        message = (
            f"{path} is no journal of an interrupted run, but would have to be; move it elsewhere"
        )
        raise OutputError(message, file=str(path))
    header: dict[str, Any] = msgspec.json.decode(line)
    return header


def _is_header(line: bytes) -> bool:
    try:
        header = msgspec.json.decode(line)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return isinstance(header, dict) and header.get(_KEY) == _SCHEMA


def _opened(path: Path) -> BinaryIO:
    if os.path.lexists(path) and (path.is_symlink() or not path.is_file()):
        message = (
            f"{path} is no journal of an interrupted run, but would have to be; move it elsewhere"
        )
        raise OutputError(message, file=str(path))
    try:
        stream = os.fdopen(
            os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666), "r+b"
        )
    except OSError as error:
        raise OutputError(
            f"{path} cannot be written: {error.strerror}; give another place", file=str(path)
        ) from None
    refusal = OutputError(
        f"another run is writing the same output ({path}); wait for it, or stop it"
    )
    try:
        lock(stream, refusal=refusal)
    except OutputError:
        stream.close()
        raise
    return stream


_EVERY: Final = 2.0  # seconds between two entries of the journal: the most work that a kill loses


def part_paths(target: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Returns the paths of the part and the journal of an output file."""
    final = Path(target).resolve()
    part = final.with_name(f"{final.name}.part")
    return part, part.with_name(f"{part.name}.journal")


def can_be_resumed(target: str) -> bool:
    """True if an output can be a `PartFile`: it is not compressed, no device, and has no very
    long name.
    """
    file = Path(target)
    is_plain = (
        not target.endswith(".gz")
        and (not file.exists() or file.is_file())
        and open_descriptor(target) is None
    )
    return is_plain and all(
        len(os.fsencode(own.name)) <= LONGEST_NAME for own in part_paths(target)
    )


class PartFile:
    """A partial output file.

    Attributes:
        done: last complete state of the interrupted run that this one resumes, as `keep` recorded
            it.
        replaced: true if this run replaces the part of an interrupted run.
    """

    def __init__(
        self,
        target: str | os.PathLike[str],
        *,
        made_by: Mapping[str, str],
        overwrite: bool = False,
        resume: bool = False,
        every: float = _EVERY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Opens the part and its journal.

        Args:
            target: the final name.
            made_by: everything that determines the bytes (name -> value).
            overwrite: replace an existing file.
            resume: resume an interrupted run, if there is one.
            every: seconds between two entries of the journal.
            clock: function that returns the time in seconds.

        Raises:
            OutputError: the target exists and may not be overwritten, it cannot be written, another
                file has the name of the part, or the interrupted run cannot be resumed.
        """
        check_target(target, overwrite=overwrite)
        self._target, self._overwrite = target, overwrite
        self._part, journal = part_paths(target)
        final = Path(target).resolve()
        _check_final(final, target)
        _check_part(self._part, journal)
        self._journal = Journal(journal, made_by=made_by, resume=resume)
        size = self._part.stat().st_size if self._part.exists() else -1
        whole = [entry for entry in self._journal.entries if entry["bytes"] <= size]
        self.done: dict[str, Any] | None = whole[-1] if whole else None
        self.replaced = self._journal.was_there and not resume
        self._every, self._clock = every, clock
        self._kept = clock()
        self._stream = self._open_stream(final)

    def _open_stream(self, final: Path) -> _PartStream:
        """Opens the part behind what is done, with the permissions of the file that it replaces."""
        try:
            with write_errors(Path(self._target)):
                stream = _PartStream(self._part, start=self.done["bytes"] if self.done else 0)
                copy_permissions(final, self._part)
                return stream
        except BaseException:
            self._journal.close() if self._journal.was_there else self._journal.remove()
            raise

    @contextmanager
    def opened(
        self, path: str | os.PathLike[str], *, overwrite: bool = False
    ) -> Iterator[BinaryIO]:
        """Opens the stream to write to, like ``files.atomic.open_output``; at its end the file gets
        its final name.

        After an error the part is kept if a later run can resume it.
        """
        try:
            with write_errors(Path(self._target)):
                with self._stream:
                    yield cast(BinaryIO, self._stream)
                    self._stream.safe()
                self._finish()
        except BaseException:
            self._leave()
            raise
        self._journal.remove()

    def _finish(self) -> None:
        check_target(self._target, overwrite=self._overwrite)
        final = Path(self._target).resolve()
        copy_permissions(final, self._part)
        rename_to_final(self._part, final, overwrite=self._overwrite)
        self._part.unlink(missing_ok=True)
        sync_folder(final.parent)

    def begin(self) -> None:
        """Marks the start of the documents: earlier bytes are the head of the file, which a
        resumed part has.
        """
        self._stream.begin()

    def keep(self, state: Callable[[], Mapping[str, Any]]) -> None:
        """Records in the journal that all bytes so far are complete, if the last entry is old
        enough.

        Args:
            state: function that returns the state that a later run needs to resume here.
        """
        if self._clock() - self._kept < self._every:
            return
        size = self._stream.safe()
        self.done = {"bytes": size, **state()}
        self._journal.append(self.done)
        self._kept = self._clock()

    @property
    def kept(self) -> Path | None:
        """Path of the part, if a later run can resume it; else ``None``."""
        return self._part if self.done is not None and self._part.exists() else None

    def _leave(self) -> None:
        if self.done is not None:
            self._journal.close()
            return
        self._part.unlink(missing_ok=True)
        self._journal.remove()


def _check_final(final: Path, target: str | os.PathLike[str]) -> None:
    if final.exists() and not final.is_file():
        raise OutputError(
            f"{target} is a device or a pipe, where no run can go on; give the name of a file"
        )


def _check_part(part: Path, journal: Path) -> None:
    """Raises an error if another file has the name of the part."""
    is_own = is_journal(journal) and part.is_file() and not part.is_symlink()
    if os.path.lexists(part) and not is_own:
        raise OutputError(
            f"{part} is no part of an interrupted run; move it elsewhere: a run needs its name"
        )


class _PartStream(io.BufferedIOBase):
    """Stream that appends to the complete bytes; a resumed part ignores writes until `begin`."""

    def __init__(self, path: Path, *, start: int) -> None:
        self._file = os.fdopen(
            os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666), "r+b"
        )
        self._file.truncate(start)
        self._file.seek(start)
        self._muted = start > 0

    def writable(self) -> bool:
        return True

    def begin(self) -> None:
        self._muted = False

    def write(self, data: Any) -> int:
        return len(data) if self._muted else self._file.write(data)

    def flush(self) -> None:
        if not self._file.closed:
            self._file.flush()

    def safe(self) -> int:
        """Flushes all bytes to the disk; returns their number."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        self._file.close()
        super().close()
