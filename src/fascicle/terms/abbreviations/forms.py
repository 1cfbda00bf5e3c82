"""Short forms and their long forms, by the algorithm of Schwartz and Hearst (PSB 2003), with
repairs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Final

LONGEST_SHORT: Final = 12  # characters; the paper has 10, which leaves out Fru-2,6-P(2)
_LONGEST_HYPHENATED: Final = 24  # of one word with a hyphen, as sp-PEG-mTNF-alpha-K90R
_ORDINARY: Final = re.compile("[a-z]{8}")  # of a name rather than of its short form: Leu-enkephalin
_LONGEST_PART: Final = 3  # letters of a word that a short form has whole: QT
_MOST_WORDS: Final = 3
_WORD: Final = re.compile(r"[^\W_]+")
_TOKEN: Final = re.compile(r"\S+")
_COMPARISON: Final = re.compile("[<>=%±]")
_LAST_WORD: Final = re.compile(r"[^\W\d_]{4,}$")
_GREEK: Final = str.maketrans("αβγδεζηθικλμνοπρστυφχψω", "abgdezetiklmnoprstupcpo")
_HAS_GREEK: Final = re.compile("[α-ω]")
FUNCTION_WORDS: Final = frozenset(
    _WORD.findall(
        "a an and as at but by de for from in into is of on or that the their this to was were "
        "which with within"
    )
)
# Not "delta", which means a change: deltaGFR.
_GREEK_NAMES: Final = re.compile("alpha|beta|gamma|epsilon|zeta|theta|kappa|lambda|sigma|omega")
_SIGNS: Final = (("+", "positive"), ("-", "negative"))
# Symbols, what the last words have for them, and the letters of these.
_SYMBOLS: Final = (
    (re.compile(r"(?<=\d)[-(\[]?oh[)\]]?2"), re.compile("dihydroxy"), "dh"),
    (re.compile(r"(?<=\d)[-(\[]?oh[)\]]?"), re.compile("hydroxy"), "h"),
    (re.compile("k"), re.compile("potassium"), "p"),
    (re.compile("na"), re.compile("sodium"), "s"),
    (re.compile("fe"), re.compile("iron"), "i"),
    (re.compile("ag"), re.compile("silver"), "s"),
    (re.compile("au"), re.compile("gold"), "g"),
    (re.compile("x$"), re.compile(r"ectom\w+$"), "e"),  # OVX of ovariectomized
)
_HAS_SYMBOL: Final = re.compile("[hkx]|na|fe|a[gu]")  # each symbol has one of these
_NUMBER_WORDS: Final = (("2", "two"), ("3", "three"), ("4", "four"))
_ROMAN: Final = MappingProxyType(
    {
        "1": "i",
        "2": "ii",
        "3": "iii",
        "4": "iv",
        "5": "v",
        "6": "vi",
        "7": "vii",
        "8": "viii",
        "9": "ix",
        "10": "x",
    }
)
_PREFIXES: Final = MappingProxyType(
    {"2": ("bis", "bi", "di"), "3": ("tris", "tri"), "4": ("tetrakis", "tetra")}
)
_NUMBER: Final = re.compile(r"(.*[^\W\d_])-?(\d+)")  # at the end of a short form
_SUBSCRIPT: Final = re.compile(r"(?<=[^\W\d_])\(\d\)$")
_DIMENSIONS: Final = re.compile("[2-4][dD]")
_NEVER_FIRST: Final = FUNCTION_WORDS - {"de", "in"}  # de novo, in vitro
_NUMERAL: Final = re.compile(r"[IVX]{2,}|[ivx]{2,}")
_LETTER_AND_NUMBER: Final = re.compile(r"[^\W\d_]\d{0,2}")


def fold_letters(text: str) -> str:
    """Returns a text in which interchangeable letters are equal; it has the same length as the
    text.

    Args:
        text: any.

    Returns:
        Lower case; a Greek letter is the first letter of its name in Latin script.
    """
    lower = text.lower()
    if len(lower) != len(text):  # a few letters are two in lower case
        lower = "".join(
            small if len(small) == 1 else letter for letter in text for small in (letter.lower(),)
        )
    return lower.translate(_GREEK) if _HAS_GREEK.search(lower) else lower


def can_be_short(form: str) -> bool:
    """True if some characters can be a short form.

    As in the paper (section 2.1): at least one letter, and a letter or digit in front. Besides,
    they are at most three words, and no quantity, no comparison and no Roman numeral; one character
    alone is a capital.
    """
    if len(form) < 2:
        return form.isupper()
    if (len(form) > LONGEST_SHORT and not _is_hyphenated(form)) or not form[0].isalnum():
        return False
    words = form.split()
    if len(words) > 2 and (
        len(words) > _MOST_WORDS or not all(any(map(str.isalnum, word)) for word in words)
    ):
        return False  # A + B
    letters = sum(map(str.isalpha, form))
    if not letters or _COMPARISON.search(form):
        return False
    if form[0].isdigit() and (letters < 2 or len(words) > 1):
        return _DIMENSIONS.fullmatch(form) is not None
    return not _NUMERAL.fullmatch(form)


def _is_hyphenated(form: str) -> bool:
    """True if some characters are one word with a hyphen and no ordinary word in it."""
    return (
        len(form) <= _LONGEST_HYPHENATED
        and "-" in form
        and len(form.split()) == 1
        and not _ORDINARY.search(form)
    )


def most_words(short: str) -> int:
    """Returns how many words the long form of a short form may have (section 2.1 of the paper)."""
    return min(len(short) + 5, 2 * len(short))


def long_form(short: str, words: str, *, initials: bool = False) -> int | None:
    """Returns where the long form of a short form begins; it ends at the end of the given words.

    The short form as written comes first. Then come other spellings of it: letters for the names of
    Greek letters, the initial of a number word for its digit, and no subscript at the end.

    Args:
        short: as `fold_letters` gives it.
        words: the same, of the words in question; the long form is a tail of them.
        initials: whether each letter must begin a word.

    Returns:
        The place of its first letter or digit, or ``None`` if there is no long form.
    """
    for spelling in (short, *_spellings(short, words)):
        start = _long_form(spelling, words, initials=initials)
        if start is not None:
            return start
    return None if initials else _by_any_initials(short, words)


@lru_cache(maxsize=16)  # each spelling of a short form looks at the same words
def _words_backwards(words: str) -> tuple[re.Match[str], ...]:
    return tuple(_WORD.finditer(words))[::-1]


def _by_any_initials(short: str, words: str) -> int | None:
    """Returns where as many last words begin as a short form has letters, if their initials are the
    same letters.

    As DM of myotonic dystrophy, and QTc of corrected QT. Function words between them may have none.
    """
    missing = [letter for letter in short if letter.isalnum()]
    if len(missing) < 2 or not all(map(str.isalpha, missing)):
        return None
    for number, match in enumerate(_words_backwards(words)):
        initials = (
            match[0] if 1 < len(match[0]) <= _LONGEST_PART and match[0] in short else match[0][0]
        )
        if initials in missing or not Counter(initials) - Counter(missing):
            for letter in initials:
                missing.remove(letter)
            if not missing:
                return match.start() if match[0] not in _NEVER_FIRST else None
        elif match[0] not in FUNCTION_WORDS or not number:
            return None
    return None


def _spellings(short: str, words: str) -> Iterator[str]:
    """Yields other spellings of a short form."""
    if len(short) > 4:  # letters of the shortest name
        greek = _GREEK_NAMES.sub(lambda name: name[0][0], short)
        if greek != short and len(greek) > 1:
            yield greek
    for sign, word in _SIGNS:
        if short[-1] == sign and word in words:
            yield short[:-1] + word[0]
    for symbol, expansion, letters in _SYMBOLS if _HAS_SYMBOL.search(short) else ():
        if (plain := symbol.sub(letters, short, count=1)) != short and expansion.search(words):
            yield plain
    for digit, word in _NUMBER_WORDS:
        if short[0] == digit and word in words:
            yield word[0] + short[1:]
    if short[-1] == ")" and len(rest := _SUBSCRIPT.sub("", short)) > 1 and rest != short:
        yield rest
    if short[-1].isdecimal():
        yield from _numbers(short, words)


def _numbers(short: str, words: str) -> Iterator[str]:
    """Yields spellings of the number in a short form: as a Roman numeral, as a prefix behind it,
    and in front.
    """
    number = _NUMBER.fullmatch(short)
    if number is None:
        return
    letters, digits = number[1], number[2]
    numeral = _ROMAN.get(digits)
    if numeral is not None and re.search(rf"\b{numeral}\b", words):
        yield letters + numeral
    for prefix in _PREFIXES.get(digits, ()):
        if prefix + letters[-1] in words:
            yield letters[:-1] + prefix + letters[-1]
    if (
        len(digits) > 1
        and sum(map(str.isalpha, letters)) > 2
        and re.search(rf"(?<!\S){digits}\b", words)
    ):
        yield digits + letters


def _long_form(short: str, words: str, *, initials: bool) -> int | None:
    """Returns the place of the long form of one spelling, see `long_form`.

    A letter with a number, or without one, abbreviates the last word. Else each letter begins a
    word, or all letters occur in the words in their order, as in the paper, and at least half of
    the words have one of them. A plural ``s`` or one digit may be missing, if the others are
    initials.
    """
    if _LETTER_AND_NUMBER.fullmatch(short):
        last = _LAST_WORD.search(words)
        return last.start() if last and last[0][0] == short[0] else None
    letters = [letter for letter in short if letter.isalnum()]
    start = by_initials(letters, words)
    if start is None and not initials:
        if letters[-1] == "s" and len(letters) > 2:
            start = by_initials(letters[:-1], words)
        if (
            start is None
            and (start := by_letters(letters, words)) is not None
            and _is_sparse(letters, words[start:])
        ):
            return None
    return _without_digit(letters, words) if start is None else start


def _without_digit(letters: Sequence[str], words: str) -> int | None:
    """Returns the long form of N2O, by the initials that are left without its digit."""
    rest = [letter for letter in letters if letter.isalpha()]
    return by_initials(rest, words) if len(letters) - len(rest) == 1 < len(rest) else None


def by_initials(letters: Sequence[str], words: str) -> int | None:
    """Returns where the last words begin whose initials are the given letters.

    Args:
        letters: at least one.
        words: the last one has an initial among the letters, and so has the first one, which is no
            function word; function words between them may have none.
    """
    missing = len(letters)
    for match in _words_backwards(words):
        if match[0][0] == letters[missing - 1] and (missing > 1 or match[0] not in _NEVER_FIRST):
            missing -= 1
            if not missing:
                return match.start()
        elif match[0] not in FUNCTION_WORDS or missing == len(letters):
            return None
    return None


def by_letters(letters: Sequence[str], words: str) -> int | None:
    """Returns where the shortest tail begins that has the letters in order, the first one at the
    start of a word.

    This is the algorithm of the paper (section 2.2).
    """
    at = len(words)
    for letter in reversed(letters[1:]):
        at = words.rfind(letter, 0, at)
        if at < 0:
            return None
    while (at := words.rfind(letters[0], 0, at)) > 0 and words[at - 1].isalnum():
        pass
    return at if at >= 0 else None


def _is_sparse(letters: Sequence[str], long: str) -> bool:
    """True if several words of a long form, and more than half of its content words, contribute
    no letter.
    """
    words = [match for match in _TOKEN.finditer(long) if match[0] not in FUNCTION_WORDS]
    places, at = [0], len(long)
    for letter in reversed(letters[1:]):
        at = long.rfind(letter, 0, at)
        places.append(at)
    bare = sum(not any(word.start() <= place < word.end() for place in places) for word in words)
    return bare > max(1, len(words) // 2)


def is_allowed(long: str, short: str) -> bool:
    """True if some words may be the long form of a short form whose letters they contain.

    The words are longer, do not have the short form among them, do not begin with a function word,
    and have all brackets in pairs.
    """
    words = long.split()
    return (
        len(long) > len(short)
        and not _has_word(fold_letters(long), fold_letters(short))
        and words[0].lower() not in _NEVER_FIRST
        and all(
            long.count(opening) == long.count(closing) for opening, closing in ("()", "[]", "{}")
        )
    )


def _has_word(text: str, word: str) -> bool:
    """True if a word occurs in a text with no letter or digit before or after it."""
    at = -1
    while (at := text.find(word, at + 1)) >= 0:
        if (
            not text[at - 1 : at].isalnum()
            and not text[at + len(word) : at + len(word) + 1].isalnum()
        ):
            return True
    return False
