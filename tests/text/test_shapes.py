"""Case patterns beside a plain definition of each, character by character."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.text.inputs import PATTERNS, case_patterns

ONES = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
ROMAN = {"X" * tens + ones for tens in range(4) for ones in ONES if len(ones) + tens > 1}


def naive(word: str) -> str:
    letters = [c for c in word if c.isalpha()]
    digits = [c for c in word if c.isnumeric() and not c.isalpha()]
    lower = [c.islower() for c in letters]
    upper = [not c.islower() and (c.isupper() or c.istitle()) for c in letters]
    if not letters:
        return "digits" if digits else "signs"
    if digits:
        return "lower-digits" if all(lower) else "capitals-digits" if all(upper) else "mixed-digits"
    if all(lower):
        return "lower"
    if all(upper):
        return "capital" if len(letters) == 1 else "roman" if word in ROMAN else "capitals"
    if not all(a or b for a, b in zip(lower, upper, strict=True)):
        return "uncased"
    return "initial" if upper[0] and not any(upper[1:]) else "mixed"


def pattern_of(text: str, spans: list[tuple[int, int]]) -> list[str]:
    return [
        PATTERNS[at] for at in case_patterns(text, np.array(spans, dtype=np.int64).reshape(-1, 2))
    ]


@pytest.mark.parametrize(
    ("word", "pattern"),
    [
        ("-", "signs"),
        ("pain", "lower"),
        ("A", "capital"),
        ("Aspirin", "initial"),
        ("EGFR", "capitals"),
        ("IV", "roman"),
        ("I", "capital"),
        ("IIII", "capitals"),
        ("MI", "capitals"),
        ("mRNA", "mixed"),
        ("NaCl", "mixed"),
        ("42", "digits"),
        ("p53", "lower-digits"),
        ("BRCA1", "capitals-digits"),
        ("IL-2", "capitals-digits"),
        ("Nkx2", "mixed-digits"),
        ("(Alzheimer", "initial"),
        ("β", "lower"),
        ("İstanbul", "initial"),
        ("ǅ", "capital"),
        ("胃癌", "uncased"),
        ("👍🏽", "signs"),
        ("", "signs"),
    ],
)
def test_words(word: str, pattern: str) -> None:
    assert naive(word) == pattern
    assert pattern_of(f"İ {word} 胃", [(2, 2 + len(word))]) == [pattern]


WORDS = st.text(st.sampled_from("aBcIVX1²½ǅ-βΩªİ胃\u0301Ⅳ👍 "), max_size=6) | st.text(max_size=6)


@given(st.lists(WORDS, max_size=8))
def test_any_text(words: list[str]) -> None:
    text, spans = "", []
    for word in (w.encode("utf-8", "ignore").decode() for w in words):
        spans.append((len(text), len(text) + len(word)))
        text += word
    assert pattern_of(text, spans) == [naive(text[a:b]) for a, b in spans]
