"""Pieces of the words of plain texts, which are kept: a tokenizer of BERT cuts each word of such a
text the same way every time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Final

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from fascicle.core.arrays import Ints, lengths_of

_PLAIN: Final = re.compile(r"[\t\n\r -~]*+")
# punctuation is cut off, each character for itself
_WORD: Final = re.compile(r"[A-Za-z0-9]+|[!-/:-@\[-`{-~]")
_LETTERS: Final = np.array([chr(code).isalnum() for code in range(128)])
_SIGNS: Final = np.array([32 < code < 127 for code in range(128)]) & ~_LETTERS
# ids of pieces; starts and ends, one after the other
_Cut = tuple[tuple[int, ...], tuple[int, ...]]
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
        self._known: dict[str, _Cut] = {}

    def encode(self, texts: Sequence[str]) -> list[tuple[Ints, Ints]]:
        """Returns the ids and character ranges of the pieces of texts for which `is_plain`
        holds.
        """
        text = "\n".join(texts)
        words = _WORD.findall(text)
        cuts = list(map(self._known.get, words))
        if not all(cuts):
            new = self._learn([word for word, cut in zip(words, cuts, strict=True) if cut is None])
            cuts = [cut or new[word] for word, cut in zip(words, cuts, strict=True)]
        pieces, ranges = zip(*cuts, strict=True) if cuts else ((), ())
        counts = lengths_of(pieces)
        starts = np.repeat(_word_starts(text), counts)
        ids = np.fromiter(chain.from_iterable(pieces), dtype=np.int64, count=len(starts))
        edges = np.fromiter(chain.from_iterable(ranges), dtype=np.int64, count=2 * len(starts))
        spans = edges.reshape(-1, 2) + starts[:, None]
        begins = np.cumsum([0, *(len(text) + 1 for text in texts)])
        bounds = np.searchsorted(starts, begins).tolist()
        return [
            (ids[low:high], spans[low:high] - begin)
            for begin, (low, high) in zip(begins.tolist()[:-1], pairwise(bounds), strict=True)
        ]

    def _learn(self, occurring: Sequence[str]) -> dict[str, _Cut]:
        """Returns how some words are cut, and keeps that of most of them."""
        words = list(dict.fromkeys(occurring))
        encoded = self._tokenizer.encode_batch(words, add_special_tokens=False)
        cuts = [
            (tuple(encoding.ids), tuple(chain.from_iterable(encoding.offsets)))
            for encoding in encoded
        ]
        # tuples of numbers are nothing that the garbage collector looks at
        pieces = dict(zip(words, cuts, strict=True))
        cached = [word for word in words if len(word) <= _LONGEST][: _MOST - len(self._known)]
        self._known |= {word: pieces[word] for word in cached}
        return pieces


def is_plain(text: str) -> bool:
    """True if a text has printable ASCII, blanks and line ends alone."""
    return _PLAIN.fullmatch(text) is not None


def _word_starts(text: str) -> Ints:
    """Returns the starts of the words of a plain text, as the expression for words finds them."""
    codes = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    letters = _LETTERS[codes]
    return np.flatnonzero(_SIGNS[codes] | (letters & ~np.concatenate([[False], letters])[:-1]))


def cuts_words_alone(tokenizer: Tokenizer) -> bool:
    """Whether a tokenizer cuts each word by itself, as those of BERT do, and reads no token as it
    is written.

    Args:
        tokenizer: whose special tokens are text where a text has them.
    """
    parts = tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.model
    is_bert = all(map(isinstance, parts, (BertNormalizer, BertPreTokenizer, WordPiece)))
    return is_bert and all(token.special for token in tokenizer.get_added_tokens_decoder().values())
