"""What of a text is compared: its letters and digits, whatever its case, spaces, punctuation and tokenisation.

The *normal form* of a text is NFKC, case-folded, without everything but letters and digits. Its *normal words* are the
longest runs of these; each Chinese character and each kana is a word of its own. Its *shingles* are the sets of hashes
of three normal words in a row (Broder 1997).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
SHINGLE: Final = 3  # words
_ALONE: Final = "\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD: Final = re.compile(rf"[{_ALONE}]|[^\W_{_ALONE}]+")
_FACTORS: Final = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)  # odd, any others would do


def normal_words(text: str) -> list[str]:
    """The normal words of a text; joined, they are its normal form."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def digest(words: Sequence[str]) -> bytes:
    """Of the normal form, 128 bits."""
    return hashlib.blake2b("".join(words).encode(), digest_size=16).digest()


def shingles(words: Sequence[str]) -> Hashes:
    """The distinct shingles of a text, sorted; none where it has fewer than three words.

    They are 64-bit hashes, the same in every process: which of equally rare ones come first decides what is compared
    where not everything can be. Among 10 million shingles, that any two be mistaken for one another has a chance of
    about one in 400,000.
    """
    count = len(words) - SHINGLE + 1
    if count < 1:
        return np.zeros(0, dtype=np.uint64)
    hashes = np.fromiter(map(_hash, words), dtype=np.uint64, count=len(words))
    found = np.zeros(count, dtype=np.uint64)
    for place, factor in enumerate(_FACTORS):
        found += hashes[place : place + count] * np.uint64(factor)
    return np.unique(found)


@lru_cache(maxsize=1 << 16)
def _hash(word: str) -> int:
    """64 bits; those of ``hash`` depend on the process."""
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
