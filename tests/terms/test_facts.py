"""Facts about mentions whose names are vocabularies."""

from __future__ import annotations

import pytest

from fascicle.terms.terms import curies_of_fact


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("mesh", "D001241", ("MESH:D001241",)),
        ("MeSH", "MESH:D001241", ("MESH:D001241",)),
        ("mesh_id", "D001241|D003920", ("MESH:D001241", "MESH:D003920")),
        ("hgnc", "HGNC:1100", ("HGNC:1100",)),
        ("omim", "114480", ("OMIM:114480",)),
        ("cui", "C0004057, C0004058", ("umls:C0004057", "umls:C0004058")),
        ("GeneID", "672", ("NCBIGene:672",)),
        ("hpo", "HP:0001250", ("HP:0001250",)),
        ("icd10", "E11.9", ("icd10:E11.9",)),
        ("rxcui", "1191", ("rxnorm:1191",)),
    ],
)
def test_a_fact_is_an_identifier(name: str, value: str, wanted: tuple[str, ...]) -> None:
    assert curies_of_fact(name, value) == wanted


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mesh", "yes"),
        ("mesh", "D001241|see below"),
        ("mesh", "OMIM:114480"),
        ("hgnc", "BRCA1"),
        ("icd10", "true"),
        ("gene", "672"),  # of a variant
        ("gene_id", "672"),
        ("taxid", "9606"),  # of a gene
        ("sid", "3"),  # the number of a sentence
        ("id", "4"),
        ("colour", "red2"),
    ],
)
def test_other_facts_are_not(name: str, value: str) -> None:
    assert curies_of_fact(name, value) == ()
