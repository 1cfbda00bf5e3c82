"""Formulas, reagents and trade names of drugs: what is written like one is a chemical, whatever a
network says of its parts.

A formula has at least two symbols. It has a metal with its counterpart (``NaCl``), a symbol of two
letters and a number (``SOCl2``), a bracket (``Pd(PPh3)4``), water (``CuSO4·5H2O``), or it is one of
the common formulas of single letters, which look like genes otherwise (``H2SO4``). The symbols are
in ``assets/lexicon/chemistry.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from fascicle.core.lexicon import either, lexicon
from fascicle.core.mention import Mention, PlacedSpans, Span, contains

_CHEMICAL: Final = "Chemical"
_SCORE: Final = 0.9
# what is before the first letter is looked at behind it: a search for a letter alone is fast
_TRADE_NAME: Final = re.compile(r"[A-Z](?<![\w\u00b7-].)[A-Za-z]{3,}(?!\w)")
# a formula as MEDLINE wrote it, with its numbers in brackets: H(2)O(2)
_BRACKETED: Final = re.compile(
    r"(?<![\w\u00b7-])(?=\w+\()(?:[A-Z][a-z]?(?:\(\d{1,2}\))?){2,8}(?![\w'(]|-\d)"
)
_BRACKETS: Final = str.maketrans("", "", "()")
_FEWEST: Final = 6  # letters of a trade name in capitals; shorter ones may be symbols
# web addresses, DOIs, InChI and paths of files, in which a formula is a part of a name
_ADDRESS: Final = re.compile(
    r"(?<!\S)(?:(?=\S*?(?:://|InChI=|www\.|\b10\.\d{4,9}/))"
    r"|(?=[^\w\s/]*(?:[A-Z]:)?/[^\s/]+/)"
    r"|(?=\S*/)(?=\S*?(?:[a-z]{2}_|(?<=/)[a-z]{2,}\d+(?![^\s/.,;:)])"
    r"|\.(?:csv|cif|gz|html?|jpe?g|json|pdf|png|sdf|tsv|txt|xlsx?|xml|zip)\b)))\S+"
)


class _Patterns(NamedTuple):
    """Patterns of candidates, of what is a formula or a reagent without further conditions, and
    of symbols.
    """

    candidate: re.Pattern[str]
    sure: re.Pattern[str]
    symbol: re.Pattern[str]
    metal: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    chemistry = lexicon("chemistry")
    symbols = _by_letter((*chemistry["groups"], *chemistry["metals"], *chemistry["others"]))
    metals, reagents = either(chemistry["metals"]), _by_letter(chemistry["reagents"])
    simple = "|".join(chemistry["simple"])
    unit = rf"(?:{symbols})(?:[2-9]|[1-9]\d)?"
    inner = rf"\((?:{unit}){{1,12}}\)\d{{0,2}}"
    square = rf"\[(?:{unit}|{inner}){{1,12}}\]\d{{0,2}}"
    water = rf"\s?[\u00b7\u2022\u2219*]\s?(?:\d{{0,2}}H2O|(?:{unit}){{1,6}})"
    formula = rf"(?:{unit}|{inner}|{square}){{2,14}}(?:{water})?"
    salt = rf"(?:(?:{metals})\d?){{1,2}}(?:{either(chemistry['counterparts'])})"
    return _Patterns(
        candidate=re.compile(rf"(?<![\w\u00b7-])(?:{reagents}|{formula})(?![\w']|-\d|\()"),
        sure=re.compile(rf"{reagents}|{simple}|(?!K[A-Z]\b){salt}"),
        symbol=re.compile(symbols),
        metal=re.compile(metals),
    )


def _by_letter(words: Iterable[str]) -> str:
    """Returns the pattern of `either`, in which most words are ruled out by their first letter."""
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(word[0], []).append(word[1:])
    return "|".join(f"{re.escape(first)}(?:{either(rest)})" for first, rest in groups.items())


def find_formulas(text: str) -> Iterator[Span]:
    """Yields the ranges of formulas, reagents and trade names in a text with plain characters, each
    of the kinds in order; none in an address or a path.
    """
    formulas = (m for m in _patterns().candidate.finditer(text) if _is_formula(m[0]))
    trade_names = (m for m in _TRADE_NAME.finditer(text) if m[0] in _trade_names())
    bracketed = (m for m in _BRACKETED.finditer(text) if _is_plain(m[0].translate(_BRACKETS)))
    spans = [match.span() for match in (*formulas, *bracketed, *trade_names)]
    if spans:  # addresses are sought last, as few texts have both
        addresses = PlacedSpans(match.span() for match in _ADDRESS.finditer(text))
        yield from (span for span in spans if not addresses.overlapping(span))


@cache
def _trade_names() -> frozenset[str]:
    chemistry = lexicon("chemistry")
    names = (*chemistry["trade_names"], *chemistry["drugs"])
    return frozenset((*names, *(name.upper() for name in names if len(name) >= _FEWEST)))


def _is_plain(formula: str) -> bool:
    return bool(_patterns().candidate.fullmatch(formula)) and _is_formula(formula)


def _is_formula(text: str) -> bool:
    patterns = _patterns()
    if patterns.sure.fullmatch(text):
        return True
    symbols = patterns.symbol.findall(text)
    has_name = any(len(symbol) > 1 for symbol in symbols)
    has_nonmetal = not all(map(patterns.metal.fullmatch, symbols))
    return len(symbols) > 1 and has_name and has_nonmetal and not text.isalpha()


def with_formulas(
    mentions: Sequence[Mention], formulas: Sequence[Span], *, source: str
) -> list[Mention]:
    """Returns mentions of which those within a formula are replaced by the formula.

    Args:
        mentions: of a document.
        formulas: in it.
        source: of the mentions that are added.
    """
    places, rest = PlacedSpans(formulas), list[Mention]()
    best: dict[Span, float] = dict.fromkeys(formulas, _SCORE)
    for mention in mentions:
        around = list(places.overlapping(mention.spans[0])) if len(mention.spans) == 1 else []
        inside = [span for span in around if contains(span, mention.spans[0])]
        if not inside:
            rest.append(mention)
            for span in around:  # the formula is a part of a longer name
                best.pop(span, None)
        elif mention.type == _CHEMICAL and inside[0] in best:
            best[inside[0]] = max(best[inside[0]], mention.score or 0.0)
    return [
        *rest,
        *(Mention((span,), _CHEMICAL, score=score, source=source) for span, score in best.items()),
    ]
