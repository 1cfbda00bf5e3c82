"""Which options name what is read and what is written, and the rule that an input is never an output.

An option says so with its ``type``: `reads`, `writes` or `fills`. Before a command runs, `check_places` compares what
was given by identity and not by name: links, hard links, relative paths and another case do not hide a file.
"""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fascicle.errors import OutputError
from fascicle.files.source import STDIN
from fascicle.settings.folders.manifest import MANIFEST
from fascicle.settings.recipes.ensemble import ENSEMBLE
from fascicle.settings.recipes.filter import FILTER
from fascicle.settings.recipes.typer import TYPER

_MODELS: Final = (MANIFEST, FILTER, TYPER, ENSEMBLE)  # what the folder of a model holds
_STREAMS: Final = (0, 1)  # standard input and output
_Identity = tuple[int, int]  # device and inode


def reads(path: str) -> str:
    """An option that names something to read: a file, a folder, a model."""
    return path


def writes(path: str) -> str:
    """An option that names what is written: a file, or a folder that is written as a whole."""
    return path


def fills(path: str) -> str:
    """An option that may name a folder into which files are written one by one, beside what it holds."""
    return path


ROLES: Final = (reads, writes, fills)


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """What a command reads, by identity.

    Attributes:
        given: files and folders -> how they were named.
        above: folders with an input somewhere in them -> that input.
        folders: the folders among those given.
    """

    given: Mapping[_Identity, str]
    above: Mapping[_Identity, str]
    folders: tuple[str, ...]

    @classmethod
    def of(cls, paths: Iterable[str | os.PathLike[str] | None]) -> Inputs:
        """Looks at inputs; what is not there cannot be lost, and is left out.

        Args:
            paths: files, folders, places inside a zip, ``"-"`` for standard input; ``None`` is left out.
        """
        given, above, folders = dict[_Identity, str](), dict[_Identity, str](), []
        seen: set[str] = set()
        for path in (os.fspath(path) for path in paths if path is not None):
            found = _stat_of_stream(0) if path == STDIN else _stat_of_input(path)
            if found is None:
                continue
            given.setdefault((found.st_dev, found.st_ino), "standard input" if path == STDIN else path)
            if stat.S_ISDIR(found.st_mode):
                folders.append(path)
            for folder in _folders_above(path, seen) if path != STDIN else ():
                if (place := _stat(folder)) is not None:
                    above.setdefault((place.st_dev, place.st_ino), path)
        return cls(given=given, above=above, folders=tuple(folders))

    def refuse(self, path: str | os.PathLike[str], *, filled: bool = False) -> None:
        """Refuses an output that is an input, holds one, or stands in one.

        Args:
            path: of the output.
            filled: whether a folder there is only added to.

        Raises:
            OutputError: what is read would be lost, or a model would get a file that is no part of it.
        """
        found = _stat_of_stream(1) if path == STDIN else _stat(path)
        if found is not None and not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
            return  # a device or a pipe
        identity = (found.st_dev, found.st_ino) if found is not None else None
        name = "standard output" if path == STDIN else os.fspath(path)
        added = found is None or (filled and stat.S_ISDIR(found.st_mode))
        if identity is not None and not added:
            if identity in self.given:
                raise OutputError(f"{name} is one of the inputs{self._under(identity, name)} and {_LOST}")
            if identity in self.above:
                raise OutputError(f"{name} holds the input {self.above[identity]} and {_LOST}")
        for holder in self._holders(name) if path != STDIN else ():
            if not added or any((Path(holder) / model).is_file() for model in _MODELS):
                raise OutputError(f"{name} lies in the input {holder}; give a place outside of it to write to")

    def inside(self) -> Inputs:
        """The files in the folders among the inputs."""
        return Inputs.of(_files_in(self.folders))

    def _under(self, identity: _Identity, name: str) -> str:
        other = self.given[identity]
        return "" if other == name else f" (under the name {other})"

    def _holders(self, path: str) -> Iterator[str]:
        """The inputs that are folders with this path in them, or at it."""
        if not self.folders:
            return
        real = Path(os.path.realpath(path))
        for folder in (real, *real.parents):
            found = _stat(folder)
            if found is not None and (found.st_dev, found.st_ino) in self.given:
                yield self.given[found.st_dev, found.st_ino]


