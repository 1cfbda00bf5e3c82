"""Search for concepts by a part of a name, as people type it: its beginning, that of a word in
it, or one slip away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple, get_args

import numpy as np

from fascicle.core.arrays import Bools, Ints
from fascicle.terms.keys.key import key
from fascicle.terms.pack.arrays import Array, expand_ranges
from fascicle.terms.pack.pack import Pack

MatchKind = Literal["identifier", "name", "beginning", "word", "slip"]
HOW: Final[tuple[MatchKind, ...]] = get_args(MatchKind)
_KEY: Final = 8  # bytes of a word by which words are sorted
_LEAST_SLIP: Final = 4  # bytes of a query that may have a slip
_LETTERS: Final = b" '+-0123456789abcdefghijklmnopqrstuvwxyz"  # what most folded names are made of
_TOGETHER: Final = 2_000  # names whose concepts are looked up together
_LONGEST: Final = (1 << 20) - 1  # bytes of a name by which names are ordered


class FoundConcept(NamedTuple):
    """Concept that was found.

    Attributes:
        row: of the concept in the pack; of several that are equal, the leading one.
        name: by which it was found.
        how: the name is the query, begins with it, has a word that begins with it, or begins like
            it but for one slip: a character that is wrong, missing or too much, or two that changed
            places.
    """

    row: int
    name: str
    how: MatchKind


class NameSearch:
    """Words of all names of a pack, each with what follows it in its name, sorted by their first
    bytes.
    """

    def __init__(self, pack: Pack) -> None:
        """Folds and sorts the names; it takes a second or two for 400,000 of them."""
        names = pack.active
        surfaces = names.surfaces.take(np.arange(len(names.surfaces)))
        folded = "\n".join([key(surface, 1) for surface in surfaces]).encode()
        self._pack = pack
        self._text = np.frombuffer(b"\n" + folded + b"\n" + bytes(_KEY), dtype=np.uint8)
        ends = np.flatnonzero(self._text == ord("\n"))
        starts = ends[:-1] + 1
        self._lengths = np.minimum(np.diff(ends) - 1, _LONGEST).astype(np.int32)
        self._places, self._keys = _sort_words(self._text)
        self._lines = (np.searchsorted(starts, self._places, side="right") - 1).astype(np.int32)
        self._is_first = self._places == starts[self._lines]
        self._terms = np.argsort(names.surface, kind="stable")
        self._firsts = np.searchsorted(names.surface[self._terms], np.arange(len(surfaces) + 1))

    def find(self, query: str, *, most: int, type: str = "") -> list[FoundConcept]:  # noqa: A002
        """Returns the concepts that a query may mean, the likeliest first, each once.

        Args:
            query: a part of a name, or an identifier.
            most: concepts at most.
            type: of the concepts; empty for any.
        """
        if type and type not in self._pack.types:
            return []
        kind = self._pack.types.index(type) if type else None
        concepts: dict[int, FoundConcept] = {}
        for concept in self._all(query.strip(), kind):
            concepts.setdefault(concept.row, concept)
            if len(concepts) == most:
                break
        return list(concepts.values())

    def _all(self, query: str, kind: int | None) -> Iterator[FoundConcept]:
        row = int(self._pack.concept_rows([query])[0])
        if row >= 0 and kind in (None, self._pack.type_rows[row]):
            yield FoundConcept(row, self._pack.label_at(row), "identifier")
        if typed := key(query, 1).encode():
            yield from self._concepts(typed, self._beginning([typed], typed), kind)
            if len(typed) >= _LEAST_SLIP:
                yield from self._concepts(typed, self._slips(typed), kind, slip=True)

    def _beginning(self, parts: Sequence[bytes], typed: bytes) -> Ints:
        """Returns the words that begin with one of some parts, of which only the first bytes count.

        Args:
            parts: to look up.
            typed: the query; where a part is as long as it, all of it counts.
        """
        low, high = (
            np.array(
                [int.from_bytes(part[:_KEY].ljust(_KEY, fill), "big") for part in parts],
                dtype=np.uint64,
            )
            for fill in (b"\0", b"\xff")
        )
        starts, ends = (
            np.searchsorted(self._keys, low, side="left"),
            np.searchsorted(self._keys, high, side="right"),
        )
        words: Ints = expand_ranges(starts, ends)[1]
        if len(typed) > _KEY and list(parts) == [typed]:
            words = words[
                (self._bytes(words, len(typed)) == np.frombuffer(typed, dtype=np.uint8)).all(axis=1)
            ]
        return words

    def _slips(self, typed: bytes) -> Ints:
        """Returns the words that begin like the query but for one slip, in its first bytes or
        behind them.
        """
        parts = sorted(
            {*_spell_slips(typed[:_KEY]), *([typed[: _KEY - 1]] if len(typed) >= _KEY else [])}
        )
        words = np.unique(self._beginning(parts, typed))
        return words[_near(self._bytes(words, len(typed) + 1), typed)]

    def _bytes(self, words: Ints, count: int) -> Array:
        """Returns the bytes of words and of what follows them in their names, shape ``(words,
        count)``.
        """
        content = self._text[
            np.minimum(self._places[words][:, None] + np.arange(count), len(self._text) - 1)
        ]
        return np.where(np.logical_or.accumulate(content == ord("\n"), axis=1), 0, content)

    def _concepts(
        self, typed: bytes, words: Ints, kind: int | None, *, slip: bool = False
    ) -> Iterator[FoundConcept]:
        """Yields the concepts of the names of words: names that begin with them first, then the
        shortest.
        """
        lengths, is_first = self._lengths[self._lines[words]], self._is_first[words]
        rank = np.where(is_first, np.where(lengths == len(typed), 1, 2), 3)
        for batch in _in_order((rank << 20) | lengths):
            lines = self._lines[words[batch]].astype(np.int64)
            at, terms = expand_ranges(self._firsts[lines], self._firsts[lines + 1], self._terms)
            yield from self._concepts_of(
                lines[at], terms, rank[batch][at] if not slip else None, kind
            )

    def _concepts_of(
        self, lines: Ints, terms: Ints, rank: Ints | None, kind: int | None
    ) -> Iterator[FoundConcept]:
        pack = self._pack
        rows = pack.active.concept[terms].astype(np.int64)
        if kind is not None:
            of_kind = np.flatnonzero(pack.type_rows[rows] == kind)
            lines, terms, rows = lines[of_kind], terms[of_kind], rows[of_kind]
            rank = None if rank is None else rank[of_kind]
        places = np.concatenate(([0], np.cumsum(lines[1:] != lines[:-1])))[: len(lines)]
        order = np.lexsort((-pack.active.prior[terms], places))
        leads = pack.leads.of(rows).tolist()
        for at in order.tolist():
            how = "slip" if rank is None else HOW[int(rank[at])]
            yield FoundConcept(leads[at], pack.active.surfaces[int(lines[at])], how)


def _in_order(values: Ints) -> Iterator[Ints]:
    """Yields the places of the smallest values in order, and then those of the others."""
    first = (
        np.argpartition(values, _TOGETHER)[:_TOGETHER]
        if len(values) > _TOGETHER
        else np.arange(len(values))
    )
    yield first[np.argsort(values[first], kind="stable")]
    if len(values) > _TOGETHER:
        order = np.argsort(values, kind="stable")
        yield order[~np.isin(order, first)]


def _sort_words(text: Array) -> tuple[Ints, Array]:
    """Returns where words begin, sorted by their first bytes, and these bytes as numbers."""
    apart = np.isin(text, np.frombuffer(b"\n -", dtype=np.uint8))
    places = 1 + np.flatnonzero(apart[:-1] & ~apart[1:] & (text[1:] != 0))
    keys = _keys_of(text, places)
    order = np.argsort(keys, kind="stable")
    return places[order], keys[order]


def _keys_of(text: Array, places: Ints) -> Array:
    """Returns the first bytes behind places as one number each, without what follows the name."""
    keys = np.zeros(len(places), dtype=np.uint64)
    ended = np.zeros(len(places), dtype=np.bool_)
    for offset in range(_KEY):
        letters = text[np.minimum(places + offset, len(text) - 1)]
        ended |= letters == ord("\n")
        keys = (keys << np.uint64(8)) | np.where(ended, 0, letters).astype(np.uint64)
    return keys


def _spell_slips(part: bytes) -> Iterator[bytes]:
    """Yields what the beginning of a name may be if that of a query has a slip."""
    for at in range(len(part) + 1):
        head, tail = part[:at], part[at:]
        for letter in _LETTERS:
            yield head + bytes([letter]) + tail
            yield head + bytes([letter]) + tail[1:]
        yield head + tail[1:]
        yield head + tail[1:2] + tail[:1] + tail[2:]


def _near(names: Array, typed: bytes) -> Bools:
    """Tells which rows begin with the query but for one slip.

    Args:
        names: bytes of names, one more than the query has; shape ``(names, bytes)``.
        typed: the query.
    """
    query = np.frombuffer(typed, dtype=np.uint8)
    count = len(query)
    same = names[:, :count] == query
    before, behind = _run(same), _run(same[:, ::-1])
    longer, shorter = (
        _run(shifted[:, ::-1])
        for shifted in (names[:, 1:] == query, names[:, : count - 1] == query[1:])
    )
    at = np.minimum(before, count - 2)[:, None]
    pair = np.take_along_axis(names, np.hstack((at + 1, at)), axis=1)
    swapped = (pair == query[np.hstack((at, at + 1))]).all(axis=1) & (before + behind >= count - 2)
    near: Bools = (
        (before + behind >= count - 1)
        | (before + longer >= count)
        | (before + shorter >= count - 1)
        | swapped
    )
    return near


def _run(same: Bools) -> Ints:
    """Returns how many values are true in each row before the first that is not."""
    lengths: Ints = np.logical_and.accumulate(same, axis=1).sum(axis=1)
    return lengths
