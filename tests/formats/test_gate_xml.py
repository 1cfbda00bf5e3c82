"""Documents of GATE in XML; what is expected is what gatenlp 1.0.8 reads, if not said otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.formats.oracle.judging import Outcome, outcome

from fascicle.core.document import GOLD
from fascicle.errors import FormatError
from fascicle.formats import ReadReport, detect
from fascicle.formats import read as read_files

HEAD = """<?xml version='1.0' encoding='UTF-8'?>
<GateDocument version="3">
<!-- The document's features-->
<GateDocumentFeatures>
<Feature>
  <Name className="java.lang.String">MimeType</Name>
  <Value className="java.lang.String">text/plain</Value>
</Feature>
</GateDocumentFeatures>
<TextWithNodes><Node id="0" />\U0001f600 <Node id="3" />Aspirin<Node id="10" /> &amp; gout<Node id="17" /></TextWithNodes>
"""
MARKUP = """<AnnotationSet Name="Original markups" >
<Annotation Id="0" Type="paragraph" StartNode="0" EndNode="17">
</Annotation>
</AnnotationSet>
"""


def annotation(kind: str, start: int, end: int, *features: str) -> str:
    return f'<Annotation Id="1" Type="{kind}" StartNode="{start}" EndNode="{end}">{"".join(features)}</Annotation>'


def feature(name: str, value: str, kind: str = "java.lang.String", *, items: str = "") -> str:
    more = items and f' itemClassName="{items}"'
    return (
        f'<Feature><Name className="java.lang.String">{name}</Name>'
        f'<Value className="{kind}"{more}>{value}</Value></Feature>'
    )


def sets(**each: str) -> str:
    return "".join(
        f"<AnnotationSet{name and f' Name={name!r}'}>{rows}</AnnotationSet>"
        for name, rows in each.items()
    )


def read(folder: Path, body: str) -> Outcome:
    path = folder / "paper.xml"
    path.write_text(f"{HEAD}{body}</GateDocument>", encoding="utf-8")
    assert detect(str(path)) == "gate-xml"
    return outcome(path, "gate-xml")


def test_nodes_are_places_and_features_are_facts(tmp_path: Path) -> None:
    facts = (
        feature("negated", "false", "java.lang.Boolean"),
        feature("mesh", "D001241"),
        feature("matches", "1;2", "java.util.ArrayList", items="java.lang.Integer"),
    )
    found = read(tmp_path, MARKUP + sets(Key=annotation("Drug", 3, 10, *facts)))
    (document,) = found.documents
    (mention,) = document.mentions
    assert (document.id, document.text) == ("paper", "\U0001f600 Aspirin & gout")
    assert document.meta == {"MimeType": "text/plain"}
    assert (mention.spans, mention.type, mention.source) == (((2, 9),), "Drug", GOLD)
    assert [link.curie for link in mention.links] == ["MESH:D001241"]
    # gatenlp reads "false" as true, and no lists
    assert dict(mention.attributes) == {"negated": "false", "matches": '["1","2"]'}
    assert [event.code for event in document.events] == ["tags-left-out"]
    assert found.is_silent


def test_the_sets_are_sources(tmp_path: Path) -> None:
    body = sets(Bot=annotation("Drug", 3, 10), **{"": annotation("Token", 3, 10)}) + sets(
        Key=annotation("Disease", 10, 17)
    )
    (document,) = read(tmp_path, body).documents
    assert {one.source: one.type for one in document.mentions} == {"Bot": "Drug", GOLD: "Disease"}
    assert document.words == ((2, 9),)


def test_tags_of_the_original_file_alone_are_no_mentions(tmp_path: Path) -> None:
    found = read(tmp_path, MARKUP)
    assert not found.documents[0].mentions
    assert found.is_silent


def test_relations_are_counted(tmp_path: Path) -> None:
    relation = '<RelationSet><Relation Id="3" Type="treats" Members="1;2"/></RelationSet>'
    found = read(tmp_path, sets(Key=annotation("Drug", 3, 10)) + relation)
    assert found.said == {"loss relations-left-out": 1}


@pytest.mark.parametrize("node", [4, 99])
def test_an_annotation_without_its_node_is_refused(tmp_path: Path, node: int) -> None:
    found = read(tmp_path, sets(Key=annotation("Drug", 3, node)))
    assert not found.documents
    assert f"the node '{node}', which is not in the text" in str(found)


def test_an_empty_key_is_gold_and_other_sets_are_not(tmp_path: Path) -> None:
    (document,) = read(tmp_path, sets(Key="", Sys=annotation("Drug", 3, 10))).documents
    assert [one.source for one in document.mentions] == ["Sys"]
    body = sets(Key=annotation("Drug", 3, 10), gold=annotation("Drug", 10, 17))
    (document,) = read(tmp_path, body).documents
    assert [one.source for one in document.mentions] == [GOLD, "gate-gold"]


@pytest.mark.parametrize(
    ("kind", "second", "ranges"),
    [
        ("Sentence", (3, 17), ((0, 9),)),
        ("Token", (10, 10), ((0, 9),)),
        ("Token", (0, 10), ((0, 9),)),
    ],
)
def test_words_and_sentences_that_overlap_or_are_empty_are_counted(
    tmp_path: Path, kind: str, second: tuple[int, int], ranges: tuple[tuple[int, int], ...]
) -> None:
    outcome = read(tmp_path, sets(Key=annotation(kind, 0, 10) + annotation(kind, *second)))
    (document,) = outcome.documents
    lost = 0 if second == (0, 10) else 1  # the same place twice loses nothing
    assert outcome.said == ({"loss parts-left-out": lost} if lost else {})
    assert (document.words or document.sentences) == ranges


def test_an_annotation_without_a_type_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "paper.xml"
    path.write_text(f"{HEAD}{sets(Key=annotation('', 3, 10))}</GateDocument>", encoding="utf-8")
    with pytest.raises(FormatError, match=r"paper\.xml.*type"):
        list(read_files(path))
    report = ReadReport()
    report.aside.keep_going = True
    assert not list(read_files(path, report=report))
    assert report.aside.count == 1


def test_an_empty_list_has_no_item(tmp_path: Path) -> None:
    empty = feature("matches", "", "java.util.ArrayList", items="java.lang.Integer")
    (document,) = read(tmp_path, sets(Key=annotation("Drug", 3, 10, empty))).documents
    assert document.mentions[0].attributes == (("matches", "[]"),)


def test_an_annotation_of_no_characters_is_counted(tmp_path: Path) -> None:
    found = read(tmp_path, sets(Key=annotation("Drug", 3, 3)))
    assert found.said == {"loss offset-outside": 1}
