"""Sentences in other texts against a search at every place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.evaluation.doctor import fingerprints
from fascicle.evaluation.doctor.fingerprints import ANCHOR, Passages

# Few letters and pieces that repeat, so that beginnings are shared and hits overlap.
_PIECES = st.lists(
    st.sampled_from(["ab", "aab", "b", "a" * 20, "é", "𝛼"]), min_size=1, max_size=8
).map("".join)
_SENTENCES = st.lists(
    _PIECES.map(lambda text: (text * ANCHOR)[: ANCHOR + len(text) % 7]), max_size=6, unique=True
)


def naive(sentences: list[str], text: str) -> set[tuple[int, int]]:
    return {
        (number, place)
        for number, sentence in enumerate(sentences)
        for place in range(len(text))
        if text.startswith(sentence, place)
    }


@given(_SENTENCES, st.lists(_PIECES, max_size=10))
def test_every_place_is_found_once(sentences: list[str], texts: list[str]) -> None:
    text = "\n".join([*texts, *sentences, "".join(sentences)])
    found = list(Passages(sentences).find(text))
    assert len(found) == len(set(found))
    assert set(found) == naive(sentences, text)


def test_long_texts_are_searched_in_slices_that_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = [
        f"sentence{number:04d}" + "x" * number + "endofthesentence" for number in range(40)
    ]
    text = "".join(f"{sentence}filler{number}" for number, sentence in enumerate(sentences)) * 3
    monkeypatch.setattr(fingerprints, "_SLICE", 50)
    assert set(Passages(sentences).find(text)) == naive(sentences, text)


def test_nothing_to_find() -> None:
    assert list(Passages([]).find("x" * 100)) == []
    assert list(Passages(["y" * ANCHOR]).find("")) == []
    assert list(Passages(["y" * ANCHOR]).find("y" * (ANCHOR - 1))) == []
