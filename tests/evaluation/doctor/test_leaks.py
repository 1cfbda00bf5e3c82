"""Copies of protected documents are found among others that pass by, whatever stands beside
them.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fascicle.core.document import Document
from fascicle.errors import InputError
from fascicle.evaluation.doctor.leaks import Screen
from fascicle.evaluation.doctor.parts import CheckedPart, GivenPart
from fascicle.formats.files import ORIGINAL_ID

TITLE = "Metformin and the risk of pancreatic cancer in elderly patients"
BODY = (
    "We followed two thousand patients with diabetes for more than nine years in five hospitals. "
    "The incidence of pancreatic cancer fell by one third among those who took metformin every "
    "day. "
    "No other drug had an effect of that size on the same outcome in this cohort of patients."
)
PROTECTED = [
    Document(id="1701", text=f"{TITLE}.\n{BODY}"),
    Document(id="short", text="Small and short."),
    Document(
        id="stock",
        text=(
            "Methods of the second trial in adults with severe asthma.\n"
            "P < 0.05 was considered statistically significant. No patient of the two groups was "
            "lost to follow-up. "
            "A double-blind, placebo-controlled, cross-over study."
        ),
    ),
    Document(id="one", text="Wheezing fell in both of the two groups of children."),
]
STOCK = "P < 0.05 was considered statistically significant."
FEW = "No patient of the two groups was lost to follow-up."
OTHER = (
    "Quite different words stand in this text about the weather of the northern hemisphere "
    "in winter."
)


def place(documents: list[Document]) -> GivenPart:
    return GivenPart(
        part=CheckedPart(name="test", role="test"), path="test.jsonl", documents=lambda: documents
    )


@pytest.fixture(scope="module")
def screen() -> Screen:
    return Screen([place(PROTECTED)])


def shouted(text: str) -> str:
    return text.upper().replace(" ", "  ")


CASES = {
    "": Document(id="a", text=OTHER),
    "same-id": Document(id="PMID:1701", text=OTHER),
    "same-id ": Document(id="x#2", text=OTHER, meta={ORIGINAL_ID: "pmid1701"}),
    "duplicate": Document(id="b", text=shouted(PROTECTED[0].text)),
    "near-duplicate": Document(id="c", text=f"{TITLE}.\n{BODY.replace('nine', 'ten')}"),
    "shared-sentence": Document(id="d", text=f"{OTHER} {TITLE}. {OTHER} More of other things."),
    "shared-sentence ": Document(id="h", text=f"{OTHER} {STOCK} {OTHER} {FEW}"),
    "short-duplicate": Document(id="e", text="small and short"),
    " ": Document(id="f", text=""),
    # one short sentence tells nothing
    "  ": Document(id="i", text=f"{OTHER} {STOCK} {OTHER} {STOCK}"),
    "   ": Document(id="j", text=f"{OTHER} A double-blind, placebo-controlled, cross-over study."),
    # nor is a document of one sentence its title
    "    ": Document(id="k", text=f"{OTHER} {PROTECTED[3].text}"),
    "     ": Document(id="l", text=f"{OTHER} {PROTECTED[3].text} {STOCK}"),  # two, of two documents
}


@pytest.mark.parametrize("name", CASES)
def test_each_kind_of_copy_is_found_alone(screen: Screen, name: str) -> None:
    assert screen.reasons([CASES[name]]) == [name.strip()]


def test_the_answer_does_not_depend_on_what_stands_beside(screen: Screen) -> None:
    names = list(CASES)
    for order in (names, names[::-1], names * 3):
        assert screen.reasons([CASES[name] for name in order]) == [name.strip() for name in order]
    assert screen.reasons([]) == []
    assert (
        screen.sha256 == Screen([place(PROTECTED)]).sha256 != Screen([place(PROTECTED[1:])]).sha256
    )
    assert screen.not_compared == 0


def test_what_cannot_be_read_to_its_end_protects_nothing() -> None:
    def broken() -> Iterator[Document]:
        yield PROTECTED[0]
        raise InputError("line 2 is no JSON")

    given = GivenPart(
        part=CheckedPart(name="test", role="test"), path="test.jsonl", documents=broken
    )
    with pytest.raises(InputError, match=r"test.jsonl"):
        Screen([given])
    with pytest.raises(InputError, match=r"test.jsonl"):
        Screen([place([])])
