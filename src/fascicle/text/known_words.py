"""Pieces of words that were seen before: a tokenizer of BERT cuts each word of a plain text the same way every time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from fascicle.core.arrays import Ints

_PLAIN: Final = re.compile(r"[\t\n\r -~]*+")
_WORD: Final = re.compile(r"[A-Za-z0-9]+|[!-/:-@\[-`{-~]")  # punctuation is cut off, each character for itself
_MOST: Final = 1 << 16  # words, of some hundred bytes each; the frequent ones of a text come early
_LONGEST: Final = 100  # characters of a word that is kept


class KnownWords:
    """Cuts texts into pieces by looking their words up; the answer is that of the tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Knows no word yet.

        Args:
            tokenizer: cuts words that are not known.
        """
        self._tokenizer = tokenizer
        self._known: dict[str, tuple[Sequence[int], Sequence[int], Sequence[int]]] = {}

    def encode(self, text: str) -> tuple[Ints, Ints] | None:
        """Returns the ids and character ranges of the pieces of a text; ``None`` if it is not all printable ASCII."""
        if _PLAIN.fullmatch(text) is None:
            return None
        ids: list[int] = []
        starts: list[int] = []
        ends: list[int] = []
        for word in _WORD.finditer(text):
            own, begin, end = self._known.get(word[0]) or self._learn(word[0])
            at = word.start()
            ids += own
            starts += [at + one for one in begin]
            ends += [at + one for one in end]
        return np.array(ids, dtype=np.int64), np.array([starts, ends], dtype=np.int64).T

    def _learn(self, word: str) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
        found = self._tokenizer.encode(word, add_special_tokens=False)
        begin, end = zip(*found.offsets, strict=True)
        pieces = tuple(found.ids), begin, end  # tuples of numbers are nothing that the garbage collector looks at
        if len(self._known) < _MOST and len(word) <= _LONGEST:
            self._known[word] = pieces
        return pieces


def cuts_words_alone(tokenizer: Tokenizer) -> bool:
    """Whether a tokenizer cuts each word by itself, as those of BERT do, and reads no token as it is written.

    Args:
        tokenizer: whose special tokens are text where a text has them.
    """
    parts = tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.model
    is_bert = all(map(isinstance, parts, (BertNormalizer, BertPreTokenizer, WordPiece)))
    return is_bert and all(one.special for one in tokenizer.get_added_tokens_decoder().values())
