"""Telling the encoding of a file: by its byte order mark, or by bytes that UTF-8 cannot have.

A guess is made only where it can be trusted, and whoever reads the file is told of it.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

AUTO: Final = "auto"
WESTERN: Final = "windows-1252"
BY_MARK: Final = "its byte order mark says so"
GUESSED: Final = "this was guessed from its bytes, which are not UTF-8; name another one with encoding=NAME"
# UTF-32 first, since its mark begins with that of UTF-16.
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UTF8: Final = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")
# Letters with marks that one language uses. Languages whose letters other code pages have in these places are left out
# (Icelandic: the same bytes are Turkish).
_ALPHABETS: Final = (
    "äöüßéèàáïëçñ",  # German, Dutch, and names in them
    "àâæçéèêëîïôœùûüñ",  # French
    "áéíóúüñçàèòï·ªº",  # Spanish, Catalan, Galician
    "áâãàçéêíóôõúüªº",  # Portuguese
    "àèéìíòóùúîªº",  # Italian
    "æøåäöéüèôóò",  # Danish, Norwegian, Swedish, Finnish
)
_SMALL: Final = "a-zà-öø-ÿšœž"
_CAPITAL: Final = "A-ZÀ-ÖØ-ÞŠŒŽŸ"
# Signs that no word of any language has inside, and capitals in the middle of small letters: what bytes of other code
# pages look like here. The middle dot, the soft hyphen and the degree sign may be in words; for others see `_is_odd`.
# Few texts need these patterns, so they are compiled when they are.
_ODD: Final = (
    rf"(?<=[{_SMALL}{_CAPITAL}])[€‚ƒ„…†‡ˆ‰‹‘“”•˜›¡¢£¤¥¦§¨©«¬¯±²³¶¸¹»¼½¾¿×÷](?=[{_SMALL}{_CAPITAL}])"
    rf"|(?<=[{_SMALL}])[À-ÖØ-ÞŠŒŽŸ]|[ªº](?=[{_SMALL}])"
    "|[þÞÿŸðÐýÝšŠžŽƒ¤¦¨¯¸]"  # rare in texts of these languages; 0xff and 0xfe are what damaged files have
    # Letters where MS-DOS or a Mac has a quotation mark or a sign of units, and signs where they have letters.
    rf"|(?<![{_SMALL}{_CAPITAL}])(?:[ÒÓÔÕñø]|æ[mglsLMVA]?|øC)(?![{_SMALL}{_CAPITAL}])|[ÒÔ](?=[A-Z][a-z])"
    rf"|(?<=[{_SMALL}])[§¢£](?!\w)|¥(?!\s?\d)|(?<=\d)«|(?<![\w)\]])[¹²³](?=\s?\d)|(?<=\s)”(?=[{_SMALL}])"
)
# Where an apostrophe, a dash or a no-break space joins two words; in other code pages these bytes are letters.
_LETTER: Final = f"[{_SMALL}{_CAPITAL}]"
# From the first letter of a word on, and without going back: a line may be one word of millions of letters.
_JOINT: Final = rf"(?<!{_LETTER})({_LETTER}++)([’–—\xa0])(?=({_LETTER}++))"
_AFTER_APOSTROPHE: Final = frozenset({"s", "t", "d", "m", "re", "ve", "ll", "em", "er", "n", "clock"})
_BEFORE_APOSTROPHE: Final = frozenset(
    {
        *(
            "l",
            "d",
            "j",
            "m",
            "n",
            "s",
            "t",
            "c",
            "qu",
            "jusqu",
            "lorsqu",
            "puisqu",
            "quelqu",
            "presqu",
            "aujourd",
            "o",
        ),
        *("dell", "all", "nell", "sull", "dall", "un", "quest", "quell", "com", "dov", "cos", "anch", "sant", "entr"),
    }
)
_VOWELS: Final = "aeiouyhàâäáèéêëìíîïòóôöùúûüœæ"
_SHORT_WORDS: Final = frozenset(
    {
        *(
            "a",
            "i",
            "an",
            "as",
            "at",
            "be",
            "by",
            "do",
            "go",
            "he",
            "if",
            "in",
            "is",
            "it",
            "me",
            "my",
            "no",
            "of",
            "on",
        ),
        *("or", "so", "to", "up", "us", "we", "co", "re", "de", "un", "bi", "di", "ex"),
    }
)
_LETTER_WORDS: Final = "aàeéioóuy"
_SIGNS: Final = "µªºƒˆ"  # letters to Unicode, but not of a word
_FOREIGN_SHARE: Final = 100  # at most one letter in so many may be outside of the best alphabet
_ODD_SHARE: Final = 50  # at most one in so many characters that are not ASCII may be in an odd place


def by_mark(head: bytes) -> str:
    """The encoding that a byte order mark at the beginning of a file says; empty for none, and for that of UTF-8."""
    return next((name for mark, name in _MARKS if head.startswith(mark)), "")


def head_text(head: bytes, *, codec: str = "utf-8") -> str:
    """The text of the beginning of a file, without its byte order mark; what cannot be decoded is replaced.

    Args:
        head: the first bytes.
        codec: of the file, unless a byte order mark names another.
    """
    return head.decode(by_mark(head) or codec, errors="replace").removeprefix("\ufeff")


def is_western(parts: Iterable[bytes]) -> bool:
    """Whether the bytes of a file are Windows-1252, as far as that can be told.

    It is denied where a stretch of bytes is UTF-8 (then the file is UTF-8 with bad bytes), where a byte has no meaning
    in Windows-1252 or is a control character, and where the letters, but for a few, are not those of one language of
    Western Europe, or are in places where no language has them: other code pages of one byte look so.

    Args:
        parts: of the file, cut between lines.
    """
    seen: Counter[str] = Counter()
    odd = letters = 0
    for part in parts:
        if _UTF8.search(part) or _CONTROL.search(part):
            return False
        try:
            text = part.decode("cp1252")
        except UnicodeDecodeError:
            return False
        seen.update(_NOT_ASCII.findall(text))
        odd += len(re.findall(_ODD, text))
        odd += sum(_is_odd(*joint.groups()) for joint in re.finditer(_JOINT, text))
        letters += sum(map(str.isalpha, text))
    marked = {sign: count for sign, count in seen.items() if sign.isalpha() and sign not in _SIGNS}
    outside = min(
        sum(count for sign, count in marked.items() if sign.lower() not in alphabet) for alphabet in _ALPHABETS
    )
    return outside * _FOREIGN_SHARE <= letters and odd * _ODD_SHARE <= seen.total()


def _is_odd(left: str, sign: str, right: str) -> bool:
    """Whether an apostrophe, a dash or a no-break space between these letters is hardly one."""
    if sign == "’":
        begins, ends = left.lower() in _BEFORE_APOSTROPHE, right.lower() in _AFTER_APOSTROPHE
        name = len(left) == 1 and left.isupper() and right[0].isupper()
        return not (ends or name or (begins and right[0].lower() in _VOWELS))
    if not (left[-1].islower() and right[0].islower()):
        return False
    if sign == "\xa0":
        return any(len(part) == 1 and part.lower() not in _LETTER_WORDS for part in (left, right))
    return any(len(part) < 3 and part.lower() not in _SHORT_WORDS for part in (left, right))
