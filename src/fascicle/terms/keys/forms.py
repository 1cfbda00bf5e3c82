"""Distinct tokens in array form, so that Python code handles each of them once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Ints, Ints32, int_array, lengths_of, unique_values
from fascicle.terms.keys.characters import (
    BLANK,
    SIGN,
    character_class,
    extends_previous,
    fold,
    fold_character,
)
from fascicle.terms.keys.tokens import NUMBERED, OWNER, SEPARATORS, single_numeral, split_run

BARRIER: Final = 0x110000  # separates texts that are read together; no text can hold it
_GROUP_BITS: Final = 3
GROUP: Final = (1 << _GROUP_BITS) - 1
_SLOW: Final = 1
Hashes = NDArray[np.uint64]
BREAK: Final = "\n"  # the token between two texts: no key holds it


class _Codes(NamedTuple):
    """Folded characters.

    Attributes:
        codes: code point and group of each, as ``code << GROUP_BITS | group``; separators count as
            blanks, ``[n]``.
        starts: where in the source each starts, ``[n]``; ``None`` if source and folded text have
            the same places.
        ends: one past where it ends, ``[n]``, or ``None``.
    """

    codes: Ints32
    starts: Ints | None
    ends: Ints | None


def code_points(texts: Sequence[str]) -> Ints32:
    """Returns the code points of texts with a barrier between each two."""
    if not texts:
        return np.zeros(0, dtype=np.int32)
    if len(texts) == 1:
        return _points(texts[0])
    points = _points(" ".join(texts)).copy()
    ends = np.cumsum(lengths_of(texts) + 1) - 1
    points[ends[:-1]] = BARRIER
    return points


def _text_of(points: Ints32) -> str:
    """Returns code points as a text."""
    return points.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


class Folder:
    """Folds code points by a table that it extends with each new character; so it is for one
    thread.
    """

    def __init__(self) -> None:
        """Starts without characters."""
        # 0: unknown yet; above: one folded character; below: the negative number of a row of what
        # it folds to.
        self._table = np.zeros(BARRIER + 1, dtype=np.int32)
        self._table[BARRIER] = _encode(BARRIER, SIGN)
        # row 0: characters that only Python can fold
        self._rows: list[Ints32] = [np.zeros(0, dtype=np.int32)]

    def fold(self, points: Ints32) -> _Codes:
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
            return _Codes(codes, None, None)
        special = np.flatnonzero(codes < 0)
        rows = -codes[special]
        if (rows == _SLOW).any():
            return _fold_slowly(points)
        return self._expand(codes, special, rows)

    def _meet(self, points: Ints32) -> None:
        for point in unique_values(points).tolist():
            character = chr(point)
            folded = fold_character(character)
            if extends_previous(character) and (folded or not _vanishes(character)):
                self._table[point] = -_SLOW
            elif len(folded) == 1:
                self._table[point] = _code(folded)
            else:
                self._table[point] = -len(self._rows) - 1
                self._rows.append(np.array([_code(letter) for letter in folded], dtype=np.int32))

    def _expand(self, codes: Ints32, special: Ints, rows: Ints32) -> _Codes:
        """Replaces characters that fold to several characters, or to none."""
        parts = [self._rows[row - 1] for row in rows.tolist()]
        lengths = lengths_of(parts)
        counts = np.ones(len(codes), dtype=np.int64)
        counts[special] = lengths
        starts = np.repeat(np.arange(len(codes), dtype=np.int64), counts)
        result = codes[starts]
        result[result < 0] = np.concatenate(parts)
        ends = starts + 1
        if not lengths.all():
            stays = np.flatnonzero(counts)
            # of each that stays, where the next one starts
            after = np.empty(len(codes), dtype=np.int64)
            after[stays] = np.append(stays[1:], len(codes))
            ends = after[starts]
        return _Codes(result, starts, ends)


def _fold_slowly(points: Ints32) -> _Codes:
    """Folds texts one by one in Python."""
    codes: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    borders = [-1, *np.flatnonzero(points == BARRIER).tolist(), len(points)]
    for before, end in pairwise(borders):
        if before >= 0:
            codes.append(_encode(BARRIER, SIGN))
            starts.append(before)
            ends.append(before + 1)
        part = fold(_text_of(points[before + 1 : end]))
        codes += map(_code, part.text)
        starts += (before + 1 + at for at in part.starts)
        ends += (before + 1 + at for at in part.ends)
    return _Codes(
        np.array(codes, dtype=np.int32),
        int_array(starts),
        int_array(ends),
    )


def _code(character: str) -> int:
    return _encode(ord(character), BLANK if character in SEPARATORS else character_class(character))


def _encode(point: int, kind: int) -> int:
    return point << _GROUP_BITS | kind


def _vanishes(character: str) -> bool:
    """True if a combining mark is ignored in every context."""
    return (
        fold_character("中" + character) == fold_character("中") and fold_character(character) == ""
    )


def _points(text: str) -> Ints32:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<i4").astype(
        np.int32, copy=False
    )


def token_hash(text: str) -> int:
    """Returns the 64-bit hash of a token; it is the same everywhere and stays in files."""
    return int.from_bytes(
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
    )


class _Column:
    """Array that grows at its end; values are collected in a list until the array is requested."""

    def __init__(self, dtype: Any) -> None:
        """Starts empty.

        Args:
            dtype: of its values.
        """
        self._values = np.zeros(1024, dtype=dtype)
        self._size = 0
        self._new: list[Any] = []
        self.append = self._new.append
        self.extend = self._new.extend

    def __len__(self) -> int:
        """Returns the number of values."""
        return self._size + len(self._new)

    @property
    def values(self) -> NDArray[Any]:
        """All values; later values are not among them, and arrays returned before stay as they
        are.
        """
        if self._new:
            end = len(self)
            if end > len(self._values):
                grown = np.zeros(max(end, 2 * len(self._values)), dtype=self._values.dtype)
                grown[: self._size] = self._values[: self._size]
                self._values = grown
            self._values[self._size : end] = self._new
            self._size = end
            self._new.clear()
        return self._values[: self._size]


class Forms:
    """Folded forms of tokens, in rows, with their hashes and their text in UTF-8.

    Attributes:
        texts: of all forms.
        hashes: of each form.
        starts: of the bytes of each form, and one past the last.
        bytes: text of all forms.
        numerals: row of a Roman numeral of one letter -> that of its number.
        numbered: rows of the words that such a numeral follows.
        owner: row of the sign of a possessive.
        s: row of the ``s`` behind it.
    """

    def __init__(self, *, hash_of: Callable[[str], int] = token_hash) -> None:
        """Starts with the break between texts as the only form; hashes are those of the tables
        for look-up.
        """
        self._hash_of = hash_of
        self.texts: list[str] = []
        self._rows: dict[str, int] = {}
        self.hashes = _Column(np.uint64)
        self.starts = _Column(np.int64)
        self.bytes = _Column(np.uint8)
        self.starts.append(0)
        self.row(BREAK)
        self.numerals = {self.row(text): self.row(single_numeral(text)) for text in "ivx"}
        self.numbered = int_array(sorted(self.row(word) for word in NUMBERED))
        self.owner = self.row(OWNER)
        self.s = self.row("s")

    def __len__(self) -> int:
        """Returns the number of forms."""
        return len(self._rows)

    def row(self, text: str) -> int:
        """Returns the row of a form."""
        existing = self._rows.get(text)
        if existing is not None:
            return existing
        self._rows[text] = row = len(self.texts)
        self.texts.append(text)
        self.hashes.append(self._hash_of(text))
        self.bytes.extend(text.encode("utf-8", "surrogatepass"))
        self.starts.append(len(self.bytes))
        return row


class Runs:
    """Distinct runs of folded characters, found by a hash, with the parts of each.

    Attributes:
        forms: of all parts.
        first: first part of each run.
        count: number of parts of each run.
        start: first character of each part in its run.
        end: one past the last character of each part.
        form: form of each part.
        symbol: form of each part before a number.
        group: whether each part is a word, a number or a sign.
        hisses: whether each part ends with an ``s``, as it is written or in its form.
    """

    def __init__(self) -> None:
        """Starts without runs."""
        self.forms = Forms()
        self.first, self.count = _Column(np.int32), _Column(np.int32)
        self.start, self.end = _Column(np.int32), _Column(np.int32)
        self.form, self.symbol = _Column(np.int32), _Column(np.int32)
        self.group, self.hisses = _Column(np.uint8), _Column(np.bool_)
        self._slots = 1 << 12
        self._keys: Hashes = np.zeros(self._slots, dtype=np.uint64)
        self._ids: Ints32 = np.full(self._slots, -1, dtype=np.int32)
        self._known = _Column(np.uint64)

    def __len__(self) -> int:
        """Returns the number of runs."""
        return len(self._known)

    def find(self, hashes: Hashes) -> Ints32:
        """Returns the row of each run, -1 for an unknown one, ``[n]``."""
        at = self._slot(hashes)
        rows = np.where(self._keys[at] == hashes, self._ids[at], -1)
        open_ = np.flatnonzero((rows < 0) & (self._ids[at] >= 0))
        while len(open_):
            at[open_] = (at[open_] + 1) & (self._slots - 1)
            place = at[open_]
            same = self._keys[place] == hashes[open_]
            rows[open_[same]] = self._ids[place[same]]
            open_ = open_[~same & (self._ids[place] >= 0)]
        return rows

    def add(self, hashes: Hashes, codes: list[Ints32]) -> None:
        """Adds new runs.

        Args:
            hashes: distinct, ``[n]``.
            codes: the characters of each, with their groups.
        """
        points = [run >> _GROUP_BITS for run in codes]
        together = _text_of(
            np.where(np.concatenate(points) == BARRIER, ord(BREAK), np.concatenate(points))
        )
        end = 0
        for run in codes:
            start, end = end, end + len(run)
            self._add(together[start:end], int(run[0]) & GROUP)
        first_new = len(self._known)
        self._known.extend(hashes.tolist())
        if 2 * len(self._known) > self._slots:
            while 2 * len(self._known) > self._slots:
                self._slots *= 4
            self._keys = np.zeros(self._slots, dtype=np.uint64)
            self._ids = np.full(self._slots, -1, dtype=np.int32)
            first_new = 0
        self._insert(np.arange(first_new, len(self._known), dtype=np.int32))

    def _insert(self, rows: Ints32) -> None:
        hashes = self._known.values[rows]
        at = self._slot(hashes)
        while len(rows):
            free = np.flatnonzero(self._ids[at] < 0)
            self._ids[at[free]] = rows[free]  # of several in one place, the last one stays
            self._keys[at[free]] = hashes[free]
            waiting = self._ids[at] != rows
            rows, hashes, at = rows[waiting], hashes[waiting], (at[waiting] + 1) & (self._slots - 1)

    def _slot(self, hashes: Hashes) -> Ints:
        mixed = (hashes ^ (hashes >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
        return (mixed >> np.uint64(65 - self._slots.bit_length())).astype(np.int64)

    def _add(self, run: str, group: int) -> None:
        pieces = split_run(run, group)
        self.first.append(len(self.form))
        self.count.append(len(pieces))
        for start, end, kind, form, symbol, hisses in pieces:
            row = self.forms.row(form)
            self.start.append(start)
            self.end.append(end)
            self.form.append(row)
            self.symbol.append(row if form == symbol else self.forms.row(symbol))
            self.group.append(kind)
            self.hisses.append(hisses)
