"""Training of GloVe (Pennington et al. 2014): vectors whose products approximate the logarithms of
cooccurrence counts.

The loss is ``J = 1/2 Σ f(X_ij) (w_i·c_j + a_i + b_j - log X_ij)²`` with ``f(x) = min(1, x /
x_max)^alpha`` (Eq. 8 and 9), and the vector of a word is ``w + c`` (§4.2). AdaGrad makes its steps
for blocks of rows instead of single cells, so that the work is three matrix products; every second
pass swaps the two sides, since the table is symmetric.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from fascicle.core.arrays import Floats, Floats32, Ints, int_array
from fascicle.core.wording import plural
from fascicle.errors import InputError
from fascicle.settings.base import Natural, Positive
from fascicle.text.vectors import StaticVectors, VectorReport

_Doubles = Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class _Cooccurrence:
    """Sparse symmetric table of weighted cooccurrence counts.

    Attributes:
        words: words by falling frequency, ties in alphabetical order.
        rows: index of the word of each cell, sorted, ``[m]``.
        columns: index of the word near it, sorted within a row, ``[m]``.
        values: Σ 1/distance over all positions where both are within the window, ``[m]``.
        left_out: number of words left out because they are too rare.
    """

    words: tuple[str, ...]
    rows: Ints
    columns: Ints
    values: _Doubles
    left_out: int = 0


def count_cooccurrence(
    sequences: Iterable[Sequence[str]], *, window: int = 15, least: int = 1, most: int = 0
) -> _Cooccurrence:
    """Counts as GloVe does (Pennington et al. 2014, §4.2): two words at the distance ``d`` add
    ``1/d`` to each other.

    Rare words are left out first, so that their neighbours become adjacent, as in the authors'
    program. Sequences, which may be sentences or documents, are independent of each other.

    Args:
        sequences: sequences of words.
        window: number of words on each side.
        least: least number of occurrences of a word.
        most: number of words to keep, the most frequent ones; 0 for all.

    Raises:
        InputError: no two words are within a window.
    """
    texts = [list(sequence) for sequence in sequences]
    counts = Counter(word for text in texts for word in text)
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    words = tuple(word for word, count in ranked if count >= least)[: most or None]
    index = {word: number for number, word in enumerate(words)}
    numbered = [[index[word] for word in text if word in index] for text in texts]
    keys, values = _near(numbered, window=window, size=len(words))
    if not len(keys):
        raise InputError(
            f"no two of {plural(len(words), 'word')} occur near each other in the text; give more "
            "text, or keep rarer words"
        )
    rows, columns = np.divmod(keys, len(words))
    return _Cooccurrence(
        words=words, rows=rows, columns=columns, values=values, left_out=len(counts) - len(words)
    )


def _flatten(texts: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Returns the words of all texts in one row, and the number of the text of each."""
    ids = int_array([number for text in texts for number in text])
    return ids, np.repeat(np.arange(len(texts)), [len(text) for text in texts])


def _near(numbered: Sequence[Sequence[int]], *, window: int, size: int) -> tuple[Ints, _Doubles]:
    """Returns cells ``row * size + column`` with their values, sorted.

    Args:
        numbered: the words of each text by their numbers.
        window: number of words on each side.
        size: number of distinct words.
    """
    ids, owner = _flatten(numbered)
    keys, values = [np.zeros(0, np.int64)], [np.zeros(0)]
    for distance in range(1, min(window, len(ids) - 1) + 1):
        together = owner[distance:] == owner[:-distance]
        first, second = ids[:-distance][together], ids[distance:][together]
        both_ways = np.concatenate([first * size + second, second * size + first])
        pairs, count = np.unique(both_ways, return_counts=True)
        keys.append(pairs)
        values.append(count / distance)
    cells, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    sums: _Doubles = np.bincount(
        inverse, weights=np.concatenate(values), minlength=len(cells)
    ).astype(np.float64)
    return cells, sums


# number of words whose mean is used for unknown words, as in the authors' program
_RARE: Final = 100
_UNKNOWN: Final = "<unk>"
_Weights = Floats32 | Floats


@dataclass(frozen=True, kw_only=True)
class GloveSettings:
    """Hyperparameters of GloVe; the default weighting is the published one, for texts of billions
    of words.

    With ``x_max`` = 100, counts of a text of a million words have nearly no weight; the authors'
    script for small texts uses 10.

    Attributes:
        dimension: dimension of the vectors.
        passes: number of passes over the table.
        learning_rate: learning rate of AdaGrad. The authors' program uses 0.05 for its more
            frequent steps of single cells.
        x_max: count from which cells have full weight.
        alpha: exponent of the weight below ``x_max``.
        block: number of rows in one step.
        seed: seed of the initial vectors and of the order of rows.
    """

    dimension: Positive = 300
    passes: Positive = 30
    learning_rate: float = 0.2
    x_max: float = 100.0
    alpha: float = 0.75
    block: Positive = 64
    seed: Natural = 1


class Side(NamedTuple):
    """One side of the factorisation.

    Attributes:
        vectors: vector of each word, ``[n, d]``.
        biases: bias of each word, ``[n]``.
    """

    vectors: _Weights
    biases: _Weights


