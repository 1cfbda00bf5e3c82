"""Numbers behind names that are the results of measurements, whatever the name is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fascicle.core.mention import Span, contains

# elements with the number of an isotope, but for those that blood is tested for
ISOTOPE: Final = (
    r"(?i:(?!sodium|potassium|calcium|magnesium)[a-z]+(?:ium|um)|carbon|(?:fluor|iod)ine|xenon"
    r"|radon|krypton|cobalt|copper|gold|iron|zinc|tin|silver|lead|sul(?:f|ph)ur|phosphorus"
    r"|(?:hydro|nitro|oxy)gen|bismuth)\s"
)
_POLYMER: Final = r"(?:PEG|macrogol|.*glycol)\s"  # whose number is its mass
_WITH_NUMBER: Final = re.compile(rf"(?!{ISOTOPE}|{_POLYMER})(.*\w)\s(\d{{1,4}}(?:\.\d+)?)")
_ITEM: Final = (
    r"[A-Za-z][\w/-]*(?:\s[A-Za-z][\w-]*)?\s\d{1,4}(?:\.\d+)?%?(?:\s[\w/%µμ]{1,8}(?=[,;.]))?"
)
_LIST: Final = re.compile(rf"\b{_ITEM}(?:[,;]\s(?:and\s)?{_ITEM}){{2,}}")
_ITEM_NAME: Final = re.compile(r"(?:\A|[,;]\s(?:and\s)?)([A-Za-z][^,;]*?)\s\d")
_REACH: Final = 200  # characters before and behind a name in which other results are sought
_UNIT: Final = re.compile(
    r"\s?(?:%|mm\s?Hg|(?:[kmµμunp]?g|mcg|[mµμnp]?mol|mEq|[mµμk]?I?U)(?:/\w+)?(?![\w-]))"
)
_MEASURED: Final = re.compile(rf"\.\d|\d{_UNIT.pattern}")
# Numbers of one or two digits belong to genes (IL 6) and to chemicals in capitals (PGE 2), but for
# activities of enzymes, as in ALT 80 U/L
_SMALL: Final = 2
_CHEMICAL_WORD: Final = re.compile(r"(?![Oo]mega)[A-Za-z][a-z ]*[a-z]{2}")
_ACTIVITY: Final = re.compile(r"(?<=\d\d)\s?I?U/[Ll]\b")
# electrolytes with numbers that are usual in blood, and no isotopes or antigens: Na 22, Ca 125
_ELECTROLYTE: Final = re.compile(
    r"Na\s1\d\d|K\s\d\.\d+|Cl\s(?:[89]|1[0-3])\d|Ca\s1?\d\.\d+|Mg\s\d\.\d+"
)


def name_of_result(text: str, span: Span, *, kind: str) -> str:
    """Returns the name before the number at the end of a range, if the number is the result of a
    measurement: with a unit, with an electrolyte, or in a list of results, such as
    ``Na 138, K 4.2, BNP 900``. Empty for all others, such as ``IL 6``.

    Args:
        text: of the document, with plain characters.
        span: of a mention.
        kind: type of the mention.
    """
    match = _WITH_NUMBER.fullmatch(text, *span)
    if not match:
        return ""
    is_result = _ELECTROLYTE.fullmatch(text, *span) or (
        not _may_be_of_name(match, kind)
        and (
            _UNIT.match(text, span[1])
            or any(contains(place, span) for place in _lists_near(text, span))
        )
    )
    return match[1] if is_result else ""


def _may_be_of_name(match: re.Match[str], kind: str) -> bool:
    """True if a number may belong to the name before it."""
    is_word = kind == "Chemical" and _CHEMICAL_WORD.fullmatch(match[1])
    return len(match[2]) <= _SMALL and not (is_word or _ACTIVITY.match(match.string, match.end()))


def _lists_near(text: str, span: Span) -> Iterator[Span]:
    """Yields the ranges of lists of results near a range, of which one has a unit or a decimal,
    all of other things: no ``CP 12, CP 14, CP 15``.
    """
    start, end = span
    for match in _LIST.finditer(text, max(0, start - _REACH), end + _REACH):
        names = [name.lower() for name in _ITEM_NAME.findall(match[0])]
        if len(set(names)) == len(names) and _MEASURED.search(match[0]):
            yield match.span()
