"""Small sources of every kind, and ways to damage them."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Mapping
from typing import Any, Final

OBO: Final = """format-version: 1.2
[Term]
id: DOID:4
name: disease
alt_id: DOID:9
def: "A disposition \\"to\\" undergo." [X:1]
synonym: "illness" EXACT []
synonym: "ILL" RELATED ABBREVIATION [] {source="x"}
xref: MESH:D004194
xref: NCBI_TaxID:9606 ! Homo
is_a: DOID:7 ! above
relationship: derived_from CVCL_0001 ! x
[Term]
id: CVCL_0030
name: HeLa \\
 cell
is_obsolete: true
replaced_by: DOID:4
[Typedef]
id: part_of
"""
GRAPH: Final = json.dumps(
    {
        "graphs": [
            {
                "nodes": [
                    {
                        "id": "http://purl.obolibrary.org/obo/CL_0000540",
                        "lbl": "neuron",
                        "type": "CLASS",
                        "meta": {
                            "synonyms": [
                                {"pred": "hasExactSynonym", "val": "nerve cell", "lang": "en"},
                                {
                                    "pred": "hasExactSynonym",
                                    "val": "neurone",
                                    "meta": {
                                        "basicPropertyValues": [{"pred": "x#lang", "val": "fr"}]
                                    },
                                },
                            ],
                            "xrefs": [{"val": "BTO:0000938"}],
                            "deprecated": False,
                        },
                    }
                ],
                "edges": [{"sub": "CL:0000540", "pred": "is_a", "obj": "CL:0000393"}],
            }
        ]
    }
)
SSSOM: Final = """#curie_map:
#  mesh: x
subject_id\tpredicate_id\tpredicate_modifier\tobject_id
MONDO:0000001\tskos:exactMatch\t\tmesh:D004194
MONDO:0000004\tskos:broadMatch\tNot\tmesh:D000309
"""
XML: Final = """<?xml version="1.0"?><!DOCTYPE Set SYSTEM "x.dtd"><Set><DescriptorRecord>
<DescriptorUI>D000001</DescriptorUI><DescriptorName><String>Calcimycin</String></DescriptorName>
<TreeNumberList><TreeNumber>D03.1</TreeNumber></TreeNumberList><ConceptList><Concept PreferredConceptYN="Y">
<ConceptUI>M1</ConceptUI><TermList>
<Term LexicalTag="ABB" IsPermutedTermYN="N"><String>A &amp; B</String></Term></TermList>
</Concept></ConceptList></DescriptorRecord></Set>"""
ASCII: Final = """*NEWRECORD
RECTYPE = D
MH = Calcimycin
ENTRY = A-23187|T109|T195|LAB|NRW|NLM (1991)|900308|abbcdef
MN = D03.633
UI = D000001
*NEWRECORD
NM = bevonium
UI = C000002
"""
GENES: Final = """#tax_id\tGeneID\tSymbol\tSynonyms\tdbXrefs\tdescription\tOther_designations
9606\t7157\tTP53\tBCC7|LFS1\tMIM:191170|HGNC:HGNC:11998\ttumor protein p53\tcellular antigen
9606\t1\tA1BG\t-\t-\t"alpha" 1\t-
"""
NAMES: Final = "1\t|\troot\t|\t\t|\tscientific name\t|\n9606\t|\thuman\t|\t\t|\tcommon name\t|\n"
MEDIC: Final = "D013132|248800||Ataxia&apos;s|Ataxia, x\n270400||Smith\nC||Diseases\n"
DRUGS: Final = """DrugBank ID,Accession Numbers,Common name,CAS,UNII,Synonyms,Standard InChI Key
DB00002,BIOD1,Cetuximab,205923-56-4,P,"Cetuximab, x | Cétuximab",
"""
LEXICON: Final = (
    "text\tcurie\tname\tpredicate\tsource\nHela\tcellosaurus:0030\tHeLa\thasRelatedSynonym\tx\n"
)
ROWS: Final = "id\tname\tkind\tparent\nD000001\tA\tlabel\tD000002\nD000002\tβ-x\tsynonym\t\n"
PAIRS: Final = "#As(O)\tCHEBI:30276\n  water \tCHEBI:15377\n"
COLUMNS: Final = {"id": "id", "name": "name", "kind": "kind", "parents": ["parent"]}
TURTLE: Final = """@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix obo: <http://purl.obolibrary.org/obo/> .
@prefix in: <http://www.geneontology.org/formats/oboInOwl#> .
obo:DOID_4 a owl:Class ; rdfs:label "disease"@en ; in:hasExactSynonym "illness", "ILL" ; in:hasDbXref "MESH:D004194" ;
  rdfs:subClassOf obo:DOID_7, [ a owl:Restriction ] ; in:hasAlternativeId "DOID:9" .
