"""MeSH as XML, as ASCII and as tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fascicle.errors import FormatError
from fascicle.terms.terms import ConceptRecord, Name


def descriptor(ui: str, name: str, trees: str, *, more: str = "") -> str:
    numbers = "".join(f"<TreeNumber>{number}</TreeNumber>" for number in trees.split())
    return f"""<DescriptorRecord DescriptorClass="1"><DescriptorUI>{ui}</DescriptorUI>
  <DescriptorName><String>{name}</String></DescriptorName>
  <TreeNumberList>{numbers}</TreeNumberList>
  <ConceptList><Concept PreferredConceptYN="Y"><ConceptUI>M1</ConceptUI>
    <ConceptName><String>{name}</String></ConceptName><ScopeNote>What it
      is.</ScopeNote>
    <ConceptRelationList><ConceptRelation RelationName="NRW"><Concept1UI>M1</Concept1UI><Concept2UI>M2</Concept2UI>
    </ConceptRelation></ConceptRelationList>
    <TermList><Term LexicalTag="NON" IsPermutedTermYN="N"><String>{name}</String></Term>{more}</TermList>
  </Concept><Concept PreferredConceptYN="N"><ConceptUI>M2</ConceptUI><TermList>
    <Term LexicalTag="LAB" IsPermutedTermYN="N"><String>{name} 23187</String></Term></TermList></Concept>
  </ConceptList></DescriptorRecord>"""


TERMS = """<Term LexicalTag="NON" IsPermutedTermYN="Y"><String>Oid, Chem</String></Term>
<Term LexicalTag="ABB" IsPermutedTermYN="N"><String>CO &amp; X</String></Term>"""
XML = f"""<?xml version="1.0"?>
<!DOCTYPE DescriptorRecordSet SYSTEM "https://www.nlm.nih.gov/databases/dtd/nlmdescriptorrecordset.dtd">
<DescriptorRecordSet LanguageCode="eng">
{descriptor("D000002", "Chemoid", "D03.1.2 D04.5", more=TERMS)}
{descriptor("D000001", "Above", "D03.1")}
{descriptor("D000003", "Bodily", "A01")}
</DescriptorRecordSet>"""
SUPPLEMENT = """<SupplementalRecordSet><SupplementalRecord SCRClass="1">
<SupplementalRecordUI>C000002</SupplementalRecordUI>
<SupplementalRecordName><String>bevonium</String></SupplementalRecordName>
<HeadingMappedToList><HeadingMappedTo><DescriptorReferredTo><DescriptorUI>*D001561</DescriptorUI>
</DescriptorReferredTo></HeadingMappedTo></HeadingMappedToList>
<ConceptList><Concept PreferredConceptYN="Y"><ConceptUI>M1</ConceptUI>
<TermList><Term><String>bevonium</String></Term><Term><String>piribenzil</String></Term></TermList></Concept></ConceptList>
</SupplementalRecord></SupplementalRecordSet>"""
ASCII = """*NEWRECORD
RECTYPE = D
MH = Chemoid
ENTRY = Oid, Chem
ENTRY = Chemoid 23187|T109|T195|LAB|NRW|NLM (1991)|900308|abbcdef
PRINT ENTRY = CO & X|T109|ABB|EQV|NLM (1991)|900308|abcdef
MN = D03.1.2
MN = D04.5
MS = What it is.
UI = D000002

*NEWRECORD
RECTYPE = D
MH = Above
MN = D03.1
UI = D000001

