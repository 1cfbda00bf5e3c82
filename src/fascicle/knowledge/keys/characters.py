"""What each character counts as in a key, apart from those around it."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from types import MappingProxyType
from typing import Final

_NAMES: Final = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi"
    " psi omega"
)
GREEK: Final = MappingProxyType(dict(zip("αβγδεζηθικλμνξοπρστυφχψω", _NAMES.split(), strict=True)))
_LATIN: Final = MappingProxyType(  # these have no decomposition
    {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t"}
)
LETTER, DIGIT, SIGN, BLANK = 1, 2, 3, 4
_APOSTROPHES: Final = "'`´‘’‛ʹʼˊˋ′‵＇"
_QUOTES: Final = "“”„‟«»〝〞"
_OTHER_DASHES: Final = "−⁃˗"
_MARKS_OF_OWNERS: Final = "™℠®©℗"
_SLASHES: Final = "⁄∕"
_POINTS: Final = range(
    10, 37
)  # combining classes of vowel points of Hebrew, Arabic and Syriac, which are mostly left out in writing


@lru_cache(maxsize=1 << 14)
def folded(letter: str) -> str:
    """What a character counts as, alone or with the marks on it: none, one or several characters.

    Small and capital letters count as the same, a Greek letter as its name, any dash as ``-``, any apostrophe or prime
    as ``'``, any decimal digit as that of ASCII. White space counts as a blank. Accents, invisible characters and the
    signs of trade marks do not count. Marks that make another letter stay on letters, but not on those of ASCII.
    """
    if len(letter) == 1:
        parts = _parts(letter)
    else:  # marks are put in their canonical order
        parts = unicodedata.normalize("NFD", "".join(map(_parts, unicodedata.normalize("NFD", letter))))
    kept: list[str] = []
    for part in parts:
        before = kept[-1] if kept else " "
        if not unicodedata.combining(part) or unicodedata.combining(before) or _takes_marks(before):
            kept.append(part)
    lone = not kept and letter[:1].isalnum()  # a Japanese voicing mark of half width is a letter where it stands alone
    return letter[0] if lone else "".join(kept)


@lru_cache(maxsize=1 << 14)
def extends(character: str) -> bool:
    """Whether a character belongs to the one before it: a mark, or one that does not count."""
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) != 0 or not _parts(character)


def group(character: str) -> int:
    """Whether a folded character is a letter, a digit, a sign or a blank."""
    if character.isalpha():
        return LETTER
    if character.isnumeric():
        return DIGIT
    if character.isspace():
        return BLANK
    return LETTER if unicodedata.category(character)[0] == "M" else SIGN


def _parts(character: str) -> str:
    """What a character counts as, whatever stands before it."""
    if character in _MARKS_OF_OWNERS:
        return ""
    now, before = unicodedata.normalize("NFD", character), ""
    if now in _APOSTROPHES:
        return "'"
    while now != before:  # a few characters take two rounds
        before, now = now, unicodedata.normalize("NFKD", now.upper().casefold())
    kept = "".join(map(_part, now))
    return kept if kept.strip() or not character.isalpha() else character  # points of Arabic that stand alone


def _part(character: str) -> str:
    """What a character counts as that is decomposed and in lower case already."""
    category = unicodedata.category(character)
    if character in GREEK or character in _LATIN:
        return GREEK.get(character) or _LATIN[character]
    if category == "Pd" or character in _OTHER_DASHES:
        return "-"
    if category == "Nd":
        return str(unicodedata.decimal(character))
    for several, one in ((_APOSTROPHES, "'"), (_QUOTES, '"'), (_SLASHES, "/")):
        if character in several:
            return one
    if category == "Cc" or category[0] == "Z":
        return " "
    return "" if _invisible(character) or _diacritic(character, category) else character


def _takes_marks(letter: str) -> bool:
    return letter.isalpha() and not letter.isascii()


def _diacritic(character: str, category: str) -> bool:
    """Marks that change how a letter is written or sounds, but not which one it is; vowel signs are letters."""
    kind = unicodedata.combining(character)
    return category == "Me" or kind == 1 or kind in _POINTS or kind >= 200


def _invisible(character: str) -> bool:
    code = ord(character)
    return unicodedata.category(character) == "Cf" or code in (0x34F, 0x17B4, 0x17B5) or _selects(code)


def _selects(code: int) -> bool:
    """Variation selectors."""
    return 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or 0x180B <= code <= 0x180F
