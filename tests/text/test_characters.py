from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document
from fascicle.text.characters import (
    PLAIN,
    with_blank_marks,
    with_capitals,
    with_plain_characters,
)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("IL\u20112 and IL\u22122", "IL-2 and IL-2"),
        ("Ca\u00b2\u207a, H\u2082O and \u00b9\u00b2\u2075I", "Ca2+, H2O and 125I"),
        ("Crohn\u2019s \u201cdisease\u201d", 'Crohn\'s "disease"'),
        ("5\u00a0mg", "5 mg"),
        ("plain text", "plain text"),
        ("IL-2\u00b3, gout\u00b9,\u00b2 and", "IL-2 , gout    and"),
        ("asthma\u2074\u207b\u2076. 10\u2076, 10\u207b\u2076, m\u00b2", "asthma   . 106, 10-6, m2"),
    ],
)
def test_characters_that_print_like_plain_ones_become_these(written: str, expected: str) -> None:
    assert with_plain_characters(Document(id="1", text=written)).text == expected


MARKS = "\u00b9\u00b2\u00b3\u2070\u2074\u2075\u2076\u2077\u2078\u2079\u207a\u207b,;\u2013-"


@given(st.text() | st.text(st.sampled_from(f"{MARKS} aIL.2")))
def test_the_map_keeps_every_offset(text: str) -> None:
    mapped = with_plain_characters(Document(id="1", text=text)).text
    assert len(mapped) == len(text)
    assert all(
        b in (a, PLAIN.get(ord(a))) or (b == " " and a in MARKS)
        for a, b in zip(text, mapped, strict=True)
    )


def test_one_plain_character_stands_for_one() -> None:
    assert all(len(one) == 1 and ord(one) not in PLAIN for one in PLAIN.values())


def test_a_plain_document_is_left_as_it_is() -> None:
    document = Document(id="1", text="\u03b1-tubulin")
    assert with_plain_characters(document) is document


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("gout\u00b9,\u00b2 and IL\u20112\u00b3", "gout    and IL\u20112 "),
        (
            "Ca\u00b2\u207a, 10\u2076 and \u00b9\u00b2\u2075I",
            "Ca\u00b2\u207a, 10\u2076 and \u00b9\u00b2\u2075I",
        ),
    ],
)
def test_marks_become_blanks_and_all_else_stays(written: str, expected: str) -> None:
    (read,) = with_blank_marks([document := Document(id="1", text=written)])
    assert read.text == expected
    assert (read is document) == (written == expected)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("loss of brca1 causes breast cancer.", "LOSS OF BRCA1 CAUSES BREAST CANCER."),
        (
            "loss of \u03b2-catenin, stra\u00dfe of women",
            "LOSS OF \u03b2-CATENIN, STRA\u00dfE OF WOMEN",
        ),
        ("loss of BRCA1 causes breast cancer.", "loss of BRCA1 causes breast cancer."),
        ("breast cancer", "breast cancer"),  # may be a name
        (
            "Loss Of Brca1 In The Mice That Were Treated",
            "LOSS OF BRCA1 IN THE MICE THAT WERE TREATED",
        ),
        (
            "Loss of Brca1 in Mice Treated with Metformin for a Year",
            "Loss of Brca1 in Mice Treated with Metformin for a Year",
        ),
        ("Loss Of Brca1 In Mice", "Loss Of Brca1 In Mice"),  # too few words
        # one capital in 281 letters
        ("Loss of p53. " + 40 * "loss of p53. ", "LOSS OF P53. " + 40 * "LOSS OF P53. "),
    ],
)
def test_a_text_without_capitals_is_read_in_capitals(written: str, expected: str) -> None:
    assert with_capitals(Document(id="1", text=written)).text == expected


@given(st.text() | st.text(st.sampled_from("abcA .\u00df\u0149\u0130\u0131"), min_size=20))
def test_capitals_keep_every_offset(text: str) -> None:
    changed = with_capitals(Document(id="1", text=text)).text
    assert len(changed) == len(text)
    assert changed.lower() == text.lower()


def test_digits_before_a_letter_belong_to_no_list_of_raised_ones() -> None:
    text = "We took 10⁶, ¹²⁵I-labelled, cells of gout¹, ²."
    plain = with_plain_characters(Document(id="a", text=text)).text
    assert plain == "We took 106, 125I-labelled, cells of gout    ."


def test_raised_digits_behind_a_name_that_ends_in_a_capital_are_blanks() -> None:
    text = "Nogo A¹² and bisphenol A¹² at S⁴⁷³ and BRAF V⁶⁰⁰."
    plain = with_plain_characters(Document(id="a", text=text)).text
    assert plain == "Nogo A   and bisphenol A   at S473 and BRAF V600."
