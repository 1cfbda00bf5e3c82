"""Wrapped lines: those of the standard library, and offsets stay."""

from __future__ import annotations

import textwrap

from hypothesis import given
from hypothesis import strategies as st

from studies.formats.wrapped import wrapped


@given(st.lists(st.text("abc-,", min_size=1, max_size=12), max_size=30), st.integers(12, 40))
def test_lines_are_those_of_the_standard_library(words: list[str], columns: int) -> None:
    text = " ".join(words)
    lines = textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False)
    assert wrapped(text, columns) == "\n".join(lines)
    assert wrapped(text, columns).replace("\n", " ") == text
