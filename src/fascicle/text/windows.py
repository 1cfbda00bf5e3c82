"""Windows: how documents of any length are cut for a network that reads a bounded number of pieces.

A *segment* is what is decoded as one chain: a sentence, or consecutive sentences packed together. A segment that is too
long is read through overlapping windows; each unit is *kept* from exactly one of them, the one where it stands farther
from the edge, so that stitched scores cover every unit once (``stitch``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fascicle.text.pieces import Ints, Pieces


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """A range of pieces of one document, the units that start in it, and those whose scores are kept.

    Attributes:
        document: index of the document among those that are read together.
        pieces: half-open range of pieces.
        units: half-open range of units whose first piece is inside.
        keep: half-open range of units that this window answers for.
        segment: half-open range of units of the segment that the window belongs to.
    """

    document: int
    pieces: tuple[int, int]
    units: tuple[int, int]
    keep: tuple[int, int]
    segment: tuple[int, int]


def windows_of(
    pieces: Pieces, *, document: int, unit: Literal["sentence", "packed"], capacity: int, overlap: int
) -> list[Window]:
    """Cuts one document into windows.

    Args:
        pieces: the document.
        document: its index, copied into the windows.
        unit: whether a segment is a sentence, or as many consecutive sentences as fit.
        capacity: most pieces in a window, special tokens not counted.
        overlap: pieces that neighbouring windows of a long segment share, at least where units allow.

    Returns:
        Windows in reading order; their ``keep`` ranges partition the units of the document.
    """
    result = []
    for start, end in _segments(pieces.sentences, unit=unit, capacity=capacity):
        result.extend(_cut(pieces, (start, end), document=document, capacity=capacity, overlap=overlap))
    return result


def cut_short(pieces: Pieces, *, capacity: int) -> Ints:
    """Units whose pieces reach over more than a window holds: only those among the first ``capacity`` are read."""
    members = np.flatnonzero(pieces.unit_of >= 0)
    last = pieces.first.copy()
    last[pieces.unit_of[members]] = members  # the last one of each unit remains
    return np.flatnonzero(last - pieces.first >= capacity).astype(np.int64)


def stitch(scores: Sequence[NDArray[np.float32]], windows: Sequence[Window], *, units: int) -> NDArray[np.float32]:
    """Joins the scores of the windows of one document.

    Args:
        scores: per window, one row for each of its units, ``[units, C]``.
        windows: of one document.
        units: number of units of the document.

    Returns:
        ``[units, C]``.
    """
    width = scores[0].shape[1] if scores else 0
    joined = np.zeros((units, width), dtype=np.float32)
    for rows, window in zip(scores, windows, strict=True):
        start, end = window.keep
        joined[start:end] = rows[start - window.units[0] : end - window.units[0]]
    return joined


def _segments(sentences: Ints, *, unit: str, capacity: int) -> Iterator[tuple[int, int]]:
    """Piece ranges that are read as one text."""
    start = end = -1
    for a, b in sentences.tolist():
        if a == b:
            continue
        if start >= 0 and unit == "packed" and b - start <= capacity:
            end = b
            continue
        if start >= 0:
            yield start, end
        start, end = a, b
    if start >= 0:
        yield start, end


def _cut(pieces: Pieces, segment: tuple[int, int], *, document: int, capacity: int, overlap: int) -> list[Window]:
    """Windows over one segment, cut between units only."""
    low, high = (int(i) for i in np.searchsorted(pieces.first, segment))
    if high == low:
        return []
    if segment[1] - segment[0] <= capacity:
        everything = (low, high)
        return [Window(document=document, pieces=segment, units=everything, keep=everything, segment=everything)]
    # Pieces before the first unit are dropped, those after a unit go with it: borders[i] is where unit low + i starts.
    borders = np.append(pieces.first[low:high], segment[1])
    ranges = list(_unit_windows(borders, capacity=capacity, overlap=overlap))
    cuts = [0, *((b_next + e) // 2 for (_, e), (b_next, _) in pairwise(ranges)), high - low]
    return [
        Window(
            document=document,
            pieces=(int(borders[a]), int(min(borders[b], borders[a] + capacity))),
            units=(low + a, low + b),
            keep=(low + cuts[i], low + cuts[i + 1]),
            segment=(low, high),
        )
        for i, (a, b) in enumerate(ranges)
    ]


def _unit_windows(borders: Ints, *, capacity: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Ranges of units that fit, each reaching further than the one before and overlapping it by at most ``overlap``."""
    count = len(borders) - 1
    start = 0
    while True:
        end = max(start + 1, int(np.searchsorted(borders, borders[start] + capacity, side="right")) - 1)
        end = min(end, count)
        yield start, end
        if end == count:
            return
        back = np.searchsorted(borders, borders[end] - overlap, side="left")
        fits = np.searchsorted(borders, borders[end + 1] - capacity, side="left")  # always beyond start
        start = min(int(max(back, fits)), end)
