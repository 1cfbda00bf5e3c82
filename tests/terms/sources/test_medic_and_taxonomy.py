"""MEDIC of 2012, and the dumps of the taxonomy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fascicle.terms.terms import CrossReference, Name

NAMES = """1\t|\troot\t|\t\t|\tscientific name\t|
9606\t|\tHomo sapiens\t|\t\t|\tscientific name\t|
9606\t|\thuman\t|\t\t|\tgenbank common name\t|
9606\t|\tHomo sapiens Linnaeus, 1758\t|\t\t|\tauthority\t|
9606\t|\tspecimen\t|\t\t|\ttype material\t|
x\t|\tnobody\t|\t\t|\tsynonym\t|
10090\t|\tMus
"""
NODES = "1\t|\t1\t|\tno rank\t|\n9606\t|\t1\t|\tspecies\t|\n7\t|\t|\tspecies\t|\n"


def test_medic(read: Callable[..., Any]) -> None:
    text = "D013132|248800||Spinocerebellar&apos;s|Ataxia, Sj&#246;gren\n270400|D019082||Smith\n"
    text += "C||Diseases\nno bars\n\nD000001||\n"
    found = read(text, "medic")
    assert found["MESH:D013132"].names == (
        Name("Spinocerebellar's", "label"),
        Name("Ataxia, Sjögren"),
    )
    assert found["MESH:D013132"].references == (CrossReference("OMIM:248800", "skos:exactMatch"),)
    assert found["OMIM:270400"].references == (CrossReference("MESH:D019082", "skos:exactMatch"),)
    assert found.losses() == {"identifier": 1, "columns": 1, "no-name": 1, "name": 1}


def test_taxonomy_with_its_nodes(read: Callable[..., Any], tmp_path: Path) -> None:
    nodes = tmp_path / "nodes.dmp"
    nodes.write_text(NODES)
    found = read(NAMES, "ncbi_taxonomy", hierarchy=str(nodes), type="Species")
    named, placed = (record for record in found.records if record.curie == "NCBITaxon:9606")
    assert named.names == (
        Name("Homo sapiens", "label"),
        Name("H. sapiens", "generated"),
        Name("human"),
        Name("Homo sapiens Linnaeus, 1758", "related"),
    )
    assert (placed.rank, placed.parents) == ("species", ("NCBITaxon:1",))
    assert [(r.names, r.parents) for r in found.records if r.curie == "NCBITaxon:1"] == [((), ())]
    assert found.losses() == {"relation": 1, "identifier": 2, "columns": 1, "placeholder": 1}


def test_names_of_taxa_are_those_of_texts(read: Callable[..., Any]) -> None:
    text = "7\t|\t[Exempli] dubia\t|\t\t|\tscientific name\t|\n"
    text += "8\t|\tExempla\t|\tExempla <flies,genus>\t|\tscientific name\t|\n"
    found = read(text, "ncbi_taxonomy", type="Species")
    assert found.names("NCBITaxon:7") == {
        "[Exempli] dubia": "label",
        "Exempli dubia": "exact",
        "E. dubia": "generated",
    }
    assert found.names("NCBITaxon:8") == {"Exempla": "label"}


def test_what_the_taxonomy_adds_to_equal_names_is_no_part_of_them(read: Callable[..., Any]) -> None:
    found = read(
        '[Term]\nid: NCBITaxon:9\nname: Exempla <flies,genus>\nsynonym: "a <b>" EXACT []\n', "obo"
    )
    assert found.names("NCBITaxon:9") == {"Exempla": "label", "a": "exact"}
    assert read("[Term]\nid: CL:0000001\nname: cell <i>\n", "obo").names("CL:0000001") == {
        "cell <i>": "label"
    }


def test_merged_taxa_are_replaced(read: Callable[..., Any]) -> None:
    found = read("12\t|\t74109\t|\n13\t|\tx\t|\n", "ncbi_merged")
    assert found["NCBITaxon:12"].obsolete
    assert found["NCBITaxon:12"].replaced_by == ("NCBITaxon:74109",)
    assert found.losses() == {"identifier": 1}
