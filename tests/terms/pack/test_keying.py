"""Keys that are made together are those that are made one by one."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st
from tests.terms.keys.strategies import texts

from fascicle.terms.keys.key import KeyReader, key


@given(names=st.lists(texts, max_size=12))
def test_keys_of_any_names(names: list[str]) -> None:
    assert KeyReader()(names) == [key(name, 2) for name in names]


def test_a_reader_that_forgets_words_gives_the_same_keys() -> None:
    draw = random.Random(7)
    reader = KeyReader()
    reader._reader._remembered = 50
    for _ in range(30):
        names = ["".join(draw.choices("abcdeβ -1s", k=6)) for _ in range(20)]
        assert reader(names) == [key(name, 2) for name in names]
