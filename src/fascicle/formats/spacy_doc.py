"""What a file of spaCy has of one document: for its reader and its writer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

from fascicle.core.spans import Span

VERSION: Final = "0.1"
GROUP: Final = "sc"  # the group of spans that spaCy trains on, for gold
ORTH: Final = 65
ENT_IOB: Final = 77
ENT_TYPE: Final = 78
SENT_START: Final = 80
ENT_KB_ID: Final = 452
ATTRIBUTES: Final = (ORTH, ENT_IOB, ENT_TYPE, SENT_START, ENT_KB_ID)  # of tokens, in the order of their columns
SPAN: Final = ">QQQllll"  # id, id in a knowledge base, label, first and last token (exclusive), the same in characters
ID: Final = "id"  # in the user data
META: Final = "meta"
SCORES: Final = "scores"


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """The tokens of a text, as spaCy has them: without gaps, each perhaps followed by one blank.

    Attributes:
        texts: of the tokens.
        spaces: whether a blank follows each.
        starts: whether each begins a sentence; ``None`` where nobody knows.
    """

    texts: Sequence[str]
    spaces: Sequence[bool]
    starts: Sequence[bool] | None = None

    @property
    def text(self) -> str:
        """The text."""
        return "".join(f"{text} " if space else text for text, space in zip(self.texts, self.spaces, strict=True))

    def ranges(self) -> list[Span]:
        """Where each token stands in the text, in code points."""
        found, at = [], 0
        for text, space in zip(self.texts, self.spaces, strict=True):
            found.append((at, at + len(text)))
            at += len(text) + space
        return found

    def words(self) -> tuple[Span, ...]:
        """The tokens that are not blanks."""
        return tuple(at for at, text in zip(self.ranges(), self.texts, strict=True) if text.strip())

    def sentences(self) -> tuple[Span, ...] | None:
        """The sentences, each from its first to its last word; ``None`` where nobody knows them."""
        return None if self.starts is None else tuple(self._sentences(self.starts))

    def _sentences(self, starts: Sequence[bool]) -> Iterator[Span]:
        words: list[Span] = []
        for at, text, starting in zip(self.ranges(), self.texts, starts, strict=True):
            if starting and words:
                yield words[0][0], words[-1][1]
                words = []
            if text.strip():
                words.append(at)
        if words:
            yield words[0][0], words[-1][1]


_MASK: Final = 2**64 - 1
_MULTIPLY: Final = 0xC6A4A7935BD1E995
_SHIFT: Final = 47
_SEED: Final = 1
# The names of the symbols in their order; ``FLAG19-63`` stands for FLAG19, FLAG20, ... FLAG63.
_NAMES: Final = """
IS_ALPHA IS_ASCII IS_DIGIT IS_LOWER IS_PUNCT IS_SPACE IS_TITLE IS_UPPER LIKE_URL LIKE_NUM LIKE_EMAIL IS_STOP
IS_OOV_DEPRECATED IS_BRACKET IS_QUOTE IS_LEFT_PUNCT IS_RIGHT_PUNCT IS_CURRENCY FLAG19-63 ID ORTH LOWER NORM SHAPE
PREFIX SUFFIX LENGTH CLUSTER LEMMA POS TAG DEP ENT_IOB ENT_TYPE HEAD SENT_START SPACY PROB LANG ADJ ADP ADV AUX CONJ
CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X EOL SPACE DEPRECATED001-276 PERSON NORP FACILITY ORG
GPE LOC PRODUCT EVENT WORK_OF_ART LANGUAGE LAW DATE TIME PERCENT MONEY QUANTITY ORDINAL CARDINAL acomp advcl advmod
agent amod appos attr aux auxpass cc ccomp complm conj cop csubj csubjpass dep det dobj expl hmod hyph infmod intj
iobj mark meta neg nmod nn npadvmod nsubj nsubjpass num number oprd obj obl parataxis partmod pcomp pobj poss
possessive preconj prep prt punct quantmod relcl rcmod root xcomp acl ENT_KB_ID MORPH ENT_ID IDX _
"""


@cache
def symbols() -> Mapping[str, int]:
    """The symbols of spaCy 3 with their numbers; the empty string is the first."""
    return MappingProxyType({name: number for number, name in enumerate(["", *_listed()])})


def _listed() -> Iterator[str]:
    for name in _NAMES.split():
        first, dash, last = name.partition("-")
        if not dash:
            yield name
            continue
        letters = first.rstrip("0123456789")
        digits = len(first) - len(letters)
        yield from (f"{letters}{number:0{digits}}" for number in range(int(first[len(letters) :]), int(last) + 1))


def number_of(text: str) -> int:
    """The number of a string: that of the symbol, or the hash of its UTF-8.

    Raises:
        UnicodeEncodeError: half of a character.
    """
    found = symbols().get(text)
    return murmur64(text.encode()) if found is None else found


def names_of(texts: Iterable[str]) -> dict[int, str]:
    """The strings of a file, and all symbols, by their numbers."""
    return {**{number: name for name, number in symbols().items()}, **{number_of(text): text for text in texts}}


def murmur64(data: bytes) -> int:
    """MurmurHash64A of bytes, with the seed of spaCy.

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
