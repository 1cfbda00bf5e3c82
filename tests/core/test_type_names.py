"""One vocabulary of types: what corpora, models and dictionaries call them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fascicle
from fascicle.core.type_names import Vocabulary, read_vocabulary
from fascicle.core.wording import fold_name
from fascicle.errors import RecipeError

VOCABULARY = read_vocabulary()
IN_CORPORA = {
    "Gene": [
        "GENE",
        "protein",
        "Protein",
        "GGP",
        "Gene_or_gene_product",
        "GENE_OR_GENE_PRODUCT",
        "GeneOrGeneProduct",
    ],
    "Disease": [
        "SpecificDisease",
        "DiseaseClass",
        "Modifier",
        "CompositeMention",
        "DISO",
        "DiseaseOrPhenotypicFeature",
    ],
    "Chemical": [
        "CHEMICAL",
        "ChemicalEntity",
        "Simple_chemical",
        "CHEBI",
        "drug",
        "drug_n",
        "CHEM",
    ],
    "Species": ["Organism", "OrganismTaxon", "Taxon", "NCBITaxon", "SPECIES"],
    "CellLine": ["cell_line", "Cell_line", "CELL-LINE"],
    "CellType": ["cell_type", "CL"],
    "Anatomy": ["ANAT", "ANATOMY", "UBERON", "Organ", "Tissue", "Multi-tissue_structure"],
    "Variant": ["SequenceVariant"],
    "Person": ["PER", "PERS", "Peop", "person"],
}


@pytest.mark.parametrize(("kind", "names"), IN_CORPORA.items())
def test_the_names_of_corpora_are_known(kind: str, names: list[str]) -> None:
    assert [VOCABULARY.candidates(name) for name in names] == [(kind,)] * len(names)


def test_every_canonical_name_stands_for_itself_alone() -> None:
    assert [VOCABULARY.candidates(kind) for kind in VOCABULARY.types] == [
        (kind,) for kind in VOCABULARY.types
    ]
    assert len({fold_name(kind) for kind in VOCABULARY.types}) == len(VOCABULARY.types)


def test_the_types_of_the_shipped_model_are_canonical() -> None:
    types = fascicle.load().types
    assert VOCABULARY.meanings(types).known == {name: name for name in types}


def test_what_is_ambiguous_or_unknown_is_said() -> None:
    found = VOCABULARY.meanings(["protein", "GO", "Regulon-operon"])
    assert found.known == {"protein": "Gene"}
    assert found.ambiguous == {
        "GO": ("CellularComponent", "BiologicalProcess", "MolecularFunction")
    }
    assert found.unknown == ("Regulon-operon",)


def test_a_user_adds_types_and_names(tmp_path: Path) -> None:
    path = tmp_path / "types.toml"
    path.write_text(
        'Gene = ["my genes"]\nCellType = ["Cell"]\nPhenotype = ["HP", "modifier"]\n',
        encoding="utf-8",
    )
    own = read_vocabulary(path)
    assert [
        own.candidates(name)
        for name in ("MY_GENES", "Cell", "HP", "phenotype", "Modifier", "protein")
    ] == [
        ("Gene",),
        ("CellType",),
        ("Phenotype",),
        ("Phenotype",),
        ("Phenotype",),
        ("Gene",),
    ]
    assert own.types == (*VOCABULARY.types, "Phenotype")
    # nothing is kept beside the vocabulary that was read
    assert read_vocabulary().candidates("HP") == ()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('gene = ["x"]', "'Gene'; write it so"),
        ('Gene = ["disease"]', "stands for Disease and Gene"),
        ('Gene = ["x"]\nDisease = ["X"]', "stands for Gene and Disease"),
        ('New = []\nGene = ["new"]', "stands for New and Gene"),
        ('Gene = "x"', "give a list"),
        ('Gene = [""]', "give a list"),
        ("[Gene]\nx = 1", "give a list"),
        ("Gene", "not a readable TOML file"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "types.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(RecipeError, match=message) as error:
        read_vocabulary(path)
    assert error.value.file == str(path)


@given(
    st.dictionaries(
        st.text("abAB_-", min_size=1, max_size=3),
        st.lists(st.text("abAB_-", min_size=1, max_size=3)),
    )
)
def test_what_is_added_is_found_or_refused(added: dict[str, list[str]]) -> None:
    try:
        own: Vocabulary = VOCABULARY.extended(added)
    except RecipeError:
        meant = [
            (fold_name(name), kind) for kind, names in added.items() for name in (kind, *names)
        ]
        known = [(fold_name(kind), kind) for kind in VOCABULARY.types]
        assert len(dict(known + meant)) < len(set(known + meant))
        return
    for kind, names in added.items():
        assert {own.candidates(name) for name in (kind, *names)} == {(kind,)}
    assert all(own.candidates(kind) == (kind,) for kind in VOCABULARY.types)
