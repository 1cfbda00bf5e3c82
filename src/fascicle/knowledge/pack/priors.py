"""How careful to be with a name: whether its case counts, and how probable it is that the name means the concept.

Both are simple rules on the name itself, stated here; nothing is fitted. The list of common words is that of
``common_words.txt``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from fascicle.knowledge.terms import NameKind

_SHORT: Final = 3  # letters and digits of a name whose case always counts
# Share of a concept among those of a key, before they are made to sum up to 1.
_WEIGHTS: Final[Mapping[NameKind, float]] = MappingProxyType(
    {
        "label": 1.0,
        "exact": 0.9,
        "abbreviation": 0.7,
        "narrow": 0.5,
        "generated": 0.5,
        "broad": 0.4,
        "related": 0.3,
    }
)
PREFERRED: Final = 20.0  # times the weight of a concept that a rule prefers
_BY_LENGTH: Final = (0.01, 0.05, 0.3, 0.6, 0.8)  # by letters and digits; longer ones are `_LONG`
_LONG: Final = 0.95
_NUMBER: Final = 0.01  # digits alone
_VERY_COMMON: Final = 200  # words that are hardly ever names
_VERY: Final = 0.02  # what they keep
_COMMON: Final = 0.5  # what other common words keep


class Case(IntEnum):
    """Which case a name may have in a text: any, that of the name but for the first letter, or exactly its own."""

    any = 0
    initial = 1
    exact = 2


@cache
def common_words() -> Mapping[str, int]:
    """Common words in lower case -> rank from 1."""
    lines = Path(__file__).with_name("common_words.txt").read_text(encoding="ascii").splitlines()
    words = (line for line in lines if not line.startswith("#"))
    return MappingProxyType({word: rank for rank, word in enumerate(words, start=1)})


def case_of(surface: str) -> Case:
    """The case policy of a name.

    A name with at most three letters and digits, and one that is a common word, counts as it is written; if it has no
    capital, it may begin with one. Other names may have any case.

    Args:
        surface: the name.
    """
    lowered = surface.lower()
    if sum(map(str.isalnum, surface)) > _SHORT and lowered not in common_words():
        return Case.any
    return Case.initial if surface == lowered else Case.exact


def name_probability(surface: str) -> float:
    """How probable it is that a name means any of its concepts where it stands in a text.

    Args:
        surface: the name. Short names and common words are rarely meant.
    """
    letters = [letter for letter in surface if letter.isalnum()]
    found = _BY_LENGTH[len(letters)] if len(letters) < len(_BY_LENGTH) else _LONG
    if letters and "".join(letters).isdigit():
        return min(found, _NUMBER)
    rank = common_words().get(surface.lower())
    if rank is None:
        return found
    return found * (_VERY if rank <= _VERY_COMMON else _COMMON)


def weight_of(kind: NameKind, *, preferred: bool = False) -> float:
    """How much a concept counts among those of one key.

    Args:
        kind: of its name.
        preferred: whether a rule says that this concept is meant.
    """
    return _WEIGHTS[kind] * (PREFERRED if preferred else 1.0)
