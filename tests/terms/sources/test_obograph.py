"""OBO-Graph JSON."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from fascicle.errors import FormatError
from fascicle.terms.terms import CrossReference, Name

GRAPH = {
    "graphs": [
        {
            "id": "x",
            "nodes": [
                {
                    "id": "http://purl.obolibrary.org/obo/CL_0000540",
                    "lbl": "neuron",
                    "type": "CLASS",
                    "meta": {
                        "definition": {"val": "A cell.", "xrefs": []},
                        "synonyms": [
                            {"pred": "hasExactSynonym", "val": "nerve cell", "xrefs": []},
                            {
                                "pred": "hasExactSynonym",
                                "val": "NC",
                                "synonymType": "x#ABBREVIATION",
                            },
                            {"pred": "hasBroadSynonym", "val": "cell of nerves"},
                        ],
                        "xrefs": [{"val": "BTO:0000938"}, {"val": "no reference"}],
                        "basicPropertyValues": [
                            {
                                "pred": "http://www.geneontology.org/formats/oboInOwl#hasAlternativeId",
                                "val": "CL:0000999",
                            },
                            {
                                "pred": "http://www.geneontology.org/formats/oboInOwl#hasOBONamespace",
                                "val": "cell",
                            },
                            {
                                "pred": "http://www.w3.org/2004/02/skos/core#exactMatch",
                                "val": "FMA:54527",
                            },
                            {
                                "pred": "http://www.w3.org/2004/02/skos/core#closeMatch",
                                "val": "MESH:D009474",
                            },
                        ],
                    },
                },
                {
                    "id": "http://purl.obolibrary.org/obo/CL_0000001",
                    "meta": {
                        "deprecated": True,
                        "basicPropertyValues": [
                            {
                                "pred": "http://purl.obolibrary.org/obo/IAO_0100001",
                                "val": "CL:0000540",
                            }
                        ],
                    },
                },
                {
                    "id": "http://purl.obolibrary.org/obo/BFO_0000050",
                    "type": "PROPERTY",
                    "lbl": "part of",
                },
                {"id": 7},
                {"id": "nothing"},
            ],
            "edges": [
                {
                    "sub": "http://purl.obolibrary.org/obo/CL_0000540",
                    "pred": "is_a",
                    "obj": "http://purl.obolibrary.org/obo/CL_0000393",
                },
                {
                    "sub": "http://purl.obolibrary.org/obo/CL_0000540",
                    "pred": "http://x/BFO_0000050",
                    "obj": "http://x/UBERON_0000955",
                },
            ],
        }
    ]
}


def test_nodes_and_edges_are_read(read: Callable[..., Any]) -> None:
    found = read(json.dumps(GRAPH), "obograph", types={"cell": "CellType"})
    neuron, edge = (record for record in found.records if record.curie == "CL:0000540")
    assert neuron.names == (
        Name("neuron", "label"),
        Name("nerve cell"),
        Name("NC", "abbreviation"),
        Name("cell of nerves", "broad"),
    )
    assert (neuron.type, neuron.definition) == ("CellType", "A cell.")
    assert neuron.references == (
        CrossReference("BTO:0000938"),
        CrossReference("FMA:54527", "skos:exactMatch"),
        CrossReference("MESH:D009474", "skos:closeMatch"),
    )
    assert edge.parents == ("CL:0000393",)
    assert found["CL:0000001"].obsolete
    assert found["CL:0000001"].replaced_by == ("CL:0000540",)
    assert found["CL:0000999"].replaced_by == ("CL:0000540",)
    assert found.losses() == {"structure": 1, "identifier": 1, "relation": 1, "reference": 1}


def graph_of(**meta: Any) -> str:
    node = {"id": "http://purl.obolibrary.org/obo/CL_0000540", "lbl": "neuron", "meta": meta}
    return json.dumps({"graphs": [{"nodes": [node], "edges": []}]})


def fact(name: str, value: str) -> dict[str, Any]:
    return {
        "basicPropertyValues": [
            {"pred": f"http://purl.obolibrary.org/obo/uberon/core#{name}", "val": value}
        ]
    }


LABEL = {"pred": "http://www.w3.org/2000/01/rdf-schema#label", "val": "Nervenzelle", "lang": "de"}
TAGGED = graph_of(
    definition={"val": "Eine Zelle.", "lang": "de"},
    synonyms=[
        {"pred": "hasExactSynonym", "val": "nerve cell", "lang": None, "meta": fact("source", "x")},
        {"pred": "hasExactSynonym", "val": "neurone", "lang": "fr-CA"},
        {"pred": "hasRelatedSynonym", "val": "neuronum", "synonymType": "http://purl.obolibrary.org/obo/uberon/core#LATIN"},
        {"pred": "hasBroadSynonym", "val": "celula", "meta": fact("lang", "ES")},
        {"pred": "hasExactSynonym", "val": "NC", "synonymType": "http://purl.obolibrary.org/obo/OMO_0003012"},
    ],
    basicPropertyValues=[LABEL],
)  # fmt: skip


def test_names_have_the_language_that_is_said_of_them(read: Callable[..., Any]) -> None:
    found = read(TAGGED, "obograph")["CL:0000540"]
    assert {(name.surface, name.kind, name.language) for name in found.names} == {
        ("neuron", "label", "en"),
        ("nerve cell", "exact", "en"),
        ("neurone", "exact", "fr"),
        ("neuronum", "related", "la"),
        ("celula", "broad", "es"),
        ("NC", "abbreviation", "en"),
        ("Nervenzelle", "label", "de"),
    }
    assert found.definition == ""
    assert read(TAGGED, "obograph", language="de")["CL:0000540"].definition == "Eine Zelle."


def test_other_languages_are_left_out_and_counted(read: Callable[..., Any]) -> None:
    found = read(TAGGED, "obograph", languages=["en"])
    assert found.names("CL:0000540") == {
        "neuron": "label",
        "nerve cell": "exact",
        "NC": "abbreviation",
    }
    assert found.losses() == {"language": 4}


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "{", '{"graphs": 1}', '{"graphs": [{"nodes": {}}]}', "\x00"]
)
def test_other_files_are_refused(read: Callable[..., Any], text: str) -> None:
    with pytest.raises(FormatError):
        read(text, "obograph")


def test_memory_does_not_grow_with_the_number_of_nodes(read: Callable[..., Any]) -> None:
    content = (
        b'{"graphs":[{"nodes":[' + b"{}," * 30_000 + b'{}],"edges":[' + b"1," * 30_000 + b"1]}]}"
    )
    tracemalloc.start()
    found = read(content, "obograph")
    assert tracemalloc.get_traced_memory()[1] < 2**21
    tracemalloc.stop()
    assert found.losses() == {"identifier": 30_001, "structure": 30_001}


def test_a_node_with_a_replacement_is_obsolete(read: Callable[..., Any]) -> None:
    # as fastobo 0.14.2 writes obsolete terms
    obo_in_owl = "http://www.geneontology.org/formats/oboInOwl#"
    meta = {
        "deprecated": False,
        "basicPropertyValues": [{"pred": f"{obo_in_owl}replacedBy", "val": "DOID:1"}],
    }
    node = {"id": "http://purl.obolibrary.org/obo/DOID_2", "lbl": "old", "meta": meta}
    graph = {"graphs": [{"id": "x", "nodes": [{"type": "CLASS", **node}]}]}
    (record,) = read(json.dumps(graph), "obograph", type="Disease").records
    assert (record.obsolete, record.replaced_by) == (True, ("DOID:1",))
