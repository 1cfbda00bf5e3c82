"""Texts in another language than those that a model learnt from."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.formats import read
from fascicle.text.language import other_language


@pytest.mark.parametrize(
    ("file", "language"),
    [
        ("bc5cdr/pubtator/CDR_TestSet.PubTator.txt", ""),
        ("nlm-chem/Test.PubTator.gz", ""),
        ("lener-br/dev.conll", "Portuguese"),
        ("germeval14-de/germ.dev.iob2", "German"),
    ],
)
def test_real_texts_are_in_their_language(fascicle_data: Path, file: str, language: str) -> None:
    documents = list(read(fascicle_data / file))[:400]
    texts = [" ".join(d.text for d in documents[at : at + 10]) for at in range(0, 400, 10)]
    assert {other_language(text, "English") for text in texts} == {language}


@given(st.text(max_size=300))
def test_any_text_has_an_answer(text: str) -> None:
    assert isinstance(other_language(text, "English"), str)
