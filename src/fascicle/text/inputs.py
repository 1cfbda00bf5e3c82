"""What is looked up about units beside their pieces: the names of dictionaries that they are in, their case pattern.

A match is a range of characters with types, whatever found it. A unit is in it if they share a character. One unit may
be in several matches, and a match may have several types, so what is known of a unit is a row of zeros and ones: for
each type one column for each place in a name, then one for each case pattern.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Ints
from fascicle.core.document import Document
from fascicle.text.shapes import PATTERNS, shapes_of

PLACES: Final = ("first", "inner", "last", "whole")
_FIRST, _INNER, _LAST, _WHOLE = range(len(PLACES))
Features = NDArray[np.uint8]


class Found(Protocol):
    """A name in a text."""

    @property
    def start(self) -> int:
        """First character, in code points."""
        ...

    @property
    def end(self) -> int:
        """One past the last character."""
        ...

    @property
    def types(self) -> tuple[str, ...]:
        """Of the name."""
        ...


class Finder(Protocol):
    """Finds names in texts: a dictionary, a pack of terms, or whatever else knows some."""

    @property
    def types(self) -> tuple[str, ...]:
        """That its names may have."""
        ...

    def matches(self, documents: Iterable[Document]) -> Iterator[Sequence[Found]]:
        """The matches of each document, in any order; they may overlap."""
        ...


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What the rows of units consist of.

    Attributes:
        types: of the dictionaries, in the order of their columns; none without dictionaries.
        shapes: whether there are columns for case patterns.
    """

    types: tuple[str, ...] = ()
    shapes: bool = False

    @property
    def blocks(self) -> tuple[int, ...]:
        """Widths of the columns that belong together: of dictionaries, of patterns, as far as there are such."""
        widths = (len(self.types) * len(PLACES), len(PATTERNS) * self.shapes)
        return tuple(width for width in widths if width)


@dataclass(frozen=True, kw_only=True)
class UnitInputs:
    """What is known of a document.

    Attributes:
        columns: of the rows of its units.
        matches: start, end and type of each match, in characters and indices of types, ``[m, 3]``; one of several types
            has a row for each.
    """

    columns: Columns
    matches: Ints

    def moved(self, by: int) -> UnitInputs:
        """The same, as part of a longer text."""
        return replace(self, matches=self.matches + np.array([by, by, 0], dtype=np.int64))

    def rows(self, units: Ints, text: str) -> Features:
        """What is known of each unit.

        Args:
            units: ranges of characters, in the order of the text, ``[u, 2]``.
            text: of the document.

        Returns:
            Zeros and ones, ``[u, F]``.
        """
        parts = []
        if self.columns.types:
            parts.append(_places(self.matches, units, types=len(self.columns.types)))
        if self.columns.shapes:
            low, high = (int(units[0, 0]), int(units[:, 1].max())) if len(units) else (0, 0)  # of a part of a text
            shapes = shapes_of(text[low:high], units - low)
            parts.append((shapes[:, None] == np.arange(len(PATTERNS))).astype(np.uint8))
        return np.concatenate(parts, axis=1)


def look_up(documents: Sequence[Document], finders: Sequence[Finder], columns: Columns) -> list[UnitInputs]:
    """What finders know of documents.

    Args:
        documents: any number.
        finders: each reads all documents.
        columns: with all types of the finders.
    """
    number = {name: at for at, name in enumerate(columns.types)}
    rows: list[list[tuple[int, int, int]]] = [[] for _ in documents]
    for finder in finders:
        for of_one, found in zip(rows, finder.matches(documents), strict=True):
            of_one += [(match.start, match.end, number[kind]) for match in found for kind in match.types]
    return [UnitInputs(columns=columns, matches=np.array(of_one, dtype=np.int64).reshape(-1, 3)) for of_one in rows]


def _places(matches: Ints, units: Ints, *, types: int) -> Features:
    """Which places of names of which types each unit has, ``[u, types * places]``."""
    found = np.zeros((len(units), types * len(PLACES)), dtype=np.uint8)
    # Pieces may share characters, and then end in another order than they begin.
    first = np.searchsorted(np.maximum.accumulate(units[:, 1]), matches[:, 0], side="right")
    after = np.searchsorted(units[:, 0], matches[:, 1], side="left")
    count = np.maximum(after - first, 0)
    row = np.repeat(first - (np.cumsum(count) - count), count) + np.arange(count.sum())
    ends = np.cumsum(count)[count > 0] - 1
    place = np.full(len(row), _INNER, dtype=np.int64)
    place[ends] = _LAST
    place[ends - count[count > 0] + 1] = np.where(count[count > 0] > 1, _FIRST, _WHOLE)
    found[row, np.repeat(matches[:, 2], count) * len(PLACES) + place] = 1
    return found
