r"""Opening of files and named pipes, and lines that are too long.

A pipe can be read only once, and opening it blocks until a writer comes. After a line that is too
long the lines behind it are still read, also those that end with ``\r`` alone.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import AnyStr, BinaryIO, Final

from fascicle.errors import FormatError, InputError

_DESCRIPTOR: Final = re.compile(r"/(?:dev|proc/[^/]+(?:/task/[^/]+)?)/fd/(\d+)")
_LINKS: Final = 40  # most links in a chain
PATIENCE: Final = 10.0  # seconds to wait for a writer


def open_descriptor(path: str | os.PathLike[str]) -> int | None:
    """Returns the number of the open descriptor that a path names, such as ``/dev/fd/3``; else
    ``None``.

    The target of such a path, perhaps a file that is appended to, must not be replaced.
    """
    place = os.path.abspath(path)  # noqa: PTH100 - links are followed here, one by one
    for _ in range(_LINKS):
        if match := _DESCRIPTOR.fullmatch(place):
            return int(match[1])
        try:
            place = os.path.normpath(Path(place).parent / Path(place).readlink())
        except (OSError, ValueError):
            return None  # no link
    return None


def is_pipe(path: str) -> bool:
    """True if a path leads to a pipe."""
    return Path(path).is_fifo()


def refuse_pipe(path: str, *, formats: str) -> None:
    """Raises an error for a pipe, whose first bytes cannot be inspected without losing them for the
    reader.

    Raises:
        FormatError: it is a pipe.
    """
    if is_pipe(path):
        raise FormatError(
            f"{path} is a pipe, whose format is unknown before it is read; name it with "
            f"format=NAME, one of {formats}, or give the pipe as standard input (-)",
            file=path,
        )


def open_file(path: Path, *, patience: float = PATIENCE) -> BinaryIO:
    """Opens a file for reading; a pipe as soon as a process writes into it.

    Args:
        path: path of the file.
        patience: seconds to wait for a writer.

    Raises:
        InputError: the pipe has no writer, or the file is a device such as /dev/zero.
        OSError: it cannot be opened.
    """
    if not path.is_fifo():
        plain = path.open("rb")
        if _is_endless(plain):
            plain.close()
            raise InputError(
                f"{path} is a device, which may not end; give a file or a pipe", file=str(path)
            )
        return plain
    results: list[BinaryIO | OSError] = []

    def wait() -> None:
        try:
            results.append(path.open("rb"))
        except OSError as error:
            results.append(error)

    # In a thread, since the system can neither limit the wait for a writer nor report whether there
    # is one.
    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    waiting.join(patience)
    if waiting.is_alive():
        with contextlib.suppress(OSError):
            # acts as a writer, so that the thread ends
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        waiting.join()
        for stream in results:
            if not isinstance(stream, OSError):
                stream.close()
        raise InputError(
            f"the pipe {path} has no writer after {patience:g} seconds; start what writes into "
            "it first"
        )
    result = results[0]
    if isinstance(result, OSError):
        raise result
    return result


def _is_endless(stream: BinaryIO) -> bool:
    """True if a stream is of a device that is neither a terminal nor empty."""
    status = os.fstat(stream.fileno())
    if stat.S_ISBLK(status.st_mode):
        return True
    return (
        stat.S_ISCHR(status.st_mode)
        and not stream.isatty()
        and status.st_rdev != Path(os.devnull).stat().st_rdev
    )


def unreadable(path: object, error: OSError) -> InputError:
    """Returns the error for a file that the system does not let us read."""
    message = f"the file {path} cannot be read: {error.strerror}; check the path"
    return InputError(message, file=str(path), code="unreadable")


_CHUNK = 1 << 20


def raw_lines(
    readline: Callable[[int], AnyStr], *, most: int, ends: tuple[AnyStr, AnyStr]
) -> Iterator[tuple[AnyStr, int]]:
    r"""Yields the lines of a file with their ends, or several that end with ``\r`` as one; and what
    is left out.

    Args:
        readline: function that reads on.
        most: most bytes or characters of a line.
        ends: ``\n`` and ``\r``.

    Yields:
        Lines within the limit, and 0; or for a line that is too long nothing, and its length.
    """
    rest = ends[0][:0]
    while raw := rest or readline(most + 1):
        rest, dropped = raw[:0], 0
        if len(raw) > most:
            raw, rest, dropped = _cut_long(raw, readline, most=most, ends=ends)
        yield raw, dropped


def _cut_long(
    raw: AnyStr, readline: Callable[[int], AnyStr], *, most: int, ends: tuple[AnyStr, AnyStr]
) -> tuple[AnyStr, AnyStr, int]:
    r"""Splits input at the end of a line, or leaves out a line that is too long.

    Args:
        raw: more than ``most`` bytes or characters, from the beginning of a line; at most one
            ``\n``, at its end.
        readline: function that reads on.
        most: most bytes or characters of a line.
        ends: ``\n`` and ``\r``.

    Returns:
        Lines within the limit (empty if a line was left out), the rest to read next, and the length
        that was left out.
    """
    newline, carriage = ends
    cut = raw.rfind(carriage, 0, min(most, len(raw) - 2)) + 1
    if cut:
        # The end of a line that is not empty, unless all lines are empty.
        bare = len(raw[:cut].rstrip(carriage))
        cut = bare + 1 if bare else cut
        return raw[:cut], _filled(raw[cut:], readline, most=most, newline=newline), 0
    nothing, dropped, more = raw[:0], 0, raw
    while more:
        at = more.find(carriage) + 1
        if at and not more[at:]:
            more += readline(1)  # \r may be the first half of \r\n
        if at and more[at:] != newline:
            return nothing, _filled(more[at:], readline, most=most, newline=newline), dropped + at
        dropped += len(more)
        more = nothing if more.endswith(newline) else readline(_CHUNK)
    return nothing, nothing, dropped


def _filled(
    rest: AnyStr, readline: Callable[[int], AnyStr], *, most: int, newline: AnyStr
) -> AnyStr:
    """Reads on from the beginning of a line until it is known whether the line is too long."""
    return (
        rest
        if rest.endswith(newline) or len(rest) > most
        else rest + readline(most + 1 - len(rest))
    )


def long_line(path: str, number: int, *, most: int) -> FormatError:
    """Returns the error for a line that is too long."""
    message = (
        f"line {number} is longer than {most:,} bytes; is this the format you named? If "
        "so, split the line"
    )
    return FormatError(message, at=path, line=number, code="too-large")
