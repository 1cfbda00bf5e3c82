"""OWL, SKOS and SKOS-XL in each syntax of RDF, and syntaxes of OWL that are none of RDF."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.terms.sources.conftest import Read, read_file

from fascicle.errors import FormatError

pytest.importorskip("pyoxigraph")
Reader = Callable[..., Read]

PREFIXES = """
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix obo: <http://purl.obolibrary.org/obo/> .
@prefix in: <http://www.geneontology.org/formats/oboInOwl#> .
@prefix ex: <http://example.org/terms/> .
"""
TURTLE = (
    PREFIXES
    + """
<http://example.org/onto> a owl:Ontology ; owl:imports <http://example.org/other.owl> ; rdfs:label "an ontology" .
in:hasExactSynonym a owl:AnnotationProperty ; rdfs:label "has exact synonym" .
obo:DOID_9351 a owl:Class ;
    rdfs:label "diabetes mellitus"@en, "Zuckerkrankheit"@de-AT ;
    obo:IAO_0000115 "A disease of glucose." ;
    in:hasExactSynonym "DM" , "diabetes" ;
    in:hasRelatedSynonym "sugar" ;
    in:hasDbXref "MESH:D003920", "no reference" ;
    in:hasAlternativeId "DOID:1" ;
    in:hasOBONamespace "disease_ontology" ;
    skos:exactMatch <http://id.nlm.nih.gov/mesh/D003920> ;
    rdfs:subClassOf obo:DOID_4 , [ a owl:Restriction ; owl:onProperty obo:RO_1 ; owl:someValuesFrom obo:DOID_7 ] .
[] a owl:Axiom ; owl:annotatedSource obo:DOID_9351 ; owl:annotatedProperty in:hasExactSynonym ;
    owl:annotatedTarget "DM" ; in:hasSynonymType obo:OMO_0003000 .
obo:DOID_4 a owl:Class ; rdfs:label "disease" ; rdfs:subClassOf owl:Thing .
obo:DOID_5 a owl:Class ; rdfs:label "old" ; owl:deprecated true ; obo:IAO_0100001 obo:DOID_4 .
"""
)


def check_small(found: Read) -> None:
    """The reading of `TURTLE`, whatever it was written in."""
    diabetes = found["DOID:9351"]
    names = {(name.surface, name.kind, name.language) for name in diabetes.names}
    assert names == {
        ("diabetes mellitus", "label", "en"),
        ("Zuckerkrankheit", "label", "de"),
        ("DM", "abbreviation", "en"),
        ("diabetes", "exact", "en"),
        ("sugar", "related", "en"),
    }
    assert diabetes.definition == "A disease of glucose."
    assert diabetes.parents == ("DOID:4",)
    assert {(one.curie, one.predicate) for one in diabetes.references} == {
        ("MESH:D003920", "oboInOwl:hasDbXref"),
        ("MESH:D003920", "skos:exactMatch"),
    }
    assert (found["DOID:5"].obsolete, found["DOID:5"].replaced_by) == (True, ("DOID:4",))
    assert (found["DOID:1"].obsolete, found["DOID:1"].replaced_by) == (True, ("DOID:9351",))
    assert {one.curie for one in found.records} == {"DOID:9351", "DOID:4", "DOID:5", "DOID:1"}
    assert found.losses() == {"import": 1, "reference": 1}
    assert "other.owl" in str(found.report.first["import"])


@pytest.mark.parametrize("syntax", ["turtle", "nt", "xml", "json-ld"])
def test_every_syntax_says_the_same(read: Reader, syntax: str) -> None:
    rdflib = pytest.importorskip("rdflib")  # an independent writer
    graph = rdflib.Graph().parse(data=TURTLE, format="turtle")
    check_small(read(graph.serialize(format=syntax), "rdf", type="Disease"))


def test_a_packed_file_is_read_whatever_it_is_called(tmp_path: Path) -> None:
    for name in ("a.owl", "a.ttl.gz", "a"):
        content = TURTLE.encode()
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        check_small(read_file(tmp_path / name, "rdf"))


def test_the_namespace_says_the_type(read: Reader) -> None:
    found = read(TURTLE, "rdf", types={"disease_ontology": "Disease"})
    assert (found["DOID:9351"].type, found["DOID:4"].type) == ("Disease", "")


def test_languages_can_be_chosen(read: Reader) -> None:
    assert read(TURTLE, "rdf", languages=["de"]).names("DOID:9351") == {"Zuckerkrankheit": "label"}


SKOS = (
    PREFIXES
    + """
