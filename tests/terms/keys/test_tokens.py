"""Where tokens are in their source, and what they are."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from tests.terms.keys.strategies import texts

from fascicle.terms.keys.characters import extends_previous, fold
from fascicle.terms.keys.key import key
from fascicle.terms.keys.tokens import Token, tokenise


@given(texts)
def test_each_folded_character_comes_from_its_place(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    places = list(zip(folded.starts, folded.ends, strict=True))
    assert places == sorted(places)
    for start, end in set(places):
        together = "".join(
            c for c, place in zip(folded.text, places, strict=True) if place == (start, end)
        )
        assert 0 <= start < end <= len(text)
        assert fold(text[start:end]).text == together


@given(texts)
def test_what_no_character_comes_from_does_not_count(text: str) -> None:
    folded = fold(text)
    covered = {
        at
        for start, end in zip(folded.starts, folded.ends, strict=True)
        for at in range(start, end)
    }
    assert all(fold(text[at]).text == "" for at in range(len(text)) if at not in covered)


@given(texts)
def test_tokens_are_in_order_and_say_what_they_cover(text: str) -> None:
    found = tokenise(text)
    assert [token.start for token in found] == sorted(token.start for token in found)
    for token in found:
        assert 0 <= token.start < token.end <= len(text)
        assert key(text[token.start : token.end], 1)


@given(texts, texts)
def test_offsets_do_not_depend_on_what_stands_before(before: str, text: str) -> None:
    assume(not (text and extends_previous(text[0])))  # it would belong to the blank
    shift = len(before) + 3
    moved = [token for token in tokenise(f"{before} ; {text}") if token.start >= shift]
    expected = [
        token._replace(start=token.start + shift, end=token.end + shift) for token in tokenise(text)
    ]
    assert moved == expected


def spans(text: str) -> list[tuple[str, str]]:
    return [(token.text, text[token.start : token.end]) for token in tokenise(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("İL-2, x", [("il", "İL"), ("2", "2"), (",", ","), ("x", "x")]),
        ("ﬁbroses", [("fibrosis", "ﬁbroses")]),
        ("cafe\u0301s.", [("cafe", "cafe\u0301s"), (".", ".")]),
        ("TNFαs", [("tnf", "TNF"), ("alpha", "αs")]),
        ("½ß", [("1", "½"), ("/", "½"), ("2", "½"), ("ss", "ß")]),
        ("👩‍🔬👍🏽 IL", [("👩", "👩‍"), ("🔬", "🔬"), ("👍", "👍"), ("🏽", "🏽"), ("il", "IL")]),
        ("Alzheimer's disease", [("alzheimer", "Alzheimer"), ("disease", "disease")]),
        ("5' ends", [("5", "5"), ("'", "'"), ("end", "ends")]),
        ("IL\u00ad2", [("il", "IL\u00ad"), ("2", "2")]),
    ],
)
def test_examples(text: str, expected: list[tuple[str, str]]) -> None:
    assert spans(text) == expected


def edges(text: str) -> list[tuple[str, bool, bool]]:
    return [(token.text, token.opens, token.closes) for token in tokenise(text)]


def test_names_begin_and_end_with_words() -> None:
    assert edges("IL2-b") == [("il", True, False), ("2", False, True), ("b", True, True)]
    assert edges("TNFalpha") == [("tnf", True, False), ("alpha", False, True)]
    assert edges("CD4+x") == [
        ("cd", True, False),
        ("4", False, True),
        ("+", True, True),
        ("x", True, True),
    ]
    assert edges("x's y") == [("x", True, True), ("y", True, True)]
    assert isinstance(tokenise("x")[0], Token)
