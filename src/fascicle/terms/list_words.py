"""Words of texts, for the names of lists."""

from __future__ import annotations

from typing import Final

import numpy as np

from fascicle.core.arrays import int_array
from fascicle.terms.dictionary import composed
from fascicle.terms.keys.forms import BREAK, Forms
from fascicle.terms.keys.key import TokenArrays
from fascicle.text.segment import segmenter as segmenter_of

_BITS: Final = (1 << 64) - 1


class WordReader:
    """Reads the words of texts as tokens for a scan; recent texts are cached for further
    dictionaries.

    A text is split by the segmenter, even if it has words of its own, so that names and texts are
    split alike.
    """

    def __init__(self, segmenter: str = "rules@1", *, folded: bool = False) -> None:
        """Sets the segmenter, by its name, and whether words are read in lower case.

        Raises:
            InputError: no such segmenter.
        """
        self.rules, self._fold = segmenter_of(segmenter), str.lower if folded else str
        self._last: tuple[list[str], TokenArrays] | None = None

    def read(self, texts: list[str]) -> TokenArrays:
        """Returns the words of texts, as of `keys.reader.TokenArrays`."""
        if self._last is None or self._last[0] != texts:
            self._last = (texts, self._cut(texts))
        return self._last[1]

    def _cut(self, texts: list[str]) -> TokenArrays:
        forms, offset = Forms(hash_of=lambda word: hash(word) & _BITS), 0
        spans: list[tuple[int, int]] = []
        rows: list[int] = []
        for text in texts:
            words = self.rules.words(text)
            rows += [forms.row(self._fold(composed(text[start:end]))) for start, end in words]
            rows.append(forms.row(BREAK))
            spans += [(start + offset, end + offset) for start, end in words]
            offset += len(text) + 1
            spans.append((offset - 1, offset - 1))
        starts, ends = int_array(spans).reshape(-1, 2).T
        whole = np.ones(len(rows), dtype=bool)
        return TokenArrays(starts, ends, np.array(rows, dtype=np.int32), whole, whole, forms)
