"""Numbers with their nouns, and what has a letter."""

from __future__ import annotations

import pytest

from fascicle.core.wording import has_letters, plural, shorten, unescape_html


def test_a_noun_is_in_the_plural_where_it_must_be() -> None:
    assert [plural(n, "name") for n in (0, 1, 1234)] == ["0 names", "1 name", "1,234 names"]
    assert [plural(n, "entry", "entries") for n in (1, 2)] == ["1 entry", "2 entries"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a", True), ("(7)", True), ("β", True), ("", False), (" -+", False), ("\u200b", False)],
)
def test_signs_are_no_letters(text: str, expected: bool) -> None:
    assert has_letters(text) is expected


def test_long_names_are_cut() -> None:
    assert shorten("Disease") == "Disease"
    assert shorten("a" * 60) == "a" * 60
    assert shorten("a" * 61) == "a" * 59 + "…"
    assert len(shorten("a" * 100_000, most=10)) == 10


def test_references_of_any_length_are_characters() -> None:
    assert unescape_html("a&amp;b &#65; &#x41;") == "a&b A A"
    assert unescape_html(f"&#{'9' * 5_000};") == "\ufffd"
