"""What must hold of the keys of any surface, and pairs that must meet or stay apart."""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from tests.terms.keys.strategies import texts

from fascicle.errors import UsageError
from fascicle.terms.keys.key import Level, key
from fascicle.terms.keys.tokens import tokenise

FOLDING: tuple[Level, ...] = (1, 2, 3)
PAIRS = [
    line.split("\t")
    for line in (Path(__file__).parent / "pairs.tsv").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize(("level", "one", "other", "meet"), PAIRS)
def test_pairs_meet_or_stay_apart(level: str, one: str, other: str, meet: str) -> None:
    keys = [key(surface, int(level)) for surface in (one, other)]  # type: ignore[arg-type]
    assert (keys[0] == keys[1]) == (meet == "1"), keys


def test_every_character_keeps_the_rules() -> None:
    """Case, form of composition and being a key of itself, for each character alone."""
    for character in map(chr, range(sys.maxunicode + 1)):
        if unicodedata.category(character) in ("Cn", "Co") or unicodedata.name(
            character, ""
        ).startswith("CJK UNIFIED"):
            continue
        found = key(character, 1)
        forms = (character.upper(), character.lower(), unicodedata.normalize("NFC", character))
        assert all(
            key(form, 1) == found
            for form in (*forms, unicodedata.normalize("NFD", character), found)
        )
        assert found or not character.isalnum()


@given(texts)
def test_a_key_is_its_own_key(surface: str) -> None:
    for level in FOLDING:
        assert key(key(surface, level), level) == key(surface, level)


@given(texts)
def test_case_does_not_count(surface: str) -> None:
    for level in FOLDING:
        assert key(surface.upper(), level) == key(surface.lower(), level) == key(surface, level)


@given(texts)
def test_composed_and_decomposed_surfaces_meet(surface: str) -> None:
    for level in FOLDING:
        composed = key(unicodedata.normalize("NFC", surface), level)
        assert composed == key(unicodedata.normalize("NFD", surface), level)


@given(texts)
def test_a_letter_or_digit_gives_a_key(surface: str) -> None:
    if any(map(str.isalnum, surface)):
        assert all(key(surface, level) for level in FOLDING)


@given(texts)
def test_a_level_keeps_what_the_one_before_brings_together(surface: str) -> None:
    """Each key is a key of the one before it."""
    assert key(key(surface, 1), 2) == key(surface, 2)
    assert key(key(surface, 2), 3) == key(surface, 3)


@given(texts)
def test_the_second_key_is_made_of_the_tokens(surface: str) -> None:
    assert key(surface, 2) == " ".join(token.text for token in tokenise(surface))
    assert all(token.text and " " not in token.text for token in tokenise(surface))


@given(texts)
def test_the_exact_key_is_the_surface(surface: str) -> None:
    assert key(surface, 0) == surface


def test_another_level_is_refused() -> None:
    with pytest.raises(UsageError):
        key("x", 4)  # type: ignore[arg-type]
