"""Strings are found by their hashes, and told apart where hashes are equal."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.terms.pack.arrays import Hasher, Lookup, StringsWriter, string_hashes

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def weak(strings: Sequence[bytes]) -> Any:
    return np.array([len(one) % 3 for one in strings], dtype="<u8")


@pytest.mark.parametrize("hasher", [string_hashes, weak])
@given(known=st.sets(TEXTS, max_size=60), asked=st.lists(TEXTS, max_size=60))
def test_a_look_up_is_a_dict(hasher: Hasher, known: set[str], asked: list[str]) -> None:
    ordered = sorted(known, key=str.encode)
    with tempfile.TemporaryDirectory() as place:
        writer = StringsWriter(Path(place), "words")
        for one in ordered:
            writer.add(one.encode())
        writer.close()
        lookup = Lookup.write(Path(place), "words", hasher=hasher)
        rows = {one: row for row, one in enumerate(ordered)}
        asked = [*asked, *ordered]
        assert lookup.find(asked).tolist() == [rows.get(one, -1) for one in asked]
        assert lookup.strings.take(list(rows.values())) == ordered


def test_hashes_are_the_same_everywhere() -> None:
    """As ``b2sum -l 32`` says, its bytes read as little-endian."""
    assert string_hashes([b"", b"cat"]).tolist() == [634351890, 3138554730]
