"""OBO, its older tags, and Cellosaurus."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from fascicle.errors import FormatError
from fascicle.terms.terms import CrossReference, Name

OBO = r"""format-version: 1.2
default-namespace: made_up

[Term]
id: DOID:1
name: disease\, of {odd} things ! a comment
alt_id: DOID:10
alt_id: DOID:2
def: "A \"very\" bad\nthing." [PMID:1]
synonym: "illness" EXACT []
synonym: "Ill" BROAD ABBREVIATION [X:1] {source="Y"}
synonym: "ILL" EXACT ABBREVIATION []
synonym: "sort of" RELATED [a:"!"]
synonym: "old way" []
synonym: "illness" RELATED []
exact_synonym: "malady" []
xref: MSH2010_2010_02_22:D003920 "text"
xref: http\://example.org
equivalent_to: NCIT:C2991 ! the same
property_value: skos:exactMatch http\://identifiers.org/mesh/D004194 {source="X"}
property_value: exactMatch "UMLS:C0012634" xsd:string
property_value: skos:closeMatch OMIM:100050
is_a: DOID:2 ! the other
is_a: DOID:4 {is_inferred="true"} ! another
relationship: part_of DOID:5
property_value: has_rank NCBITaxon:sub_family

[Term]
id: DOID:2
name: split over \
two lines
is_obsolete: true
replaced_by: DOID:1

[Term]
name: nobody

[Typedef]
id: part_of
name: part of
"""


def test_every_tag_that_counts_is_read(read: Callable[..., Any]) -> None:
    found = read(OBO, "obo", type="Disease")
    first = found["DOID:1"]
    assert first.names == (
        Name("disease, of {odd} things", "label"),
        Name("illness"),
        Name("Ill", "broad"),
        Name("ILL", "abbreviation"),
        Name("sort of", "related"),
        Name("old way", "related"),
        Name("malady"),
    )
    assert first.definition == 'A "very" bad thing.'
    assert first.references == (
        CrossReference("MESH:D003920"),
        CrossReference("NCIT:C2991", "skos:exactMatch"),
        CrossReference("MESH:D004194", "skos:exactMatch"),
        CrossReference("umls:C0012634", "skos:exactMatch"),
        CrossReference("OMIM:100050", "skos:closeMatch"),
    )
    assert first.parents == ("DOID:2", "DOID:4")
    assert first.rank == "sub family"
    assert first.type == "Disease"
    second = found["DOID:2"]
    assert second.names == (Name("split over two lines", "label"),)
    assert second.obsolete
    assert second.replaced_by == ("DOID:1",)


def test_an_identifier_of_before_is_hidden_unless_it_lives(read: Callable[..., Any]) -> None:
    found = read(OBO, "obo")
    assert found["DOID:10"].obsolete
    assert found["DOID:10"].replaced_by == ("DOID:1",)
    assert len([record for record in found.records if record.curie == "DOID:2"]) == 1


def test_losses_are_counted_with_their_first_place(read: Callable[..., Any]) -> None:
    found = read(OBO, "obo")
    assert found.losses() == {"identifier": 1, "repeated": 1, "reference": 1}
    lines = OBO.split("\n")
    # its stanza begins the line before
    assert found.report.first["identifier"].line == lines.index("name: nobody")
    assert found.report.first["repeated"].line == lines.index('synonym: "illness" RELATED []') + 1


def test_bad_lines_are_counted(read: Callable[..., Any]) -> None:
    bad = b"[Term]\nid: A:1\nname: a\nsynonym: no quotes\nwhat is this\nname: \xff\n"
    found = read(bad, "obo")
    assert found.names("A:1") == {"a": "label"}
    assert found.losses() == {"tag": 2, "line": 1}


@pytest.mark.parametrize(
    ("behind", "read_as"),
    [
        (" EXACT []", "exact"),
        ("EXACT []", None),
        (' half" EXACT []', None),
        (' half"', None),
        ("", "related"),
        ("[A:2]", "related"),
        ('@en EXACT [] {source="x"}', "exact"),
        (' EXACT {source="x"}', "exact"),
        (" BROAD UK [A:2, B:3]", "broad"),
    ],
)
def test_what_may_stand_behind_the_text_of_a_synonym(
    read: Callable[..., Any], behind: str, read_as: str | None
) -> None:
    found = read(f'[Term]\nid: A:1\nname: a\nsynonym: "b c"{behind}\n', "obo")
    assert found.names("A:1").get("b c") == read_as
    assert found.losses() == ({} if read_as else {"tag": 1})


def test_a_type_may_follow_the_namespace(read: Callable[..., Any]) -> None:
    text = (
        "[Term]\nid: GO:0000001\nname: x\nnamespace: process\n\n[Term]\nid: GO:0000002\nname: y\n"
    )
    found = read(text, "obo", types={"process": "BiologicalProcess"}, type="CellularComponent")
    assert found["GO:0000001"].type == "BiologicalProcess"
    assert found["GO:0000002"].type == "CellularComponent"


def test_cellosaurus_has_species_and_lines_that_derive_from_others(
    read: Callable[..., Any],
) -> None:
    text = """[Term]
