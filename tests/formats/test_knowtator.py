"""Knowtator: classes, slots, annotators, both versions, and files without a text."""

from __future__ import annotations

from pathlib import Path

import pytest

from fascicle.core.document import Document
from fascicle.errors import FormatError, InputError
from fascicle.formats import read

TEXT = "No tremor here, but Huntington\ndisease"
FIRST = """<?xml version="1.0" encoding="UTF-8"?><annotations textSource="a.txt">
<annotation><mention id="E1"/><annotator id="x">me</annotator><span start="3" end="9"/>
<spannedText>tremor</spannedText></annotation>
<annotation><mention id="E2"/><annotator id="x">ANNOTATOR</annotator><span start="20" end="30"/>
<span start="31" end="38"/><spannedText>Huntington ... disease</spannedText></annotation>
<annotation><mention id="E9"/><annotator id="x">me</annotator><span start="0" end="2"/></annotation>
<classMention id="E1"><mentionClass id="Finding">Finding</mentionClass><hasSlotMention id="S1"/>
<hasSlotMention id="S2"/></classMention>
<classMention id="E2"><mentionClass id="MONDO:0007739">Huntington disease</mentionClass></classMention>
<stringSlotMention id="S1"><mentionSlot id="negated"/><stringSlotMentionValue value="yes"/></stringSlotMention>
<complexSlotMention id="S2"><mentionSlot id="of"/><complexSlotMentionValue value="E2"/></complexSlotMention>
</annotations>"""
SECOND = """<?xml version="1.0"?><knowtator-project><document id="a" text-file="a.txt">
<annotation annotator="me"><class id="http://purl.obolibrary.org/obo/UBERON_0000955" label="'brain'"/>
<span start="10" end="14">here</span></annotation>
<annotation annotator="me"><class id="http://x.org/o#Sign"/><span start="3" end="9">tremor</span></annotation>
</document></knowtator-project>"""


def of(folder: Path, **files: str) -> list[Document]:
    (folder / "texts").mkdir(exist_ok=True)
    (folder / "texts" / "a.txt").write_text(TEXT)
    for name, content in files.items():
        (folder / f"{name}.xml").write_text(content)
    return list(read(folder, format="knowtator"))


def test_classes_slots_and_files_of_both_versions(tmp_path: Path) -> None:
    (found,) = of(tmp_path, first=FIRST.replace("ANNOTATOR", "me"), second=SECOND)
    assert (found.id, found.text) == ("a", TEXT)
    assert [(one.spans, one.type, one.attributes) for one in found.mentions] == [
        (((3, 9),), "Finding", (("negated", "yes"),)),
        (((3, 9),), "Sign", ()),
        (((10, 14),), "UBERON", ()),
        (((20, 38),), "MONDO", ()),
    ]
    links = [link for one in found.mentions for link in one.links]
    assert [(link.curie or link.id, link.name) for link in links] == [
        ("http://x.org/o#Sign", ""),
        ("UBERON:0000955", "brain"),
        ("MONDO:0007739", "Huntington disease"),
    ]
    codes = sorted(event.code for event in found.events)
    assert codes == ["fragments-joined", "mention-without-type", "relations-left-out"]


def test_several_annotators_are_named(tmp_path: Path) -> None:
    (found,) = of(tmp_path, first=FIRST.replace("ANNOTATOR", "you"))
    assert [dict(one.attributes)["annotator"] for one in found.mentions] == ["me", "you"]


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no file of Knowtator"):
        of(tmp_path)
    with pytest.raises(FormatError, match=r"there is no text b\.txt"):
        of(tmp_path, first=FIRST.replace('"a.txt"', '"b.txt"'))
    with pytest.raises(FormatError, match="offsets '3' and 'x'"):
        of(tmp_path, first=FIRST.replace('end="9"', 'end="x"'))
    with pytest.raises(FormatError, match="declares an entity"):
        of(tmp_path, first='<!DOCTYPE a [<!ENTITY b "c">]><annotations/>')
    (tmp_path / "a.txt").write_text(TEXT)
    with pytest.raises(InputError, match="two texts of one name"):
        of(tmp_path, first=FIRST)


def test_relations_of_both_versions_are_counted(tmp_path: Path) -> None:
    graph = (
        '<graph-space id="g"><vertex annotation="m1" id="v1"/><vertex annotation="m2" id="v2"/>'
        '<triple annotator="me" id="t1" subject="v1" property="has" object="v2"/></graph-space>'
    )
    (found,) = of(tmp_path, second=SECOND.replace("</document>", f"{graph}</document>"))
    assert len(found.mentions) == 2
    assert [event.message for event in found.events if event.code == "relations-left-out"] == [
        "relations between mentions are not read (1)"
    ]


@pytest.mark.parametrize("content", [FIRST, SECOND])
def test_a_file_without_its_folder_is_named(tmp_path: Path, content: str) -> None:
    of(tmp_path, a=content)
    with pytest.raises(FormatError, match="annotation of Knowtator; give the folder"):
        list(read(tmp_path / "a.xml"))