ex:12 skos:prefLabel "aspirin"@en ; skos:broader ex:10 ; a skos:Concept ; skos:altLabel "acetylsalicylic acid" ;
    skos:hiddenLabel "asprin" ; skos:inScheme ex:drugs .
ex:10 a skos:Concept ; xl:prefLabel ex:l1 ; xl:altLabel [ a xl:Label ; xl:literalForm "pain killer"@en ] .
ex:l1 a xl:Label ; xl:literalForm "analgesic"@en .
"""
)


def test_skos_and_labels_that_are_things(read: Reader) -> None:
    found = read(SKOS, "rdf", prefix="acme", types={"http://example.org/terms/drugs": "Chemical"})
    assert found.names("acme:12") == {
        "aspirin": "label",
        "acetylsalicylic acid": "exact",
        "asprin": "related",
    }
    assert (found["acme:12"].parents, found["acme:12"].type) == (("acme:10",), "Chemical")
    assert found.names("acme:10") == {"analgesic": "label", "pain killer": "exact"}


def test_a_reference_to_an_unknown_vocabulary_is_none_of_ours(read: Reader) -> None:
    more = (
        "ex:12 skos:exactMatch <http://elsewhere.org/entry/7> , ex:10 ; skos:broader "
        "<http://elsewhere.org/entry/8> ."
    )
    found = read(
        SKOS + more + "ex:12 owl:sameAs <http://id.nlm.nih.gov/mesh/D001241> .",
        "rdf",
        prefix="acme",
    )
    assert {(one.curie, one.predicate) for one in found["acme:12"].references} == {
        ("acme:10", "skos:exactMatch"),
        ("MESH:D001241", "skos:exactMatch"),
    }
    assert found["acme:12"].parents == ("acme:10",)
    assert found.losses() == {"reference": 2}


def test_a_hierarchy_may_be_said_from_above(read: Reader) -> None:
    more = 'ex:10 skos:narrower ex:11 . ex:11 a skos:Concept ; skos:prefLabel "opioid" .'
    assert read(SKOS + more, "rdf", prefix="acme")["acme:11"].parents == ("acme:10",)


def test_predicates_of_a_company_are_names_if_the_settings_say_so(read: Reader) -> None:
    more = 'ex:12 ex:brand "Aspro" ; ex:code "ASS" .'
    names = read(
        SKOS + more, "rdf", prefix="acme", predicates={"http://example.org/terms/brand": "exact"}
    ).names("acme:12")
    assert (names.get("Aspro"), names.get("ASS")) == ("exact", None)
    with pytest.raises(msgspec.ValidationError, match="use the reader rdf"):
        read(SKOS, "obo", predicates={"http://example.org/terms/brand": "exact"})


def test_concepts_of_no_known_vocabulary_need_a_prefix(read: Reader) -> None:
    assert read(SKOS, "rdf").losses()["identifier"] == 2


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("Prefix(:=<http://a#>)\nOntology(<http://a>\nDeclaration(Class(:A)))", "functional"),
        ("Prefix: a: <http://a#>\nOntology: <http://a>\nClass: a:A", "Manchester"),
        (
            '<?xml version="1.0"?>\n<Ontology xmlns="http://www.w3.org/2002/07/owl#" '
            'ontologyIRI="http://a">',
            "OWL/XML",
        ),
    ],
)
def test_other_syntaxes_of_owl_are_refused_with_a_converter(
    read: Reader, content: str, says: str
) -> None:
    with pytest.raises(FormatError, match=says) as caught:
        read(content, "rdf")
    assert "ROBOT" in str(caught.value)


def test_obo_is_sent_to_its_reader(read: Reader) -> None:
    with pytest.raises(FormatError, match="read it as obo"):
        read("format-version: 1.2\n\n[Term]\nid: DOID:1\n", "rdf")


@pytest.mark.parametrize(
    "content",
    [
        TURTLE[:-40],
        "<a> <b>",
        '<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><a>',
        "\x00\x01",
    ],
)
def test_broken_files_are_one_sentence(read: Reader, content: str) -> None:
    with pytest.raises(FormatError, match="rules of RDF"):
        read(content, "rdf")


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "before", ["", "<!-- <!DOCTYPE r> <rdf:RDF> -->", f"<!-- {'x' * 70_000} -->"]
)
def test_entities_cannot_grow(read: Reader, before: str) -> None:
    names = "abcdefghij"
    entities = "".join(
        f'<!ENTITY {name} "{f"&{names[at - 1]};" * 10 if at else "x" * 10}">'
        for at, name in enumerate(names)
    )
    head = f'<?xml version="1.0"?>{before}<!DOCTYPE r [{entities}]>'
    space = (
        'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        'xmlns:s="http://www.w3.org/2000/01/rdf-schema#"'
    )
    thing = (
        '<rdf:Description rdf:about="http://a/b"><s:label>&j;</s:label></rdf:Description></rdf:RDF>'
    )
    with pytest.raises(FormatError, match="entities"):
        read(f"{head}<rdf:RDF {space}>{thing}", "rdf")


def test_entities_of_addresses_are_read(read: Reader) -> None:
    """Protégé writes them."""
    space = (
        'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        'xmlns:s="http://www.w3.org/2000/01/rdf-schema#" '
        'xmlns:owl="http://www.w3.org/2002/07/owl#"'
    )
    thing = '<owl:Class rdf:about="&obo;DOID_4"><s:label>disease</s:label></owl:Class>'
    entity = '<!ENTITY obo "http://purl.obolibrary.org/obo/" >'
    text = f'<?xml version="1.0"?><!DOCTYPE rdf:RDF [ {entity} ]><rdf:RDF {space}>{thing}</rdf:RDF>'
    assert read(text, "rdf").names("DOID:4") == {"disease": "label"}


@pytest.mark.parametrize(("length", "is_read"), [(300, True), (301, False)])
def test_an_entity_of_rdf_has_300_characters(read: Reader, length: int, is_read: bool) -> None:
    entity = f'<!ENTITY obo "{"http://purl.obolibrary.org/obo/":/<{length}}">'
    space = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
    text = f'<?xml version="1.0"?><!DOCTYPE rdf:RDF [ {entity} ]><rdf:RDF {space}/>'
    if is_read:
        read(text, "rdf")
    else:
        with pytest.raises(FormatError, match="entities"):
            read(text, "rdf")


@pytest.mark.parametrize("hides", ["<?x <a %s?>", "<!-- <a %s-->"])
def test_nothing_hides_the_declaration_of_an_entity(read: Reader, hides: str) -> None:
    many = '<!ENTITY b "lol"><!ENTITY c "&b;&b;">'
    content = f'<?xml version="1.0"?>{hides % ("x" * 70_000)}<!DOCTYPE r [{many}]><rdf:RDF/>'
    with pytest.raises(FormatError, match="entities"):
        read(content, "rdf")


@pytest.mark.parametrize("start", ["<?", "<!--"])
def test_what_begins_often_and_never_ends_does_not_stall(read: Reader, start: str) -> None:
    with pytest.raises(FormatError, match="entities"):
        read(f'<?xml version="1.0"?>{start * 30_000}', "rdf")


LATIN = """@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix in: <http://www.geneontology.org/formats/oboInOwl#> .
@prefix obo: <http://purl.obolibrary.org/obo/> .
obo:UBERON_0002107 a owl:Class ; rdfs:label "liver" ; in:hasRelatedSynonym "iecur", "jecur" .
[] a owl:Axiom ; owl:annotatedSource obo:UBERON_0002107 ; owl:annotatedTarget "iecur" ;
  in:hasSynonymType <http://purl.obolibrary.org/obo/uberon/core#LATIN> .
