"""Characters in their normalised form, and the case that a name must have in a text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

_NAMES: Final = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma "
    "tau upsilon phi chi psi omega"
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
_PLAIN_SIGNS: Final = ("-", "'", '"', "/")
_POINTS: Final = range(
    10,
    37,
    # combining classes of vowel points of Hebrew, Arabic and Syriac, which are mostly left out in
    # writing
)
_CONTROL: Final = re.compile(r"[\0-\x1f\x7f]")
_SYMBOL: Final = 6  # letters and digits
_SHORT: Final = 4


@lru_cache(maxsize=1 << 14)
def fold_character(letter: str) -> str:
    """Returns the folded form of a character, alone or with its marks: none, one or several
    characters.

    Small and capital letters count as the same, a Greek letter as its name, any dash as ``-``, any
    apostrophe or prime as ``'``, any decimal digit as that of ASCII. White space counts as a blank.
    Accents, invisible characters and the signs of trade marks do not count. Marks that make another
    letter stay on letters, but not on those of ASCII.
    """
    if len(letter) == 1:
        parts = _parts(letter)
    else:  # marks are put in their canonical order
        parts = unicodedata.normalize(
            "NFD", "".join(map(_parts, unicodedata.normalize("NFD", letter)))
        )
    folded: list[str] = []
    for part in parts:
        before = folded[-1] if folded else " "
        takes_marks = before.isalpha() and not before.isascii()
        if not unicodedata.combining(part) or unicodedata.combining(before) or takes_marks:
            folded.append(part)
    # a Japanese voicing mark of half width is a letter where it stands alone
    lone = not folded and letter[:1].isalnum()
    return letter[0] if lone else "".join(folded)


@lru_cache(maxsize=1 << 14)
def extends_previous(character: str) -> bool:
    """True if a character belongs to the one before it: a combining mark, or a character that is
    ignored.
    """
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) != 0 or not _parts(
        character
    )


def character_class(character: str) -> int:
    """Returns the class of a folded character: letter, digit, sign or blank."""
    if character.isalpha():
        return LETTER
    if character.isnumeric():
        return DIGIT
    if character.isspace():
        return BLANK
    return LETTER if unicodedata.category(character)[0] == "M" else SIGN


def _parts(character: str) -> str:
    """Returns the folded form of a character, whatever precedes it."""
    if character in _MARKS_OF_OWNERS:
        return ""
    now, before = unicodedata.normalize("NFD", character), ""
    if now in _APOSTROPHES:
        return "'"
    while now != before:  # a few characters take two rounds
        before, now = now, unicodedata.normalize("NFKD", now.upper().casefold())
    folded = "".join(map(_part, now))
    # points of Arabic that stand alone
    return folded if folded.strip() or not character.isalpha() else character


def _part(character: str) -> str:
    """Returns the folded form of a character that is already decomposed and in lower case."""
    category = unicodedata.category(character)
    if character in GREEK or character in _LATIN:
        return GREEK.get(character) or _LATIN[character]
    if category == "Pd" or character in _OTHER_DASHES:
        return "-"
    if category == "Nd":
        return str(unicodedata.decimal(character))
    for several, plain in ((_APOSTROPHES, "'"), (_QUOTES, '"'), (_SLASHES, "/")):
        if character in several:
            return plain
    if category == "Cc" or category[0] == "Z":
        return " "
    return "" if _invisible(character) or _diacritic(character, category) else character


def _diacritic(character: str, category: str) -> bool:
    """True if a mark changes how a letter is written or sounds, but not which one it is; vowel
    signs are letters.
    """
    kind = unicodedata.combining(character)
    return category == "Me" or kind == 1 or kind in _POINTS or kind >= 200


def _invisible(character: str) -> bool:
    code = ord(character)
    selects = 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or 0x180B <= code <= 0x180F
    return unicodedata.category(character) == "Cf" or code in (0x34F, 0x17B4, 0x17B5) or selects


def plain_signs(word: str) -> str:
    """Returns a word with plain dashes, apostrophes, quotes and slashes, and letters and digits in
    their usual form (NFKC): ``ﬁ`` is ``fi``; invisible characters do not count. Case and accents
    stay, and a word that would become several stays as it is but for composed accents (NFC).
    """
    if word.isascii():
        return word
    plain = unicodedata.normalize("NFKC", "".join(map(_plain_sign, word)))
    return plain if len(plain.split()) == 1 else unicodedata.normalize("NFC", word)


@lru_cache(maxsize=1 << 12)
def _plain_sign(character: str) -> str:
    folded = _parts(character)
    return folded if folded in _PLAIN_SIGNS or _invisible(character) else character


class _Folded(NamedTuple):
    """Folded text with a map to its source.

    Attributes:
        text: folded.
        starts: for each of its characters, where what it comes from starts in the source, in code
            points.
        ends: and one past where that ends; a letter and the marks on it are one.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def fold(text: str) -> _Folded:
    """Folds a text character by character, each together with the marks on it.

    Several folded characters may come from one place (``β`` is ``beta``), and a place may give
    none.
    """
    if text.isascii():
        plain = _CONTROL.sub(" ", text.lower()).replace("`", "'")
        return _Folded(plain, range(len(text)), range(1, len(text) + 1))
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    while at < len(text):
        end = at + 1
        while end < len(text) and not text[end].isascii() and extends_previous(text[end]):
            end += 1
        part = fold_character(text[at:end])
        parts.append(part)
        starts += [at] * len(part)
        ends += [end] * len(part)
        at = end
    return _Folded("".join(parts), starts, ends)


