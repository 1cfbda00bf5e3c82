"""A record of work that survives a kill: lines of JSON, each written in one piece, held by one process at a time."""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from fascicle.errors import OutputError, Place
from fascicle.files.atomic import place_errors
from fascicle.files.locks import lock

_KEY: Final = "fascicle_progress"
_SCHEMA: Final = 1
_LONGEST: Final = 1 << 16  # bytes of a header
_CHECKED: Final = b'{"check":"%08x",'  # how each line begins: with the sum of the rest
_ANEW: Final = "leave out resume=True to begin anew, and give overwrite=True for a folder"


class Journal:
    """The journal of one output, open until `close` or `remove`.

    Attributes:
        path: the file.
        entries: those of an interrupted run, if this one goes on with it.
        was_there: whether an interrupted run left the file.
    """

    def __init__(self, path: Path, *, made_by: Mapping[str, str], resume: bool) -> None:
        """Opens a journal, and begins it anew unless the run goes on.

        Args:
            path: of the journal; made if it is not there.
            made_by: what decides the bytes of the output (name -> value); a run only goes on where all are equal.
            resume: go on with an interrupted run, if there is one.

        Raises:
            OutputError: another run holds it, the file is no journal or is damaged, it cannot be written, or the
                interrupted run was made by something else.
        """
        self.path = path
        is_new = not os.path.lexists(path)
        self._stream = _opened(path)
        try:
            content = self._stream.read()
            self.was_there = bool(content)
            self.entries = self._read(content, made_by) if content and resume else []
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
        """Writes a line for each entry; they are with the system when this returns.

        Raises:
            OutputError: the disk is full, or the like.
        """
        with place_errors(self.path):
            self._stream.write(b"".join(_line(entry) for entry in entries))
            self._stream.flush()

    def close(self) -> None:
        """Lets go of the file, which stays."""
        with contextlib.suppress(OSError):  # what could not be written was told
            self._stream.close()

    def remove(self) -> None:
        """Removes the file: the work is done."""
        self.path.unlink(missing_ok=True)
        self.close()

    def _read(self, content: bytes, made_by: Mapping[str, str]) -> list[dict[str, Any]]:
        header = _header(content, self.path)
        other = [name for name, value in made_by.items() if header.get(name) != value]
        if other:
            raise OutputError(
                f"{self.path} is of a run with {' and '.join(f'another {name}' for name in other)}, so it cannot go "
                f"on; give what was given then, or {_ANEW}"
            )
        end = content.rfind(b"\n") + 1  # what is behind it was cut off in the middle
        lines = content[:end].split(b"\n")[:-1]
        entries = [_entry(line, Place(self.path, number)) for number, line in enumerate(lines, start=1)]
        self._stream.truncate(end)
        self._stream.seek(end)
        return entries[1:]


def is_journal(path: Path) -> bool:
    """Whether a file is a journal of an interrupted run."""
    try:
        if not path.is_file():
            return False  # to open a pipe would wait for its writer
        with path.open("rb") as stream:
            return _is_header(stream.readline(_LONGEST))
    except OSError:
        return False


def _line(entry: Mapping[str, Any]) -> bytes:
    rest = msgspec.json.encode(dict(entry))[1:]
    return _CHECKED % zlib.crc32(rest) + rest + b"\n"


def _entry(line: bytes, place: str) -> dict[str, Any]:
    """An entry as it was written: what was done is only left out on the word of a whole journal."""
    rest = line[len(_CHECKED % 0) :]
    if line != _CHECKED % zlib.crc32(rest) + rest:
        raise OutputError(
            f"{place} is damaged, so the interrupted run cannot go on; {_ANEW}", file=place, code="damaged"
        )
    found: dict[str, Any] = msgspec.json.decode(line)
    return found


def _header(content: bytes, path: Path) -> dict[str, Any]:
    line = content.partition(b"\n")[0]
    if not _is_header(line):
        raise OutputError(
            f"{path} is no journal of an interrupted run, but would have to be; move it elsewhere", file=str(path)
        )
    found: dict[str, Any] = msgspec.json.decode(line)
    return found


def _is_header(line: bytes) -> bool:
    try:
        found = msgspec.json.decode(line)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return isinstance(found, dict) and found.get(_KEY) == _SCHEMA


def _opened(path: Path) -> BinaryIO:
    if os.path.lexists(path) and (path.is_symlink() or not path.is_file()):
        raise OutputError(
            f"{path} is no journal of an interrupted run, but would have to be; move it elsewhere", file=str(path)
        )
    try:
        stream = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666), "r+b")
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}; give another place", file=str(path)) from None
    taken = OutputError(f"another run is writing the same output ({path}); wait for it, or stop it")
    try:
        lock(stream, refusal=taken)
    except OutputError:
        stream.close()
        raise
    return stream
