"""Tokens as arrays against tokens as Python makes them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.terms.keys.strategies import texts

from fascicle.terms.keys.forms import BREAK, token_hash
from fascicle.terms.keys.key import TokenArrays, TokenReader
from fascicle.terms.keys.tokens import Token, tokenise


def as_tokens(found: TokenArrays) -> list[Token]:
    names = [
        bytes(found.known.bytes.values[a:b]).decode("utf-8", "surrogatepass")
        for a, b in spans_of(found)
    ]
    rows = zip(found.starts, found.ends, names, found.opens, found.closes, strict=True)
    return [
        Token(int(a), int(b), text, bool(opens), bool(closes)) for a, b, text, opens, closes in rows
    ]


def spans_of(found: TokenArrays) -> list[tuple[int, int]]:
    return [
        (int(found.known.starts.values[row]), int(found.known.starts.values[row + 1]))
        for row in found.forms
    ]


def expected(several: list[str]) -> list[Token]:
    result: list[Token] = []
    offset = 0
    for text in several:
        if offset:
            result.append(Token(offset - 1, offset, BREAK, opens=True, closes=True))
        result += [
            token._replace(start=token.start + offset, end=token.end + offset)
            for token in tokenise(text)
        ]
        offset += len(text) + 1
    return result


def places(found: list[Token]) -> list[Token]:
    """A mark that no letter stands before may be taken to the break between texts."""
    return [token._replace(start=0, end=0) if token.text == BREAK else token for token in found]


@given(st.lists(texts, max_size=4), st.integers(1, 40))
def test_arrays_say_what_python_says(several: list[str], chunk: int) -> None:
    found = TokenReader(chunk=chunk).read(several)
    assert places(as_tokens(found)) == places(expected(several))
    assert found.known.hashes.values[found.forms].tolist() == [
        token_hash(token.text) for token in as_tokens(found)
    ]


READER = TokenReader(remembered=50)


@given(st.lists(texts, max_size=4))
def test_what_a_reader_has_met_does_not_count(several: list[str]) -> None:
    assert places(as_tokens(READER.read(several))) == places(expected(several))


def test_quotes_and_possessives_beside_each_other() -> None:
    several = ["", "'s'", "a 's' b's' 5's x''s's y", "s'", "'", "'s", "cats''", "2 's'"]
    assert places(as_tokens(TokenReader().read(several))) == places(expected(several))


def test_every_character_is_folded_alike() -> None:
    # the rest is much of a kind
    ranges = ((0, 0x3400), (0xA000, 0xAC10), (0xD700, 0x10400), (0x1D400, 0x1F700))
    characters = [chr(point) for start, end in ranges for point in range(start, end)]
    texts_of_them = [
        "".join(f"x{one}2 " for one in characters[at : at + 997])
        for at in range(0, len(characters), 997)
    ]
    assert places(as_tokens(TokenReader().read(texts_of_them))) == places(expected(texts_of_them))


def test_a_result_stays_when_the_reader_forgets() -> None:
    reader = TokenReader(remembered=3)
    first = reader.read(["one two three four"])
    before = as_tokens(first)
    reader.read(["five six seven eight nine"])
    reader.read(["ten eleven"])
    assert as_tokens(first) == before == tokenise("one two three four")


def test_many_words_and_one_long_one() -> None:
    words = [
        f"w{chr(97 + a)}{chr(97 + b)}{chr(97 + c)}"
        for a in range(26)
        for b in range(26)
        for c in range(12)
    ]
    text = " ".join(words) + " " + "acgt" * 5000
    assert as_tokens(TokenReader(chunk=1000).read([text])) == tokenise(text)
    assert np.diff(TokenReader().read([text, text]).starts).min() > 0
