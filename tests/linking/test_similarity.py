"""How alike strings are, against the table of the textbook."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.linking import similarities_of


def common(first: bytes, second: bytes) -> int:
    row = [0] * (len(second) + 1)
    for one in first:
        last = row
        row = [0]
        for place, other in enumerate(second):
            row.append(last[place] + 1 if one == other else max(row[place], last[place + 1]))
    return row[-1]


def expected(first: bytes, second: bytes) -> float:
    size = len(first) + len(second)
    return 2 * common(first, second) / size if size else 1.0


few = st.binary(max_size=12).map(lambda one: bytes(byte % 3 + 97 for byte in one))
long = st.binary(min_size=60, max_size=80).map(lambda one: bytes(byte % 4 + 97 for byte in one))


@given(st.lists(st.tuples(few | long, st.lists(few | long, max_size=3)), max_size=6))
def test_equals_the_table_of_the_textbook(pairs: list[tuple[bytes, list[bytes]]]) -> None:
    first = [one for one, _ in pairs]
    second = [other for _, others in pairs for other in others]
    owners = np.array([at for at, (_, others) in enumerate(pairs) for _ in others], dtype=np.int64)
    wanted = [expected(first[owner], other) for owner, other in zip(owners, second, strict=True)]
    np.testing.assert_allclose(similarities_of(first, second, owners), wanted)


@pytest.mark.parametrize("size", [63, 64, 65, 128, 129, 255, 256])
def test_carries_over_the_borders_of_words(size: int) -> None:
    generator = np.random.default_rng(size)
    first, second = (bytes(generator.integers(97, 99, size).astype(np.uint8)) for _ in range(2))
    found = similarities_of([first, second], [first, second, b"b"], np.array([0, 0, 1]))
    np.testing.assert_allclose(found, [1.0, expected(first, second), expected(second, b"b")])


def test_many_strings_are_compared_each_with_its_own() -> None:
    words = [f"name {number}".encode() for number in range(1_200)]
    others = [word + b"x" for word in words]
    found = similarities_of(words, others, np.arange(len(words)))
    np.testing.assert_allclose(found, [expected(*pair) for pair in zip(words, others, strict=True)])


def test_too_long_strings_are_refused() -> None:
    with pytest.raises(ValueError, match="256"):
        similarities_of([b"a" * 257], [b"a"], np.array([0]))