class CellBatch(NamedTuple):
    """CellBatch of the table, by indices in the two sides.

    Attributes:
        rows: index in the first side, ``[m]``.
        columns: index in the second side, ``[m]``.
        logs: logarithms of the values, ``[m]``.
        weights: weights of the squared errors, ``[m]``.
    """

    rows: Ints
    columns: Ints
    logs: _Weights
    weights: _Weights


def cell_weights(values: Floats, settings: GloveSettings) -> Floats:
    """Computes ``f`` of Eq. 9."""
    weights: Floats = np.minimum(1.0, values / settings.x_max) ** settings.alpha
    return weights


def gradient(first: Side, second: Side, cells: CellBatch) -> tuple[float, Side, Side]:
    """Computes the loss of some cells, and its gradients with respect to both sides, in closed
    form.

    Args:
        first: side that ``cells.rows`` indexes.
        second: side that ``cells.columns`` indexes.
        cells: cells, none twice.
    """
    table = first.vectors @ second.vectors.T
    rows, columns = cells.rows, cells.columns
    errors = table[rows, columns] + first.biases[rows] + second.biases[columns] - cells.logs
    slopes = cells.weights * errors
    table.fill(0.0)
    table[rows, columns] = slopes
    of_first = Side(table @ second.vectors, table.sum(axis=1))
    of_second = Side(table.T @ first.vectors, table.sum(axis=0))
    return float(0.5 * np.dot(slopes.astype(np.float64), errors)), of_first, of_second


def train_glove(
    table: _Cooccurrence,
    settings: GloveSettings,
    *,
    tell: Callable[[int, float], None] | None = None,
) -> StaticVectors:
    """Trains vectors, and adds a row ``<unk>`` for unknown words: the mean of the rarest words.

    Args:
        table: cooccurrence counts of the corpus.
        settings: hyperparameters.
        tell: function that is called after each pass with its number, from 1, and the mean loss of
            a cell, each computed before its step.
    """
    chance = np.random.default_rng(settings.seed)
    size, width = len(table.words), settings.dimension
    sides = [_fresh(chance, size, width) for _ in range(2)]
    sums = [Side(np.ones((size, width), np.float32), np.ones(size, np.float32)) for _ in range(2)]
    logs = np.log(table.values).astype(np.float32)
    weights = cell_weights(table.values, settings).astype(np.float32)
    for number in range(1, settings.passes + 1):
        pair = (0, 1) if number % 2 else (1, 0)
        loss = 0.0
        for rows, picked in _blocks(table, chance.permutation(size), settings.block):
            columns, places = np.unique(table.columns[picked], return_inverse=True)
            local = np.searchsorted(rows, table.rows[picked])
            cells = CellBatch(local, places, logs[picked], weights[picked])
            used = [
                _Rows(sides[side], sums[side], at)
                for side, at in zip(pair, (rows, columns), strict=True)
            ]
            loss += _step(used, cells, rate=settings.learning_rate)
        if tell is not None:
            tell(number, loss / len(table.values))
    return _finished(table, sides)


def _blocks(table: _Cooccurrence, order: Ints, size: int) -> Iterator[tuple[Ints, Ints]]:
    """Yields blocks of rows, sorted, and the indices of their cells, until all rows are used."""
    bounds = np.searchsorted(table.rows, np.arange(len(order) + 1))
    for start in range(0, len(order), size):
        rows = np.sort(order[start : start + size])
        picked = np.concatenate([np.arange(bounds[row], bounds[row + 1]) for row in rows])
        if len(picked):
            yield rows, picked


def _fresh(chance: np.random.Generator, size: int, width: int) -> Side:
    return Side(
        ((chance.random((size, width)) - 0.5) / width).astype(np.float32),
        ((chance.random(size) - 0.5) / width).astype(np.float32),
    )


class _Rows(NamedTuple):
    """Rows of one side that a block of cells changes, with their sums of squared slopes."""

    side: Side
    sums: Side
    at: Ints

    def values(self) -> Side:
        """Returns a copy of the rows."""
        return Side(self.side.vectors[self.at], self.side.biases[self.at])

    def step(self, slope: Side, *, rate: float) -> None:
        """Makes one step of AdaGrad."""
        for values, squares, change in zip(self.side, self.sums, slope, strict=True):
            total = squares[self.at] + change * change
            squares[self.at] = total
            values[self.at] -= rate * change / np.sqrt(total)


def _step(used: Sequence[_Rows], cells: CellBatch, *, rate: float) -> float:
    """Changes the rows of both sides by one block of cells; returns their loss before."""
    loss, *slopes = gradient(used[0].values(), used[1].values(), cells)
    for rows, slope in zip(used, slopes, strict=True):
        rows.step(slope, rate=rate)
    return loss


def _finished(table: _Cooccurrence, sides: list[Side]) -> StaticVectors:
    matrix: Floats32 = (sides[0].vectors + sides[1].vectors).astype(np.float32)
    words = table.words
    if _UNKNOWN not in words:
        matrix = np.concatenate([matrix, matrix[-_RARE:].mean(axis=0, keepdims=True)])
        words = (*words, _UNKNOWN)
    return StaticVectors(words=words, matrix=matrix, report=VectorReport(rows=len(words)))
