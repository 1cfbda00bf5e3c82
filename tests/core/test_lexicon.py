"""The words of ``assets/lexicon``: each file has examples, and they hold."""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fascicle.core.document import Document
from fascicle.core.lexicon import FOLDER, either, lexicon, taxa
from fascicle.core.mention import Mention
from fascicle.linking.pathogens import Pathogens
from fascicle.linking.species import Species, words_for_species
from fascicle.linking.spellings import other_names, other_spellings, without_species
from fascicle.runtime.decoding.formulas import find_formulas
from fascicle.runtime.decoding.measures import without_measures
from fascicle.settings.folders.manifest import LANGUAGES
from fascicle.text.language import other_language


def examples(name: str, table: str) -> list[tuple[str, object]]:
    """The entries of a table of examples."""
    return list(lexicon(name)["examples"][table].items())


def test_every_file_has_examples() -> None:
    names = {path.stem for path in FOLDER.glob("*.toml")}
    assert names == {
        "assertion-en", "chemistry", "diseases", "languages", "measures", "pathogens", "qualities", "species"
    }  # fmt: skip
    for name in names - {"assertion-en"}:  # its groups of cues have examples of their own
        assert lexicon(name)["examples"]


@pytest.mark.parametrize(("text", "formulas"), examples("chemistry", "formulas"))
def test_formulas(text: str, formulas: object) -> None:
    assert [text[start:end] for start, end in find_formulas(text)] == formulas


@pytest.mark.parametrize(("name", "other"), examples("chemistry", "names"))
def test_names_of_chemicals(name: str, other: object) -> None:
    assert other in [*other_spellings(name, "Chemical"), *other_names(name, "Chemical")]


@pytest.mark.parametrize("name", ["K1", "K2", "Na1", "Li2"])
def test_a_digit_is_no_charge_of_an_ion_with_one(name: str) -> None:
    assert set(other_spellings(name, "Chemical")) == {name}
    assert "potassium" in other_spellings("K+", "Chemical")
    assert "potassium carbonate" in other_spellings("K2CO3", "Chemical")


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


@pytest.mark.parametrize(("text", "proteins"), examples("pathogens", "texts"))
def test_proteins_of_pathogens(text: str, proteins: object) -> None:
    named = Pathogens(text)
    assert [word for word in re.findall(r"[\w-]+", text) if named.owner(word)] == proteins


@pytest.mark.parametrize(("text", "word"), examples("measures", "genes"))
@pytest.mark.parametrize(
    "end", ["", " It binds the epidermal growth factor receptor.", " The eGFR exon and INR gene."]
)
def test_measurements_are_no_genes(text: str, word: object, end: str) -> None:
    start = text.index(str(word))
    gene = Mention(((start, start + len(str(word))),), "Gene")
    chemical = Mention(gene.spans, "Chemical")
    assert without_measures(text + end, [gene, chemical])[-1:] == [chemical]
    assert (gene in without_measures(text + end, [gene, chemical])) == bool(end)


@pytest.mark.parametrize(("text", "word"), examples("measures", "diseases"))
def test_measurements_are_no_diseases(text: str, word: object) -> None:
    start = text.index(str(word))
    disease = Mention(((start, start + len(str(word))),), "Disease")
    assert without_measures(text, [disease]) == []
    after = f"He had {word}."
    disease = Mention(((7, 7 + len(str(word))),), "Disease")
    assert without_measures(after, [disease]) == [disease]


def test_a_model_may_state_each_language_of_the_file() -> None:
    assert tuple(lexicon("languages")["words"]) == LANGUAGES


@pytest.mark.parametrize(("text", "language"), examples("languages", "texts"))
def test_languages_of_texts(text: str, language: object) -> None:
    assert other_language(text, "English") == language


def test_words_that_stand_before_genes_have_a_taxon() -> None:
    species = lexicon("species")
    for word in (*species["genes"]["before"], *species["letters"].values()):
        assert word.lower() in taxa()


SPECIES = """
[words]
"NCBITaxon:9606" = ["HEK293T", "a+b"]
"NCBITaxon:4896" = ["S. pombe"]
[weak]
"NCBITaxon:9606" = ["Xenograft"]
"""


@pytest.fixture
def own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Words for species with capitals and signs, in a file of its own."""
    (tmp_path / "species.toml").write_text(SPECIES, encoding="utf-8")
    monkeypatch.setattr("fascicle.core.lexicon.FOLDER", tmp_path)
    caches = (lexicon, taxa, words_for_species)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


@pytest.mark.usefixtures("own_words")
def test_words_of_lists_may_have_capitals_and_are_no_patterns() -> None:
    text = "hek293t, A+B and S.\nPombe, no sXpombe and no aab.  A xenograft grew."
    assert Species(Document(id="1", text=text)).shares == {
        "NCBITaxon:9606": 0.75,
        "NCBITaxon:4896": 0.25,
    }


def test_no_word_for_a_species_is_a_symbol_of_a_gene(fascicle_data: Path) -> None:
    """By letters and digits, in HGNC, MGI and RGD; symbols of English words are other names."""
    english = {"mice", "men", "man", "pig", "pigs"}
    tables = [fascicle_data / "fresh-2026" / f"{name}.tsv.gz" for name in ("hgnc", "mgi", "rgd")]
    if not all(table.is_file() for table in tables):
        pytest.skip("the folder of corpora has no symbols of genes")
    symbols = {bare(symbol) for table in tables for symbol in symbols_of(table)}
    assert len(symbols) > 100_000
    words = {*taxa(), *taxa("weak")} - english
    assert [word for word in sorted(words) if bare(word) in symbols] == []


def bare(name: str) -> str:
    """Letters and digits of a name, without case."""
    return "".join(filter(str.isalnum, name.casefold()))


def symbols_of(table: Path) -> Iterator[str]:
    """Official, other and earlier symbols of genes."""
    with gzip.open(table, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            for field in ("symbol", "alias_symbols", "previous_symbols"):
                yield from (row[field] or "").split("|")


def test_a_point_in_a_word_is_a_point() -> None:
    assert re.findall(either(["E. coli"]), "E. coli Ex coli") == ["E. coli"]


def test_a_longer_word_is_found_before_a_shorter_one() -> None:
    assert re.findall(either(["Na", "NaCl", "N"]), "NaCl N Na") == ["NaCl", "N", "Na"]