[] a owl:Axiom ; owl:annotatedSource obo:DOID_4 ; owl:annotatedTarget "ILL" ; in:hasSynonymType obo:OMO_0003000 .
obo:DOID_5 a owl:Class ; rdfs:label "old" ; owl:deprecated true ; obo:IAO_0100001 obo:DOID_4 .
"""
OPEN_TARGETS: Final = "".join(
    json.dumps(row) + "\n"
    for row in (
        {
            "id": "EFO_0000400",
            "name": "diabetes",
            "parents": ["EFO_1"],
            "synonyms": {"hasExactSynonym": ["DM"]},
        },
        {
            "id": "ENSG1",
            "approvedSymbol": "A",
            "symbolSynonyms": [{"label": "B"}],
            "dbXrefs": [{"id": "1", "source": "X"}],
        },
    )
)
CONSO: Final = (
    "C0011849|ENG|P|L1|PF|S1|Y|A1||||MSH|MH|D003920|Diabetes|0|N||\n"
    "C0011849|GER|P|L1|PF|S1|Y|A1||||MSH|AB|D003920|DM|0|N||\nC0004057|ENG|P|L|PF|S|Y|A||||MSH|MH|D1|Aspirin|0|O||\n"
)
DESCRIPTIONS: Final = (
    "id\teffectiveTime\tactive\tmoduleId\tconceptId\tlanguageCode\ttypeId\tterm\tcaseSignificanceId\n"
    "1\t20240101\t1\t9\t22298006\ten\t900000000000003001\tInfarction (disorder)\t9\n"
    "2\t20240101\t0\t9\t22298006\ten\t900000000000013009\tAttack\t9\n"
)
TARGETS: Final[Mapping[str, tuple[str, dict[str, Any]]]] = {
    "obo": (OBO, {"below": ["DOID:7"]}),
    "cellosaurus": (OBO, {}),
    "obograph": (GRAPH, {}),
    "sssom": (SSSOM, {}),
    "mesh_xml": (XML, {}),
    "mesh_ascii": (ASCII, {"branches": ["D"]}),
    "gene_info": (GENES, {"type": "Gene"}),
    "ncbi_taxonomy": (NAMES, {}),
    "ncbi_merged": ("12\t|\t74109\t|\n", {}),
    "medic": (MEDIC, {}),
    "drugbank": (DRUGS, {}),
    "ssslm": (LEXICON, {}),
    "table": (ROWS, {"prefix": "MESH", "columns": COLUMNS, "min_length": 2}),
    "mesh_names": (ROWS.replace("\tparent", "\tpermuted"), {}),
    "mesh_terms": ("mesh_id\tmesh_name\nD000001\tCalcimycin\n", {}),
    "ctd_diseases": ("# DiseaseName\tDiseaseID\tSynonyms\nx\tMESH:D000001\ta|b\n", {}),
    "ctd_chemicals": ("# ChemicalName\tChemicalID\tSynonyms\nx\tMESH:D000001\ta|b\n", {}),
    "chembl": (
        "molregno\tpref_name\tchembl_id\tmolecule_type\n1280\tASPIRIN\tCHEMBL25\tSmall molecule\n",
        {"type": "Chemical"},
    ),
    "obo_table": (
        "identifier\tname\tsynonyms\n10\tVanin\tVNN|Vanins\n",
        {"prefix": "hgnc.genegroup"},
    ),
    "pairs": (PAIRS, {}),
    "rdf": (TURTLE, {}),
    "open_targets": (OPEN_TARGETS, {}),
    "umls": (CONSO, {}),
    "snomed": (DESCRIPTIONS, {}),
    "meddra": (
        "1$2$3$4$Pain$Pains$Aches$Disorders$Dis$$4$Y$\n5$2$3$4$Ache$Pains$Aches$Disorders$Dis$$4$Y$\n",
        {},
    ),
}
_PARTS: Final = (
    *(
        b"\t",
        b"\n",
        b"\r",
        b"|",
        b'"',
        b"\\",
        b":",
        b"\xff",
        b"\x00",
        b"\xed\xa0\x80",
        b"<",
        b"&#0;",
        b"&#55296;",
        b"!",
    ),
    *(
        b"<!ENTITY a 'b'>",
        b"[Term]\n",
        b"{",
        b"}",
        b"]",
        b"1e999",
        b"null",
        b"#",
        b"\xe2\x80\xa8",
        b"0" * 300,
        b"*",
        b" = ",
    ),
)


def damaged(data: bytes, seed: int) -> bytes:
    """The data with one to four changes: parts cut out, doubled, moved, replaced, put in; now
    and then as gzip.
    """
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 4)):
        start, end = sorted(chance.choices(range(len(data) + 1), k=2))
        end = min(end, start + chance.choice((1, 1, 8, 60)))
        change = chance.randrange(6)
        piece = data[start:end]
        if change == 0:
            data = data[:start] + data[end:]
        elif change == 1:
            data = data[:end] + piece + data[end:]
        elif change == 2:
            data = (
                data[:start] + bytes(chance.choices(range(256), k=min(3, len(piece)))) + data[end:]
            )
        elif change == 3:
            data = data[:start] + chance.choice(_PARTS) + data[start:]
        elif change == 4:
            data = data[:start]
        else:
            data = data[:start] + data[end:] + piece
    if chance.random() < 0.1:
        packed = bytearray(gzip.compress(data))
        if chance.random() < 0.7:
            packed[chance.randrange(len(packed))] ^= 1 << chance.randrange(8)
        data = bytes(packed)
    return data
