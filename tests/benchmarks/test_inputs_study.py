"""What the dictionaries of the study of inputs take from vocabularies, and the times of models with and without."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

import benchmarks.speed.inputs as speed
from benchmarks.studies.inputs.prepare import DICTIONARIES, is_dev, usable
from fascicle.core.document import Document
from fascicle.knowledge.matching.dictionary import Entry
from fascicle.settings.recipes.recogniser import Recipe

TABLES = {
    "lexica-biolexica/disease-lexicon.tsv.gz": (
        "text\tcurie\tname\tpredicate\tsource\nflu\tdoid:1\tinfluenza\thasExactSynonym\tdoid\n"
        "influenza\tmondo:1\tinfluenza\tlabel\tmondo\nill\tdoid:1\tinfluenza\thasBroadSynonym\tdoid\n"
        'a "cold"\thp:1\tcold\tlabel\thp\n'
    ),
    "lexica-biolexica/cell-lexicon.tsv.gz": (
        "text\tcurie\tname\tpredicate\tsource\nHel\tcellosaurus:1\tHEL\thasRelatedSynonym\tcellosaurus\n"
        "neuron\tcl:1\tneuron\tlabel\tcl\nnerve cell\tcl:1\tneuron\thasRelatedSynonym\tcl\n"
    ),
    "dict-chem-reach/chebi-2016.tsv.gz": '#As(O)\tCHEBI:1\n"quoted" acid\tCHEBI:2\n',
    "dict-chem-reach/pubchem-2020.tsv.gz": "\ufeffaspirin\t1\n",
    "dict-drugbank-open/drugbank-vocabulary.csv.gz": (
        "Column1;Column2;Column3;Column4;Column5;Column6\nDrugBank ID;A;Common name;CAS;UNII;Synonyms\n"
        "DB1;B;Lepirudin;1;Y;Hirudin variant-1 | x\n"
    ),
    "dict-gene-human/Homo_sapiens.gene_info.gz": (
        "#tax_id\tGeneID\tSymbol\tLocusTag\tSynonyms\tx\tx\tx\tdescription\n"
        "9606\t1\tA1BG\t-\tA1B|GAB\tx\tx\tx\talpha-1-B glycoprotein\n"
    ),
    "dict-gene-families/hgnc.genegroup.tsv.gz": (
        "identifier\tname\tdefinition\tsynonyms\n10\tVanin family\t\tVNN|Vanins\n11\tOther\t\t\n"
    ),
}
WANTED = {
    "disease": {("Disease", "flu"), ("Disease", "influenza")},
    "cell": {("CellLine", "Hel"), ("CellType", "neuron")},
    "chemical": {("Chemical", name) for name in ('"quoted" acid', "aspirin", "Lepirudin", "Hirudin variant-1")},
    "gene": {
        ("Gene", n) for n in ("A1BG", "A1B", "GAB", "alpha-1-B glycoprotein", "Vanin family", "VNN", "Vanins", "Other")
    },
}


@pytest.mark.parametrize("name", WANTED)
def test_what_is_taken_of_a_vocabulary(name: str, tmp_path: Path) -> None:
    for path, text in TABLES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(gzip.compress(text.encode("utf-8")))
    assert {(one.type, one.name) for one in usable(DICTIONARIES[name](tmp_path))} == WANTED[name]


def test_names_that_are_left_out() -> None:
    names = ["", "-", "ab", "  ab  ", "---", "a  bc", "1,2-x"]
    assert [one.name for one in usable(Entry(name, "Gene") for name in names)] == ["a bc", "1,2-x"]


def test_the_figures_of_an_article_stay_together() -> None:
    parts = [
        {is_dev(Document(id=f"{article:08d}{figure:03d}", text="")) for figure in range(9)} for article in range(200)
    ]
    assert all(len(part) == 1 for part in parts)
    assert 20 < sum(True in part for part in parts) < 60


def test_times_of_models_with_and_without(
    tiny_recipe: Callable[..., Recipe], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = tmp_path / "names.tsv"
    names.write_text("Disease\tlung cancer\n", encoding="utf-8")
    monkeypatch.setattr(speed, "recipe_of", lambda **inputs: tiny_recipe(**({"inputs": inputs} if inputs else {})))
    report = speed.measure([str(names)], rounds=4, int8=False, place=tmp_path / "models")
    assert report["ratio"].keys() == {"shape", "dictionary", "both"}
    assert len(set(report["mentions"].values())) == 1
