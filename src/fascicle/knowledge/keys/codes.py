"""Texts as arrays of folded characters, each with its group: what `folding.fold` says, many characters at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from fascicle.core.arrays import Ints, Ints32, different
from fascicle.knowledge.keys.characters import BLANK, SIGN, extends, folded, group
from fascicle.knowledge.keys.folding import fold
from fascicle.knowledge.keys.tokens import SEPARATORS

BARRIER: Final = 0x110000  # stands between texts that are read together; no text can hold it
GROUP_BITS: Final = 3
GROUP: Final = (1 << GROUP_BITS) - 1


class Codes(NamedTuple):
    """Folded characters.

    Attributes:
        codes: code point and group of each, as ``code << GROUP_BITS | group``; separators count as blanks, ``[n]``.
        starts: where in the source each starts, ``[n]``; ``None`` if source and folded text have the same places.
        ends: one past where it ends, ``[n]``, or ``None``.
    """

    codes: Ints32
    starts: Ints | None
    ends: Ints | None


def points_of(texts: Sequence[str]) -> Ints32:
    """The code points of texts with a barrier between each two."""
    if not texts:
        return np.zeros(0, dtype=np.int32)
    if len(texts) == 1:
        return _points(texts[0])
    points = _points(" ".join(texts)).copy()
    ends = np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)) + 1) - 1
    points[ends[:-1]] = BARRIER
    return points


def text_of(points: Ints32) -> str:
    """Code points as a text."""
    return points.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


class Folder:
    """Folds code points by a table that it fills with the characters that it meets; so it is for one thread."""

    def __init__(self) -> None:
        """Knows no character."""
        # 0: not met yet; above: one folded character; below: the negative number of a row of what it folds to.
        self._table = np.zeros(BARRIER + 1, dtype=np.int32)
        self._table[BARRIER] = _coded(BARRIER, SIGN)
        self._rows: list[Ints32] = [np.zeros(0, dtype=np.int32)]  # row 0: characters that only Python can fold

    def fold(self, points: Ints32) -> Codes:
        """Folds texts.

        Args:
            points: of texts with barriers between them, ``[n]``.
        """
        codes = self._table[points]
        low = int(codes.min(initial=1))
        if low == 0 or (low < 0 and not codes.all()):
            self._meet(points[codes == 0])
            codes = self._table[points]
            low = int(codes.min())
        if low > 0:
            return Codes(codes, None, None)
        special = np.flatnonzero(codes < 0)
        rows = -codes[special]
        if (rows == _SLOW).any():
            return _slowly(points)
        return self._expand(codes, special, rows)

    def _meet(self, points: Ints32) -> None:
        for point in different(points).tolist():
            character = chr(point)
            found = folded(character)
            if extends(character) and (found or not _vanishes(character)):
                self._table[point] = -_SLOW
            elif len(found) == 1:
                self._table[point] = _code(found)
            else:
                self._table[point] = -len(self._rows) - 1
                self._rows.append(np.array([_code(one) for one in found], dtype=np.int32))

    def _expand(self, codes: Ints32, special: Ints, rows: Ints32) -> Codes:
        """Puts what several, or no, characters come from one in the place of that."""
        parts = [self._rows[row - 1] for row in rows.tolist()]
        lengths = np.fromiter(map(len, parts), dtype=np.int64, count=len(parts))
        counts = np.ones(len(codes), dtype=np.int64)
        counts[special] = lengths
        starts = np.repeat(np.arange(len(codes), dtype=np.int64), counts)
        result = codes[starts]
        result[result < 0] = np.concatenate(parts)
        ends = starts + 1
        if not lengths.all():
            stays = np.flatnonzero(counts)
            after = np.empty(len(codes), dtype=np.int64)  # of each that stays, where the next one starts
            after[stays] = np.append(stays[1:], len(codes))
            ends = after[starts]
        return Codes(result, starts, ends)


_SLOW: Final = 1


def _slowly(points: Ints32) -> Codes:
    """As Python does it, text by text."""
    codes: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    borders = [-1, *np.flatnonzero(points == BARRIER).tolist(), len(points)]
    for before, end in pairwise(borders):
        if before >= 0:
            codes.append(_coded(BARRIER, SIGN))
            starts.append(before)
            ends.append(before + 1)
        part = fold(text_of(points[before + 1 : end]))
        codes += map(_code, part.text)
        starts += (before + 1 + at for at in part.starts)
        ends += (before + 1 + at for at in part.ends)
    return Codes(np.array(codes, dtype=np.int32), np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64))


def _code(character: str) -> int:
    return _coded(ord(character), BLANK if character in SEPARATORS else group(character))


def _coded(point: int, kind: int) -> int:
    return point << GROUP_BITS | kind


def _vanishes(character: str) -> bool:
    """Whether a mark counts as nothing wherever it stands."""
    return folded("中" + character) == folded("中") and folded(character) == ""


def _points(text: str) -> Ints32:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<i4").astype(np.int32, copy=False)
