from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention, Patch, Section
from fascicle.core.patches import apply
from fascicle.loading import load_single
from fascicle.runtime.decoding.short_texts import short_cells
from fascicle.runtime.second_reading import answer_cells
from fascicle.settings.decision import NameDecision

RULES = NameDecision(words=3)


def cells(text: str, sections: tuple[Section, ...] | None = None) -> list[str]:
    document = Document(id="1", text=text, sections=sections)
    return [text[slice(*span)] for span in short_cells(document, RULES)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("BRCA1\tlung cancer", ["BRCA1", "lung cancer"]),
        (" BRCA1 \t\t rat\nTP53\tmouse\r", ["BRCA1", "rat", "TP53", "mouse"]),
        ("BRCA1", []),  # no table
        ("\tBRCA1", []),  # one cell
        ("BRCA1\tis a gene of breast cancer", []),  # running text
        ("BRCA1\tis a gene of breast cancer\nTP53\trat", ["TP53", "rat"]),
    ],
)
def test_cells_of_short_rows(text: str, expected: list[str]) -> None:
    assert cells(text) == expected


def test_short_columns_of_a_table_are_cells_and_an_abstract_is_none() -> None:
    text = "BRCA1\nlung cancer"
    columns = (Section(start=0, end=5, name="gene"), Section(start=6, end=17, name="disease"))
    assert cells(text, columns) == ["BRCA1", "lung cancer"]
    text = "Lung cancer\nWe studied all of the patients with cancer."
    parts = (
        Section(start=0, end=11, name="title"),
        Section(start=12, end=len(text), name="abstract"),
    )
    assert cells(text, parts) == []


def finds_all(documents: Sequence[Document]) -> list[Patch]:
    return [
        Patch(add=(Mention(((0, len(one.text)),), "Gene", score=0.8, source="m"),))
        for one in documents
    ]


@given(st.text(st.sampled_from("ab \t\n"), max_size=40))
def test_cells_are_answered_alone_and_nothing_else_changes(text: str) -> None:
    document = Document(id="1", text=text)
    before = tuple(
        Mention(((at, at + 1),), "Disease", score=0.5, source="m")
        for at in range(len(text))
        if not text[at].isspace()
    )
    (found,) = answer_cells([document], [Patch(add=before)], rules=RULES, predict=finds_all)
    apply(document, found)
    spans = short_cells(document, RULES)
    inside = {at for start, end in spans for at in range(start, end)}
    assert {one.spans[0] for one in found.add if one.type == "Gene"} == set(spans)
    assert [one for one in found.add if one.type == "Disease"] == [
        one for one in before if one.start not in inside
    ]


def test_rows_of_names_are_read_cell_by_cell() -> None:
    model = load_single("biomed-fast@2")
    names = ["BRCA1", "lung cancer", "cisplatin"]
    alone = [patch.add for patch in model.predict([Document(id="", text=name) for name in names])]
    (row,) = model.predict([Document(id="1", text="\t".join(names))])
    assert [(one.type, one.score, one.end - one.start) for one in row.add] == [
        (one.type, one.score, one.end - one.start) for found in alone for one in found
    ]
    assert row.add
