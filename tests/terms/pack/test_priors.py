"""Which names count as they are written, and which are rarely meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.settings.inputs import RecognitionSettings
from fascicle.terms.pack.priors import PREFERRED, WEIGHTS, NameStyle, common_words, judge_name


@pytest.mark.parametrize(
    ("surface", "case", "symbol"),
    [
        ("CAT", "exact", "symbol"),
        ("WAS", "exact", "symbol"),
        ("Was", "exact", "symbol"),
        ("THES", "exact", "symbol"),  # its key is that of the word "the"
        ("mRNA", "exact", "symbol"),
        ("IMPACT", "exact", "symbol"),
        ("Impact", "initial", "symbol"),
        ("Seizures", "initial", "symbol"),
        ("T3", "exact", "symbol"),
        ("Mg", "exact", "symbol"),
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
    found = judge_name(surface)
    assert (found.case.name, found.symbol.name) == (case, symbol)


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ("the", "ice"),
        ("ice", "insulin-like"),
        ("T3", "TP53"),
        ("1234567", "T3"),
        ("was", "WASF1"),
        ("p", "p5"),
    ],
)
def test_short_and_common_names_are_rarely_meant(less: str, more: str) -> None:
    for style in set(NameStyle) - {NameStyle.chosen, NameStyle.own}:
        assert 0 < judge_name(less).probabilities[style] < judge_name(more).probabilities[style] < 1


def test_a_common_word_is_a_name_of_a_species_sooner_than_one_of_a_gene() -> None:
    of = judge_name("human").probabilities
    assert of[NameStyle.everyday] > max(
        of[NameStyle.words], of[NameStyle.ailments], of[NameStyle.symbols]
    )
    of = judge_name("mice").probabilities
    assert of[NameStyle.everyday] > of[NameStyle.symbols]


def test_two_letters_stand_for_diseases_sooner_than_for_others() -> None:
    of = judge_name("RB").probabilities
    assert all(
        of[NameStyle.ailments] > of[style]
        for style in NameStyle
        if style not in (NameStyle.ailments, NameStyle.chosen, NameStyle.own)
    )


@pytest.mark.parametrize(
    ("surface", "rare"), [("SSB", True), ("c-d", True), ("CD4", False), ("AMPK", False)]
)
def test_a_short_alias_without_a_digit_is_rarely_meant(surface: str, rare: bool) -> None:
    of = judge_name(surface).probabilities
    assert (of[NameStyle.aliases] < of[NameStyle.symbols]) == rare
    assert rare == (of[NameStyle.aliases] < 0.3)


def test_no_word_is_too_common_for_a_name_that_a_rule_chooses() -> None:
    assert judge_name("insulin").probabilities[NameStyle.symbols] < 0.1
    assert (
        judge_name("insulin").probabilities[NameStyle.chosen]
        == judge_name("insulinoma").probabilities[NameStyle.chosen]
        > 0.9
    )


def test_a_label_weighs_more_than_a_synonym_and_less_than_what_a_rule_prefers() -> None:
    assert WEIGHTS["related"] < WEIGHTS["exact"] < WEIGHTS["label"] < PREFERRED * WEIGHTS["related"]


def test_common_words_are_words_in_lower_case_with_distinct_ranks() -> None:
    words = common_words()
    assert 4_000 < len(words) <= 5_000
    assert sorted(words.values()) == list(range(1, len(words) + 1))
    assert all(word.islower() and word.isascii() and word.isalpha() for word in words)
    assert {"the", "not", "was", "all", "impact"} <= words.keys()


@given(st.text(min_size=1, max_size=8))
def test_a_name_of_ones_own_is_looked_for_whatever_it_is(surface: str) -> None:
    of_style = judge_name(surface).probabilities
    assert of_style[NameStyle.own] > RecognitionSettings().threshold
    assert of_style[NameStyle.own] >= of_style[NameStyle.words]
