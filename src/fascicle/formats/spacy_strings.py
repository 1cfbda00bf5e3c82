"""Numbers of strings in the files of spaCy: those of its symbols, and hashes of all others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Final

_MASK: Final = 2**64 - 1
_MULTIPLY: Final = 0xC6A4A7935BD1E995
_SHIFT: Final = 47
_SEED: Final = 1
# The names of the symbols in their order; ``FLAG19-63`` means FLAG19, FLAG20, ... FLAG63.
_NAMES: Final = """
IS_ALPHA IS_ASCII IS_DIGIT IS_LOWER IS_PUNCT IS_SPACE IS_TITLE IS_UPPER LIKE_URL LIKE_NUM LIKE_EMAIL
IS_STOP
IS_OOV_DEPRECATED IS_BRACKET IS_QUOTE IS_LEFT_PUNCT IS_RIGHT_PUNCT IS_CURRENCY FLAG19-63 ID ORTH
LOWER NORM SHAPE
PREFIX SUFFIX LENGTH CLUSTER LEMMA POS TAG DEP ENT_IOB ENT_TYPE HEAD SENT_START SPACY PROB LANG ADJ
ADP ADV AUX CONJ
CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X EOL SPACE DEPRECATED001-276 PERSON
NORP FACILITY ORG
GPE LOC PRODUCT EVENT WORK_OF_ART LANGUAGE LAW DATE TIME PERCENT MONEY QUANTITY ORDINAL CARDINAL
acomp advcl advmod
agent amod appos attr aux auxpass cc ccomp complm conj cop csubj csubjpass dep det dobj expl hmod
hyph infmod intj
iobj mark meta neg nmod nn npadvmod nsubj nsubjpass num number oprd obj obl parataxis partmod pcomp
pobj poss
possessive preconj prep prt punct quantmod relcl rcmod root xcomp acl ENT_KB_ID MORPH ENT_ID IDX _
"""


@cache
def symbols() -> Mapping[str, int]:
    """Returns the symbols with their numbers, the same in all versions of spaCy 3; the empty
    string is the first.
    """
    return MappingProxyType({name: number for number, name in enumerate(["", *_symbol_names()])})


def _symbol_names() -> Iterator[str]:
    for name in _NAMES.split():
        first, dash, last = name.partition("-")
        if not dash:
            yield name
            continue
        letters = first.rstrip("0123456789")
        digits = len(first) - len(letters)
        for number in range(int(first[len(letters) :]), int(last) + 1):
            yield f"{letters}{number:0{digits}}"


# the texts of a corpus share most of their words
@lru_cache(maxsize=2**15)
def string_number(text: str) -> int:
    """Returns the number of a string: that of the symbol, or the hash of its UTF-8.

    Raises:
        UnicodeEncodeError: a lone surrogate.
    """
    number = symbols().get(text)
    return murmur64(text.encode()) if number is None else number


def names_of(texts: Iterable[str]) -> dict[int, str]:
    """Returns the strings of a file, and all symbols, by their numbers."""
    return {
        **{number: name for name, number in symbols().items()},
        **{string_number(text): text for text in texts},
    }


def murmur64(data: bytes) -> int:
    """Returns MurmurHash64A of bytes, with the seed of spaCy.

    Source: Austin Appleby, MurmurHash2, 64-bit version for 64-bit machines (public domain).
    """
    whole = len(data) // 8 * 8
    state = _SEED ^ (len(data) * _MULTIPLY & _MASK)
    for at in range(0, whole, 8):
        block = int.from_bytes(data[at : at + 8], "little") * _MULTIPLY & _MASK
        block = (block ^ block >> _SHIFT) * _MULTIPLY & _MASK
        state = (state ^ block) * _MULTIPLY & _MASK
    if whole < len(data):
        state = (state ^ int.from_bytes(data[whole:], "little")) * _MULTIPLY & _MASK
    state = (state ^ state >> _SHIFT) * _MULTIPLY & _MASK
    return state ^ state >> _SHIFT
