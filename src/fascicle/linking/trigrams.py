"""Search for almost equal strings, by the rare trigrams that they share.

A list has the strings with a trigram. Each string is only in the lists of its rarest trigrams, and
a query uses only the lists of its own, so that common trigrams cost nothing.
Strings that share them are compared letter by letter, thousands of pairs at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from fascicle.core.arrays import Floats, Ints, unique_values
from fascicle.linking.similarity import LONGEST, similarities, to_letters
from fascicle.terms.pack.arrays import Array, Lists, Strings, map_array, write_array

_SHORTEST: Final = 5  # bytes of a string that may be misspelt
LEAST: Final = 0.75  # similarity
CODES: Final = "trigrams.codes.u4"
_COUNTS: Final = "trigrams.counts.u4"
_STARTS: Final = "trigrams.starts.u4"
_ROWS: Final = "trigrams.rows.u4"
FILES: Final = (CODES, _COUNTS, _STARTS, _ROWS)
_RAREST: Final = 10  # trigrams of each string
_CHUNK: Final = 1 << 17  # strings that are read together
_BORDER: Final = ord("\n")  # between two strings: no key has one
_CODES: Final = 1 << 24  # three bytes
_VISITED: Final = 50_000  # strings in the lists that one query uses
_COMPARED: Final = 50  # of them are compared letter by letter
_TOGETHER: Final = 256  # queries whose strings are compared together


class Near(NamedTuple):
    """Strings that are almost equal to the queries.

    Attributes:
        owners: number of the query of each, ascending, ``[n]``.
        rows: of the strings, ``[n]``.
        similarity: see `similarities`, ``[n]``; for one query, the most similar come first.
    """

    owners: Ints
    rows: Ints
    similarity: Floats


def distinct_trigrams(strings: Sequence[bytes]) -> tuple[Ints, Ints]:
    """Returns the distinct trigrams of strings, with a blank on both sides of each.

    Returns:
        The number of the string of each trigram, in order, and its three bytes as one number,
        ascending in a string.
    """
    content = b"".join([b"\n " + string + b" " for string in strings])
    letters = np.frombuffer(content, dtype=np.uint8).astype(np.int64)
    border = letters == _BORDER
    owners = np.cumsum(border)[:-2] - 1
    inside = ~(border[:-2] | border[1:-1] | border[2:])
    codes = (letters[:-2] << 16) | (letters[1:-1] << 8) | letters[2:]
    pairs = unique_values((owners[inside] << 24) | codes[inside])
    return pairs >> 24, pairs & (_CODES - 1)


def write_trigrams(folder: Path, strings: Strings) -> None:
    """Writes the lists of distinct strings; those that are too short or too long are in none."""
    counts = np.zeros(_CODES, dtype=np.uint32)
    for _, codes in _chunks(strings):
        distinct, sizes = np.unique(codes, return_counts=True)
        counts[distinct] += sizes.astype(np.uint32)
    empty = np.empty(0, np.uint32)
    rarest = [(empty, empty), *(_rarest(rows, codes, counts) for rows, codes in _chunks(strings))]
    rows, codes = map(np.concatenate, zip(*rarest, strict=True))
    del rarest
    distinct, sizes = np.unique(codes, return_counts=True)
    write_array(folder / CODES, distinct)
    write_array(folder / _COUNTS, counts[distinct])
    write_array(folder / _STARTS, np.concatenate([[0], np.cumsum(sizes)]))
    write_array(folder / _ROWS, rows[np.argsort(codes, kind="stable")])


def _chunks(strings: Strings) -> Iterator[tuple[Ints, Ints]]:
    """Yields the rows of strings with their trigrams, many at a time."""
    for start in range(0, len(strings), _CHUNK):
        offsets = strings.offsets[start : start + _CHUNK + 1].astype(np.int64)
        sizes = np.diff(offsets)
        rows = np.flatnonzero((sizes >= _SHORTEST) & (sizes <= LONGEST))
        content = strings.content[offsets[0] : offsets[-1]].tobytes()
        bounds = (offsets - offsets[0]).tolist()
        owners, codes = distinct_trigrams(
            [content[bounds[row] : bounds[row + 1]] for row in rows.tolist()]
        )
        yield start + rows[owners], codes


def _rarest(rows: Ints, codes: Ints, counts: Array) -> tuple[Array, Array]:
    """Returns the rarest trigrams of each row, which are in order."""
    order = np.lexsort((codes, counts[codes], rows))
    rows, codes = rows[order], codes[order]
    firsts = np.flatnonzero(np.diff(rows, prepend=-1))
    places = np.arange(len(rows)) - np.repeat(firsts, np.diff(firsts, append=len(rows)))
    rare = places < _RAREST
    return rows[rare].astype(np.uint32), codes[rare].astype(np.uint32)


class Trigrams:
    """Trigram lists of strings, open; for one thread, as it counts in an array of its own.

    Attributes:
        strings: by row.
    """

    def __init__(self, folder: Path, strings: Strings, bits: Array) -> None:
        """Maps the files that `write_trigrams` wrote for these strings.

        Args:
            folder: the folder that has the files.
            strings: by row.
            bits: of each string, ``[strings]``.
        """
        self.strings, self._bits = strings, bits
        self._codes, self._counts = map_array(folder / CODES), map_array(folder / _COUNTS)
        self._lists = Lists(map_array(folder / _STARTS), map_array(folder / _ROWS))
        self._counters: _Counters | None = None  # made for the first query

    def fits(self) -> bool:
        """True if the files are consistent with each other, as far as a quick check shows."""
        return len(self._counts) == len(self._codes) and self._lists.fits(len(self._codes))

    def near(self, queries: Sequence[bytes], bits: Ints) -> Near:
        """Returns the strings that are almost equal to each of the given ones.

        Of the strings that share rare trigrams and are about as long, the 50 that share the most,
        and the rarest, are compared; those of a similarity of at least `LEAST` are found.

        Args:
            queries: queries; one that is too short or too long finds nothing.
            bits: bits of each query, ``[queries]``; a string must share one.

        Raises:
            IndexError: a list has the number of a string that there is not.
        """
        results = [Near(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
        for start in range(0, len(queries), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            near = self._near(queries[part], bits[part])
            results.append(near._replace(owners=near.owners + start))
        return Near(*(np.concatenate(column) for column in zip(*results, strict=True)))

    def _near(self, queries: Sequence[bytes], bits: Ints) -> Near:
        rows = self._compared(queries, bits)
        owners = np.repeat(np.arange(len(queries)), list(map(len, rows)))
        strings = np.concatenate([np.empty(0, np.int64), *rows])
        offsets = self.strings.offsets
        starts = offsets[strings].astype(np.int64)
        sizes = offsets[strings + 1].astype(np.int64) - starts
        letters = to_letters(self.strings.content, starts, sizes)
        similarity = similarities([query[:LONGEST] for query in queries], letters, owners)
        similar = np.flatnonzero(similarity >= LEAST)
        order = np.lexsort((strings[similar], -similarity[similar], owners[similar]))
        similar = similar[order]
        return Near(owners[similar], strings[similar], similarity[similar])

    def _compared(self, queries: Sequence[bytes], bits: Ints) -> list[Ints]:
        """Returns the rows that are compared with each query."""
        owners, codes = distinct_trigrams(queries)
        bounds = np.searchsorted(owners, np.arange(len(queries) + 1)).tolist()
        rows = []
        for number, (query, wanted_bits) in enumerate(zip(queries, bits.tolist(), strict=True)):
            own = np.empty(0, np.int64)
            if _SHORTEST <= len(query) <= LONGEST and wanted_bits:
                start, end = bounds[number : number + 2]
                own = self._sharing(codes[start:end], len(query), wanted_bits)
            rows.append(own)
        return rows

    def _sharing(self, codes: Ints, size: int, bits: int) -> Ints:
        """Returns the rows to be compared with one query, by its trigrams and its number of
        bytes.
        """
        if self._counters is None:
            self._counters = _Counters(self.strings, self._bits)
        sums = self._counters.sums
        lists, weights = self._rare_lists(codes)
        rows: Ints = np.concatenate([np.empty(0, np.uint32), *lists], dtype=np.int64)
        fitting = self._counters.fitting(rows, size, bits)
        touched = rows[fitting]
        start = 0
        for end, weight in zip(
            np.searchsorted(fitting, np.cumsum(list(map(len, lists)))), weights, strict=True
        ):
            sums[touched[start:end]] += weight
            start = end
        shared = sums[touched]
        sums[touched] = 0.0
        return _strongest(touched, shared)

    def _rare_lists(self, codes: Ints) -> tuple[list[Array], list[float]]:
        """Returns the lists of the rarest trigrams of a query that are not too long, and the
        weight of each.
        """
        places = np.searchsorted(self._codes, codes)
        places = (
            np.minimum(places, max(len(self._codes) - 1, 0)) if len(self._codes) else places[:0]
        )
        places = places[self._codes[places] == codes[: len(places)]]
        counts = self._counts[places].astype(np.int64)
        order = np.lexsort((places, counts))[:_RAREST]
        lists: list[Array] = []
        visited = 0
        for place in places[order].tolist():
            strings = self._lists[place]
            visited += len(strings)
            if visited > _VISITED and lists:
                break
            lists.append(strings)
        weights = np.log(1.0 + len(self.strings) / counts[order[: len(lists)]])
        return lists, list(weights)


class _Counters:
    """State and counts of each string, in small arrays, most of which stay in the cache of a
    processor.

    Attributes:
        sums: of the weights of the trigrams that it shares with a query; 0 between queries,
            ``[strings]``.
    """

    def __init__(self, strings: Strings, bits: Array) -> None:
        """Reads sizes and bits."""
        sizes = np.diff(strings.offsets) - 1  # at most `LONGEST` bytes: longer ones are in no list
        self._summaries = (sizes & 255).astype(np.uint16) | _byte(bits).astype(np.uint16) << 8
        self._bits = bits
        self._whole = int(np.bitwise_or.reduce(bits, initial=0)) < 256
        self.sums = np.zeros(len(strings), dtype=np.float32)

    def fitting(self, rows: Ints, size: int, bits: int) -> Ints:
        """Returns the rows whose strings share a bit and have a length that allows the least
        similarity.
        """
        low, high = _about_as_long(size)
        summaries = self._summaries[rows]
        long = summaries & 255
        byte = int(_byte(np.array([bits], dtype=np.uint64))[0]) << 8
        fitting = np.flatnonzero((long >= low) & (long <= high) & ((summaries & byte) != 0))
        return fitting if self._whole else fitting[(self._bits[rows[fitting]] & bits) != 0]


@cache
def _about_as_long(size: int) -> tuple[int, int]:
    """Returns the least and the most bytes, less one, of strings whose length allows the least
    similarity.
    """
    sizes = np.arange(1, LONGEST + 1)
    allowed = np.flatnonzero(2.0 * np.minimum(sizes, size) >= LEAST * (sizes + size))
    return int(sizes[allowed[0]]) - 1, int(sizes[allowed[-1]]) - 1


def _byte(bits: Array) -> Array:
    """Returns bits as one byte: the lowest eight if there are no others, else several share one."""
    several = bits.astype("<u8", copy=False).view(np.uint8).reshape(len(bits), 8).T
    folded: Array = np.array(several[0])
    for byte in several[1:]:
        folded |= byte
    return folded


def _strongest(rows: Ints, sums: Array) -> Ints:
    """Returns the rows of the largest sums, in a tie the first; a row may occur `_RAREST` times,
    with one sum.
    """
    most = _COMPARED * _RAREST
    if len(rows) > most:
        # with all ties: the lowest rows count
        strong = np.flatnonzero(sums >= np.partition(sums, -most)[-most])
        rows, sums = rows[strong], sums[strong]
    rows, first = np.unique(rows, return_index=True)
    sums = sums[first]
    return rows[np.lexsort((rows, -sums))[:_COMPARED]]