_LOST: Final = "would be lost; give another name to write to"


def check_places(actions: Iterable[argparse.Action], args: argparse.Namespace) -> None:
    """Refuses an output that is an input, and two outputs that are one.

    Args:
        actions: of the parser of the command.
        args: what was given.

    Raises:
        OutputError: see `Inputs.refuse`.
    """
    actions = [action for action in actions if action.type in ROLES]
    written = [
        (path, action.type is fills) for action in actions if action.type is not reads for path in _of(action, args)
    ]
    inputs = Inputs.of(path for action in actions if action.type is reads for path in _of(action, args))
    for path, filled in written:
        inputs.refuse(path, filled=filled)
    inputs.refuse(STDIN)  # whatever is written there: results, or what a command says
    _check_apart([path for path, _ in written if path != STDIN])
    if inputs.folders and any(_is_replaced(path, filled=filled) for path, filled in written):
        inside = inputs.inside()  # looked through only where something may be replaced
        for path, filled in written:
            inside.refuse(path, filled=filled)


def _check_apart(paths: Iterable[str]) -> None:
    known: dict[object, str] = {}
    for path in paths:
        found = _stat(path)
        if found is not None and not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
            continue
        try:
            identity = (found.st_dev, found.st_ino) if found is not None else os.path.realpath(path)
        except ValueError:
            continue  # no file has such a name; whoever opens it says so
        if identity in known:
            raise OutputError(f"{known[identity]} and {path} are one place, and two things are to be written there")
        known[identity] = path


def _of(action: argparse.Action, args: argparse.Namespace) -> list[str]:
    value = getattr(args, action.dest, None)
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def _files_in(folders: Iterable[str]) -> Iterator[str]:
    for folder in folders:
        for place, _, files in os.walk(folder):
            yield from (os.path.join(place, file) for file in files)  # noqa: PTH118 - thousands of them


def _folders_above(path: str, seen: set[str]) -> Iterator[str]:
    """The folders above an input, by its name and by what that leads to; each once for all inputs."""
    folder = os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH120 - to replace the folder of a link loses it
    starts = [] if folder in seen else [folder, os.path.realpath(folder)]
    if os.path.islink(path):  # noqa: PTH114 - thousands of them
        starts.append(os.path.dirname(os.path.realpath(path)))  # noqa: PTH120
    for start in starts:
        folder = start
        while folder not in seen:
            seen.add(folder)
            yield folder
            folder = os.path.dirname(folder)  # noqa: PTH120


def _stat_of_input(path: str) -> os.stat_result | None:
    """Of a file or folder, or of the zip that a path leads into."""
    for given in dict.fromkeys((path, os.path.expanduser(path))):  # noqa: PTH111 - names of models may begin with ~
        if (found := _stat(given)) is not None:
            return found
        for above in Path(given).parents:
            if (found := _stat(above)) is not None:
                if stat.S_ISREG(found.st_mode):
                    return found
                break
    return None


def _stat_of_stream(number: int) -> os.stat_result | None:
    """Of a file that standard input or output is."""
    try:
        found = os.fstat(number)
    except OSError:
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def _stat(path: str | os.PathLike[str]) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 - thousands of them
    except (OSError, ValueError):
        return None


def _is_replaced(path: str, *, filled: bool) -> bool:
    found = _stat(path) if path != STDIN else None
    return found is not None and (stat.S_ISREG(found.st_mode) or (stat.S_ISDIR(found.st_mode) and not filled))
