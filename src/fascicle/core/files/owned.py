"""Records of the files that Fascicle wrote into a folder, so that replacing the folder removes no
other file.

A folder that Fascicle writes holds a hidden record of its files, ``.fascicle-written.jsonl``: first
the kind of the folder, then a line for each file with its size and hash. A file that is not in the
record, or that changed since, belongs to the user.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from fascicle.errors import OutputError

RECORD: Final = ".fascicle-written.jsonl"
_FORMAT: Final = 1
_SHOWN: Final = 3  # names in a message

_Facts = tuple[int, str]  # size and hash
# inode, size and time of change: equal as long as a file is unchanged
_Stamp = tuple[int, int, int]


class Owned(msgspec.Struct, frozen=True, kw_only=True):
    """Content of a folder: files that Fascicle wrote, and others.

    Attributes:
        files: name of each unchanged file that Fascicle wrote there -> its stamp at the time of the
            check.
        foreign: names of everything else, sorted; those of empty folders end with ``/``.
    """

    files: Mapping[str, _Stamp] = msgspec.field(default_factory=dict)
    foreign: tuple[str, ...] = ()

    def is_own(self, folder: Path, name: str) -> bool:
        """True if Fascicle wrote a file, and it did not change since it was checked."""
        return name in self.files and _stamp(folder / name) == self.files[name]


def own_files(folder: Path, *, kind: str) -> Owned:
    """Finds the own files of a folder; hashes every file of its record.

    Args:
        folder: an existing folder.
        kind: kind of command that wrote it; files of a record of another kind do not count as own.

    Raises:
        OutputError: the folder cannot be read.
    """
    record = _read_record(folder)
    expected = record[1] if record and record[0] == kind else {}
    files, foreign = dict[str, _Stamp](), []
    for name in _entries(folder):
        if name == RECORD and record:
            continue
        stamp = _stamp(folder / name)
        if stamp is not None and name in expected and file_facts(folder / name) == expected[name]:
            files[name] = stamp
        else:
            foreign.append(name)
    return Owned(files=files, foreign=tuple(sorted(foreign)))


def record_kind(folder: Path) -> str:
    """Returns the kind in the record of a folder; empty if it has no record."""
    record = _read_record(folder)
    return record[0] if record else ""


def check_replaceable(folder: Path, *, kind: str) -> Owned:
    """Raises an error if a folder holds files that the same kind of command did not write.

    Raises:
        OutputError: it does; the message names up to three files.
    """
    own = own_files(folder, kind=kind)
    _refuse(own.foreign, folder, "name")
    return own


def _refuse(foreign: Sequence[str], folder: Path, instead: str) -> None:
    """Raises an error if there are others than own files; ``instead`` is what to give another
    of.
    """
    if foreign:
        raise OutputError(
            f"the folder {folder} holds {_join_names(foreign)}, which this command did not write "
            f"there or which changed since; remove it by hand, or give another {instead}",
            file=str(folder),
        )


def changed_files(folder: Path) -> list[str]:
    """Returns names of recorded files that are missing or changed; none without a record."""
    record = _read_record(folder)
    facts = record[1].items() if record else ()
    return [
        name
        for name, fact in facts
        if _stamp(folder / name) is None or file_facts(folder / name) != fact
    ]


def _entries(folder: Path) -> Iterator[str]:
    """Yields the relative names of all files and empty folders in a folder, with ``/`` between
    folders.

    Raises:
        OutputError: a folder that cannot be read.
    """

    def refuse(error: OSError) -> None:
        message = f"{error.filename} cannot be read: {error.strerror}; give another name"
        raise OutputError(message, file=str(error.filename), code="unreadable") from error

    for place, folders, files in os.walk(folder, onerror=refuse):
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        inner = Path(place).relative_to(folder).as_posix()
        start = "" if inner == "." else f"{inner}/"
        if start and not folders and not files:
            yield start
        yield from (f"{start}{name}" for name in (*files, *links))


def write_record(folder: Path, *, kind: str) -> None:
    """Writes the record of all files in a folder; the same files give the same bytes."""
    names = (
        name for name in _entries(folder) if name != RECORD and _stamp(folder / name) is not None
    )
    _write(folder, kind, [(name, file_facts(folder / name)) for name in sorted(names)])


class Ledger:
    """Record of a folder into which files are written one by one, beside existing ones."""

    def __init__(self, folder: Path, *, kind: str) -> None:
        """Reads the record, if there is one.

        Args:
            folder: it need not exist yet.
            kind: kind of command that writes the files. In a folder of another kind no file counts
                as own, and none is recorded.
        """
        lines = _lines(folder)
        self._folder, self._kind = folder, kind
        # The last two of each file: a process that dies before a new file gets its name leaves the
        # earlier file.
        self._files = dict[str, list[_Facts]]()
        for name, facts in lines[1] if lines and lines[0] == kind else ():
            self._files[name] = [*self._files.get(name, ())[-1:], facts]
        self._is_mine, self._is_begun = lines is None or lines[0] == kind, False

    def note(self, name: str) -> None:
        """Records one file as it is now; a later line about a file replaces an earlier one."""
        self.note_all({name: self._folder / name})

    def note_all(self, files: Mapping[str, str | os.PathLike[str]]) -> None:
        """Records files that may still be elsewhere.

        Args:
            files: name in the folder -> current path of the file.
        """
        if not self._is_mine:
            return
        # rewritten once, since its last line may be cut off, and earlier ones out of date
        if not self._is_begun:
            _write(
                self._folder,
                self._kind,
                [(name, fact) for name in sorted(self._files) for fact in self._files[name]],
            )
            self._is_begun = True
        with (self._folder / RECORD).open("a", encoding="ascii") as stream:
            stream.writelines(_line(name, file_facts(Path(place))) for name, place in files.items())

    def check(self, names: Iterable[str]) -> None:
        """Raises an error if a file to replace was not written by Fascicle, or changed since.

        Raises:
            OutputError: there are such files; the message names up to three.
        """
        foreign = [
            name
            for name in names
            if os.path.lexists(self._folder / name) and not self._is_own(name)
        ]
        _refuse(foreign, self._folder, "folder")

    def _is_own(self, name: str) -> bool:
        place = self._folder / name
        return (
            name in self._files
            and _stamp(place) is not None
            and file_facts(place) in self._files[name]
        )


def remove_owned(folder: Path, *, kind: str) -> None:
    """Removes the files that Fascicle wrote in a folder, and the folder if it is then empty."""
    if folder.is_dir():
        own = own_files(folder, kind=kind)
        for name in own.files:
            (folder / name).unlink(missing_ok=True)
        if not own.foreign:
            (folder / RECORD).unlink(missing_ok=True)
        remove_empty(folder)


def retire(old: Path, new: Path, own: Owned) -> None:
    """Removes a folder that another one replaces; files of the user are moved into the new folder.

    Args:
        old: the folder to remove.
        new: the folder that replaces it. A file whose name is taken gets the suffix ``.kept``.
        own: own files of the old folder.
    """
    # Files whose names are free are moved first, so that no renamed file takes their names.
    for name in sorted(_entries(old), key=lambda name: os.path.lexists(new / name)):
        place = old / name
        if name == RECORD:
            continue  # removed last: after a kill it lists the remaining files
        if own.is_own(old, name):
            place.unlink()
        elif not name.endswith("/"):
            target = _free(new / name)
            target.parent.mkdir(parents=True, exist_ok=True)
            place.rename(target)
    (old / RECORD).unlink(missing_ok=True)
    remove_empty(old)


def remove_empty(folder: Path) -> None:
    """Removes a folder and its subfolders as far as they are empty."""
    for place, _, _ in os.walk(folder, topdown=False):
        with contextlib.suppress(OSError):
            Path(place).rmdir()


def file_facts(path: Path) -> _Facts:
    """Returns size and SHA-256 of a file."""
    with path.open("rb") as stream:
        return os.fstat(stream.fileno()).st_size, hashlib.file_digest(stream, "sha256").hexdigest()


def _free(path: Path) -> Path:
    free, number = path, 1
    while os.path.lexists(free):
        free = path.with_name(f"{path.name}.kept{f'-{number}' if number > 1 else ''}")
        number += 1
    return free


def _write(folder: Path, kind: str, files: Iterable[tuple[str, _Facts]]) -> None:
    head = json.dumps({"format": _FORMAT, "kind": kind}) + "\n"
    lines = "".join(_line(name, facts) for name, facts in files)
    (folder / RECORD).write_text(head + lines, encoding="ascii")


def _line(name: str, facts: _Facts) -> str:
    return json.dumps({"file": name, "size": facts[0], "sha256": facts[1]}) + "\n"


def _stamp(path: Path) -> _Stamp | None:
    """Returns the stamp of a regular file; ``None`` for others, links included."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return (
        (status.st_ino, status.st_size, status.st_mtime_ns)
        if stat.S_ISREG(status.st_mode)
        else None
    )


def _read_record(folder: Path) -> tuple[str, dict[str, _Facts]] | None:
    """Reads kind and files of a record, by its last line for each; ``None`` without a readable
    record.
    """
    lines = _lines(folder)
    return None if lines is None else (lines[0], dict(lines[1]))


def _lines(folder: Path) -> tuple[str, list[tuple[str, _Facts]]] | None:
    """Reads the kind of a record, and each of its lines."""
    try:
        text = (folder / RECORD).read_text(encoding="ascii")
        # the last line may be cut off
        head, *lines = map(json.loads, text[: text.rfind("\n") + 1].splitlines())
        if head["format"] != _FORMAT:
            return None
        return str(head["kind"]), [(line["file"], (line["size"], line["sha256"])) for line in lines]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _join_names(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(map(repr, names[:_SHOWN])) + (f" and {more:,} more" if more > 0 else "")