*NEWRECORD
MH = Bodily
MN = A01
UI = D000003
"""


def parents(records: list[ConceptRecord]) -> dict[str, tuple[str, ...]]:
    return {record.curie: record.parents for record in records if record.parents}


@pytest.mark.parametrize(("text", "reader"), [(XML, "mesh_xml"), (ASCII, "mesh_ascii")])
def test_both_forms_give_the_same(read: Callable[..., Any], text: str, reader: str) -> None:
    found = read(text, reader, type="Chemical")
    first = found.records[0]
    assert first.names[0] == Name("Chemoid", "label")
    assert found.names("MESH:D000002") == {
        "Chemoid": "label",
        "Chemoid 23187": "narrow",
        "CO & X": "abbreviation",
    }
    assert first.definition == "What it is."
    assert parents(found.records) == {"MESH:D000002": ("MESH:D000001",)}


@pytest.mark.parametrize(("text", "reader"), [(XML, "mesh_xml"), (ASCII, "mesh_ascii")])
def test_branches_are_those_of_the_tree(read: Callable[..., Any], text: str, reader: str) -> None:
    assert {r.curie for r in read(text, reader, branches=["A"]).records} == {"MESH:D000003"}
    assert {r.curie for r in read(text, reader, branches=["D04", "A0"]).records} == {"MESH:D000002"}
    assert read(text, reader, branches=["C"]).losses()["below"] == 3


@pytest.mark.parametrize(("text", "reader"), [(XML, "mesh_xml"), (ASCII, "mesh_ascii")])
def test_permuted_terms_are_counted(read: Callable[..., Any], text: str, reader: str) -> None:
    assert read(text, reader).losses() == {"permuted": 1}


def test_supplementary_records(read: Callable[..., Any]) -> None:
    record = read(SUPPLEMENT, "mesh_xml")["MESH:C000002"]
    assert record.names == (Name("bevonium", "label"), Name("piribenzil"))
    assert record.parents == ("MESH:D001561",)
    text = (
        "*NEWRECORD\nRECTYPE = C\nNM = bevonium\nSY = piribenzil|T109|NON|EQV|x|abcde\nUI = "
        "C000002\n"
    )
    assert read(text, "mesh_ascii")["MESH:C000002"].names == record.names
    # names of headings are no identifiers
    assert read(text + "HM = *Benzilates\n", "mesh_ascii").losses() == {"reference": 1}


def test_records_that_give_nothing_are_counted(read: Callable[..., Any]) -> None:
    text = (
        "junk\n*NEWRECORD\nMH = a\nUI = X1\nno equals\n*NEWRECORD\nUI = "
        "D000001\n*NEWRECORD\nMH = b\nUI = D000002\n"
    )
    found = read(text, "mesh_ascii")
    assert found.names("MESH:D000002") == {"b": "label"}
    assert found.losses() == {"tag": 2, "identifier": 1, "no-name": 1}


BOMB = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><x>&b;</x>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'


@pytest.mark.parametrize(
    "text", [BOMB, OUTSIDE, "<a>" * 200, "", "<a></b>", XML[:-40], "*NEWRECORD", "<a/>"]
)
def test_dangerous_and_broken_xml_is_refused(read: Callable[..., Any], text: str) -> None:
    with pytest.raises(FormatError):
        read(text, "mesh_xml")


def test_memory_is_bounded(read: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fascicle.core.files.elements.MAX_RECORD", 100)
    with pytest.raises(FormatError, match="100 characters"):
        read(XML, "mesh_xml")


def test_tables_take_their_tree_from_another(read: Callable[..., Any], tmp_path: Path) -> None:
    trees = tmp_path / "trees.tsv"
    trees.write_text("id\ttree_number\nD000002\tD03.1.2\nD000001\tD03.1\nD000003\tA01\nx\ty\n")
    text = "id\tname\tkind\nD000001\tA\tlabel\nD000002\tB\tlabel\nD000002\tC\tother\nD000003\tD\tlabel\n"
    found = read(text, "mesh_names", hierarchy=str(trees), branches=["D"])
    assert parents(found.records) == {"MESH:D000002": ("MESH:D000001",)}
    assert found.names("MESH:D000002") == {"B": "label", "C": "related"}
    assert found.losses() == {"below": 1, "identifier": 1}
    trees.write_text(
        "mesh_id\tmesh_name\tmesh_tree_number\nD000002\tB\tD03.1.2\nD000001\tA\tD03.1\n"
    )
    found = read("mesh_id\tmesh_name\nD000002\tB\n", "mesh_terms", hierarchy=str(trees))
    assert parents(found.records) == {"MESH:D000002": ("MESH:D000001",)}
    trees.write_text("a\tb\n")
    with pytest.raises(FormatError, match="mesh_tree_number"):
        read("mesh_id\tmesh_name\nD000002\tB\n", "mesh_terms", hierarchy=str(trees))
