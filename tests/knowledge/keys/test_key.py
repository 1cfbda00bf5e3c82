"""What must hold of the keys of any surface, and pairs that must meet or stay apart."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from tests.knowledge.keys.strategies import texts

from fascicle.errors import UsageError
from fascicle.knowledge.keys.key import Level, key
from fascicle.knowledge.keys.tokens import tokens

FOLDING: tuple[Level, ...] = (1, 2, 3)


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
    assert key(surface, 2) == " ".join(token.text for token in tokens(surface))
    assert all(token.text and " " not in token.text for token in tokens(surface))


@given(texts)
def test_the_exact_key_is_the_surface(surface: str) -> None:
    assert key(surface, 0) == surface


def test_another_level_is_refused() -> None:
    with pytest.raises(UsageError):
        key("x", 4)  # type: ignore[arg-type]
