"""Words of the field as data: the files in ``assets/lexicon``, which a biologist can mend.

Each file has a table ``examples``, whose entries are tests.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

FOLDER: Final = Path(__file__).parents[1] / "assets" / "lexicon"


@cache
def lexicon(name: str) -> Mapping[str, Any]:
    """Returns the lists and tables of a file, which is read once.

    Args:
        name: of the file, such as ``"species"``.
    """
    return MappingProxyType(tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8")))


@cache
def taxa(table: str = "words") -> Mapping[str, str]:
    """Returns the taxon of each word for a species, in small letters.

    Args:
        table: ``"weak"`` for words that count where no other one stands.
    """
    words = lexicon("species")[table].items()
    return MappingProxyType({word.lower(): taxon for taxon, names in words for word in names})


@cache
def small_words() -> frozenset[str]:
    """Returns the words of English that are no names, in small letters."""
    return frozenset(lexicon("languages")["words"]["English"])


def either(words: Iterable[str]) -> str:
    """Returns a pattern for one of some words, the longest first."""
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))
