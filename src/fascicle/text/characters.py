"""Characters that print as others do, and the plain ones that networks have read in their place.

The map is that of the version ``settings.decision.PLAIN``: another map is another version. One character stands for
one, so that offsets stay those of the source.

Where given forms stand in a text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from fascicle.core.document import Document
from fascicle.core.spans import Span

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
PLAIN: Final[Mapping[int, str]] = MappingProxyType({ord(one): to for many, to in _PAIRS.items() for one in many})


def plain(document: Document) -> Document:
    """The document with plain characters in its text; all ranges stay.

    Args:
        document: stays as it is.

    Returns:
        The document itself if its text is plain already.
    """
    if document.text.isascii():
        return document
    text = document.text.translate(PLAIN)
    return document if text == document.text else msgspec.structs.replace(document, text=text)


_LONGEST: Final = 64  # characters: longer forms are hardly written twice, and a bound keeps the search linear
_FEW: Final = 50  # so many forms are found faster one by one
_START: Final = re.compile(r"(?<![^\W_])\S")


def occurrences(text: str, forms: Collection[str]) -> dict[str, list[Span]]:
    """Where each form stands, with no letter or digit before or after it, as it is written.

    Args:
        text: any.
        forms: to look for; those of more than 64 characters are not found.

    Returns:
        The places of each form that was found, in order.
    """
    wanted = {form for form in forms if 0 < len(form) <= _LONGEST}
    if len(wanted) <= _FEW:
        each = ((form, list(_places(text, form))) for form in sorted(wanted))
        return {form: places for form, places in each if places}
    firsts = {form[0] for form in wanted}
    lengths = sorted({len(form) for form in wanted})
    found: dict[str, list[Span]] = {}
    for match in _START.finditer(text):
        start = match.start()
        if match[0] not in firsts:
            continue
        for length in lengths:
            form = text[start : start + length]
            if form in wanted and len(form) == length and not text[start + length : start + length + 1].isalnum():
                found.setdefault(form, []).append((start, start + length))
    return found


def _places(text: str, form: str) -> Iterator[Span]:
    start = text.find(form)
    while start >= 0:
        end = start + len(form)
        if not (text[max(0, start - 1) : start].isalnum() or text[end : end + 1].isalnum()):
            yield start, end
        start = text.find(form, start + 1)
