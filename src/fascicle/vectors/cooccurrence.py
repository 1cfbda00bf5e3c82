"""How often words stand near each other: the table that GloVe is trained on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from fascicle.core.arrays import Floats, Ints
from fascicle.core.wording import counted
from fascicle.errors import InputError

Doubles = Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Cooccurrence:
    """A symmetric table of weighted counts, its zeros left out.

    Attributes:
        words: by falling frequency, equal ones in the order of their characters.
        rows: word of each cell, sorted, ``[m]``.
        columns: the word near it, sorted within a row, ``[m]``.
        values: Σ 1/distance over all places where the two stand within the window, ``[m]``.
        left_out: words that occur too seldom.
    """

    words: tuple[str, ...]
    rows: Ints
    columns: Ints
    values: Doubles
    left_out: int = 0


def count_cooccurrence(
    sequences: Iterable[Sequence[str]], *, window: int = 15, least: int = 1, most: int = 0
) -> Cooccurrence:
    """Counts, as GloVe does (Pennington et al. 2014, §4.2): two words ``d`` words apart add ``1/d`` to each other.

    Words that occur too seldom are left out first, and those on their two sides move together, as in the authors'
    program. Sequences, which may be sentences or documents, know nothing of each other.

    Args:
        sequences: of words.
        window: words to each side.
        least: occurrences that a word needs.
        most: words to keep, the most frequent ones; 0 for all.

    Raises:
        InputError: no two words stand together.
    """
    texts = [list(sequence) for sequence in sequences]
    counts = Counter(word for text in texts for word in text)
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    words = tuple(word for word, count in ranked if count >= least)[: most or None]
    index = {word: number for number, word in enumerate(words)}
    kept = [[index[word] for word in text if word in index] for text in texts]
    ids = np.array([i for text in kept for i in text], dtype=np.int64)
    owner = np.repeat(np.arange(len(kept)), [len(text) for text in kept])
    keys, values = _near(ids, owner, window=window, size=len(words))
    if not len(keys):
        raise InputError(
            f"no two of {counted(len(words), 'word')} stand together in the text; give more text, or keep rarer words"
        )
    rows, columns = np.divmod(keys, len(words))
    return Cooccurrence(words=words, rows=rows, columns=columns, values=values, left_out=len(counts) - len(words))


def _near(ids: Ints, owner: Ints, *, window: int, size: int) -> tuple[Ints, Doubles]:
    """Cells ``row * size + column`` with their values, sorted."""
    keys, values = [np.zeros(0, np.int64)], [np.zeros(0)]
    for distance in range(1, min(window, len(ids) - 1) + 1):
        together = owner[distance:] == owner[:-distance]
        first, second = ids[:-distance][together], ids[distance:][together]
        found, count = np.unique(np.concatenate([first * size + second, second * size + first]), return_counts=True)
        keys.append(found)
        values.append(count / distance)
    cells, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    sums: Doubles = np.bincount(inverse, weights=np.concatenate(values), minlength=len(cells)).astype(np.float64)
    return cells, sums
