"""Proteins of pathogens that are written like genes of people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from fascicle.core.lazy import cached_property
from fascicle.core.lexicon import either, lexicon

# "EBV-transformed", "HIV-negative" and "lentiviral vectors" are said of cells, people and tools
_NOT_OF_IT: Final = r"(?![\s-]+(?:transformed|immortali[sz]ed|negative|uninfected|free|vectors?)\b)"
_HYPHEN: Final = "[-\u2010\u2011\u2013]"


@cache
def _organisms() -> tuple[tuple[frozenset[str], re.Pattern[str]], ...]:
    """Returns the proteins of each pathogen, and the pattern for its names."""
    return tuple(
        (frozenset(pathogen["proteins"]), _pattern(pathogen["organisms"]))
        for pathogen in lexicon("pathogens")["pathogens"]
    )


def _pattern(names: list[str]) -> re.Pattern[str]:
    """Returns the pattern for names; only those without a small letter are read with their case."""
    exact = either(name for name in names if name.isupper())
    loose = either(name for name in names if not name.isupper())
    words = "|".join(filter(None, (exact, loose and f"(?i:{loose})")))
    words = words.replace(r"\-", _HYPHEN).replace(r"\ ", r"\s+")
    return re.compile(rf"(?<![^\W_])(?:{words})s?(?![^\W\d_]){_NOT_OF_IT}")


@cache
def _proteins() -> frozenset[str]:
    return frozenset().union(*(proteins for proteins, _ in _organisms()))


class Pathogens:
    """Proteins of the pathogens that a text names; the text is searched when it is first asked."""

    def __init__(self, text: str) -> None:
        """Sets the text of a document."""
        self._text = text

    def owner(self, protein: str) -> str:
        """Returns the name of a pathogen in the text that has a protein with this name, which is
        then no gene of people; empty if there is none.

        Args:
            protein: as it is written in the text.
        """
        return self._owners.get(protein, "") if protein in _proteins() else ""

    @cached_property
    def _owners(self) -> Mapping[str, str]:
        owners: dict[str, str] = {}
        for proteins, pattern in _organisms():
            if match := pattern.search(self._text):
                name = " ".join(match[0].split())
                owners |= {protein: name for protein in proteins if protein not in owners}
        return owners
