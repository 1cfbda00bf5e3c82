"""Strings that are almost equal, by the rare trigrams that they share.

A list says which strings have a trigram. Each string is only in the lists of its rarest trigrams, and a question looks
only at the lists of its own, so that common trigrams cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.knowledge.linking.similarity import LONGEST, similarities
from fascicle.knowledge.pack.arrays import Array, Lists, Strings, mapped, write_array

SHORTEST: Final = 5  # bytes of a string that may be misspelt
LEAST: Final = 0.75  # similarity
CODES: Final = "trigrams.codes.u4"
COUNTS: Final = "trigrams.counts.u4"
STARTS: Final = "trigrams.starts.u4"
ROWS: Final = "trigrams.rows.u4"
_RAREST: Final = 10  # trigrams of each string
_CHUNK: Final = 1 << 17  # strings that are read together
_BORDER: Final = ord("\n")  # between two strings: no key has one
_CODES: Final = 1 << 24  # three bytes
_VISITED: Final = 50_000  # strings in the lists that one question looks at
_COMPARED: Final = 50  # of them are compared letter by letter


class Near(NamedTuple):
    """Strings that are almost equal to those that were asked for.

    Attributes:
        owners: number of the question of each, ascending, ``[n]``.
        rows: of the strings, ``[n]``.
        similarity: see `similarities`, ``[n]``; for one question, the most similar come first.
    """

    owners: Ints
    rows: Ints
    similarity: Floats


def trigrams_of(strings: Sequence[bytes]) -> tuple[Ints, Ints]:
    """The distinct trigrams of strings, with a blank on both sides of each.

    Returns:
        The number of the string of each trigram, in order, and its three bytes as one number, ascending in a string.
    """
    joined = b"".join([b"\n " + one + b" " for one in strings])
    letters = np.frombuffer(joined, dtype=np.uint8).astype(np.int64)
    border = letters == _BORDER
    owners = np.cumsum(border)[:-2] - 1
    inside = ~(border[:-2] | border[1:-1] | border[2:])
    codes = (letters[:-2] << 16) | (letters[1:-1] << 8) | letters[2:]
    both = np.unique((owners[inside] << 24) | codes[inside])
    return both >> 24, both & (_CODES - 1)


def write_trigrams(folder: Path, strings: Strings) -> None:
    """Writes the lists of distinct strings; those that are too short or too long are in none."""
    counts = np.zeros(_CODES, dtype=np.uint32)
    for _, codes in _chunks(strings):
        places, found = np.unique(codes, return_counts=True)
        counts[places] += found.astype(np.uint32)
    kept = [_rarest(rows, codes, counts) for rows, codes in _chunks(strings)]
    rows = np.concatenate([np.empty(0, np.uint32), *(one for one, _ in kept)])
    codes = np.concatenate([np.empty(0, np.uint32), *(one for _, one in kept)])
    del kept
    distinct, sizes = np.unique(codes, return_counts=True)
    write_array(folder / CODES, distinct)
    write_array(folder / COUNTS, counts[distinct])
    write_array(folder / STARTS, np.concatenate([[0], np.cumsum(sizes)]))
    write_array(folder / ROWS, rows[np.argsort(codes, kind="stable")])


def _chunks(strings: Strings) -> Iterator[tuple[Ints, Ints]]:
    """The rows of strings with their trigrams, many at a time."""
    for start in range(0, len(strings), _CHUNK):
        offsets = strings.offsets[start : start + _CHUNK + 1].astype(np.int64)
        sizes = np.diff(offsets)
        rows = np.flatnonzero((sizes >= SHORTEST) & (sizes <= LONGEST))
        content = strings.content[offsets[0] : offsets[-1]].tobytes()
        bounds = (offsets - offsets[0]).tolist()
        owners, codes = trigrams_of([content[bounds[row] : bounds[row + 1]] for row in rows.tolist()])
        yield start + rows[owners], codes


def _rarest(rows: Ints, codes: Ints, counts: Array) -> tuple[Array, Array]:
    """The rarest trigrams of each row, which are in order."""
    order = np.lexsort((codes, counts[codes], rows))
    rows, codes = rows[order], codes[order]
    firsts = np.flatnonzero(np.diff(rows, prepend=-1))
    places = np.arange(len(rows)) - np.repeat(firsts, np.diff(firsts, append=len(rows)))
    kept = places < _RAREST
    return rows[kept].astype(np.uint32), codes[kept].astype(np.uint32)


class Trigrams:
    """The lists of strings, open; for one thread, as it counts in an array of its own.

    Attributes:
        strings: by row.
    """

    def __init__(self, folder: Path, strings: Strings) -> None:
        """Maps the files that `write_trigrams` wrote for these strings."""
        self.strings = strings
        self._codes, self._counts = mapped(folder / CODES), mapped(folder / COUNTS)
        self._lists = Lists(mapped(folder / STARTS), mapped(folder / ROWS))
        self._sums: Array | None = None  # made for the first question

    def near(self, asked: Sequence[bytes], allowed: Array, wanted: Ints) -> Near:
        """The strings that are almost equal to each of those that are asked for.

        Of the strings that share rare trigrams and are about as long, the 50 that share the most, and the rarest,
        are compared; those of a similarity of at least `LEAST` are found.

        Args:
            asked: questions; one that is too short or too long finds nothing.
            allowed: bits of each string, ``[strings]``.
            wanted: bits of each question, ``[asked]``; a string must share one.
        """
        owners, codes = trigrams_of(asked)
        bounds = np.searchsorted(owners, np.arange(len(asked) + 1)).tolist()
        rows = [
            self._sharing(codes[bounds[at] : bounds[at + 1]], len(one), allowed, int(wanted[at]))
            if SHORTEST <= len(one) <= LONGEST
            else np.empty(0, np.int64)
            for at, one in enumerate(asked)
        ]
        both = np.repeat(np.arange(len(asked)), [len(one) for one in rows])
        found = np.concatenate([np.empty(0, np.int64), *rows])
        cut = [one[:LONGEST] for one in asked]
        similarity = similarities(cut, [bytes(self.strings.raw(row)) for row in found.tolist()], both)
        kept = np.flatnonzero(similarity >= LEAST)
        kept = kept[np.lexsort((found[kept], -similarity[kept], both[kept]))]
        return Near(both[kept], found[kept], similarity[kept])

    def _sharing(self, codes: Ints, size: int, allowed: Array, wanted: int) -> Ints:
        """The rows to be compared with one question, by its trigrams and its number of bytes."""
        places = np.searchsorted(self._codes, codes)
        places = places[places < len(self._codes)]
        places = places[np.isin(self._codes[places], codes)]
        counts = self._counts[places].astype(np.int64)
        places = places[np.lexsort((places, counts))][:_RAREST]
        if self._sums is None:
            self._sums = np.zeros(len(self.strings), dtype=np.float32)
        lists: list[Array] = []
        visited = 0
        for place in places.tolist():
            one = self._lists[place]
            visited += len(one)
            if visited > _VISITED and lists:
                break
            self._sums[one] += np.log(1.0 + len(self.strings) / int(self._counts[place]))
            lists.append(one)
        touched = np.concatenate([np.empty(0, np.int64), *lists])
        sums = self._sums[touched]
        self._sums[touched] = 0.0
        kept = ((allowed[touched] & wanted) != 0) & self._about_as_long(touched, size)
        return _strongest(touched[kept], sums[kept])

    def _about_as_long(self, rows: Ints, size: int) -> Bools:
        """Whether strings are of a length that allows the least similarity."""
        sizes = self.strings.offsets[rows + 1].astype(np.int64) - self.strings.offsets[rows]
        found: Bools = 2.0 * np.minimum(sizes, size) >= LEAST * (sizes + size)
        return found


def _strongest(rows: Ints, sums: Array) -> Ints:
    """The rows of the largest sums; a row may be there several times, with one sum."""
    if len(rows) > _COMPARED * _RAREST:
        kept = np.argpartition(-sums, _COMPARED * _RAREST)[: _COMPARED * _RAREST]
        least = sums[kept].min()
        kept = np.flatnonzero(sums > least) if (sums > least).any() else kept
        rows, sums = rows[kept], sums[kept]
    rows, first = np.unique(rows, return_index=True)
    sums = sums[first]
    return rows[np.lexsort((rows, -sums))[:_COMPARED]]
