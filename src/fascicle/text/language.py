"""The language of a text, as far as its small words and its letters show it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Final

from fascicle.core.lexicon import lexicon

OTHER_LETTERS: Final = "a language in other letters"
_READ: Final = 5_000  # characters at the head of a text
_LEAST_LETTERS: Final = 60
_LEAST_WORDS: Final = 20
_LEAST_DISTINCT: Final = 5  # small words; a table may repeat single letters
_SHARE: Final = 0.2  # of all words, that are small words of the other language
_NOT_LATIN: Final = re.compile(r"[^\x00-\u024f]")  # behind the block Latin Extended-B
_WORD: Final = re.compile(r"[^\W\d_]+")


def other_language(text: str, language: str) -> str:
    """Returns the language that a text is in, if it clearly is not the expected one; else an empty
    string.

    Args:
        text: of any length; short texts are never in another language.
        language: the expected one, a name in ``assets/lexicon/languages.toml`` such as
            ``"English"``.
    """
    words = _WORD.findall(text[:_READ])
    letters = sum(map(len, words))
    if letters < _LEAST_LETTERS:
        return ""
    if not text.isascii() and 2 * len(_NOT_LATIN.findall("".join(words))) > letters:
        return OTHER_LETTERS
    if len(words) < _LEAST_WORDS:
        return ""
    languages, counts = _languages(), Counter[str]()
    small = {
        word: times for word, times in Counter(map(str.lower, words)).items() if word in languages
    }
    for word, times in small.items():
        for name in languages[word]:
            counts[name] += times
    best, count = max(counts.items(), key=lambda pair: pair[1], default=("", 0))
    distinct = sum(best in languages[word] for word in small)
    is_clear = count >= _SHARE * len(words) and distinct >= _LEAST_DISTINCT
    return best if is_clear and count > 2 * counts[language] else ""


@cache
def _languages() -> Mapping[str, tuple[str, ...]]:
    """The languages of each small word."""
    languages: dict[str, tuple[str, ...]] = {}
    for name, words in lexicon("languages")["words"].items():
        for word in words:
            word = word.lower()
            languages[word] = (*languages.get(word, ()), name)
    return languages
