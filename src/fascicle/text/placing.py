"""Where a mention stands among the units of a document: in which of them, in which segment, in which window."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fascicle.core.arrays import Bools, Ints
from fascicle.core.document import Mention
from fascicle.text.pieces import Pieces
from fascicle.text.windows import Window


def in_units(
    mention: Mention, pieces: Pieces, segment_of: Ints, *, breakers: str = ""
) -> tuple[tuple[int, int] | None, str]:
    """Units that a mention covers.

    Args:
        mention: of the document.
        pieces: the document as a network sees it.
        segment_of: see `segments`.
        breakers: see `begun_by`; no mention has a unit that begins with one.

    Returns:
        First unit and one past the last, ``None`` where there is no such range; and why the mention is not exactly
        this range of one segment: ``"discontinuous"``, ``"unread"``, ``"crosses-segment"``, ``"inside-word"``,
        ``"breaker"``, or nothing.
    """
    if len(mention.spans) > 1:
        return None, "discontinuous"
    start = int(np.searchsorted(pieces.units[:, 1], mention.start, side="right"))
    end = int(np.searchsorted(pieces.units[:, 0], mention.end, side="left"))
    if start >= end or segment_of[start] < 0 or segment_of[end - 1] < 0:
        return None, "unread"
    if segment_of[start] != segment_of[end - 1]:
        return None, "crosses-segment"
    exact = pieces.units[start, 0] == mention.start and pieces.units[end - 1, 1] == mention.end
    if exact and begun_by(pieces.text, pieces.units[start:end], breakers).any():
        return (start, end), "breaker"
    return (start, end), "" if exact else "inside-word"


def begun_by(text: str, units: Ints, characters: str) -> Bools:
    """Which units begin with one of some characters.

    Args:
        text: of the document.
        units: character range of each unit, ``[u, 2]``.
        characters: any number.

    Returns:
        ``[u]``.
    """
    if not characters:
        return np.zeros(len(units), dtype=bool)
    return np.array([text[start] in characters for start in units[:, 0].tolist()], dtype=bool)


def segments(windows: Sequence[Window], units: int) -> Ints:
    """The first unit of the segment of each unit, -1 where none is read, ``[units]``."""
    segment_of = np.full(units, -1, dtype=np.int64)
    for window in windows:
        segment_of[slice(*window.segment)] = window.segment[0]
    return segment_of


def keepers(windows: Sequence[Window], units: int) -> Ints:
    """The number of the window that keeps each unit, -1 for none, ``[units]``."""
    window_of = np.full(units, -1, dtype=np.int64)
    for number, window in enumerate(windows):
        window_of[slice(*window.keep)] = number
    return window_of
