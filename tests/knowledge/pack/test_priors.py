"""Which names count as they are written, and which are rarely meant."""

from __future__ import annotations

import pytest

from fascicle.knowledge.pack.priors import PREFERRED, WEIGHTS, common_words, judged


@pytest.mark.parametrize(
    ("surface", "case", "symbol"),
    [
        ("CAT", "exact", "exact"),
        ("WAS", "exact", "exact"),
        ("Was", "exact", "exact"),
        ("THES", "exact", "exact"),  # its key is that of the word "the"
        ("mRNA", "exact", "exact"),
        ("IMPACT", "exact", "exact"),
        ("Impact", "initial", "exact"),
        ("Seizures", "initial", "exact"),
        ("T3", "exact", "exact"),
        ("Mg", "exact", "exact"),
        ("cat", "initial", "initial"),
        ("ice", "initial", "initial"),
        ("impact", "initial", "initial"),
        ("TP53", "any", "any"),
        ("Aspirin", "any", "any"),
        ("breast cancer", "any", "any"),
        ("Alzheimer's disease", "any", "any"),
    ],
)
def test_case(surface: str, case: str, symbol: str) -> None:
    found = judged(surface)
    assert (found.case.name, found.symbol.name) == (case, symbol)


@pytest.mark.parametrize(
    ("less", "more"),
    [("the", "ice"), ("ice", "insulin-like"), ("T3", "TP53"), ("1234567", "T3"), ("was", "WASF1"), ("p", "p5")],
)
def test_short_and_common_names_are_rarely_meant(less: str, more: str) -> None:
    assert 0 < judged(less).probability < judged(more).probability < 1


def test_a_label_weighs_more_than_a_synonym_and_less_than_what_a_rule_prefers() -> None:
    assert WEIGHTS["related"] < WEIGHTS["exact"] < WEIGHTS["label"] < PREFERRED * WEIGHTS["related"]


def test_common_words_are_words_in_lower_case_with_distinct_ranks() -> None:
    words = common_words()
    assert 4_000 < len(words) <= 5_000
    assert sorted(words.values()) == list(range(1, len(words) + 1))
    assert all(word.islower() and word.isascii() and word.isalpha() for word in words)
    assert {"the", "not", "was", "all", "impact"} <= words.keys()
