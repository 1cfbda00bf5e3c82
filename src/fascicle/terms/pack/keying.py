"""Keys of many names at once: those of `fascicle.terms.keys.key.key`, several times as fast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fascicle.terms.keys.forms import BREAK
from fascicle.terms.keys.reader import TokenReader

_REMEMBERED: Final = 1 << 18  # distinct words: vocabularies have more than texts


class KeyReader:
    """Computes keys of level 2; for one thread."""

    def __init__(self) -> None:
        """Starts without words."""
        self._reader = TokenReader(remembered=_REMEMBERED)

    def __call__(self, names: Sequence[str]) -> list[str]:
        """Returns the key of each name, in their order; empty for one without anything visible."""
        if not names:
            return []
        found = self._reader.read(names)
        texts = found.known.texts
        joined = " ".join([texts[form] for form in found.forms.tolist()])
        return [key.strip(" ") for key in joined.split(BREAK)]
