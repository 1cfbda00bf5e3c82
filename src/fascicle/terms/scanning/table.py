"""Table of names in a shared file, and the search for every place of a name in a text."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Bools, Ints, int_array
from fascicle.errors import FormatError
from fascicle.terms.keys.forms import Hashes, token_hash
from fascicle.terms.keys.key import NORMALISER, TokenArrays
from fascicle.terms.scanning import building
from fascicle.terms.scanning.layout import TableHeader, arrays_of, open_arrays

_ONE = np.uint8(1)
_BLANK = np.uint8(ord(" "))
_BUCKETS = 1 << 14


class Hits(NamedTuple):
    """Places of names among tokens, sorted by their first and last token.

    Attributes:
        first: first token of each, ``[m]``.
        last: its last token, ``[m]``.
        rows: of its key, ``[m]``.
    """

    first: Ints
    last: Ints
    rows: Ints


class _Located(NamedTuple):
    """Queried states that the table holds: their indices in the query, and where each begins in
    the table.
    """

    which: Ints
    place: Ints


class NameTable:
    """Names as sequences of tokens.

    The hash of each sequence that some name begins with is in one sorted array. A bit filter and an
    index by first bits speed up the look-up. A match is followed token by token, for all places of
    a text at once, and a complete name is compared with its key byte by byte; so no hash decides
    alone.
    """

    def __init__(self, layout: TableHeader, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Sets layout and arrays, as `open_arrays` returns them."""
        self.layout = layout
        self._filter, self._index = arrays["filter"], arrays["index"]
        self._states, self._rows = arrays["states"], arrays["rows"]
        self._starts, self._keys = arrays["starts"], arrays["keys"]
        self._low = np.uint64(8 * len(self._filter) - 1)
        self._shift = np.uint64(building.BITS + 1 - (len(self._index) - 1).bit_length())

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> NameTable:
        """Maps the file of a table (`building.build_table`).

        Raises:
            FormatError: it is none, of another version of the format or of the keys, or cut short.
        """
        layout, arrays = open_arrays(path)
        if layout.normaliser != NORMALISER:
            raise FormatError(
                f"the names have keys of the version {layout.normaliser}, but this release makes "
                f"{NORMALISER}; build the table again",
                at=os.fspath(path),
            )
        return cls(layout, arrays)

    @classmethod
    def of(cls, keys: Iterable[str]) -> NameTable:
        """Builds a table in memory, for tokens with the hashes of `hash`; the keys are as in
        `building.build_table`.
        """
        stream = io.BytesIO()
        building.write_table(keys, stream, hash_of=hash)
        return cls(*arrays_of(np.frombuffer(stream.getbuffer(), dtype=np.uint8)))

    def __len__(self) -> int:
        """Returns the number of names."""
        return self.layout.names

    def key(self, row: int) -> str:
        """Returns the key of a row."""
        return bytes(self._keys[int(self._starts[row]) : int(self._starts[row + 1])]).decode(
            "utf-8", "surrogatepass"
        )

    def rows(self, keys: Sequence[str]) -> Ints:
        """Returns the row of each key of level 2, -1 for one that no name has, ``[n]``."""
        tokens = [key.split(" ") for key in keys]
        states = building.first_states(len(keys))
        for depth in range(max(map(len, tokens), default=0)):
            alive = np.array([number for number, texts in enumerate(tokens) if len(texts) > depth])
            hashes = np.array(
                [token_hash(tokens[number][depth]) for number in alive.tolist()], dtype=np.uint64
            )
            states[alive] = self._next(states[alive], hashes)
        result = np.full(len(keys), -1, dtype=np.int64)
        numbers, rows = self._ends(self._find(states))
        for number, row in zip(numbers.tolist(), rows.tolist(), strict=True):
            if self.key(row) == keys[number]:
                result[number] = row
        return result

    def find(self, tokens: TokenArrays, *, inside_words: bool = False) -> Hits:
        """Returns every place of a name, those inside others included.

        Args:
            tokens: of texts.
            inside_words: also names that begin or end inside a word, such as ``IL`` in ``IL2``.
        """
        at, places, single = self._first(tokens, inside_words=inside_words)
        states = self._states[places]
        hits = [single]
        for depth in range(1, self.layout.longest):
            inside = at + depth < len(tokens.forms)
            at = at[inside]
            states = self._next(
                states[inside], tokens.known.hashes.values[tokens.forms[at + depth]]
            )
            located = self._find(states)
            at, states = at[located.which], states[located.which]
            if not len(at):
                break
            which, rows = self._ends(_Located(np.arange(len(at)), located.place))
            ends = Hits(at[which], at[which] + depth, rows)
            if not inside_words:
                ends = _select(ends, tokens.closes[ends.last])
            hits.append(_select(ends, self._equal(tokens, ends)))
        return join_hits(hits)

    def _first(self, tokens: TokenArrays, *, inside_words: bool) -> tuple[Ints, Ints, Hits]:
        """Returns the tokens that names begin with, where their states are, and names of one token.

        Each distinct token is looked up once.
        """
        place, row = self._look_up_forms(tokens)
        places, rows = place[tokens.forms], row[tokens.forms]
        begins, is_name = places >= 0, rows >= 0
        if not inside_words:
            begins &= tokens.opens
            is_name &= tokens.opens & tokens.closes
        at, single = np.flatnonzero(begins), np.flatnonzero(is_name)
        return at, places[at], Hits(single, single, rows[single])

    def _look_up_forms(self, tokens: TokenArrays) -> tuple[Ints, Ints]:
        """Returns the place of the state of each form, and the row of the name that it is alone;
        -1 for none.
        """
        hashes = tokens.known.hashes.values
        present = np.zeros(len(hashes), dtype=bool)
        present[tokens.forms] = True
        forms = np.flatnonzero(present)
        located = self._find(self._next(building.first_states(len(forms)), hashes[forms]))
        place = np.full(len(hashes), -1, dtype=np.int64)
        place[forms[located.which]] = located.place

        which, rows = self._ends(located)
        names = Hits(forms[which], forms[which], rows)
        alone = tokens._replace(forms=np.arange(len(hashes), dtype=np.int32))
        names = _select(names, self._equal(alone, names))
        row = np.full(len(hashes), -1, dtype=np.int64)
        row[names.first] = names.rows
        return place, row

    def _next(self, states: Hashes, hashes: Hashes) -> Hashes:
        return building.next_states(states, hashes, bits=self.layout.bits)

    def _find(self, states: Hashes) -> _Located:
        """Finds which of these states the table holds."""
        which = np.flatnonzero(self._may_hold(states))
        queries = states[which]
        bucket = (queries >> self._shift).astype(np.int64)
        place, end = self._index[bucket].astype(np.int64), self._index[bucket + 1].astype(np.int64)
        numbers, places = [], []
        while len(which):
            inside = place < end
            which, queries, place, end = which[inside], queries[inside], place[inside], end[inside]
            stored = self._states[place]
            same = stored == queries
            numbers.append(which[same])
            places.append(place[same])
            on = stored < queries
            which, queries, place, end = which[on], queries[on], place[on] + 1, end[on]
        return _Located(_concatenate(numbers), _concatenate(places))

    def _may_hold(self, states: Hashes) -> NDArray[Any]:
        """Returns the bit of the filter for each state."""
        low = building.filter_bits(states, self._low, bits=self.layout.bits)
        byte = self._filter[(low >> np.uint64(3)).astype(np.int64)]
        return (byte >> (low & np.uint64(7)).astype(np.uint8)) & _ONE

    def _ends(self, located: _Located) -> tuple[Ints, Ints]:
        """Returns the rows of names that end with these states; several where names have equal
        hashes.
        """
        which, place = located
        if not self.layout.repeats:
            row = self._rows[place].astype(np.int64)
            return which[row >= 0], row[row >= 0]
        numbers, rows = [], []
        states = self._states[place]
        while len(which):
            row = self._rows[place].astype(np.int64)
            is_name = row >= 0
            numbers.append(which[is_name])
            rows.append(row[is_name])
            on = place + 1 < len(self._states)
            on[on] = self._states[place[on] + 1] == states[on]
            which, place, states = which[on], place[on] + 1, states[on]
        return _concatenate(numbers), _concatenate(rows)

    def _equal(self, tokens: TokenArrays, hits: Hits) -> Bools:
        """Returns whether the tokens of each hit, a blank apart, are the key of its row; all have
        as many tokens.

        Of hits with one row, one is compared byte by byte, and the others with it, token by token.
        """
        numbers = np.arange(len(hits.rows))
        bucket = hits.rows & (_BUCKETS - 1)
        examples = np.empty(_BUCKETS, dtype=np.int64)
        examples[bucket] = numbers
        like = examples[bucket]
        same: Bools = (like != numbers) & (hits.rows[like] == hits.rows)
        for distance in range(int(hits.last[0] - hits.first[0]) + 1 if len(numbers) else 0):
            same &= tokens.forms[hits.first + distance] == tokens.forms[hits.first[like] + distance]
        equal = np.zeros(len(numbers), dtype=bool)
        equal[~same] = self._equal_bytes(tokens, _select(hits, ~same))
        equal[same] = equal[like[same]]
        return equal

    def _equal_bytes(self, tokens: TokenArrays, hits: Hits) -> Bools:
        """Returns the same, by comparing the bytes; a blank stands behind each token here."""
        counts = hits.last - hits.first + 1
        forms = tokens.forms[_ranges(hits.first, counts)]
        texts = tokens.known.starts.values
        sizes = np.diff(texts)[forms] + 1
        ends = np.append(0, np.cumsum(sizes))[np.append(0, np.cumsum(counts))]

        starts = self._starts[hits.rows].astype(np.int64)
        key_sizes = self._starts[hits.rows + 1].astype(np.int64) - starts + 1
        equal: Bools = np.diff(ends) == key_sizes
        same_size = np.flatnonzero(equal)
        compared = np.repeat(equal, counts)

        ours = _with_blanks(tokens.known.bytes.values, texts[forms[compared]], sizes[compared])
        theirs = _with_blanks(self._keys, starts[same_size], key_sizes[same_size])
        wrong = np.flatnonzero(ours != theirs)
        hit_ends = np.cumsum(key_sizes[same_size])
        equal[same_size[np.searchsorted(hit_ends, wrong, side="right")]] = False
        return equal


def _with_blanks(content: NDArray[Any], starts: Ints, sizes: Ints) -> NDArray[Any]:
    """Returns parts of some bytes, one after the other; the last byte of each is a blank."""
    parts = content[np.minimum(_ranges(starts, sizes), len(content) - 1)]
    parts[np.cumsum(sizes) - 1] = _BLANK
    return parts


def _select(hits: Hits, mask: Bools) -> Hits:
    return Hits(hits.first[mask], hits.last[mask], hits.rows[mask])


def join_hits(parts: list[Hits]) -> Hits:
    """Returns all hits in order; no two have the same tokens, for these have one key."""
    hits = Hits(*(_concatenate([part[place] for part in parts]) for place in range(3)))
    order = np.argsort(hits.first << 31 | hits.last)
    return Hits(hits.first[order], hits.last[order], hits.rows[order])


def _ranges(starts: Ints, counts: Ints) -> Ints:
    """Returns ``start, start + 1, ...``, so many of each, one after the other."""
    shift = np.repeat(starts - np.cumsum(counts) + counts, counts)
    return shift + np.arange(len(shift))


def _concatenate(parts: list[Ints]) -> Ints:
    return np.concatenate(parts) if parts else int_array([])
