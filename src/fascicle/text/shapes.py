"""The case pattern of words: what a lower-casing encoder cannot see of its text.

The patterns and their numbers are those of the version ``settings.inputs.SHAPES``: another rule is another version.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Bools, Ints

PATTERNS: Final = (
    "signs",  # no letter and no digit: "-"
    "lower",  # "pain"
    "capital",  # one letter, a capital: "A"
    "initial",  # a capital, then lower case: "Aspirin"
    "capitals",  # at least two: "EGFR"
    "roman",  # a number of I, V and X, at least two: "IV"
    "mixed",  # any other letters with capitals: "mRNA"
    "uncased",  # letters that have no case, among others or alone
    "digits",  # "42"
    "lower-digits",  # "p53"
    "capitals-digits",  # "BRCA1"
    "mixed-digits",  # any other letters with digits: "Nkx2"
)
_NUMBER = {name: at for at, name in enumerate(PATTERNS)}
_ROMAN = re.compile(r"(?=..)X{0,3}(?:IX|IV|V?I{0,3})")
_UPPER, _LOWER, _UNCASED, _DIGIT = 0, 1, 2, 3  # kinds of characters; all others are signs
_SIGN = 4


def shapes_of(text: str, spans: Ints) -> NDArray[np.int64]:
    """The pattern of each range of a text; signs within a word, such as a hyphen, do not count.

    Args:
        text: the source, as it is written.
        spans: ranges of characters, ``[u, 2]``.

    Returns:
        Indices in ``PATTERNS``, ``[u]``.
    """
    if not len(spans):
        return np.zeros(0, dtype=np.int64)
    kinds = _kinds(text)
    counts = np.zeros((4, len(kinds) + 1), dtype=np.int32)
    np.cumsum(kinds == np.arange(4)[:, None], axis=1, out=counts[:, 1:])
    upper, lower, uncased, digits = counts[:, spans[:, 1]] - counts[:, spans[:, 0]]
    letters = upper + lower + uncased
    rules = (
        (letters + digits == 0, "signs"),
        (letters == 0, "digits"),
        ((digits > 0) & (lower == letters), "lower-digits"),
        ((digits > 0) & (upper == letters), "capitals-digits"),
        (digits > 0, "mixed-digits"),
        (lower == letters, "lower"),
        (upper == letters, "capitals"),
        (uncased > 0, "uncased"),
        ((upper == 1) & _begin_with_capital(kinds, spans), "initial"),
    )
    found = np.select([rule for rule, _ in rules], [_NUMBER[name] for _, name in rules], _NUMBER["mixed"])
    for at in np.flatnonzero(found == _NUMBER["capitals"]).tolist():
        if letters[at] == 1:
            found[at] = _NUMBER["capital"]
        elif _ROMAN.fullmatch(text[spans[at, 0] : spans[at, 1]]):
            found[at] = _NUMBER["roman"]
    return found.astype(np.int64)


def _begin_with_capital(kinds: NDArray[np.int8], spans: Ints) -> Bools:
    """Whether the first letter at or after the start of each range is a capital."""
    letters = np.append(np.flatnonzero(kinds <= _UNCASED), len(kinds))
    first = letters[np.searchsorted(letters, spans[:, 0])]
    begins: Bools = np.append(kinds, _SIGN)[first] == _UPPER
    return begins


def _kind(character: str) -> int:
    """What a character is; a capital with a small letter in it, as in some digraphs, is a capital."""
    if character.isalpha():
        return _LOWER if character.islower() else _UPPER if character.isupper() or character.istitle() else _UNCASED
    return _DIGIT if character.isnumeric() else _SIGN


_ASCII = np.array([_kind(chr(code)) for code in range(128)], dtype=np.int8)


def _kinds(text: str) -> NDArray[np.int8]:
    """The kind of each character."""
    codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    kinds: NDArray[np.int8] = _ASCII[codes & 127]
    rare = np.flatnonzero(codes > 127)
    if len(rare):
        known, at = np.unique(codes[rare], return_inverse=True)
        kinds[rare] = np.array([_kind(chr(code)) for code in known.tolist()], dtype=np.int8)[at]
    return kinds
