"""Features of units beside their pieces: their places in names of dictionaries, and their case
patterns.

A match is a range of characters with types. A unit is in it if they share a character. One unit may
be in several matches, and a match may have several types, so the features of a unit are a row of
zeros and ones: for each type one column for each place in a name, then one for each case pattern.

The case pattern of a word is information that a lower-casing encoder lacks.

Patterns and their numbers belong to the version ``settings.inputs.SHAPES``: a changed rule needs a
new version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Protocol

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from fascicle.core.arrays import Bools, Ints, int_array
from fascicle.core.document import Document

PATTERNS: Final = (
    "signs",  # no letter and no digit: "-"
    "lower",  # "pain"
    "capital",  # one letter, a capital: "A"
    "initial",  # a capital, then lower case: "Aspirin"
    "capitals",  # at least two: "EGFR"
    "roman",  # a number of I, V and X, at least two: "IV"
    "mixed",  # any other letters with capitals: "mRNA"
    "uncased",  # letters that have no case, among others or alone
    "digits",  # "42"
    "lower-digits",  # "p53"
    "capitals-digits",  # "BRCA1"
    "mixed-digits",  # any other letters with digits: "Nkx2"
)
_NUMBER = {name: at for at, name in enumerate(PATTERNS)}
_ROMAN = re.compile(r"(?=..)X{0,3}(?:IX|IV|V?I{0,3})")
_UPPER, _LOWER, _UNCASED, _DIGIT = 0, 1, 2, 3  # kinds of characters; others are signs
_SIGN = 4


def case_patterns(text: str, spans: Ints) -> NDArray[np.int64]:
    """Returns the case pattern of each range of a text; signs within a word, such as a hyphen, do
    not count.

    Args:
        text: the unchanged source text.
        spans: ranges of characters, ``[u, 2]``.

    Returns:
        Indices in ``PATTERNS``, ``[u]``.
    """
    if not len(spans):
        return int_array([])
    kinds = _kinds(text)
    upper, lower, uncased, digits = _count_kinds(kinds, spans)
    letters = upper + lower + uncased
    rules = {  # the first that holds
        "signs": letters + digits == 0,
        "digits": letters == 0,
        "lower-digits": (digits > 0) & (lower == letters),
        "capitals-digits": (digits > 0) & (upper == letters),
        "mixed-digits": digits > 0,
        "lower": lower == letters,
        "capitals": upper == letters,
        "uncased": uncased > 0,
        "initial": (upper == 1) & _begin_with_capital(kinds, spans),
    }
    numbers = [_NUMBER[name] for name in rules]
    patterns = np.select(list(rules.values()), numbers, _NUMBER["mixed"])
    # single letters and Roman numbers are other patterns than words of capitals
    for at in np.flatnonzero(patterns == _NUMBER["capitals"]).tolist():
        if letters[at] == 1:
            patterns[at] = _NUMBER["capital"]
        elif _ROMAN.fullmatch(text, *spans[at]):
            patterns[at] = _NUMBER["roman"]
    return patterns.astype(np.int64)


def _count_kinds(kinds: NDArray[np.int8], spans: Ints) -> NDArray[np.int32]:
    """Returns the capitals, small and uncased letters, and digits of ranges, ``[4, u]``."""
    counts = np.zeros((4, len(kinds) + 1), dtype=np.int32)
    np.cumsum(kinds == np.arange(4)[:, None], axis=1, out=counts[:, 1:])
    return counts[:, spans[:, 1]] - counts[:, spans[:, 0]]


def _begin_with_capital(kinds: NDArray[np.int8], spans: Ints) -> Bools:
    """Returns the mask of ranges whose first letter at or after the start is a capital."""
    letters = np.append(np.flatnonzero(kinds <= _UNCASED), len(kinds))
    first = letters[np.searchsorted(letters, spans[:, 0])]
    begins: Bools = np.append(kinds, _SIGN)[first] == _UPPER
    return begins


def _kind(character: str) -> int:
    """Returns the kind of a character; a title-case digraph counts as a capital."""
    if character.isalpha():
        return (
            _LOWER
            if character.islower()
            else _UPPER
            if character.isupper() or character.istitle()
            else _UNCASED
        )
    return _DIGIT if character.isnumeric() else _SIGN


_ASCII = np.array([_kind(chr(code)) for code in range(128)], dtype=np.int8)


def _kinds(text: str) -> NDArray[np.int8]:
    """Returns the kind of each character."""
    codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    kinds: NDArray[np.int8] = _ASCII[codes & 127]
    rare = np.flatnonzero(codes > 127)
    if len(rare):
        distinct, at = np.unique(codes[rare], return_inverse=True)
        kinds[rare] = np.array([_kind(chr(code)) for code in distinct.tolist()], dtype=np.int8)[at]
    return kinds


PLACES: Final = ("first", "inner", "last", "whole")
_FIRST, _INNER, _LAST, _WHOLE = range(len(PLACES))
_Features = NDArray[np.uint8]
_TOGETHER: Final = 1 << 17  # most characters that are processed as one text


class FoundName(Protocol):
    """A name in a text."""

    @property
    def start(self) -> int:
        """First character, in code points."""

    @property
    def end(self) -> int:
        """One past the last character."""

    @property
    def types(self) -> tuple[str, ...]:
        """Types of the name."""


class NameFinder(Protocol):
    """Finder of names in texts, such as a dictionary or a pack of terms."""

    @property
    def types(self) -> tuple[str, ...]:
        """Types that its names may have."""

    def matches(self, documents: Iterable[Document]) -> Iterator[Sequence[FoundName]]:
        """Yields the matches of each document, in any order; they may overlap."""


class FeatureColumns(msgspec.Struct, frozen=True, kw_only=True):
    """Columns of the feature rows.

    Attributes:
        types: types of the dictionaries, in the order of their columns; empty without dictionaries.
        shapes: true if there are columns for case patterns.
    """

    types: tuple[str, ...] = ()
    shapes: bool = False

    @property
    def blocks(self) -> tuple[int, ...]:
        """Numbers of columns of the blocks that exist: of dictionaries, of patterns."""
        widths = (len(self.types) * len(PLACES), len(PATTERNS) * self.shapes)
        return tuple(width for width in widths if width)

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """Type and place of each column of dictionaries, then for each pattern an empty type and
        the pattern.
        """
        shapes = [("", pattern) for pattern in PATTERNS] if self.shapes else []
        return (*((name, place) for name in self.types for place in PLACES), *shapes)


class UnitInputs(msgspec.Struct, frozen=True, kw_only=True):
    """Features of the units of a document.

    Attributes:
        columns: columns of the rows.
        matches: start, end (characters) and type index of each match, ``[m, 3]``; a match with
            several types has a row for each.
        rows: features of each unit, zeros and ones, ``[u, F]``.
    """

    columns: FeatureColumns
    matches: Ints
    rows: _Features

    def moved(self, by: int) -> UnitInputs:
        """Returns a copy with matches shifted by an offset, for a part of a longer text."""
        return replace(self, matches=self.matches + int_array([by, by, 0]))

    def first(self, units: int) -> UnitInputs:
        """Returns a copy for the first units only."""
        return replace(self, rows=self.rows[:units])

    def of(self, units: Ints, text: str) -> UnitInputs:
        """Computes the features of other units, given by ranges of characters, in the order of
        the text, ``[u, 2]``.
        """
        return replace(self, rows=_rows(self.columns, self.matches, units, text))


def compute_unit_inputs(
    documents: Sequence[Document],
    units: Sequence[Ints],
    finder: NameFinder | None,
    columns: FeatureColumns,
) -> list[UnitInputs]:
    """Computes the features of the units of documents.

    Args:
        documents: any number.
        units: units of each document, ranges of characters in the order of its text, ``[u, 2]``.
        finder: finder of names, or ``None``.
        columns: columns, with all types of the finder.
    """
    number = {name: at for at, name in enumerate(columns.types)}
    names: Iterable[Sequence[FoundName]] = (
        ([] for _ in documents) if finder is None else finder.matches(documents)
    )
    rows = (
        [(name.start, name.end, number[kind]) for name in names for kind in name.types]
        for names in names
    )
    matches = [int_array(of_one).reshape(-1, 3) for of_one in rows]
    inputs: list[UnitInputs] = []
    for part in _portions(documents):
        rows_of = _rows_of_each(
            columns, matches[part], units[part], [document.text for document in documents[part]]
        )
        inputs += [
            UnitInputs(columns=columns, matches=m, rows=r)
            for m, r in zip(matches[part], rows_of, strict=True)
        ]
    return inputs


def _portions(documents: Sequence[Document]) -> Iterator[slice]:
    """Yields slices of documents of limited total length."""
    start = size = 0
    for at, document in enumerate(documents, 1):
        size += len(document.text)
        if size >= _TOGETHER or at == len(documents):
            yield slice(start, at)
            start, size = at, 0


def _rows_of_each(
    columns: FeatureColumns, matches: Sequence[Ints], units: Sequence[Ints], texts: Sequence[str]
) -> list[_Features]:
    """Computes the features of the units of several texts, which are processed as one text.

    Most texts are single sentences, for which the overhead of numpy calls exceeds the computation.
    """
    starts = np.cumsum([0, *map(len, texts)])[:-1]
    together = _rows(columns, _expand(matches, starts), _expand(units, starts), "".join(texts))
    return np.split(together, np.cumsum([len(of_one) for of_one in units])[:-1])


def _expand(ranges: Sequence[Ints], starts: Ints) -> Ints:
    """Concatenates ranges of several texts (two columns, perhaps more) as ranges of their joined
    text.
    """
    values = np.concatenate(ranges)
    values[:, :2] += np.repeat(starts, [len(of_one) for of_one in ranges])[:, None]
    return values


def _rows(columns: FeatureColumns, matches: Ints, units: Ints, text: str) -> _Features:
    """Computes the features of the units of a text."""
    rows = np.zeros((len(units), sum(columns.blocks)), dtype=np.uint8)
    if columns.types:
        _mark_places(rows, matches, units)
    if columns.shapes and len(units):
        # for a part of a text, the rest is not needed
        low, high = int(units[0, 0]), int(units[:, 1].max())
        shapes = case_patterns(text[low:high], units - low)
        rows[np.arange(len(units)), rows.shape[1] - len(PATTERNS) + shapes] = 1
    return rows


def _mark_places(features: _Features, matches: Ints, units: Ints) -> None:
    """Sets the first columns: for each unit its places in names of each type."""
    if not len(matches) or not len(units):
        return
    # Pieces that share characters may have ends in another order than their starts.
    first = np.searchsorted(np.maximum.accumulate(units[:, 1]), matches[:, 0], side="right")
    after = np.searchsorted(units[:, 0], matches[:, 1], side="left")
    matches, first, after = (column[after > first] for column in (matches, first, after))
    count = after - first
    end = np.cumsum(count)
    row = np.arange(count.sum()) + np.repeat(first - (end - count), count)
    place = np.full(len(row), _INNER, dtype=np.int64)
    place[end - 1] = _LAST
    place[end - count] = np.where(count > 1, _FIRST, _WHOLE)
    features[row, np.repeat(matches[:, 2], count) * len(PLACES) + place] = 1