"""


def test_types_of_synonyms_that_are_languages(read: Reader) -> None:
    names = read(LATIN, "rdf")["UBERON:0002107"].names
    assert {(name.surface, name.language) for name in names} == {
        ("liver", "en"),
        ("iecur", "la"),
        ("jecur", "en"),
    }
    found = read(LATIN, "rdf", languages=["en"])
    assert found.names("UBERON:0002107") == {"liver": "label", "jecur": "related"}
    assert found.losses() == {"language": 1}


def test_a_name_without_a_type_is_counted(read: Reader) -> None:
    text = (
        PREFIXES
        + """
obo:DOID_4 a owl:Class ; rdfs:label "disease" .
obo:DOID_5 rdfs:label "cold" ; rdfs:subClassOf obo:DOID_4 .
obo:DOID_6 rdfs:subClassOf obo:DOID_4 .
in:hasScope a owl:AnnotationProperty ; rdfs:label "has scope" .
obo:DOID_8 a owl:NamedIndividual ; rdfs:label "measles" .
<http://id.nlm.nih.gov/mesh/D003920> a <http://id.nlm.nih.gov/mesh/vocab#TopicalDescriptor> ; rdfs:label "diabetes" .
obo:DOID_7 a <http://example.org/Kind>, skos:Concept ; rdfs:label "flu" .
"""
    )
    found = read(text, "rdf")
    assert {record.curie for record in found.records} == {"DOID:4", "DOID:7"}
    assert found.losses() == {"untyped": 3}


def test_a_byte_order_mark_is_no_part_of_the_file(read: Reader) -> None:
    assert read("\ufeff" + LATIN, "rdf").records == read(LATIN, "rdf").records


def test_a_context_at_an_address_is_not_fetched(read: Reader) -> None:
    with pytest.raises(FormatError, match="address of its @context"):
        read(json.dumps({"@context": "http://example.org/context.jsonld", "a": 1}), "rdf")


OBO_ADDRESS = "http://purl.obolibrary.org/obo/"
QUAD = (
    f'<{OBO_ADDRESS}DOID_1> <http://www.w3.org/2000/01/rdf-schema#label> "fever" '
    "<http://example.org/g> .\n"
)
CLASS = f"<{OBO_ADDRESS}DOID_1> a <http://www.w3.org/2002/07/owl#Class> ."


@pytest.mark.parametrize(
    "content",
    [
        QUAD
        + CLASS.replace(" a ", " <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ").replace(
            " .", " <x:g> ."
        )
        + "\n",
        f"{CLASS}\n<http://example.org/g> {{ "
        f"{QUAD.removesuffix(' <http://example.org/g> .' + chr(10))} }}",
    ],
)
def test_quads_are_read_as_triples(read: Reader, content: str) -> None:
    assert read(content, "rdf").names("DOID:1") == {"fever": "label"}


def test_texts_keep_their_language_and_lose_their_tags(read: Reader) -> None:
    text = f"""@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix o: <{OBO_ADDRESS}> .
    @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
    o:DOID_1 a skos:Concept ; skos:prefLabel "fever" ; skos:altLabel "<b>high</b> fever &amp; ague"^^rdf:HTML ;
      skos:definition "température élevée"@fr , "raised temperature"@en .
    [] a skos:Concept ; skos:prefLabel "nobody" , "no one" ."""
    found = read(text, "rdf")
    assert found.names("DOID:1") == {"fever": "label", "high fever & ague": "exact"}
    assert found["DOID:1"].definition == "raised temperature"
    assert found.losses() == {"identifier": 1}
