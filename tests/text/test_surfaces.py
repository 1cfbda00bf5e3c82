"""The words of spans, against slices of the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document
from fascicle.errors import InputError
from fascicle.text.segment import RULES_1, SurfaceReader


def reader(text: str, **given_: object) -> SurfaceReader:
    return SurfaceReader(Document(id="d", text=text, **given_), RULES_1)  # type: ignore[arg-type]


@given(st.text(st.sampled_from("ab .-日本\n"), min_size=1, max_size=20), st.data())
def test_a_span_has_the_parts_of_words_that_lie_in_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    kept = [
        "".join(text[i] for i in range(a, b) if start <= i < end)
        for a, b in RULES_1.words(text)
        if a < end and b > start
    ]
    if not kept:
        with pytest.raises(InputError, match="holds no word"):
            reader(text).surface((start, end))
        return
    assert reader(text).surface((start, end)) == tuple(kept)
    assert "".join(kept) == "".join(text[start:end].split())


def test_words_of_the_document_count_before_those_of_the_segmenter() -> None:
    found = reader("NF-kappa B", words=((0, 8), (9, 10)))
    assert found.surface((0, 10)) == ("NF-kappa", "B")
    assert reader("NF-kappa B").surface((0, 10)) == ("NF", "-", "kappa", "B")


@pytest.mark.parametrize(
    ("span", "said"),
    [
        ((2, 2), "is empty"),
        ((3, 2), "is empty"),
        ((0, 99), "ends beyond document 'd', which has 5"),
        ((1, 2), "no word"),
    ],
)
def test_spans_that_are_none_are_refused(span: tuple[int, int], said: str) -> None:
    with pytest.raises(InputError, match=said):
        reader("a b c").surface(span)


@given(st.text(st.sampled_from("ab. "), min_size=1, max_size=12), st.integers(1, 4))
def test_all_spans_of_a_sentence_are_there_once(text: str, width: int) -> None:
    found = reader(text)
    expected = [
        ((found.words[i][0], found.words[j - 1][1]), tuple(text[a:b] for a, b in found.words[i:j]))
        for i in range(len(found.words))
        for j in range(i + 1, len(found.words) + 1)
        if j - i <= width and any(a <= i and j <= b for a, b in found.sentences)
    ]
    assert list(found.spans(width)) == expected
    assert [i for a, b in found.sentences for i in range(a, b)] == list(range(len(found.words)))


def test_what_crosses_sentences_or_words_is_known() -> None:
    found = reader("a bc d", words=((0, 1), (2, 4), (5, 6)), sentences=((0, 4), (5, 6)))
    assert found.sentences == ((0, 2), (2, 3))
    assert not found.crosses_sentences((0, 4))
    assert found.crosses_sentences((2, 6))
    assert found.aligned((0, 4)) == (0, 2)
    assert found.aligned((0, 3)) is None
    assert found.aligned((3, 6)) is None
