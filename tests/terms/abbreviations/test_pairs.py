"""Which mentions are forms of a defined pair."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Abbreviation, Document
from fascicle.terms.abbreviations.definitions import FormMeanings, abbreviations_in_capitals
from fascicle.terms.abbreviations.pairs import Pair, Pairs, is_distinctive

TEXT = (
    "Mitral stenosis (MS) is rare. Androgen receptors (ARs) bind. The MS and the AR of multiple "
    "sclerosis (MS) are "
    "others: androgen receptors, MITRAL STENOSIS, MS, AR, MS plaques."
)


def pair_at(text: str, start: int, end: int) -> Pair | None:
    return Pairs(Document(id="1", text=text)).of(text[start:end], (start, end))[0]


@pytest.mark.parametrize(
    ("words", "number", "long"),
    [
        ("Mitral stenosis", 0, "Mitral stenosis"),
        ("MS", 0, "Mitral stenosis"),
        ("MS", 1, "Mitral stenosis"),  # the last definition before it
        ("MS", 2, "multiple sclerosis"),
        ("MS", 3, "multiple sclerosis"),
        ("ARs", 0, "Androgen receptors"),
        ("AR", 2, "Androgen receptors"),
        ("androgen receptors", 0, "Androgen receptors"),
        ("MITRAL STENOSIS", 0, "Mitral stenosis"),
        ("Mitral stenosis (MS)", 0, "Mitral stenosis"),
        ("MS plaques", 0, None),
        ("receptors", 0, None),
        ("rare", 0, None),
    ],
)
def test_what_is_a_form(words: str, number: int, long: str | None) -> None:
    start = -1
    for _ in range(number + 1):
        start = TEXT.index(words, start + 1)
    found = pair_at(TEXT, start, start + len(words))
    assert (found.long if found else None) == long


def test_the_forms_of_a_definition_stand_at_one_place_and_others_where_they_are() -> None:
    pairs = Pairs(Document(id="1", text=TEXT))
    places = [pairs.of(TEXT[slice(*span)], span)[1] for span in ((0, 15), (17, 19), (65, 67))]
    assert places == [0, 0, 65]


def test_a_pair_has_a_bounded_number_of_short_forms() -> None:
    text = "alpha beta " + " ".join(f"A{number}" for number in range(100))
    places = [
        (text.index(f"A{number}"), text.index(f"A{number}") + len(f"A{number}"))
        for number in range(100)
    ]
    document = Document(
        id="1", text=text, abbreviations=tuple((place, (0, 10)) for place in places)
    )
    pair, _ = Pairs(document).of("alpha beta", (0, 10))
    assert pair == Pair("alpha beta", tuple(f"A{number}" for number in range(20)))


def test_a_long_form_that_is_a_short_one_stands_for_the_long_form_of_that() -> None:
    text = "mitogen activated protein kinase (MAPK); MAPK kinase is no MAPK (MK)."
    short, own = text.index("MK"), text.rindex("MAPK")
    document = Document(
        id="1", text=text, abbreviations=(((34, 38), (0, 32)), ((short, short + 2), (own, own + 4)))
    )
    pairs = Pairs(document)
    found = {
        pairs.of(text[slice(*span)], span)[0]
        for span in ((0, 32), (34, 38), (short, short + 2), (own, own + 4))
    }
    assert found == {Pair("mitogen activated protein kinase", ("MAPK", "MK"))}


def test_a_document_may_say_that_it_defines_nothing() -> None:
    document = Document(id="1", text=TEXT, abbreviations=())
    assert Pairs(document).of("MS", (17, 19)) == (None, 17)


@given(
    st.text(alphabet="abAB s()", max_size=30),
    st.lists(st.tuples(*[st.integers(0, 29)] * 4), max_size=5),
)
def test_both_forms_of_any_definition_are_one_pair(
    text: str, numbers: list[tuple[int, int, int, int]]
) -> None:
    told: list[Abbreviation] = []
    used = set[tuple[int, int]]()
    for a, b, c, d in numbers:
        short, long = ((min(a, b), max(a, b)), (min(c, d), max(c, d)))
        if used.isdisjoint({short, long}) and short != long and max(*short, *long) <= len(text):
            told.append((short, long))
            used |= {short, long}
    pairs = Pairs(Document(id="1", text=text, abbreviations=tuple(told)))
    for short, long in told:
        words = [text[slice(*place)].strip() for place in (short, long)]
        found = [pairs.of(" ".join(text[slice(*place)].split()), place) for place in (short, long)]
        if all(words):
            assert found[0] == found[1]
            assert found[0][0] is not None


@pytest.mark.parametrize(
    ("short", "found"),
    [
        ("FSH", False),
        ("CPAP", False),
        ("IL-6", False),
        ("IL-12", True),
        ("VEGFA", True),
        ("p53", False),
        ("ERK2", True),
    ],
)
def test_which_short_forms_are_distinctive(short: str, found: bool) -> None:
    assert is_distinctive(short) == found


@pytest.mark.parametrize(
    ("text", "meanings"),
    [
        (
            "MS: mitral stenosis (MS) or mass spectrometry (MS), MS",
            ["mitral stenosis"] * 2 + ["mass spectrometry"] * 2,
        ),
        # a second definition that is none
        ("myelodysplastic syndrome (MDS); MDS (median age, 67 years)", [""] * 2),
        (
            "Pulmonary embolism (PE), PE, preeclampsia (PE)",
            ["pulmonary embolism"] * 2 + ["preeclampsia"],
        ),
        ("mass spectrometry (MS), MS", [""] * 2),
    ],
)
def test_what_a_form_with_several_definitions_means(text: str, meanings: list[str]) -> None:
    document, form = Document(id="1", text=text), text[text.index("(") + 1 : text.index(")")]
    places = [at for at in range(len(text)) if text.startswith(form, at)]
    assert [FormMeanings(document).at(form, at) for at in places] == meanings


@pytest.mark.parametrize(
    ("text", "shorts"),
    [
        ("postoperative sore throat (post) was rare", ["post"]),
        ("levels of cortisol (cor) rose", ["cor"]),
        ("the gisen group (gruppo italiano di studi epidemiologici in nefrologia)", []),
        ("methylprednisolone than for those given placebo (mean)", []),
    ],
)
def test_capitals_make_short_forms_of_few_ordinary_words(text: str, shorts: list[str]) -> None:
    document, capitals = Document(id="1", text=text), Document(id="1", text=text.upper())
    places = abbreviations_in_capitals(document, capitals)
    assert [text[slice(*short)] for short, _ in places] == shorts