id: CVCL_0030
name:HeLa
synonym: "Hela" RELATED []
xref: NCBI_TaxID:9606 ! Homo sapiens (Human)
xref: CLO:CLO_0003684
relationship: derived_from CVCL_0001 ! other
relationship: originate_from_same_individual_as CVCL_0002
"""
    record = read(text, "cellosaurus")["cellosaurus:CVCL_0030"]
    assert record.taxon == "NCBITaxon:9606"
    assert record.parents == ("cellosaurus:CVCL_0001",)
    assert record.references == (CrossReference("CLO:0003684"),)


def test_other_files_are_refused(read: Callable[..., Any]) -> None:
    with pytest.raises(FormatError, match="stanza"):
        read("id\tname\n1\tx\n", "obo")


def test_an_import_is_named(read: Callable[..., Any]) -> None:
    found = read(
        "format-version: 1.2\nimport: http://example.org/other.obo\n\n[Term]\nid: DOID:4\nname: "
        "disease\n",
        "obo",
    )
    assert found.losses() == {"import": 1}
    assert "http://example.org/other.obo" in str(found.report.first["import"])


TAGGED = """format-version: 1.4
synonymtypedef: LATIN "latin term"

[Term]
id: UBERON:0002107
name: liver
name: foie {xml:lang="fr"}
def: "Un organe."@fr []
def: "An organ." []
synonym: "iecur" EXACT LATIN []
synonym: "Leber"@de EXACT []
synonym: "higado" RELATED [X:1] {source="Y", xml:lang="es"}
synonym: "fegato" EXACT [] {language="it-IT"}
synonym: "jecur" EXACT []
"""


def test_names_have_the_language_that_is_said_of_them(read: Callable[..., Any]) -> None:
    found = read(TAGGED, "obo", type="Anatomy")["UBERON:0002107"]
    languages = {name.surface: name.language for name in found.names}
    assert languages == {
        **{"liver": "en", "foie": "fr", "iecur": "la", "Leber": "de"},
        **{"higado": "es", "fegato": "it", "jecur": "en"},
    }
    assert found.definition == "An organ."
    assert {name.surface: name.kind for name in found.names if name.kind == "label"} == {
        "liver": "label",
        "foie": "label",
    }


def test_other_languages_are_left_out_and_counted(read: Callable[..., Any]) -> None:
    found = read(TAGGED, "obo", type="Anatomy", languages=("en",))
    assert found.names("UBERON:0002107") == {"liver": "label", "jecur": "exact"}
    assert found.losses() == {"language": 5}


ALIKE = """format-version: 1.2
[Term]
id: DOID:0000001
name: fever
synonym: "ague" EXACT []
synonym: "old ague" EXACT EXCLUDE []
property_value: IAO:0000118 "hot ague" xsd:string
property_value: skos:altLabel "warm ague" xsd:string
xref: MESH:D000001 {source="MONDO:relatedTo"}
xref: MESH:D000002 {source="DOID:0000001", source="MONDO:equivalentTo"}
xref: MESH:D000003 {source="MONDO:0000001"}
[Term]
id: DOID:0000003
name: chill
property_value: owl:deprecated "true" xsd:boolean
property_value: IAO:0100001 DOID:0000001
"""
_OWL = "http://www.geneontology.org/formats/oboInOwl#"
_OBO = "http://purl.obolibrary.org/obo/"


def _facts(found: Any) -> dict[str, Any]:
    return {
        one.curie: (
            {name.surface: name.kind for name in one.names},
            set(one.references),
            one.obsolete,
            one.replaced_by,
        )
        for one in found.records
    }


WANTED = {
    "DOID:0000001": (
        {"fever": "label", "ague": "exact", "hot ague": "exact", "warm ague": "exact"},
        {
            CrossReference("MESH:D000001", "skos:relatedMatch"),
            CrossReference("MESH:D000002", "skos:exactMatch"),
            CrossReference("MESH:D000003"),
        },
        False,
        (),
    ),
    "DOID:0000003": ({"chill": "label"}, set(), True, ("DOID:0000001",)),
}


def test_one_ontology_says_the_same_as_obo(read: Callable[..., Any]) -> None:
    found = read(ALIKE, "obo", drop_types=["exclude"])
    assert _facts(found) == WANTED
    assert found.losses() == {"qualified": 1, "kind": 1}


@pytest.mark.parametrize("short", [False, True])
def test_one_ontology_says_the_same_as_a_graph(read: Callable[..., Any], short: bool) -> None:
    own, obo, skos = (
        ("oio:", "IAO:", "skos:")
        if short
        else (_OWL, f"{_OBO}IAO_", "http://www.w3.org/2004/02/skos/core#")
    )

    def crossed(curie: str, *sources: str) -> dict[str, Any]:
        return {
            "val": curie,
            "meta": {
                "basicPropertyValues": [{"pred": f"{own}source", "val": one} for one in sources]
            },
        }

    fever = {
        "synonyms": [
            {"pred": f"{own}hasExactSynonym", "val": "ague"},
            {
                "pred": f"{own}hasExactSynonym",
                "val": "old ague",
                "synonymType": f"{_OBO}mondo#EXCLUDE",
            },
        ],
        "xrefs": [
            crossed("MESH:D000001", "MONDO:relatedTo"),
            crossed("MESH:D000002", "DOID:0000001", "MONDO:equivalentTo"),
            crossed("MESH:D000003", "MONDO:0000001"),
        ],
        "basicPropertyValues": [
            {"pred": f"{obo}0000118", "val": "hot ague"},
            {"pred": f"{skos}altLabel", "val": "warm ague"},
        ],
    }
    chill = {
        "deprecated": True,
        "basicPropertyValues": [{"pred": f"{obo}0100001", "val": "DOID:0000001"}],
    }
    nodes = [
        {"id": f"{_OBO}DOID_000000{number}", "lbl": label, "type": "CLASS", "meta": meta}
        for number, label, meta in ((1, "fever", fever), (3, "chill", chill))
    ]
    found = read(json.dumps({"graphs": [{"nodes": nodes}]}), "obograph", drop_types=["EXCLUDE"])
    assert _facts(found) == WANTED
    assert found.losses() == {"qualified": 1, "kind": 1}


def test_one_ontology_says_the_same_as_rdf(read: Callable[..., Any]) -> None:
    def axiom(predicate: str, target: str, *rest: str) -> str:
        head = (
            "[] a owl:Axiom ; owl:annotatedSource o:DOID_0000001 ; owl:annotatedProperty "
            f"i:{predicate} ;"
        )
        return f'{head} owl:annotatedTarget "{target}" ; {" ; ".join(rest)} .\n'

    text = f"""@prefix o: <{_OBO}> . @prefix i: <{_OWL}> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
    o:DOID_0000001 a owl:Class ; rdfs:label "fever" ; i:hasExactSynonym "ague" , "old ague" ; o:IAO_0000118 "hot ague" ;
      skos:altLabel "warm ague" ; i:hasDbXref "MESH:D000001" , "MESH:D000002" , "MESH:D000003" .
    o:DOID_0000003 a owl:Class ; rdfs:label "chill" ; owl:deprecated true ; o:IAO_0100001 o:DOID_0000001 .
    """
    text += axiom("hasExactSynonym", "old ague", f"i:hasSynonymType <{_OBO}mondo#EXCLUDE>")
    text += axiom("hasDbXref", "MESH:D000001", 'i:source "MONDO:relatedTo"')
    text += axiom("hasDbXref", "MESH:D000002", 'i:source "DOID:0000001" , "MONDO:equivalentTo"')
    text += axiom("hasDbXref", "MESH:D000003", 'i:source "MONDO:0000001"')
    found = read(text, "rdf", drop_types=["EXCLUDE"])
    assert _facts(found) == WANTED
    assert found.losses() == {"qualified": 1, "kind": 1}


def test_what_stands_behind_a_text_is_no_part_of_it(read: Callable[..., Any]) -> None:
    text = (
        '[Term]\nid: CHEBI:1\nname: x\nsynonym: "5"-phospho" RELATED []\nsynonym: '
        '"fine"[]\nsynonym: "good" EXACT []\n'
    )
    found = read(f"treat-xrefs-as-equivalent: MESH\n{text}", "obo")
    assert found.names("CHEBI:1") == {"x": "label", "fine": "related", "good": "exact"}
    assert found.losses() == {"tag": 1, "header": 1}
