"""Mappings: both sides get a reference, and what is said not to be equal never becomes equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fascicle.errors import FormatError
from fascicle.terms.terms import CrossReference

HEAD = (
    "# curie_map:\n#  mesh: "
    "http://id.nlm.nih.gov/mesh/\nsubject_id\tsubject_label\tpredicate_id\tpredicate_modifier\tobject_id\n"
)


def test_both_sides_get_references_with_predicates(read: Callable[..., Any]) -> None:
    rows = "MONDO:0000001\tdisease\tskos:exactMatch\t\tmesh:D004194\nDOID:1\tx\tskos:broadMatch\t\tmesh:D000001\n"
    found = read(HEAD + rows, "sssom")
    assert found["MONDO:0000001"].references == (CrossReference("MESH:D004194", "skos:exactMatch"),)
    assert found["MESH:D004194"].references == (CrossReference("MONDO:0000001", "skos:exactMatch"),)
    assert found["DOID:1"].references == (CrossReference("MESH:D000001", "skos:broadMatch"),)
    assert found["MESH:D000001"].references == (CrossReference("DOID:1", "skos:narrowMatch"),)
    assert not any(record.names for record in found.records)


def test_negated_mappings_never_make_concepts_equal(read: Callable[..., Any]) -> None:
    rows = (
        "DOID:1\tx\tskos:exactMatch\tNot\tmesh:D000001\nDOID:1\tx\tdebio:0000003\t\tmesh:D000002\n"
    )
    rows += "DOID:1\tx\tskos:broadMatch\tNot\tmesh:D000001\nx\ty\tskos:exactMatch\t\tz\n"
    found = read(HEAD + rows, "sssom")
    assert found["DOID:1"].references == (CrossReference("MESH:D000001", "owl:differentFrom"),)
    assert found["MESH:D000001"].references == (CrossReference("DOID:1", "owl:differentFrom"),)
    assert found.losses() == {"negated": 1, "relation": 1, "identifier": 1}


def test_rows_that_found_no_concept_and_unsure_ones_give_nothing(read: Callable[..., Any]) -> None:
    head = "subject_id\tpredicate_id\tobject_id\tmapping_cardinality\tconfidence\n"
    rows = "DOID:1\tskos:exactMatch\tsssom:NoTermFound\t\t\nMESH:D000001\tskos:exactMatch\tsssom:NoTermFound\t1:0\t\n"
    rows += "DOID:1\tskos:exactMatch\tMESH:D000001\t1:0\t\nDOID:1\tskos:exactMatch\tMESH:D000001\t1:1\t0.05\n"
    rows += "DOID:1\tskos:exactMatch\tMESH:D000002\t1:10\t0.9\n"
    found = read(head + rows, "sssom")
    assert found.losses() == {"no-term": 3, "unsure": 1}
    assert found["DOID:1"].references == (CrossReference("MESH:D000002", "skos:exactMatch"),)


def test_prefixes_are_those_of_the_curie_map(read: Callable[..., Any]) -> None:
    head = "#mapping_set_id: x\n#curie_map:\n#  d1: http://purl.obolibrary.org/obo/DOID_\n"
    head += '#  envo: "http://purl.obolibrary.org/obo/ENVO_"\n#license: x: y\n'
    rows = "subject_id\tpredicate_id\tobject_id\nd1:9000001\tskos:exactMatch\tenvo:00000001\n"
    assert read(head + rows, "sssom")["DOID:9000001"].references == (
        CrossReference("ENVO:00000001", "skos:exactMatch"),
    )


def test_other_tables_are_refused(read: Callable[..., Any]) -> None:
    with pytest.raises(FormatError, match="subject_id"):
        read("a\tb\n1\t2\n", "sssom")
