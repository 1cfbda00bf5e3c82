"""What of a folder Fascicle wrote, so that replacing the folder takes nothing else away.

A folder that Fascicle writes holds a hidden record of its files, ``.fascicle-written.jsonl``: first the kind of the
folder, then a line for each file with its size and hash. What is not in the record, or is no longer as it was written,
belongs to the user.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from fascicle.errors import OutputError

RECORD: Final = ".fascicle-written.jsonl"
_FORMAT: Final = 1
_SHOWN: Final = 3  # names in a sentence

_Facts = tuple[int, str]  # size and hash
_Stamp = tuple[int, int, int]  # inode, size and time of change: the same as long as nobody touched a file


@dataclass(frozen=True, kw_only=True)
class Owned:
    """What a folder holds.

    Attributes:
        files: name of each file that Fascicle wrote there and nobody changed -> its stamp when that was found out.
        others: names of everything else, sorted; those of empty folders end with ``/``.
    """

    files: Mapping[str, _Stamp] = field(default_factory=dict)
    others: tuple[str, ...] = ()

    def is_own(self, folder: Path, name: str) -> bool:
        """Whether a file is one of ours and was not touched since that was found out."""
        return name in self.files and _stamp(folder / name) == self.files[name]


def owned(folder: Path, *, kind: str) -> Owned:
    """Looks through a folder; every file of its record is hashed.

    Args:
        folder: that is there.
        kind: what wrote it; of a record of another kind, no file counts as ours.

    Raises:
        OutputError: the folder cannot be read.
    """
    found = _read(folder)
    expected = found[1] if found and found[0] == kind else {}
    files, others = dict[str, _Stamp](), []
    for name in entries(folder):
        if name == RECORD and found:
            continue
        stamp = _stamp(folder / name)
        if stamp is not None and name in expected and file_facts(folder / name) == expected[name]:
            files[name] = stamp
        else:
            others.append(name)
    return Owned(files=files, others=tuple(sorted(others)))


def kind_of(folder: Path) -> str:
    """The kind in the record of a folder; empty if it has none."""
    found = _read(folder)
    return found[0] if found else ""


def check_replaceable(folder: Path, *, kind: str) -> Owned:
    """Refuses to replace a folder that holds anything but what the same kind of command wrote.

    Raises:
        OutputError: it does; the sentence names three files.
    """
    found = owned(folder, kind=kind)
    if found.others:
        raise OutputError(
            f"the folder {folder} holds {_listed(found.others)}, which this command did not write there or which "
            "changed since; remove it by hand, or give another name",
            file=str(folder),
        )
    return found


def changed(folder: Path) -> list[str]:
    """Names of the files of a record that are gone, or no longer as they were written; none without a record."""
    found = _read(folder)
    facts = found[1].items() if found else ()
    return [name for name, one in facts if _stamp(folder / name) is None or file_facts(folder / name) != one]


def entries(folder: Path) -> Iterator[str]:
    """Names of everything in a folder but the folders that hold something, relative to it, with ``/`` between folders.

    Raises:
        OutputError: a folder that cannot be read.
    """

    def refuse(error: OSError) -> None:
        raise OutputError(
            f"{error.filename} cannot be read: {error.strerror}; give another name",
            file=str(error.filename),
            code="unreadable",
        ) from error

    for place, folders, files in os.walk(folder, onerror=refuse):
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        inner = Path(place).relative_to(folder).as_posix()
        start = "" if inner == "." else f"{inner}/"
        if start and not folders and not files:
            yield start
        yield from (f"{start}{name}" for name in (*files, *links))


def write_record(folder: Path, *, kind: str) -> None:
    """Writes the record of all that a folder holds now; the same files give the same bytes."""
    names = (name for name in entries(folder) if name != RECORD and _stamp(folder / name) is not None)
    _write(folder, kind, [(name, file_facts(folder / name)) for name in sorted(names)])


class Ledger:
    """The record of a folder into which files are written one by one, beside what it holds."""

    def __init__(self, folder: Path, *, kind: str) -> None:
        """Reads the record, if there is one.

        Args:
            folder: need not be there yet.
            kind: what writes the files. In a folder of another kind nothing counts as ours, and nothing is noted.
        """
        found = _lines(folder)
        self._folder, self._kind = folder, kind
        # Of each file the last two: a process that dies before a new one takes its name leaves the one before.
        self._files = dict[str, list[_Facts]]()
        for name, facts in found[1] if found and found[0] == kind else ():
            self._files[name] = [*self._files.get(name, ())[-1:], facts]
        self._is_mine, self._is_begun = found is None or found[0] == kind, False

    def note(self, name: str) -> None:
        """Adds one file as it is now; of two lines about one file, the later one counts."""
        self.note_all({name: self._folder / name})

    def note_all(self, files: Mapping[str, str | os.PathLike[str]]) -> None:
        """Adds files that may still lie elsewhere.

        Args:
            files: name in the folder -> where the file is now.
        """
        if not self._is_mine:
            return
        if not self._is_begun:  # written anew once, for its last line may be cut off, and earlier ones out of date
            _write(self._folder, self._kind, [(name, one) for name in sorted(self._files) for one in self._files[name]])
            self._is_begun = True
        with (self._folder / RECORD).open("a", encoding="ascii") as stream:
            stream.writelines(_line(name, file_facts(Path(place))) for name, place in files.items())

    def check(self, names: Iterable[str]) -> None:
        """Refuses to replace files that were not written by us, or that changed since.

        Raises:
            OutputError: there are such; the sentence names three.
        """
        others = [name for name in names if os.path.lexists(self._folder / name) and not self._is_own(name)]
        if others:
            raise OutputError(
                f"the folder {self._folder} holds {_listed(others)}, which this command did not write there or which "
                "changed since; remove it by hand, or give another folder",
                file=str(self._folder),
            )

    def _is_own(self, name: str) -> bool:
        place = self._folder / name
        return name in self._files and _stamp(place) is not None and file_facts(place) in self._files[name]


def remove_owned(folder: Path, *, kind: str) -> None:
    """Removes what Fascicle wrote in a folder, and the folder if nothing else is in it."""
    if folder.is_dir():
        own = owned(folder, kind=kind)
        for name in own.files:
            (folder / name).unlink(missing_ok=True)
        if not own.others:
            (folder / RECORD).unlink(missing_ok=True)
        remove_empty(folder)


def retire(old: Path, new: Path, own: Owned) -> None:
    """Takes a folder away whose place another one has: files of others go over into that one.

    Args:
        old: the folder to remove.
        new: the folder that replaces it. A name that it has already gets ``.kept`` at its end.
        own: what of the old one is ours.
    """
    # Those whose names are free go first, so that no other one takes them.
    for name in sorted(entries(old), key=lambda name: os.path.lexists(new / name)):
        place = old / name
        if name == RECORD:
            continue  # the last to go: after a kill it tells what is left
        if own.is_own(old, name):
            place.unlink()
        elif not name.endswith("/"):
            target = _free(new / name)
            target.parent.mkdir(parents=True, exist_ok=True)
            place.rename(target)
    (old / RECORD).unlink(missing_ok=True)
    remove_empty(old)


def remove_empty(folder: Path) -> None:
    """Removes a folder, and those in it, as far as they are empty."""
    for place, _, _ in os.walk(folder, topdown=False):
        with contextlib.suppress(OSError):
            Path(place).rmdir()


def file_facts(path: Path) -> _Facts:
    """Size and hash of a file."""
    with path.open("rb") as stream:
        return os.fstat(stream.fileno()).st_size, hashlib.file_digest(stream, "sha256").hexdigest()


def _free(path: Path) -> Path:
    found, number = path, 1
    while os.path.lexists(found):
        found = path.with_name(f"{path.name}.kept{f'-{number}' if number > 1 else ''}")
        number += 1
    return found


def _write(folder: Path, kind: str, files: Iterable[tuple[str, _Facts]]) -> None:
    head = json.dumps({"format": _FORMAT, "kind": kind}) + "\n"
    lines = "".join(_line(name, facts) for name, facts in files)
    (folder / RECORD).write_text(head + lines, encoding="ascii")


def _line(name: str, facts: _Facts) -> str:
    return json.dumps({"file": name, "size": facts[0], "sha256": facts[1]}) + "\n"


def _stamp(path: Path) -> _Stamp | None:
    """Of a regular file; a link is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def _read(folder: Path) -> tuple[str, dict[str, _Facts]] | None:
    """Kind and files of a record, as its last lines have them; ``None`` if there is none that can be read."""
    found = _lines(folder)
    return None if found is None else (found[0], dict(found[1]))


def _lines(folder: Path) -> tuple[str, list[tuple[str, _Facts]]] | None:
    """Kind of a record, and each of its lines."""
    try:
        text = (folder / RECORD).read_text(encoding="ascii")
        head, *lines = map(json.loads, text[: text.rfind("\n") + 1].splitlines())  # the last one may be cut off
        if head["format"] != _FORMAT:
            return None
        return str(head["kind"]), [(line["file"], (line["size"], line["sha256"])) for line in lines]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(map(repr, names[:_SHOWN])) + (f" and {more:,} more" if more > 0 else "")
