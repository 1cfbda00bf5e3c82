"""Normalisation of characters that look alike to the plain ones that networks were trained on;
search for given forms.

The map belongs to the version ``settings.decision.PLAIN``: a changed map needs a new version. One
character replaces one, so that offsets stay valid.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from string import ascii_lowercase, ascii_uppercase
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from fascicle.core.document import Document
from fascicle.core.mention import Span
from fascicle.text.raised import Level, Piece, without_marks

_PAIRS: Final = {
    "\u00a0\u2002\u2003\u2007\u2008\u2009\u200a\u202f\u205f": " ",
    "\u00ad\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\ufe63\uff0d": "-",
    "\u2018\u2019\u201a\u201b\u2032\u02b9\u02bc": "'",
    "\u201c\u201d\u201e\u201f\u2033\u02ba": '"',
    "\u207a\u208a": "+",
    "\u207b\u208b": "-",
    "\u207c\u208c": "=",
    "\u207d\u208d": "(",
    "\u207e\u208e": ")",
    "\u2044\u2215": "/",
    "\u2219\u22c5\u2022": "\u00b7",
    "\u2070\u2080": "0",
    "\u00b9\u2081": "1",
    "\u00b2\u2082": "2",
    "\u00b3\u2083": "3",
    **{chr(0x2070 + digit) + chr(0x2080 + digit): str(digit) for digit in range(4, 10)},
    "\u207f\u2099": "n",
    "\u2071\u1d62": "i",
}
PLAIN: Final[Mapping[int, str]] = MappingProxyType(
    {ord(letter): to for letters, to in _PAIRS.items() for letter in letters}
)


_RAISED_DIGITS: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED: Final = re.compile(  # digits before a letter begin a name, as of ¹²⁵I
    r"([⁺⁻]?[⁰¹²³⁴-⁹]++(?:[,;–-]?[ ⁺⁻]?[⁰¹²³⁴-⁹]++(?![^\W\d_]))*+[⁺⁻]*+)"
)
NameFinder = Callable[[Sequence[Document]], Iterable[Iterable[Span]]]


def plain_text(text: str) -> str:
    """Returns a text of the same length with plain characters.

    A mark of a citation in raised digits (``gout¹,²``) becomes blanks, so that it joins no word.
    """
    return text if text.isascii() else _without_raised_marks(text).translate(PLAIN)


def _without_raised_marks(text: str) -> str:
    """Returns a text with blanks in place of marks of citations in raised digits."""
    if text.isascii() or not any(map(text.__contains__, _RAISED_DIGITS)):
        return text
    parts = _RAISED.split(text)
    pieces = [
        Piece(part.translate(PLAIN), Level.RAISED if at % 2 else Level.PLAIN)
        for at, part in enumerate(parts)
    ]
    for at in without_marks(pieces)[1]:
        parts[at] = " " * len(parts[at])
    return "".join(parts)


def raised_digits(text: str) -> str:
    """Returns the raised digits of a text, joined."""
    return "" if text.isascii() else "".join(filter(_RAISED_DIGITS.__contains__, text))


def with_blank_marks(documents: Sequence[Document]) -> list[Document]:
    """Returns documents in whose texts marks of citations in raised digits (``gout¹,²``) are
    blanks; all ranges stay valid.

    Args:
        documents: stay as they are; one without marks is returned itself.
    """
    return _with_texts(documents, [_without_raised_marks(document.text) for document in documents])


def with_raised_names(
    blank: Sequence[Document], documents: Sequence[Document], find_names: NameFinder, *, near: int
) -> list[Document]:
    """Returns documents in which the names that have raised digits of their own (``PGE²``) are as
    they are written.

    Args:
        blank: the documents from `with_blank_marks`.
        documents: the same as they are written.
        find_names: returns the ranges of such names in each of several parts of texts.
        near: characters that such a name has on either side of its digits, at most.
    """
    texts = [document.text for document in blank]
    places = [
        (at, window)
        for at, document in enumerate(documents)
        if texts[at] != document.text
        for window in _near_raised_digits(document.text, near)
    ]
    parts = [Document(id="", text=documents[at].text[slice(*window)]) for at, window in places]
    for (at, (offset, _)), names in zip(places, find_names(parts) if parts else (), strict=True):
        text = documents[at].text
        for start, end in names:
            first, last = start + offset, end + offset
            texts[at] = texts[at][:first] + text[first:last] + texts[at][last:]
    return _with_texts(documents, texts)


def _with_texts(documents: Sequence[Document], texts: Sequence[str]) -> list[Document]:
    return [
        document if text == document.text else replace(document, text=text)
        for document, text in zip(documents, texts, strict=True)
    ]


def _near_raised_digits(text: str, near: int) -> list[list[int]]:
    """Returns starts and ends of the parts of a text that are near raised digits."""
    windows = list[list[int]]()
    for digits in _RAISED.finditer(text):
        start = max(0, digits.start() - near)
        if not windows or start > windows[-1][1]:
            windows.append([start, 0])
        windows[-1][1] = digits.end() + near
    return windows


def with_plain_characters(document: Document) -> Document:
    """Returns the document with plain characters in its text; all ranges stay valid.

    Args:
        document: a document; it is not changed.

    Returns:
        The document itself if its text is plain already.
    """
    text = plain_text(document.text)
    return document if text == document.text else replace(document, text=text)


_CAPITAL: Final = ascii_uppercase.encode()
_SMALL: Final = ascii_lowercase.encode()
_LETTERS: Final = 20  # of a text that lacks capitals: a shorter one may be a word or a name
_RARE: Final = 200  # letters for each capital; a sentence of English has fewer
_WORD: Final = re.compile(r"\b[A-Za-z][a-z]+")
_TITLED: Final = 0.9  # share of words with a capital, at least; headlines leave small words without
_WORDS: Final = 8  # of a text that can be in Title Case
_UNTITLED: Final = (" of ", " the ", " and ", " in ")
_CAPITALS: Final = MappingProxyType({ord(letter): letter.upper() for letter in ascii_lowercase})


def with_capitals(document: Document) -> Document:
    """Returns a document without capitals, or in Title Case, in capitals, in which names and
    sentences are recognised.

    Networks read small letters as everyday words, and names in capitals as names. All ranges stay
    valid.

    Args:
        document: a document; it is not changed.

    Returns:
        The document itself if its text has capitals where they belong, or fewer than 20 small
        letters.
    """
    text = document.text
    letters = text.encode("ascii", "ignore")
    small, capitals = (len(letters) - len(letters.translate(None, of)) for of in (_SMALL, _CAPITAL))
    if small < max(_LETTERS, _RARE * capitals) and not _is_titled(text, capitals):
        return document
    return replace(document, text=text.translate(_CAPITALS))


def _is_titled(text: str, capitals: int) -> bool:
    """True if nearly every word of a text begins with one of its capitals."""
    # prose has so many of these words that no count of the others is needed
    if capitals < _TITLED * (capitals + sum(map(text.count, _UNTITLED))):
        return False
    words = _WORD.findall(text)
    return len(words) >= _WORDS and sum(map(str.istitle, words)) >= _TITLED * len(words)


# characters: longer forms rarely occur twice, and a bound keeps the search linear
_LONGEST: Final = 64
_FEW: Final = 50  # up to this number, it is faster to search form by form
_START: Final = re.compile(r"(?<![^\W_])\S")


def find_occurrences(text: str, forms: Collection[str]) -> dict[str, list[Span]]:
    """Finds the exact occurrences of each form that have no letter or digit directly before or
    after them.

    Args:
        text: any text.
        forms: forms to find; those of more than 64 characters are not found.

    Returns:
        Spans of each form that was found, in order.
    """
    searched = {form for form in forms if 0 < len(form) <= _LONGEST}
    if len(searched) <= _FEW:
        each = ((form, list(_places(text, form))) for form in sorted(searched))
        return {form: places for form, places in each if places}
    firsts = {form[0] for form in searched}
    lengths = sorted({len(form) for form in searched})
    occurrences: dict[str, list[Span]] = {}
    for match in _START.finditer(text):
        start = match.start()
        if match[0] not in firsts:
            continue
        for length in lengths:
            form = text[start : start + length]
            if (
                form in searched
                and len(form) == length
                and not text[start + length : start + length + 1].isalnum()
            ):
                occurrences.setdefault(form, []).append((start, start + length))
    return occurrences


def _places(text: str, form: str) -> Iterator[Span]:
    start = text.find(form)
    while start >= 0:
        end = start + len(form)
        if not (text[max(0, start - 1) : start].isalnum() or text[end : end + 1].isalnum()):
            yield start, end
        start = text.find(form, start + 1)
