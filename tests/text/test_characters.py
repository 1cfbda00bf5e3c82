from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document
from fascicle.text.characters import PLAIN, with_plain_characters


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("IL\u20112 and IL\u22122", "IL-2 and IL-2"),
        ("Ca\u00b2\u207a, H\u2082O and \u00b9\u00b2\u2075I", "Ca2+, H2O and 125I"),
        ("Crohn\u2019s \u201cdisease\u201d", 'Crohn\'s "disease"'),
        ("5\u00a0mg", "5 mg"),
        ("plain text", "plain text"),
    ],
)
def test_characters_that_print_like_plain_ones_become_these(written: str, expected: str) -> None:
    assert with_plain_characters(Document(id="1", text=written)).text == expected


@given(st.text())
def test_the_map_keeps_every_offset(text: str) -> None:
    mapped = with_plain_characters(Document(id="1", text=text)).text
    assert len(mapped) == len(text)
    assert all(a == b or PLAIN[ord(a)] == b for a, b in zip(text, mapped, strict=True))


def test_one_plain_character_stands_for_one() -> None:
    assert all(len(one) == 1 and ord(one) not in PLAIN for one in PLAIN.values())


def test_a_plain_document_is_left_as_it_is() -> None:
    document = Document(id="1", text="\u03b1-tubulin")
    assert with_plain_characters(document) is document
