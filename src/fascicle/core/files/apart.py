"""Check that an output is never an input: paths are compared by file identity and not by name.

Links, hard links, relative paths and another case of letters do not hide a file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from fascicle.core.files.pipes import open_descriptor
from fascicle.core.files.source import STDIN
from fascicle.errors import OutputError
from fascicle.settings.folders.described import FILTER, RELATIONS, TYPER, is_described
from fascicle.settings.folders.manifest import MANIFEST
from fascicle.settings.folders.vocabularies import LINKER, PACK
from fascicle.settings.recipes.ensemble import ENSEMBLE

# description files of models, packs and linkers
_MODELS: Final = (MANIFEST, FILTER, RELATIONS, TYPER, ENSEMBLE, PACK, LINKER)
_LOST: Final = "would be lost; give another name to write to"
_Identity = tuple[int, int]  # device and inode


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """Inputs of a command, by file identity.

    Attributes:
        names: identity of each file or folder -> its name as given.
        above: identity of each folder with an input somewhere in it -> that input.
        folders: the folders among those given.
        models: cache, folder of an output -> the model that it lies in.
    """

    names: Mapping[_Identity, str]
    above: Mapping[_Identity, str]
    folders: tuple[str, ...]
    models: dict[str, Path | None] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, paths: Iterable[str | os.PathLike[str] | None]) -> Inputs:
        """Collects the identities of inputs; missing ones cannot be overwritten, and are left out.

        Args:
            paths: files, folders, places inside a zip, ``"-"`` for standard input; ``None`` is left
                out.
        """
        names, above, folders = dict[_Identity, str](), dict[_Identity, str](), []
        visited: set[str] = set()
        for path in (os.fspath(path) for path in paths if path is not None):
            status = _stat_of_stream(0) if path == STDIN else _stat_of_input(path)
            if status is None:
                continue
            names.setdefault(
                (status.st_dev, status.st_ino), "standard input" if path == STDIN else path
            )
            if stat.S_ISDIR(status.st_mode):
                folders.append(path)
            for folder in _folders_above(path, visited) if path != STDIN else ():
                if (place := stat_or_none(folder)) is not None:
                    above.setdefault((place.st_dev, place.st_ino), path)
        return cls(names=names, above=above, folders=tuple(folders))

    def refuse(self, path: str | os.PathLike[str], *, filled: bool = False) -> None:
        """Raises an error for an output that is an input, contains one, or lies in one.

        Args:
            path: path of the output.
            filled: true if files are only added to an existing folder.

        Raises:
            OutputError: an input would be lost, or a file would be written into the folder of a
                model.
        """
        status = _stat_of_stream(1) if path == STDIN else stat_or_none(path)
        if (
            status is not None
            and not stat.S_ISREG(status.st_mode)
            and not stat.S_ISDIR(status.st_mode)
        ):
            return  # a device or a pipe
        identity = (status.st_dev, status.st_ino) if status is not None else None
        name = "standard output" if path == STDIN else os.fspath(path)
        added = status is None or (filled and stat.S_ISDIR(status.st_mode))
        if identity is not None and not added:
            if identity in self.names:
                raise OutputError(
                    f"{name} is one of the inputs{self._under(identity, name)} and {_LOST}"
                )
            if identity in self.above:
                raise OutputError(f"{name} holds the input {self.above[identity]} and {_LOST}")
        if path == STDIN or open_descriptor(path) is not None:
            return
        if (model := self._model_above(name)) is not None:
            raise OutputError(
                f"{name} lies in {model}, a model or a pack; give a place outside of it to write to"
            )
        for holder in self._holders(name):
            if not added or any((Path(holder) / model).is_file() for model in _MODELS):
                raise OutputError(
                    f"{name} lies in the input {holder}; give a place outside of it to write to"
                )

    def inside(self) -> Inputs:
        """Returns the files in the folders among the inputs."""
        return Inputs.of(_files_in(self.folders))

    def _under(self, identity: _Identity, name: str) -> str:
        other = self.names[identity]
        return "" if other == name else f" (under the name {other})"

    def _model_above(self, path: str) -> Path | None:
        """Returns the folder of a model or pack that a path lies in; a path that is one itself
        may be replaced.
        """
        parent = os.path.dirname(_real(path))  # noqa: PTH120 - thousands of them
        if parent not in self.models:
            folders = (Path(parent), *Path(parent).parents)
            models = (
                folder_above
                for folder_above in folders
                if any(is_described(folder_above / name) for name in _MODELS)
            )
            self.models[parent] = next(models, None)
        return self.models[parent]

    def _holders(self, path: str) -> Iterator[str]:
        """Yields the input folders that contain this path, or are at it."""
        if not self.folders:
            return
        real = Path(_real(path))
        for folder in (real, *real.parents):
            status = stat_or_none(folder)
            if status is not None and (status.st_dev, status.st_ino) in self.names:
                yield self.names[status.st_dev, status.st_ino]


def _real(path: str) -> str:
    """Returns a path without links; unchanged if it cannot exist, since opening it raises the
    error.
    """
    try:
        return os.path.realpath(path)
    except ValueError:
        return path


def _files_in(folders: Iterable[str]) -> Iterator[str]:
    for folder in folders:
        for place, _, files in os.walk(folder):
            yield from (os.path.join(place, file) for file in files)  # noqa: PTH118 - thousands of them


def _folders_above(path: str, visited: set[str]) -> Iterator[str]:
    """Yields the folders above an input, by its name and by the target of its links; each once
    for all inputs.
    """
    folder = os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH120 - to replace the folder of a link loses it
    starts = [] if folder in visited else [folder, os.path.realpath(folder)]
    if os.path.islink(path):  # noqa: PTH114 - thousands of them
        starts.append(os.path.dirname(os.path.realpath(path)))  # noqa: PTH120
    for start in starts:
        folder = start
        while folder not in visited:
            visited.add(folder)
            yield folder
            folder = os.path.dirname(folder)  # noqa: PTH120


def _stat_of_input(path: str) -> os.stat_result | None:
    """Returns the status of a file or folder, or of the zip that a path leads into."""
    for name in dict.fromkeys((path, os.path.expanduser(path))):  # noqa: PTH111 - names of models may begin with ~
        if (status := stat_or_none(name)) is not None:
            return status
        for above in Path(name).parents:
            if (status := stat_or_none(above)) is not None:
                if stat.S_ISREG(status.st_mode):
                    return status
                break
    return None


def _stat_of_stream(number: int) -> os.stat_result | None:
    """Returns the status of standard input or output if it is a regular file; else ``None``."""
    try:
        status = os.fstat(number)
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def stat_or_none(path: str | os.PathLike[str]) -> os.stat_result | None:
    """Returns the status of a path; ``None`` if it does not exist."""
    try:
        return os.stat(path)  # noqa: PTH116 - thousands of them
    except (OSError, ValueError):
        return None
