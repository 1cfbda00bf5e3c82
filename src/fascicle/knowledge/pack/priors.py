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
from typing import Final, NamedTuple

from fascicle.knowledge.keys.case import CasePolicy
from fascicle.knowledge.terms import NameKind

_SIGNS: Final = re.compile(r"[\W_]+")
_SHORT: Final = 3  # letters and digits of a name whose case always counts
_SHORT_CAPITALS: Final = 5  # letters of a name with capitals, such as an acronym, whose case counts
SYMBOLS: Final = frozenset({"Gene", "GeneFamily"})  # types with symbols such as Was and Impact
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
_VERY_COMMON: Final = 500  # words that are hardly ever names
_VERY: Final = 0.02  # what they keep
_COMMON: Final = 0.4  # what other common words keep


@cache
def common_words() -> Mapping[str, int]:
    """Common words in lower case -> rank from 1."""
    lines = Path(__file__).with_name("common_words.txt").read_text(encoding="ascii").splitlines()
    words = (line for line in lines if not line.startswith("#"))
    return MappingProxyType({word: rank for rank, word in enumerate(words, start=1)})


class Judged(NamedTuple):
    """What a name alone says.

    Attributes:
        case: its case policy.
        symbol: its case policy if it is of a type in `SYMBOLS`.
        probability: that it means any of its concepts where it stands in a text.
    """

    case: CasePolicy
    symbol: CasePolicy
    probability: float


def judged(surface: str) -> Judged:
    """The case policy of a name, and how probable it is that it is meant.

    Careful are names with at most three letters and digits, common words, and names with a capital behind the first
    letter and at most five letters and no digit. A careful name counts as it is written; it may begin with a capital if
    it has none, and without one if it is a common word with a capital in front, unless symbols are written so. All
    other names may have any case. Short names, numbers and common words are rarely meant.

    Args:
        surface: the name.
    """
    bare = _SIGNS.sub("", surface)
    lowered = surface.lower()
    rank = common_words().get(lowered)
    inner = surface[1:] != lowered[1:]
    careful = len(bare) <= _SHORT or rank is not None or (inner and len(bare) <= _SHORT_CAPITALS and bare.isalpha())
    case = symbol = CasePolicy.exact if careful else CasePolicy.any
    if careful and surface == lowered:
        case = symbol = CasePolicy.initial
    elif rank is not None and not inner and len(bare) > _SHORT:
        case = CasePolicy.initial
    probability = _BY_LENGTH[len(bare)] if len(bare) < len(_BY_LENGTH) else _LONG
    if bare.isdigit():
        probability = min(probability, _NUMBER)
    elif rank is not None:
        probability *= _VERY if rank <= _VERY_COMMON else _COMMON
    return Judged(case, symbol, probability)
