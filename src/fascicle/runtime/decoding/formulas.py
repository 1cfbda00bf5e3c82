"""Formulas and reagents of chemistry: what is written like one is a chemical, whatever a network
says of its parts.

A formula has at least two symbols. It has a metal with its counterpart (``NaCl``), a symbol of two
letters and a number (``SOCl2``), a bracket (``Pd(PPh3)4``), water (``CuSO4·5H2O``), or it is one of
the common formulas of single letters, which look like genes otherwise (``H2SO4``). Symbols: IUPAC,
*Nomenclature of Inorganic Chemistry* (2005), table I.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from fascicle.core.mention import Mention, PlacedSpans, Span, contains

_CHEMICAL: Final = "Chemical"
_SCORE: Final = 0.9
_METALS: Final = (
    "Li Na K Rb Cs Be Mg Ca Sr Ba Al Ga In Sn Pb Bi Sb Ti Zr Cr Mo Mn Fe Ru Os Co Rh Ir Ni Pd Pt "
    "Cu Ag Au Zn Cd Hg Ce "
    "Sm Yb Sc Nd Gd Eu"
)
_OTHERS: Final = "H D B C N O F P S I V W Y U Si Cl As Se Br Te"
_GROUPS: Final = (  # as chemists shorten them
    "HMDS MeCN MeOH OtBu OEt OMe OAc OTf tBu nBu iPr Ph Et Bu Boc bpy dba acac dppf cod BMIM EMIM"
)
_COUNTERPARTS: Final = "Cl Br I F OH O H S CN SCN OAc OMe OEt OtBu OTf HMDS"
_SIMPLE: Final = (
    r"H2O2|D2O|[HDK]\d?H?\d?(?:CO3|SO[34]|NO[23]|PO4|IO[34]|CrO4|BO3)|KOH|KCN|KSCN|KMnO4|CO2|CS2|SO[23]|NO2|N2O4?|NH3|NH4OH"
    r"|CH4|CH3(?:OH|CN|I|COOH|NO2)|C2H5OH|C6H6|HCOOH|BF3|B2H6|SF6|CF4|P2O5"
)
_REAGENTS: Final = (
    "THF DMSO DMF EtOAc EtOH MeOH MeCN TFA HATU HBTU HOBt DIPEA DIBAL-H mCPBA m-CPBA TBAF DDQ "
    "HFIP AIBN BINAP TMSCl "
    "TBSCl DMAP EDCI PPTS TsOH p-TsOH TfOH Tf2O Ac2O DBU n-BuLi t-BuLi s-BuLi d6-DMSO DMSO-d6 "
    "AcOH HOAc PhMgBr Et2O"
)


def _either(spaced: str) -> str:
    return "|".join(sorted(spaced.split(), key=lambda name: (-len(name), name)))


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
    symbols, metals, reagents = (
        _either(f"{_GROUPS} {_METALS} {_OTHERS}"),
        _either(_METALS),
        _either(_REAGENTS),
    )
    unit = rf"(?:{symbols})(?:[2-9]|[1-9]\d)?"
    inner = rf"\((?:{unit}){{1,12}}\)\d{{0,2}}"
    square = rf"\[(?:{unit}|{inner}){{1,12}}\]\d{{0,2}}"
    water = rf"\s?[\u00b7\u2022\u2219*]\s?(?:\d{{0,2}}H2O|(?:{unit}){{1,6}})"
    formula = rf"(?:{unit}|{inner}|{square}){{2,14}}(?:{water})?"
    salt = rf"(?:(?:{metals})\d?){{1,2}}(?:{_either(_COUNTERPARTS)})"
    return _Patterns(
        candidate=re.compile(rf"(?<![\w\u00b7/-])(?:{reagents}|{formula})(?![\w'/]|-\d|\()"),
        sure=re.compile(rf"{reagents}|{_SIMPLE}|(?!K[A-Z]\b){salt}"),
        symbol=re.compile(symbols),
        metal=re.compile(metals),
    )


def find_formulas(text: str) -> Iterator[Span]:
    """Yields the ranges of formulas and of reagents in a text with plain characters, in order."""
    for match in _patterns().candidate.finditer(text):
        if _is_formula(match[0]):
            yield match.span()


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
