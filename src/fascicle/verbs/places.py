"""Roles of path options, read or written, and the rule that an input is never an output.

The ``type`` of an option is its role: `reads`, `writes` or `fills`. Before a command runs, `check_places` compares the
given files by identity and not by name: links, hard links, relative paths and another case do not hide a file.
"""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Iterable, Mapping
from typing import Any, Final

from fascicle.core.files.apart import Inputs, stat_of
from fascicle.core.files.source import STDIN
from fascicle.errors import OutputError


def reads(path: str) -> str:
    """Marks an option that names something to read: a file, a folder, a model."""
    return path


def writes(path: str) -> str:
    """Marks an option that names an output: a file, or a folder that is written as a whole."""
    return path


def fills(path: str) -> str:
    """Marks an option that may name a folder into which files are written one by one, beside its other content."""
    return path


ROLES: Final = (reads, writes, fills)


def check_places(actions: Iterable[argparse.Action], given: Mapping[str, Any]) -> None:
    """Refuses an output that is an input, and two outputs that are one.

    Args:
        actions: of the parser of the command.
        given: given values, by the name of the option.

    Raises:
        OutputError: see `Inputs.refuse`.
    """
    actions = [action for action in actions if action.type in ROLES]
    written = [
        (path, action.type is fills) for action in actions if action.type is not reads for path in _paths(action, given)
    ]
    inputs = Inputs.of(path for action in actions if action.type is reads for path in _paths(action, given))
    for path, filled in written:
        inputs.refuse(path, filled=filled)
    inputs.refuse(STDIN)  # for any output: results or messages
    _check_apart([path for path, _ in written if path != STDIN])
    if inputs.folders and any(_is_replaced(path, filled=filled) for path, filled in written):
        inside = inputs.inside()  # searched only where something may be replaced
        for path, filled in written:
            inside.refuse(path, filled=filled)


def _check_apart(paths: Iterable[str]) -> None:
    known: dict[object, str] = {}
    for path in paths:
        found = stat_of(path)
        if found is not None and not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
            continue
        try:
            identity = (found.st_dev, found.st_ino) if found is not None else os.path.realpath(path)
        except ValueError:
            continue  # no file has such a name; opening it raises the error
        if identity in known:
            raise OutputError(f"{known[identity]} and {path} are one place, and two things are to be written there")
        known[identity] = path


def _paths(action: argparse.Action, given: Mapping[str, Any]) -> list[str]:
    value = given.get(action.dest)
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def _is_replaced(path: str, *, filled: bool) -> bool:
    found = stat_of(path) if path != STDIN else None
    return found is not None and (stat.S_ISREG(found.st_mode) or (stat.S_ISDIR(found.st_mode) and not filled))
