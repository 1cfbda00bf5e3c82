"""Proteins of pathogens that are written like genes of people."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache

from fascicle.core.lexicon import either, lexicon


@cache
def _organisms() -> Mapping[str, tuple[re.Pattern[str], ...]]:
    """Returns protein -> patterns for the names of the organisms that have it."""
    patterns = defaultdict[str, list[re.Pattern[str]]](list)
    for pathogen in lexicon("pathogens")["pathogens"]:
        pattern = _pattern(pathogen["organisms"])
        for protein in pathogen["proteins"]:
            patterns[protein].append(pattern)
    return {protein: tuple(own) for protein, own in patterns.items()}


def _pattern(names: list[str]) -> re.Pattern[str]:
    """Returns the pattern for names; only those without a small letter are read with their case."""
    exact = either(name for name in names if name.isupper())
    loose = either(name for name in names if not name.isupper())
    parts = [*filter(None, (exact, loose and f"(?i:{loose})"))]
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(parts)})(?![^\W\d_])")


def pathogen_in(text: str, protein: str) -> str:
    """Returns the name of a pathogen in a text that has a protein with this name, which is then no
    gene of people; empty if there is none.

    Args:
        text: of the document.
        protein: as it is written in the text.
    """
    matches = (pattern.search(text) for pattern in _organisms().get(protein, ()))
    return next((match[0] for match in matches if match), "")
