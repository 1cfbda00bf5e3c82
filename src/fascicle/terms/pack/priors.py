"""Priors of names: whether the case of a name counts, and how probable it is that the name means
the concept.

Both are simple rules on the name itself, stated here; nothing is fitted. The list of common words
is that of ``common_words.txt``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from fascicle.terms.keys.characters import CasePolicy

_SIGNS: Final = re.compile(r"[\W_]+")
_SHORT: Final = 3  # letters and digits of a name whose case always counts
_SHORT_CAPITALS: Final = 5  # letters of a name with capitals, such as an acronym, whose case counts
# Share of a concept among those of a key, before they are made to sum up to 1.
WEIGHTS: Final = MappingProxyType(
    {
        "label": 1.0,
        "exact": 0.9,
        "abbreviation": 0.7,
        "narrow": 0.5,
        "generated": 0.5,
        "broad": 0.4,
        "related": 0.3,
        "previous": 0.4,
    }
)
PREFERRED: Final = 20.0  # times the weight of a concept that a rule prefers
# by letters and digits, see `_PAIRS` too; longer ones are `_LONG`
_BY_LENGTH: Final = (0.01, 0.05, 0.2, 0.6, 0.8)
_LONG: Final = 0.95
_NUMBER: Final = 0.01  # digits alone
_PAIR: Final = 2  # letters and digits of a name that is an abbreviation as a rule
_VERY: Final = 0.02  # what words that are hardly ever names keep
# By `NameStyle`. All were chosen on dev and train parts, see studies/docs/packs.md.
# rank of the last of the words that are hardly ever names
_VERY_COMMON: Final = (1_000, 1_000, 150, 1_000, 1_000, 0)
_COMMON: Final = (0.4, 0.1, 0.4, 0.4, 0.1, 1.0)  # what other common words keep
_PAIRS: Final = (0.2, 0.2, 0.2, 0.3, 0.2, 0.3)  # of two letters and digits
_OWN: Final = 0.6  # of a name of one's own, however short it is: that of three letters
_SHORT_ALIAS: Final = 0.4  # what an alias of at most three letters, without a digit, keeps


class NameStyle(IntEnum):
    """Style of the names of a type, which decides the prior of common words and of names of two
    letters.

    Attributes:
        words: words of a language, as of most types.
        symbols: made-up symbols, some of which are words: ``Was``, ``novel``.
        everyday: words that everybody uses: ``mice``, ``men``.
        ailments: as words, and vocabularies hold abbreviations of two letters as texts use them:
            ``MS``, ``RA``.
        aliases: symbols that are no label; short ones mostly mean something else: ``SSB``, ``CBF``.
        chosen: a rule prefers the concept, so that no word is too common for it.
        own: preferred names of a pack that is not careful: each is looked for.
    """

    words = 0
    symbols = 1
    everyday = 2
    ailments = 3
    aliases = 4
    chosen = 5
    own = 6


STYLES: Final[Mapping[str, NameStyle]] = MappingProxyType(
    {"Gene": NameStyle.symbols, "Species": NameStyle.everyday, "Disease": NameStyle.ailments}
)


@cache
def common_words() -> Mapping[str, int]:
    """Returns common words in lower case -> rank from 1."""
    lines = Path(__file__).with_name("common_words.txt").read_text(encoding="ascii").splitlines()
    words = (line for line in lines if not line.startswith("#"))
    return MappingProxyType({word: rank for rank, word in enumerate(words, start=1)})


class _NameJudgement(NamedTuple):
    """Case policies and probabilities that follow from a name alone.

    Attributes:
        case: its case policy.
        symbol: its case policy if it is of a type with symbols; `CasePolicy.symbol` in place of
            ``exact``.
        probabilities: the probabilities that it means any of its concepts where it occurs in a
            text, by `NameStyle`.
    """

    case: CasePolicy
    symbol: CasePolicy
    probabilities: tuple[float, ...]


def judge_name(surface: str) -> _NameJudgement:
    """Returns the case policy of a name, and the probability that it is meant.

    Careful are names with at most three letters and digits, common words, and names with a capital
    behind the first letter and at most five letters and no digit. A careful name counts as it is
    written; it may begin with a capital if it has none, and without one if it is a common word with
    a capital in front, unless symbols are written so. All other names may have any case. A careful
    symbol has no plural; one with a capital in front and at most five letters is careful too
    (``Clock``). Short names, numbers and common words are rarely meant.

    Args:
        surface: the name.
    """
    bare = _SIGNS.sub("", surface)
    lowered = surface.lower()
    rank = common_words().get(lowered)
    inner = surface[1:] != lowered[1:]
    careful = (
        len(bare) <= _SHORT
        or rank is not None
        or (inner and len(bare) <= _SHORT_CAPITALS and bare.isalpha())
    )
    case, symbol = (
        (CasePolicy.exact, CasePolicy.symbol) if careful else (CasePolicy.any, CasePolicy.any)
    )
    if surface[:1].isupper() and bare.isalpha() and len(bare) <= _SHORT_CAPITALS:
        symbol = CasePolicy.symbol
    if careful and surface == lowered:
        case = symbol = CasePolicy.initial
    elif rank is not None and not inner and len(bare) > _SHORT:
        case = CasePolicy.initial
    kind = _Letters(len(bare), is_number=bare.isdigit(), are_letters=bare.isalpha())
    return _NameJudgement(case, symbol, _probabilities(kind, rank))


class _Letters(NamedTuple):
    """What the probability of a name depends on: how many letters and digits it has, whether all
    are digits, and whether all are letters.
    """

    length: int
    is_number: bool
    are_letters: bool


@lru_cache(maxsize=1 << 12)
def _probabilities(letters: _Letters, rank: int | None) -> tuple[float, ...]:
    return tuple(_probability(letters, rank, style) for style in NameStyle)


def _probability(letters: _Letters, rank: int | None, style: NameStyle) -> float:
    """Returns the probability that a name of this style is meant, by its characters and its rank
    as common word.
    """
    count = letters.length
    probability = _BY_LENGTH[count] if count < len(_BY_LENGTH) else _LONG
    if style is NameStyle.own:
        return max(probability, _OWN)
    if letters.is_number:
        return min(probability, _NUMBER)
    if count == _PAIR:
        probability = _PAIRS[style]
    if rank is not None:
        probability *= _VERY if rank <= _VERY_COMMON[style] else _COMMON[style]
    if style is NameStyle.aliases and count <= _SHORT and letters.are_letters:
        probability *= _SHORT_ALIAS
    return probability
