"""How careful to be with a name: whether its case counts, and how probable it is that the name means the concept.

Both are simple rules on the name itself, stated here; nothing is fitted. The list of common words is that of
``common_words.txt``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from fascicle.knowledge.keys.case import CasePolicy
from fascicle.knowledge.terms import NameKind

_SIGNS: Final = re.compile(r"[\W_]+")
_SHORT: Final = 3  # letters and digits of a name whose case always counts
# Share of a concept among those of a key, before they are made to sum up to 1.
WEIGHTS: Final[Mapping[NameKind, float]] = MappingProxyType(
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


@cache
def common_words() -> Mapping[str, int]:
    """Common words in lower case -> rank from 1."""
    lines = Path(__file__).with_name("common_words.txt").read_text(encoding="ascii").splitlines()
    words = (line for line in lines if not line.startswith("#"))
    return MappingProxyType({word: rank for rank, word in enumerate(words, start=1)})


def judged(surface: str) -> tuple[CasePolicy, float]:
    """The case policy of a name, and how probable it is that it means any of its concepts where it stands in a text.

    A name with at most three letters and digits, and one that is a common word, counts as it is written; if it has no
    capital, it may begin with one. Other names may have any case. Short names, numbers and common words are rarely
    meant.

    Args:
        surface: the name.
    """
    bare = _SIGNS.sub("", surface)
    lowered = surface.lower()
    rank = common_words().get(lowered)
    case = CasePolicy.initial if surface == lowered else CasePolicy.exact
    if len(bare) > _SHORT and rank is None:
        case = CasePolicy.any
    probability = _BY_LENGTH[len(bare)] if len(bare) < len(_BY_LENGTH) else _LONG
    if bare.isdigit():
        return case, min(probability, _NUMBER)
    if rank is not None:
        probability *= _VERY if rank <= _VERY_COMMON else _COMMON
    return case, probability
