"""Which words are the long form of letters, against searches through every possibility."""

from __future__ import annotations

import re
import unicodedata
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.terms.abbreviations.forms import (
    by_initials,
    by_letters,
    can_be_short,
    fold_letters,
    long_form,
)

LETTERS = st.lists(st.sampled_from("abo2"), min_size=1, max_size=4)
WORDS = st.text(alphabet="abo2 -,", max_size=16)


def has_in_order(letters: list[str], text: str) -> bool:
    return any("".join(kept) == "".join(letters) for kept in combinations(text, len(letters)))


def begins_word(words: str, at: int) -> bool:
    return words[at].isalnum() and (at == 0 or not words[at - 1].isalnum())


@given(LETTERS, WORDS)
def test_by_letters_is_the_shortest_tail_with_the_letters_in_order(
    letters: list[str], words: str
) -> None:
    starts = [
        at
        for at in range(len(words))
        if words[at] == letters[0]
        and begins_word(words, at)
        and has_in_order(letters[1:], words[at + 1 :])
    ]
    assert by_letters(letters, words) == max(starts, default=None)


FEW = st.lists(st.sampled_from(["bone", "of", "or", "and", "obesity", "2", "ash"]), max_size=6).map(
    " ".join
)


@given(st.lists(st.sampled_from("abo2"), min_size=2, max_size=4), FEW)
def test_by_initials_leaves_out_function_words_alone(letters: list[str], words: str) -> None:
    function = {"of", "or", "and"}
    found = by_initials(letters, words)
    tokens = [(match.start(), match[0]) for match in re.finditer(r"\w+", words)]
    possible = set()
    for first in range(len(tokens)):
        tail = [token for _, token in tokens[first:]]
        for kept in combinations(range(len(tail)), len(letters)):
            left_out = [token for at, token in enumerate(tail) if at not in kept]
            ends = kept[0] == 0 and kept[-1] == len(tail) - 1 and tail[0] not in function
            if ends and set(left_out) <= function and [tail[at][0] for at in kept] == letters:
                possible.add(tokens[first][0])
    assert found in possible or found is None
    if found is None and len(possible) == 1 and not function & set(words.split()):
        pytest.fail(f"{letters} were not found in {words!r}")


@given(st.text(max_size=20))
def test_what_is_folded_is_as_long_and_folding_again_changes_nothing(text: str) -> None:
    folded = fold_letters(text)
    assert len(folded) == len(text)
    assert fold_letters(folded) == folded
    plain = all(
        unicodedata.name(one, "").startswith("LATIN SMALL") or one.isascii() for one in text
    )
    assert not plain or folded == "".join(one.lower() for one in text)


@pytest.mark.parametrize(
    "form", ["TNF", "5HT", "IL-2", "GABA(A)", "Ang II", "T", "Ω", "aa", "2'dCF"]
)
def test_what_can_be_short(form: str) -> None:
    assert can_be_short(form)


@pytest.mark.parametrize(
    "form",
    [
        "",
        "t",
        "7",
        "12",
        "n = 5",
        "p<0.05",
        "10 mM",
        "2a",
        "III",
        "-A",
        "A + B",
        "a b c d",
        "thirteen-character",
        "a" * 13,
        "95%",
    ],
)
def test_what_cannot_be_short(form: str) -> None:
    assert not can_be_short(form)


@pytest.mark.parametrize(
    ("short", "words", "long"),
    [
        ("TNF", "of the tumor necrosis factor", "tumor necrosis factor"),
        ("MM", "with multiple myelomas", "multiple myelomas"),
        ("AL", "ataxia and lameness", "ataxia and lameness"),
        ("IVF", "after in vitro fertilization", "in vitro fertilization"),
        ("N2O", "using nitrous oxide", "nitrous oxide"),
        ("QTLs", "of quantitative trait loci", "quantitative trait loci"),
        ("E2", "level of 17-beta-estradiol", "estradiol"),
        ("TNFα", "tumour necrosis factor alpha", "tumour necrosis factor alpha"),
        ("TNFa", "tumour necrosis factor-α", "tumour necrosis factor-α"),
        ("P", "17-OH progesterone", "progesterone"),
    ],
)
def test_long_forms(short: str, words: str, long: str) -> None:
    at = long_form(fold_letters(short), fold_letters(words))
    assert at is not None
    assert words[at:] == long


@pytest.mark.parametrize(
    ("short", "words"),
    [
        ("TNF", "interferon gamma"),
        ("Ca2+", "cell density at"),
        ("Leu5", "leu-enkephalin"),
        ("D", "an egg"),
        ("IRE", "increased dust in old iron"),
    ],
)
def test_no_long_forms(short: str, words: str) -> None:
    assert long_form(fold_letters(short), fold_letters(words)) is None
