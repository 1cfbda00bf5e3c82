"""Whether whole sentences of some texts stand in others, however these are cut into sentences or words.

Sentences and texts are given in their normal form. Each window of `ANCHOR` letters of a text is hashed (Karp and
Rabin 1987) and looked up among the beginnings of the sentences; what is found is then compared letter by letter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from fascicle.doctor.copies.fingerprints import Hashes

ANCHOR: Final = 24  # letters; a shorter sentence is not sought
_BASE: Final = 0x9E3779B97F4A7C15
_SLICE: Final = 1 << 20  # windows that are hashed together


class Passages:
    """An index of sentences."""

    def __init__(self, sentences: Sequence[str]) -> None:
        """Indexes sentences by their first letters.

        Args:
            sentences: normal forms of at least `ANCHOR` letters, no two the same.
        """
        self._powers, self._inverses = _powers(_BASE), _powers(pow(_BASE, -1, 1 << 64))
        # beginning -> length -> sentence -> its number
        self._by_start: defaultdict[str, defaultdict[int, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
        for number, sentence in enumerate(sentences):
            self._by_start[sentence[:ANCHOR]][len(sentence)][sentence] = number
        starts = _codes("".join(self._by_start)).reshape(-1, ANCHOR)
        self._anchors = np.unique((starts * self._powers[:ANCHOR]).sum(axis=1, dtype=np.uint64))

    def found(self, text: str) -> Iterator[tuple[int, int]]:
        """Streams ``(number of the sentence, first letter)`` for each place of the text where one stands.

        Args:
            text: a normal form, or several with a character between them that is no letter or digit.
        """
        if not len(self._anchors):
            return
        for start in range(0, max(0, len(text) - ANCHOR + 1), _SLICE):
            windows = self._windows(text[start : start + _SLICE + ANCHOR - 1])
            at = np.minimum(np.searchsorted(self._anchors, windows), len(self._anchors) - 1)
            for place in (np.flatnonzero(self._anchors[at] == windows) + start).tolist():
                for length, sentences in self._by_start.get(text[place : place + ANCHOR], {}).items():
                    number = sentences.get(text[place : place + length])
                    if number is not None:
                        yield number, place

    def _windows(self, text: str) -> Hashes:
        """The hash of each window of a text of at most `_SLICE` windows."""
        codes = _codes(text)
        sums = np.zeros(len(codes) + 1, dtype=np.uint64)
        np.cumsum(codes * self._powers[: len(codes)], out=sums[1:])
        count = len(codes) - ANCHOR + 1
        found: Hashes = (sums[ANCHOR:] - sums[:count]) * self._inverses[:count]
        return found


def _codes(text: str) -> Hashes:
    return np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)


def _powers(base: int) -> Hashes:
    """``base ** 0 .. base ** (n - 1)`` modulo 2**64."""
    factors = np.full(_SLICE + ANCHOR - 1, base, dtype=np.uint64)
    factors[0] = 1
    found: Hashes = np.cumprod(factors, dtype=np.uint64)
    return found
