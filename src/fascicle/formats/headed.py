"""Files of JSON Lines whose first line tells what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from fascicle.errors import FormatError, InputError
from fascicle.files.source import Source, lines

H = TypeVar("H")


def open_headed(
    path: str | Path, header_of: Callable[[str], H], *, what: str, make: str
) -> tuple[H, Iterator[tuple[int, str]]]:
    """Reads the first line of a file.

    Args:
        path: of the file.
        header_of: the first line -> what it says.
        what: such a file is called in sentences, with its article.
        make: how one is made, for sentences.

    Returns:
        What the first line says, and the others with their numbers.

    Raises:
        InputError: the file cannot be read, or is empty.
        FormatError: the first line is not one of such a file.
    """
    numbered = lines(Source(path=str(path)))
    first = next(numbered, None)
    if first is None:
        raise InputError(f"{path} is empty; {make}", file=str(path), code="empty")
    try:
        return header_of(first[1]), numbered
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise FormatError(f"{path} is not {what} ({error}); {make}", file=str(path)) from None
