"""pronto 2.7.4, obonet 1.3.0 and pyoxigraph 0.5.13, beside what Fascicle reads of ontologies and
graphs.
"""

from __future__ import annotations

import json
from pathlib import Path

import obonet
import pronto
import pytest
from pyoxigraph import RdfFormat, parse
from tests.terms.sources.conftest import read_file

from fascicle.errors import FormatError

OBO = """format-version: 1.4
ontology: doid

[Term]
id: DOID:0000001
name: raised temperature
synonym: "fever ! high" EXACT []
synonym: "pyrexia" RELATED []
xref: MESH:D005334 {source="MONDO:equivalentTo"}
xref: MESH:D005335 {source="MONDO:relatedTo"}
is_a: DOID:0000003
alt_id: DOID:0000009

[Term]
id: DOID:0000002
name: old
is_obsolete: true
replaced_by: DOID:0000001

[Term]
id: DOID:0000003
name: sign
"""


@pytest.fixture
def ontology(tmp_path: Path) -> Path:
    path = tmp_path / "a.obo"
    path.write_text(OBO, encoding="utf-8")
    return path


def written(path: Path, kind: str) -> Path:
    """What pronto writes of a file."""
    out = path.with_name(f"pronto.{kind}")
    with out.open("wb") as stream:
        pronto.Ontology(str(path)).dump(stream, format=kind)
    return out


def test_a_merged_term_is_none_for_pronto(ontology: Path) -> None:
    """`alt_id`: identifiers that the term had before
    (https://owlcollab.github.io/oboformat/doc/GO.format.obo-1_4.html).
    """
    with pytest.raises(KeyError):
        pronto.Ontology(str(ontology))["DOID:0000009"]
    merged = read_file(ontology, "obo", type="Disease")["DOID:0000009"]
    assert (merged.obsolete, merged.replaced_by) == (True, ("DOID:0000001",))


def test_pronto_drops_what_says_that_a_reference_is_related(ontology: Path) -> None:
    ours = read_file(ontology, "obo", type="Disease")["DOID:0000001"].references
    theirs = read_file(written(ontology, "obo"), "obo", type="Disease")["DOID:0000001"].references
    assert [one.predicate for one in ours] == ["skos:exactMatch", "skos:relatedMatch"]
    assert [one.predicate for one in theirs] == ["oboInOwl:hasDbXref"] * 2


@pytest.mark.parametrize(("kind", "reader"), [("obo", "obo"), ("json", "obograph")])
def test_what_pronto_writes_has_terms_parents_and_replacements(
    ontology: Path, kind: str, reader: str
) -> None:
    """Its graphs have no synonyms."""
    ours = read_file(ontology, "obo", type="Disease")
    theirs = read_file(written(ontology, kind), reader, type="Disease")
    for curie in ("DOID:0000001", "DOID:0000002", "DOID:0000003", "DOID:0000009"):
        facts = [
            {
                (one.obsolete, *one.replaced_by, *one.parents)
                for one in source.records
                if one.curie == curie and (one.names or one.obsolete)
            }
            for source in (ours, theirs)
        ]
        assert kind == "json" or facts[0] == facts[1]
        labels = [
            {name for name, kind_ in source.names(curie).items() if kind_ == "label"}
            for source in (ours, theirs)
        ]
        assert labels[0] == labels[1]
    parents = {one.curie: one.parents for one in theirs.records if one.parents}
    assert parents == {"DOID:0000001": ("DOID:0000003",)}
    assert {one.curie: one.replaced_by for one in theirs.records if one.obsolete} == {
        "DOID:0000002": ("DOID:0000001",),
        "DOID:0000009": ("DOID:0000001",),
    }


def test_obonet_cuts_a_synonym_at_an_exclamation_mark(ontology: Path) -> None:
    """OBO 1.4: a comment begins behind a text in quotes, never in it."""
    theirs = obonet.read_obo(str(ontology)).nodes["DOID:0000001"]["synonym"]
    assert theirs == ['"fever', '"pyrexia" RELATED []']
    ours = read_file(ontology, "obo", type="Disease").names("DOID:0000001")
    assert ours["fever ! high"] == "exact"


TURTLE = """@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<http://purl.obolibrary.org/obo/DOID_1> a owl:Class ; rdfs:label "tumour"@en-GB .
<own> a owl:Class ; rdfs:label "own"@en .
"""


def linked(context: object) -> str:
    """The same in JSON-LD."""
    owl, nodes = "http://www.w3.org/2002/07/owl#Class", []
    for address, text, language in (
        ("http://purl.obolibrary.org/obo/DOID_1", "tumour", "en-GB"),
        ("own", "own", "en"),
    ):
        label = {"@value": text, "@language": language}
        nodes.append({"@id": address, "@type": owl, "label": label})
    return json.dumps({"@context": context, "@graph": nodes})


def test_relative_addresses_are_an_error_or_nothing_for_pyoxigraph(tmp_path: Path) -> None:
    """RFC 3986, 5.1: the address of the file is the base of addresses in it."""
    json_ld = linked({"label": "http://www.w3.org/2000/01/rdf-schema#label"})
    with pytest.raises(SyntaxError):
        list(parse(TURTLE, RdfFormat.TURTLE))
    assert len(list(parse(json_ld, RdfFormat.JSON_LD))) == 2
    for name, content in (("a.ttl", TURTLE), ("a.jsonld", json_ld)):
        (tmp_path / name).write_text(content, encoding="utf-8")
        read_names = read_file(tmp_path / name, "rdf", type="Disease", languages=["en"])
        assert {name.surface for one in read_names.records for name in one.names} == {
            "tumour",
            "own",
        }


def test_a_context_elsewhere_is_not_fetched(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonld"
    path.write_text(linked("https://example.org/context.jsonld"), encoding="utf-8")
    with pytest.raises(SyntaxError, match="LoadDocumentCallback"):
        list(parse(path.read_bytes(), RdfFormat.JSON_LD))
    with pytest.raises(FormatError, match="nothing is fetched"):
        read_file(path, "rdf", type="Disease")
