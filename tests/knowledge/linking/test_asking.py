"""What is looked up for a mention."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document
from fascicle.core.mention import Mention
from fascicle.knowledge.linking.asking import Asked, asked_for, other_forms, readings


@pytest.mark.parametrize(
    ("surface", "parts"),
    [
        ("breast and ovarian cancer", ("breast cancer", "ovarian cancer")),
        ("breast, lung, and ovarian cancers", ("breast cancers", "lung cancers", "ovarian cancers")),
        ("BRCA1/2", ("BRCA1", "BRCA2")),
        ("STAT3/5", ("STAT3", "STAT5")),
        ("IL-1 and -6", ("IL-1", "IL-6")),
        ("vitamin A and E", ("vitamin A", "vitamin E")),
        ("TNF/NGF", ("TNF", "NGF")),
        ("nausea or vomiting", ("nausea", "vomiting")),
    ],
)
def test_composite_mentions_can_be_read_in_parts(surface: str, parts: tuple[str, ...]) -> None:
    assert parts in readings(surface)


@given(st.text("ab1 /,-&", max_size=300))
def test_parts_are_never_empty(surface: str) -> None:
    assert all(len(reading) > 1 and all(part.strip() for part in reading) for reading in readings(surface))


@pytest.mark.parametrize("surface", ["breast cancer", "", "and", "/", "a/b/c/d/e/f/g/h/i"])
def test_what_names_one_thing_has_no_parts(surface: str) -> None:
    assert readings(surface) == ()


def asked(text: str, kind: str = "Gene", *, start: int = 0, end: int | None = None) -> tuple[Asked, ...]:
    document = Document(id="1", text=text, abbreviations=(((20, 22), (0, 18)),) if len(text) > 22 else None)
    mention = Mention(((start, len(text) if end is None else end),), kind)
    return asked_for(document, mention, other_forms(document))


def test_short_and_long_forms_lend_each_other_their_names() -> None:
    text = "ataxia telangiecta (AT) and AT"
    assert asked(text, "Disease", end=18) == (Asked("ataxia telangiecta"), Asked("AT", "short"))
    assert asked(text, "Disease", start=28) == (Asked("AT"), Asked("ataxia telangiecta", "long"))


def test_a_form_has_a_bounded_number_of_others() -> None:
    text = "AB " + " ".join(f"a{number} beta" for number in range(100))
    places = [(at, at + len(f"a{number} beta")) for number in range(100) for at in [text.index(f"a{number} beta")]]
    document = Document(id="1", text=text, abbreviations=tuple(((0, 2), place) for place in places))
    found = other_forms(document)
    assert [one.surface for one in found["AB"]] == [text[a:b] for a, b in places[:20]]
    assert found["a99 beta"] == (Asked("AB", "short"),)


def test_species_in_names_of_genes() -> None:
    human = "NCBITaxon:9606"
    assert Asked("TERT", "bare", human) in asked("hTERT")
    assert asked("mTOR")[0] == Asked("mTOR")  # its own name comes first
    assert Asked("p53", "bare", human) in asked("human p53 protein")
    assert asked("hTERT", "Disease") == (Asked("hTERT"),)
    assert Asked("HeLa", "bare") in asked("HeLa cells", "CellLine")
