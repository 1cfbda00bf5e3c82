"""The keys of many names at once: those of `fascicle.knowledge.keys.key.key`, several times as fast."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from fascicle.knowledge.keys.forms import BREAK, Forms
from fascicle.knowledge.keys.reader import TokenReader

_REMEMBERED: Final = 1 << 18  # distinct words: vocabularies have more than texts


class KeyReader:
    """Makes keys of level 2; for one thread."""

    def __init__(self) -> None:
        """Knows no word."""
        self._reader = TokenReader(remembered=_REMEMBERED)
        self._forms: Forms | None = None
        self._texts: list[str] = []

    def __call__(self, names: Sequence[str]) -> list[str]:
        """The key of each name, in their order; empty for one without anything visible."""
        if not names:
            return []
        found = self._reader.read(names)
        texts = self._texts_of(found.known)
        forms = found.forms.tolist()
        breaks = np.flatnonzero(found.forms == found.known.row(BREAK)).tolist()
        words = [texts[form] for form in forms]
        return [" ".join(words[start + 1 : end]) for start, end in pairwise([-1, *breaks, len(words)])]

    def _texts_of(self, forms: Forms) -> list[str]:
        """The text of every form; only those that are new since the last call are decoded."""
        if forms is not self._forms:  # the reader begins anew when it knows too many
            self._forms, self._texts = forms, []
        known = len(self._texts)
        starts = forms.starts[known:]
        content = forms.bytes[int(starts[0]) :].tobytes()
        ends = (starts - starts[0]).tolist()
        self._texts += [content[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(ends)]
        return self._texts
