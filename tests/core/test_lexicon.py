"""The words of ``assets/lexicon``: each file has examples, and they hold."""

from __future__ import annotations

import re

import pytest

from fascicle.core.document import Document
from fascicle.core.lexicon import FOLDER, either, lexicon, taxa
from fascicle.linking.species import Species
from fascicle.linking.spellings import other_names, other_spellings, without_species
from fascicle.runtime.decoding.formulas import find_formulas
from fascicle.text.language import other_language


def examples(name: str, table: str) -> list[tuple[str, object]]:
    """The entries of a table of examples."""
    return list(lexicon(name)["examples"][table].items())


def test_every_file_has_examples() -> None:
    names = {path.stem for path in FOLDER.glob("*.toml")}
    assert names == {
        "assertion-en", "chemistry", "diseases", "languages", "qualities", "species"
    }  # fmt: skip
    for name in names - {"assertion-en"}:  # its groups of cues have examples of their own
        assert lexicon(name)["examples"]


@pytest.mark.parametrize(("text", "formulas"), examples("chemistry", "formulas"))
def test_formulas(text: str, formulas: object) -> None:
    assert [text[start:end] for start, end in find_formulas(text)] == formulas


@pytest.mark.parametrize(("name", "other"), examples("chemistry", "names"))
def test_names_of_chemicals(name: str, other: object) -> None:
    assert other in [*other_spellings(name, "Chemical"), *other_names(name, "Chemical")]


@pytest.mark.parametrize(("name", "other"), examples("diseases", "names"))
def test_names_of_diseases(name: str, other: object) -> None:
    assert other in list(other_names(name, "Disease"))


@pytest.mark.parametrize(("text", "taxon"), examples("species", "texts"))
def test_species_of_texts(text: str, taxon: object) -> None:
    shares = Species(Document(id="1", text=text)).shares
    assert max(shares, key=shares.__getitem__) == taxon


@pytest.mark.parametrize(("name", "other"), examples("species", "genes"))
def test_species_before_genes(name: str, other: object) -> None:
    assert other in [list(answer) for answer in without_species(name)]


@pytest.mark.parametrize(("text", "language"), examples("languages", "texts"))
def test_languages_of_texts(text: str, language: object) -> None:
    assert other_language(text, "English") == language


def test_words_that_stand_before_genes_have_a_taxon() -> None:
    species = lexicon("species")
    for word in (*species["genes"]["before"], *species["letters"].values()):
        assert word in taxa()


def test_a_longer_word_is_found_before_a_shorter_one() -> None:
    assert re.findall(either(["Na", "NaCl", "N"]), "NaCl N Na") == ["NaCl", "N", "Na"]
