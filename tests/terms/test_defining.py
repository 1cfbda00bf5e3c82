"""What short forms mean among the names of a text."""

from __future__ import annotations

import pytest

from fascicle.core.document import Document
from fascicle.core.mention import Link
from fascicle.terms.defining import apply_definitions
from fascicle.terms.overlaps import Meaning, Occurrence

NAMES = {
    "C-reactive protein": Meaning("Gene", 0.9, (Link(id="1401"),)),
    "CRP": Meaning("Chemical", 0.5, (Link(id="1465"),)),
    "CPAP": Meaning("Gene", 0.5, (Link(id="55835"),)),
    "IL12B": Meaning("Gene", 0.5, (Link(id="3593"),)),
}


def meant(text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    spans = [
        (at, at + len(name), name)
        for name in NAMES
        for at in range(len(text))
        if text.startswith(name, at)
    ]
    places = [Occurrence(start, end, (NAMES[name],)) for start, end, name in sorted(spans)]
    found = apply_definitions(Document(id="1", text=text), places)
    assert [one[:2] for one in found] == [one[:2] for one in places]
    return [
        (text[one.start : one.end], meaning.type, tuple(link.id for link in meaning.links))
        for one in found
        for meaning in one.meanings
    ]


@pytest.mark.parametrize(
    "text",
    [
        "CRP of C-reactive protein (CRP)",
        "CRP (C-reactive protein) of CRP",
        "(C-reactive protein, CRP) and CRP",
    ],
)
def test_a_short_form_means_what_its_long_form_means(text: str) -> None:
    assert {(kind, links) for _, kind, links in meant(text)} == {("Gene", ("1401",))}


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("continuous positive airway pressure (CPAP): CPAP", ()),
        ("CPAP (and others) of CPAP", ("55835",)),
        ("interleukin 12 subunit beta (IL12B)", ("3593",)),  # hardly short for anything else
    ],
)
def test_a_short_form_whose_long_form_is_no_name(text: str, links: tuple[str, ...]) -> None:
    assert {(kind, found) for _, kind, found in meant(text)} == {("Gene", links)}


def test_the_pairs_of_a_document_count_without_a_bracket() -> None:
    text = "CRP is C-reactive protein"
    places = [Occurrence(0, 3, (NAMES["CRP"],)), Occurrence(7, 25, (NAMES["C-reactive protein"],))]
    stated = Document(id="1", text=text, abbreviations=(((0, 3), (7, 25)),))
    assert [one.meanings for one in apply_definitions(stated, places)] == [
        (NAMES["C-reactive protein"],)
    ] * 2
    assert apply_definitions(Document(id="1", text=text), places) == places
