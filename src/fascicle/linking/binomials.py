"""Full names of species whose genus a text shortens: ``Mycoplasma bovis`` for ``M. bovis``."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from fascicle.core.lazy import cached_property

_LETTERS: Final = 5  # of a genus before the full stop: S., Str., Staph.
_NO_EPITHET: Final = r"(?!(?:virus|phage|cell|mice|mouse|rat|strain|bacteri|fever|protein|gene)\w*)"
_SHORT: Final = re.compile(
    rf"([A-Z](?:[a-z]{{0,{_LETTERS - 1}}}\.|(?=\s)))\s?{_NO_EPITHET}([a-z][a-z-]{{2,}})"
)
_FULL: Final = re.compile(r"(?<![\w-])([A-Z][a-z-]{2,})\s+([a-z][a-z-]{2,})(?![\w-])")


def is_shortened(name: str) -> bool:
    """True for the name of a species whose genus is shortened."""
    return _SHORT.fullmatch(name) is not None


class Binomials:
    """Names of species in a text; the text is searched when a shortened one is first asked for."""

    def __init__(self, text: str) -> None:
        """Sets the text of a document."""
        self._text = text

    def full(self, name: str, place: int) -> str:
        """Returns a name with the genus of the full names before a place that it may shorten, or
        else of those behind it; the name itself if there are none, or they have several genera.

        Args:
            name: of a species, with what follows it: ``E. coli K-12``.
            place: of the name in the text.
        """
        short = _SHORT.match(name)
        genera = self._genera.get((short[1].rstrip("."), short[2]), ()) if short else ()
        before = genera[: bisect_left(genera, (place, ""))] or genera
        if short is None or len({genus for _, genus in before}) != 1:
            return name
        return f"{before[0][1]} {name[short.start(2) :]}"

    @cached_property
    def _genera(self) -> Mapping[tuple[str, str], Sequence[tuple[int, str]]]:
        """First letters of a genus and the second word of a name -> places and genera."""
        genera: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
        for match in _FULL.finditer(self._text):
            for letters in range(1, min(_LETTERS, len(match[1]) - 1) + 1):
                genera[match[1][:letters], match[2]].append((match.start(), match[1]))
        return genera