class CasePolicy(IntEnum):
    """Case policy of a name: any case, its own except for the first letter, or exactly its own.

    A ``symbol`` has exactly its own case too, and neither the ``s`` of a plural nor a blank that it
    does not have.
    """

    any = 0
    initial = 1
    exact = 2
    symbol = 3


def case_fits(text: str, surface: str, policy: int) -> bool:
    """True if the surface in a text has the case of a name.

    Signs and blanks do not count, and either may be the other with the ``s`` of a plural: ``CATs``
    fits ``CAT``, and ``CATS`` does not. A symbol is a name of at most six letters and digits
    without a small one. Of letters alone, it is neither a plural nor a number, whatever case it may
    have: ``did`` does not fit ``DIDS``, nor ``8`` ``VIII``. If the text has a blank in it that the
    name does not have, its case counts: ``was 1`` does not fit ``WAS1``; and if it has at most four
    letters and digits, it is not there: ``CI 30`` does not fit ``CI30``, nor ``per 1`` ``Per1``.

    Args:
        text: in the text.
        surface: the name.
        policy: a `CasePolicy`.
    """
    if text == surface:
        return True
    letters, other = cased_letters(text), cased_letters(surface)
    parted = len(text.split()) > len(surface.split())
    if policy == CasePolicy.symbol:
        return letters == other and not parted
    if policy == CasePolicy.any:
        # ``Per1``, as mice have it
        numbered = parted and other[:1].isupper() and other[-1:].isdigit()
        if len(other) > _SYMBOL or (other != other.upper() and not numbered):
            return True
        if surface.isalpha():
            return not is_inflected(text, surface)
        if not parted or len(other) <= _SHORT:
            return not parted
    if policy == CasePolicy.initial:
        letters, other = letters[:1].lower() + letters[1:], other[:1].lower() + other[1:]
    return letters == other or letters == other + "s" or letters + "s" == other


def is_inflected(text: str, surface: str) -> bool:
    """True if a surface with the key of a name is another form of it; only a symbol allows no such
    forms.

    ``serum`` is not ``SERA``, ``man`` not ``MEN``, ``CARS`` not ``CAR``; ``CARs`` and ``cars`` are.

    Args:
        text: in a text, or given.
        surface: the name.
    """
    if not is_symbol(surface):
        return False
    letters = cased_letters(text)
    return cased_letters(surface) not in (letters.upper(), letters.removesuffix("s").upper())


def is_mixed(text: str) -> bool:
    """True for at most six letters and digits, capital and small ones as no word has them:
    ``CaP``.
    """
    letters = cased_letters(text)
    plain = (letters.upper(), letters.capitalize(), letters.lower())
    return len(letters) <= _SYMBOL and letters not in plain


def is_symbol(surface: str) -> bool:
    """True for a name of at most six capital letters and nothing else, which in lower case is
    often a common word.
    """
    return surface.isalpha() and surface.isupper() and len(surface) <= _SYMBOL


def cased_letters(text: str) -> str:
    """Returns the folded letters and digits of a text in their case."""
    if text.isascii():
        return "".join(filter(str.isalnum, text))
    folded = fold(text)
    letters: list[str] = []
    for at, (letter, start) in enumerate(zip(folded.text, folded.starts, strict=True)):
        alone = (at == 0 or folded.starts[at - 1] != start) and start not in folded.starts[
            at + 1 : at + 2
        ]
        letters.append(letter.upper() if alone and text[start].isupper() else letter)
    return "".join(filter(str.isalnum, letters))
