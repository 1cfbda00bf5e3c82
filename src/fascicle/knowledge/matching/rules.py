"""Matching rules: in which casings names of a dictionary match, and what never does."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

Casing = Literal["upper", "lower"]

_ENGLISH: Final = """
a about above after again against all also although always am among an and another any are as at be because been
before being below between both but by can cannot could did do does doing done down during each either else ever
every few for from further had has have having he hence her here hers herself him himself his how however i if in
into is it its itself just least less may me might mine more most much must my myself neither never no nor not now
of off often on once only or other others our ours ourselves out over own per rather same shall she should since so
some such than that the their theirs them themselves then there therefore these they this those though through thus
to together too toward towards under until up upon us very via was we were what when where whereas whether which
while who whom whose why will with within without would yet you your yours yourself yourselves
"""
# Function words: none is a name on its own.
ENGLISH_STOP_WORDS: Final = frozenset(_ENGLISH.split())


@dataclass(frozen=True, kw_only=True)
class MatchingRule:
    """What of a text counts as a name of a dictionary.

    Attributes:
        name: of the rule.
        casings: in which each name matches besides the one that it is written in.
        stop_words: in lower case; a name of one word that is among them (in lower case, in capitals, or with a capital)
            matches nothing.
        untyped: whether phrases without a type take part: where one is chosen, nothing is known.
        as_written: types whose names have no form in lower case.
    """

    name: str
    casings: tuple[Casing, ...] = ()
    stop_words: frozenset[str] = frozenset()
    untyped: bool = False
    as_written: frozenset[str] = frozenset()

    def stop_forms(self) -> set[str]:
        """Every form of the stop words that matches nothing."""
        return {form for word in self.stop_words for form in (word.lower(), word.upper(), word.capitalize())}


RAW: Final = MatchingRule(name="raw")
THREE_CASINGS: Final = MatchingRule(
    name="three-casings",
    casings=("upper", "lower"),
    stop_words=ENGLISH_STOP_WORDS,
    untyped=True,
    as_written=frozenset({"PER", "ORG", "LOC"}),
)
RULES: Final = MappingProxyType({rule.name: rule for rule in (RAW, THREE_CASINGS)})
