"""Species that a text names, by words and by linked mentions."""

from __future__ import annotations

import pytest

from fascicle.core.document import Document, Link, Mention
from fascicle.linking.species import HUMAN, Species, likely_species

MOUSE = "NCBITaxon:10090"


def likely(text: str, place: str, *mentions: tuple[str, str, str]) -> str:
    """The likely species of a gene at a place; mentions are words, types and taxa."""
    marked = tuple(
        Mention(
            ((text.index(words), text.index(words) + len(words)),),
            kind,
            links=(Link(ontology="NCBITaxon", id=taxon),) if taxon else (),
        )
        for words, kind, taxon in mentions
    )
    return likely_species(
        Species(Document(id="1", text=text, mentions=marked)).near(text.index(place))
    )


@pytest.mark.parametrize("text", ["TP53 in cells in nude mice.", "TP53 in nude\nmice."])
@pytest.mark.parametrize("words", ["mice", ""])
def test_human_cells_grow_in_nude_mice_whatever_links_the_mice(text: str, words: str) -> None:
    mentions = [(words, "Species", "10090")] if words else []
    assert likely(text, "TP53", *mentions) == HUMAN


@pytest.mark.parametrize(
    ("text", "taxon"),
    [
        ("Mouse mammary carcinomas lose p53.", MOUSE),
        ("p53 is lost in mouse xenografts.", MOUSE),
        ("Mice grew. Xenografts lost p53.", HUMAN),
    ],
)
def test_weak_words_count_where_a_sentence_names_no_species(text: str, taxon: str) -> None:
    assert likely(text, "p53") == taxon


@pytest.mark.parametrize(
    "text",
    ["F9 mutations cause hemophilia B.", "The p19 subunit of IL-23", "HLA-B16 and MEF-2", "INS-1"],
)
def test_symbols_of_genes_name_no_species(text: str) -> None:
    assert not Species(Document(id="1", text=text)).shares


def test_a_word_in_the_name_of_a_gene_names_no_species() -> None:
    text = "v-raf murine sarcoma viral oncogene and PIGS"
    genes = (("v-raf murine sarcoma viral oncogene", "Gene", ""), ("PIGS", "Gene", ""))
    assert likely(text, "v-raf", *genes) == HUMAN
    assert likely("mouse Trp53", "Trp53", ("mouse Trp53", "Gene", "")) == MOUSE
