"""Proteins of pathogens that are written like genes of people are not looked up as these."""

from __future__ import annotations

import pytest

from fascicle.core.document import Document, Mention
from fascicle.core.mention import Span
from fascicle.linking.asking import make_units


def names(text: str, words: str, *, pairs: tuple[tuple[Span, Span], ...] = ()) -> list[str]:
    start = text.index(words)
    mention = Mention(((start, start + len(words)),), "Gene")
    document = Document(id="1", text=text, mentions=(mention,), abbreviations=pairs)
    (unit,) = make_units([document], [[mention]])
    return [string.surface for string in unit.query.strings]


@pytest.mark.parametrize(
    ("text", "word", "name"),
    [
        # InhA, Tax and LMP1 are aliases of INHA, CNTN2 and PDLIM7 of people
        ("InhA of Mycobacterium tuberculosis", "InhA", "Mycobacterium tuberculosis InhA"),
        ("HTLV-1 Tax activates NF-kB.", "Tax", "HTLV-1 Tax"),
        ("LMP1 of Epstein-Barr virus", "LMP1", "Epstein-Barr virus LMP1"),
    ],
)
def test_the_organism_belongs_to_the_name(text: str, word: str, name: str) -> None:
    assert names(text, word) == [name]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("INHA in tuberculosis", "INHA"),
        ("LMP1 in the liver", "LMP1"),
        ("CD4 binds gp120 of HIV-1", "CD4"),
    ],
)
def test_other_genes_are_looked_up_as_before(text: str, word: str) -> None:
    assert names(text, word)[0] == word


def test_a_defined_short_form_means_what_the_text_says() -> None:
    text = "Hemoglobin zeta (HBZ) in HTLV-1"
    pairs = (((17, 20), (0, 15)),)
    assert names(text, "HBZ", pairs=pairs)[0] == "Hemoglobin zeta"
