r"""Recovery after a line that is too long: the lines after it are still read, also those that end with ``\r`` alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import AnyStr

from fascicle.errors import FormatError

_CHUNK = 1 << 20


def raw_lines(
    readline: Callable[[int], AnyStr], *, most: int, ends: tuple[AnyStr, AnyStr]
) -> Iterator[tuple[AnyStr, int]]:
    r"""Yields the lines of a file with their ends, or several that end with ``\r`` as one; and what is left out.

    Args:
        readline: function that reads on.
        most: most bytes or characters of a line.
        ends: ``\n`` and ``\r``.

    Yields:
        Lines within the limit, and 0; or for a line that is too long nothing, and its length.
    """
    held = ends[0][:0]
    while raw := held or readline(most + 1):
        held, lost = raw[:0], 0
        if len(raw) > most:
            raw, held, lost = _cut_long(raw, readline, most=most, ends=ends)
        yield raw, lost


def _cut_long(
    raw: AnyStr, readline: Callable[[int], AnyStr], *, most: int, ends: tuple[AnyStr, AnyStr]
) -> tuple[AnyStr, AnyStr, int]:
    r"""Splits input at the end of a line, or leaves out a line that is too long.

    Args:
        raw: more than ``most`` bytes or characters, from the beginning of a line; at most one ``\n``, at its end.
        readline: function that reads on.
        most: most bytes or characters of a line.
        ends: ``\n`` and ``\r``.

    Returns:
        Lines within the limit (empty if a line was left out), the rest to read next, and the length that was left out.
    """
    newline, carriage = ends
    cut = raw.rfind(carriage, 0, min(most, len(raw) - 2)) + 1
    if cut:
        # The end of a line that is not empty, unless all lines are empty.
        bare = len(raw[:cut].rstrip(carriage))
        cut = bare + 1 if bare else cut
        return raw[:cut], _filled(raw[cut:], readline, most=most, newline=newline), 0
    nothing, lost, more = raw[:0], 0, raw
    while more:
        at = more.find(carriage) + 1
        if at and not more[at:]:
            more += readline(1)  # \r may be the first half of \r\n
        if at and more[at:] != newline:
            return nothing, _filled(more[at:], readline, most=most, newline=newline), lost + at
        lost += len(more)
        more = nothing if more.endswith(newline) else readline(_CHUNK)
    return nothing, nothing, lost


def _filled(rest: AnyStr, readline: Callable[[int], AnyStr], *, most: int, newline: AnyStr) -> AnyStr:
    """Reads on from the beginning of a line until it is known whether the line is too long."""
    return rest if rest.endswith(newline) or len(rest) > most else rest + readline(most + 1 - len(rest))


def too_long(path: str, number: int, *, most: int) -> FormatError:
    """Returns the error for a line that is too long."""
    return FormatError(
        f"line {number} is longer than {most:,} bytes; is this the format you named? If so, split the line",
        at=path,
        line=number,
        code="too-large",
    )
