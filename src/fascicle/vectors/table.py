"""A table of word vectors, and what stands for a word that is not in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from fascicle.core.arrays import Floats32, Ints
from fascicle.core.wording import counted
from fascicle.errors import InputError

UNKNOWN_WORDS: Final = ("<unk>", "<UNK>", "[UNK]", "UNK", "unk")  # as tools write the row of unknown words


@dataclass(frozen=True, kw_only=True)
class VectorReport:
    """What was met while a file of vectors was read.

    Attributes:
        rows: words with a vector.
        duplicates: rows left out because their word was there before.
        not_utf8: rows left out because their word is no UTF-8.
        first_duplicate: line of the first one, from 1; 0 for none.
        first_not_utf8: the same.
        announced: rows that the first line says, where it says another number than there are; else 0.
    """

    rows: int
    duplicates: int = 0
    not_utf8: int = 0
    first_duplicate: int = 0
    first_not_utf8: int = 0
    announced: int = 0

    def sentences(self) -> list[str]:
        """What a user should know, if anything."""
        found = []
        if self.duplicates:
            found.append(
                f"left out: {counted(self.duplicates, 'row')} of vectors with a word that was there before "
                f"(the first in line {self.first_duplicate:,})"
            )
        if self.not_utf8:
            found.append(
                f"left out: {counted(self.not_utf8, 'row')} of vectors with a word that is no UTF-8 "
                f"(the first in line {self.first_not_utf8:,})"
            )
        if self.announced:
            there = self.rows + self.duplicates + self.not_utf8
            found.append(
                f"the first line of the file of vectors says {counted(self.announced, 'row')}, but it has "
                f"{there:,}: it may be cut off"
            )
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class StaticVectors:
    """Words and their vectors.

    Attributes:
        words: all different.
        matrix: of each word its vector, ``[n, d]``; may be mapped from a file.
        report: of reading.
    """

    words: Sequence[str]
    matrix: Floats32
    report: VectorReport = field(default_factory=lambda: VectorReport(rows=0))

    def __post_init__(self) -> None:
        """Refuses a table that is none.

        Raises:
            InputError: no word, or not one row for each.
        """
        if self.matrix.ndim != 2 or len(self.words) != len(self.matrix) or not self.matrix.size:
            raise InputError(
                f"{counted(len(self.words), 'word')} and vectors of the shape {self.matrix.shape} are no table "
                "of vectors; give one row for each word"
            )

    @property
    def dimension(self) -> int:
        """Size of a vector."""
        return int(self.matrix.shape[1])

    @cached_property
    def index(self) -> dict[str, int]:
        """Word -> row."""
        return {word: row for row, word in enumerate(self.words)}

    @cached_property
    def unknown_word(self) -> str:
        """The word whose row stands for unknown words; empty if there is none and their mean does."""
        return next((word for word in UNKNOWN_WORDS if word in self.index), "")

    @cached_property
    def unknown(self) -> Floats32:
        """What stands for a word without a row, ``[d]``: the row of ``unknown_word``, else the mean of all rows."""
        if self.unknown_word:
            return np.array(self.matrix[self.index[self.unknown_word]], dtype=np.float32)
        return np.asarray(self.matrix.mean(axis=0, dtype=np.float64), dtype=np.float32)

    def rows(self, words: Iterable[str]) -> Ints:
        """The row of each word, -1 for one that has none."""
        index = self.index
        return np.fromiter((index.get(word, -1) for word in words), dtype=np.int64)

    def vectors(self, words: Iterable[str]) -> Floats32:
        """The vector of each word, ``[m, d]``; that of unknown words where it has none."""
        rows = self.rows(words)
        found = np.array(self.matrix[np.maximum(rows, 0)], dtype=np.float32)
        found[rows < 0] = self.unknown
        return found

    def nearest(self, word: str, *, count: int = 10) -> list[tuple[str, float]]:
        """The words with the most similar vectors, with their cosines, the most similar first.

        Raises:
            InputError: the word has no vector.
        """
        if word not in self.index:
            raise InputError(f"the word {word!r} has no vector among {len(self.words):,}; give one that has")
        row = self.index[word]
        norms = np.linalg.norm(self.matrix, axis=1)
        cosines = self.matrix @ self.matrix[row] / np.maximum(norms * norms[row], 1e-12)
        cosines[row] = -np.inf
        best = np.argsort(-cosines, kind="stable")[:count]
        return [(self.words[i], float(cosines[i])) for i in best if i != row]
