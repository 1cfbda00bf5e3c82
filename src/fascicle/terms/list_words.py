"""Words of texts, for the names of lists."""

from __future__ import annotations

from typing import Final

import numpy as np

from fascicle.core.arrays import int_array
from fascicle.terms.dictionary import RULES, MatchingRule, split_at_apostrophes
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

    def __init__(self, segmenter: str = "rules@1", *, rule: MatchingRule = RULES["raw"]) -> None:
        """Sets the segmenter, by its name, and the rule by which words are compared.

        Raises:
            InputError: no such segmenter.
        """
        self.rules, self._rule = segmenter_of(segmenter), rule
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
        row_of = _Rows(forms, self._rule)
        for text in texts:
            words = self.rules.words(split_at_apostrophes(text) if self._rule.typographic else text)
            rows += [row_of[text[start:end]] for start, end in words]
            rows.append(forms.row(BREAK))
            spans += [(start + offset, end + offset) for start, end in words]
            offset += len(text) + 1
            spans.append((offset - 1, offset - 1))
        starts, ends = int_array(spans).reshape(-1, 2).T
        whole = np.ones(len(rows), dtype=bool)
        return TokenArrays(starts, ends, np.array(rows, dtype=np.int32), whole, whole, forms)


class _Rows(dict[str, int]):
    """Row of the form of each word; every distinct word is compared once."""

    def __init__(self, forms: Forms, rule: MatchingRule) -> None:
        """Starts without words."""
        super().__init__()
        self._forms, self._rule = forms, rule

    def __missing__(self, word: str) -> int:
        """Returns the row of a new word."""
        row = self[word] = self._forms.row(self._rule.searched(word))
        return row
