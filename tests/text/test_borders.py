"""Tests for the borders that end a sentence whatever the segmenter says."""

from __future__ import annotations

import textwrap

import pytest

from fascicle.core.document import Document, Section
from fascicle.text.borders import list_items
from fascicle.text.segment import RULES_1, all_sentences

NAMES = ("asthma", "diabetes mellitus", "hypertension", "cancer of the lung", "gout")
PROSE = (
    "Patients had congestive heart failure and type 2 diabetes mellitus before they were treated "
    "with metformin or "
    "with insulin for several weeks. None of them was given furosemide, which is why the H. "
    "pylori infection of the "
    "stomach went on until the end of the study (n = 12) in all of the hospitals of the region."
)


def cut(text: str, **parts: object) -> list[str]:
    document = Document(id="d", text=text, **parts)
    return [text[start:end] for start, end in all_sentences(document, RULES_1)]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r", "\u2028", "\x85", " \n", "\n   "])
def test_each_line_of_a_list_is_a_sentence(line_end: str) -> None:
    assert cut(line_end.join(NAMES)) == list(NAMES)


@pytest.mark.parametrize(
    "head", ["• ", "● ", "- ", "– ", "o\t", "> ", "> - ", "\uf0b7 ", "Item: ", "- Item: "]
)
def test_items_begin_behind_bullets_and_labels(head: str) -> None:
    text = "\n".join(head + name for name in NAMES)
    assert [text[item.body : item.end] for item in list_items(text)] == list(NAMES)


@pytest.mark.parametrize("form", ["{}. ", "{}) ", "({}) "])
def test_items_begin_behind_numbers(form: str) -> None:
    text = "\n".join(form.format(number) + name for number, name in enumerate(NAMES, 1))
    assert [text[item.body : item.end] for item in list_items(text)] == list(NAMES)


@pytest.mark.parametrize("width", [35, 45, 60, 72, 100])
@pytest.mark.parametrize("quote", ["", "> "])
def test_wrapped_prose_has_no_border(width: int, quote: str) -> None:
    text = textwrap.fill(
        PROSE, width, initial_indent=quote, subsequent_indent=quote, break_on_hyphens=False
    )
    assert not list(list_items(text))
    assert len(cut(text)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "type 2\ndiabetes mellitus",
        "Patients had congestive heart\nfailure and type 2\ndiabetes mellitus",
        "Patients with congestive heart\nfailure and type 2\ndiabetes mellitus were "
        "treated\nwith metformin or insulin",
        "asthma, gout,\nmelanoma, anemia,\nstroke and\nmalaria",
    ],
)
def test_a_name_over_a_line_end_stays_whole(text: str) -> None:
    assert cut(text) == [text]


def test_a_short_line_before_a_long_one_is_cut_off() -> None:
    long = "The patient was seen by the physician on call, who found nothing new"
    assert cut(f"asthma\n{long}") == ["asthma", long]


def test_a_label_in_prose_is_no_border() -> None:
    text = (
        "The aim was to show that it is safe. Materials and\nMethods: We took all that there "
        "was in the two\nhospitals."
    )
    assert "Materials and\nMethods: We took all that there was in the two\nhospitals." in cut(text)


def test_a_border_of_sections_is_one_of_sentences() -> None:
    text = "Role of IL-2 The gene helps. It works."
    sections = (Section(0, 12, "title"), Section(13, 38, "abstract"))
    assert cut(text, sections=sections) == ["Role of IL-2", "The gene helps.", "It works."]


def test_no_section_cuts_a_word() -> None:
    assert cut("one word here", sections=(Section(0, 6), Section(6, 13))) == ["one word here"]


def test_sentences_of_the_source_stay() -> None:
    text = "a b\nc d\ne f"
    assert cut(text, sentences=((0, 11),), sections=(Section(0, 3), Section(4, 11))) == [text]
    assert cut(text, sentences=((0, 3),), sections=(Section(4, 7),)) == ["a b", "c d", "e f"]


def test_cells_of_a_row_are_apart() -> None:
    assert cut("asthma\tmetformin\t\tgout\n1.\tmelanoma") == [
        "asthma",
        "metformin",
        "gout",
        "1.\tmelanoma",
    ]


def test_the_named_rules_stay_as_they_are() -> None:
    assert RULES_1.sentences("\n".join(NAMES)) == ((0, len("\n".join(NAMES))),)
