"""UIMA CAS. That mentions and offsets are right is a matter of `tests.formats.oracle.cas`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.formats.oracle.cas import TYPES, in_json, xmi

from fascicle.core.document import Relation
from fascicle.errors import FormatError, InputError
from fascicle.formats import detect, read

pytest.importorskip("cassis")
TEXT = "\U0001f600 aspirin"
ENTITIES = (
    {"begin": 3, "end": 10, "value": "Drug", "identifier": "http://x.org/1"},
    {"begin": 0, "end": 2},
)


@pytest.mark.parametrize("name", ["a.xmi", "a.json", "xmi.xml"])
def test_entities(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes((in_json if name == "a.json" else xmi)(TEXT, ENTITIES))
    (tmp_path / "TypeSystem.xml").write_text(TYPES)
    assert detect(str(path)) == "cas"
    (found,) = read(path)
    assert (found.id, found.text) == (path.stem, TEXT)
    assert [(one.text_in(TEXT), one.type) for one in found.mentions] == [
        ("\U0001f600", "NamedEntity"),
        ("aspirin", "Drug"),
    ]
    assert [link.id for one in found.mentions for link in one.links] == ["http://x.org/1"]


def test_custom_layers_relations_and_a_title(tmp_path: Path) -> None:
    made = json.loads(in_json(TEXT, []))
    string = {"%RANGE": "uima.cas.String"}
    annotation = {"%SUPER_TYPE": "uima.tcas.Annotation"}
    relation = {
        name: {"%NAME": name, "%RANGE": "uima.tcas.Annotation"}
        for name in ("Governor", "Dependent")
    }
    metadata = "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.DocumentMetaData"
    made["%TYPES"] |= {
        "custom.Span": {
            "%NAME": "custom.Span",
            **annotation,
            "label": {"%NAME": "label", **string},
        },
        "custom.Relation": {"%NAME": "custom.Relation", **annotation, **relation},
        metadata: {
            "%NAME": metadata,
            **annotation,
            "documentTitle": {"%NAME": "documentTitle", **string},
        },
    }
    made["%FEATURE_STRUCTURES"] += [
        {"%ID": 20, "%TYPE": "custom.Span", "@sofa": 1, "begin": 3, "end": 10, "label": "Dose"},
        {
            "%ID": 21,
            "%TYPE": "custom.Relation",
            "@sofa": 1,
            "begin": 3,
            "end": 10,
            "@Governor": 20,
            "@Dependent": 20,
        },
        {
            "%ID": 22,
            "%TYPE": metadata,
            "@sofa": 1,
            "begin": 0,
            "end": 10,
            "documentTitle": "paper.txt",
        },
    ]
    made["%VIEWS"]["_InitialView"]["%MEMBERS"] += [20, 21, 22]
    path = tmp_path / "admin.json"
    path.write_text(json.dumps(made))
    (found,) = read(path)
    assert found.id == "paper.txt"
    assert [(one.text_in(TEXT), one.type) for one in found.mentions] == [("aspirin", "Dose")]
    (mention,) = found.mentions
    ends = (("Governor", mention.key), ("Dependent", mention.key))
    assert found.relations == (Relation(type="Relation", arguments=ends),)
    assert found.events == ()


def test_files_that_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xmi"
    path.write_bytes(xmi(TEXT, ENTITIES))
    with pytest.raises(FormatError, match=r"TypeSystem\.xml"):
        list(read(path))
    (tmp_path / "TypeSystem.xml").write_text(TYPES)
    for content in (xmi(TEXT, ENTITIES)[:300], b"<xmi:XMI>", b"{}", b"text"):
        path.write_bytes(content)
        with pytest.raises(InputError):
            list(read(path, format="cas"))
    path.write_bytes(
        xmi(TEXT, ENTITIES).replace(b"<xmi:XMI", b'<!DOCTYPE a [<!ENTITY b "c">]><xmi:XMI', 1)
    )
    with pytest.raises(FormatError, match="entities"):
        list(read(path, format="cas"))


def test_no_encoding_hides_the_declaration_of_an_entity(tmp_path: Path) -> None:
    (tmp_path / "TypeSystem.xml").write_text(TYPES)
    body = xmi("aspirin", []).decode().partition("?>")[2].replace("aspirin", "&e;").encode("utf-7")
    declared = b'+ADwAIQ-DOCTYPE a [+ADwAIQ-ENTITY e "aspirin">]>'
    path = tmp_path / "a.xmi"
    path.write_bytes(b'<?xml version="1.0" encoding="utf-7"?>' + declared + body)
    with pytest.raises(FormatError):
        list(read(path, format="cas"))


def test_a_type_system_of_another_export_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.xmi").write_bytes(
        xmi(TEXT, ENTITIES).replace(b"type:NamedEntity", b"type:Other")
    )
    (tmp_path / "TypeSystem.xml").write_text(TYPES)
    with pytest.raises(FormatError, match=r"a type that TypeSystem\.xml beside it does not have "):
        list(read(tmp_path / "a.xmi"))


def described(
    name: str, features: dict[str, str], above: str = "uima.tcas.Annotation"
) -> dict[str, object]:
    ranges = {key: {"%NAME": key, "%RANGE": value} for key, value in features.items()}
    return {"%NAME": name, "%SUPER_TYPE": above, **ranges}


STRING, FSARRAY = "uima.cas.String", "uima.cas.FSArray"
SEGMENT = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type."
COREFERENCE = "de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink"
LAYERS = (
    described(
        "custom.Finding",
        {"negated": "uima.cas.Boolean", "grade": "uima.cas.Integer", "value": STRING},
    ),
    described("custom.Host", {"links": FSARRAY}),
    described("custom.Numbered", {"note": STRING, "codes": "uima.cas.IntegerArray"}),
    described("custom.Link", {"role": STRING, "target": "uima.tcas.Annotation"}, "uima.cas.TOP"),
    described(COREFERENCE, {"next": COREFERENCE, "referenceType": STRING}),
    described("org.dkpro.core.api.xml.type.XmlElement", {"qName": STRING}),
    described(f"{SEGMENT}Token", {}),
    described(f"{SEGMENT}Sentence", {}),
)


def structure(
    number: int, kind: str, span: tuple[int, int], sofa: int = 1, **features: object
) -> dict[str, object]:
    return {
        "%ID": number,
        "%TYPE": kind,
        "@sofa": sofa,
        "begin": span[0],
        "end": span[1],
        **features,
    }


def several(texts: dict[str, str | None], *structures: dict[str, object]) -> bytes:
    """A CAS with a view for each text."""
    sofas = [
        {"%ID": at, "%TYPE": "uima.cas.Sofa", "sofaNum": at, "sofaID": name}
        | ({} if text is None else {"sofaString": text})
        for at, (name, text) in enumerate(texts.items(), 1)
    ]
    views = {
        name: {
            "%SOFA": at,
            "%MEMBERS": [one["%ID"] for one in structures if one.get("@sofa") == at],
        }
        for at, name in enumerate(texts, 1)
    }
    types = {str(one["%NAME"]): one for one in LAYERS}
    return json.dumps(
        {"%TYPES": types, "%FEATURE_STRUCTURES": [*sofas, *structures], "%VIEWS": views}
    ).encode()


def test_facts_slots_chains_and_segments(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(
        several(
            {"_InitialView": "No tremor."},
            structure(10, "custom.Finding", (3, 9), negated=True, grade=2, value="true"),
            structure(11, "custom.Host", (0, 2), **{"@links": 20}),
            {"%ID": 20, "%TYPE": FSARRAY, "%ELEMENTS": [21]},
            {"%ID": 21, "%TYPE": "custom.Link", "role": "r", "@target": 10},
            structure(12, COREFERENCE, (0, 2)),
            structure(13, "org.dkpro.core.api.xml.type.XmlElement", (0, 10), qName="p"),
            *(
                structure(30 + at, f"{SEGMENT}Token", span)
                for at, span in enumerate(((3, 9), (0, 2), (9, 10)))
            ),
            structure(40, f"{SEGMENT}Sentence", (0, 10)),
        )
    )
    (found,) = read(path)
    assert [(one.type, one.attributes) for one in found.mentions] == [
        ("Host", ()),
        ("Finding", (("negated", "true"), ("grade", "2"), ("value", "true"))),
    ]
    assert (found.words, found.sentences) == (((0, 2), (3, 9), (9, 10)), ((0, 10),))
    host, finding = (mention.key for mention in found.mentions)
    assert found.relations == (Relation(type="links", arguments=(("owner", host), ("r", finding))),)
    codes = {event.code: event.message for event in found.events}
    assert codes == {"coreferences-left-out": "not read: 1"}


def test_a_slot_of_what_is_no_mention_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(
        several(
            {"_InitialView": "No tremor."},
            structure(11, "custom.Host", (0, 2), **{"@links": 20}),
            {"%ID": 20, "%TYPE": FSARRAY, "%ELEMENTS": [21, 22]},
            {"%ID": 21, "%TYPE": "custom.Link", "role": "r", "@target": 30},
            {"%ID": 22, "%TYPE": "custom.Link", "@target": 11},
            structure(30, f"{SEGMENT}Token", (3, 9)),
        )
    )
    (found,) = read(path)
    (host,) = (mention.key for mention in found.mentions)
    ends = (("owner", host), ("filler", host))
    assert found.relations == (Relation(type="links", arguments=ends),)
    assert [(event.code, event.message) for event in found.events] == [
        ("relations-left-out", "not read: 1")
    ]


def test_texts_and_numbers_are_no_slots(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(
        several(
            {"_InitialView": "No tremor."},
            structure(11, "custom.Numbered", (0, 2), note="", **{"@codes": 20}),
            {"%ID": 20, "%TYPE": "uima.cas.IntegerArray", "%ELEMENTS": [1, 2]},
        )
    )
    (found,) = read(path)
    assert [mention.type for mention in found.mentions] == ["Numbered"]
    assert (found.relations, found.events) == ((), ())


def test_each_view_with_a_text_is_a_document(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    finding = (
        structure(10, "custom.Finding", (3, 9)),
        structure(11, "custom.Finding", (5, 11), sofa=2),
    )
    path.write_bytes(several({"_InitialView": "No tremor", "German": "Kein Tremor"}, *finding))
    found = list(read(path))
    assert [(one.id, one.text) for one in found] == [
        ("a", "No tremor"),
        ("a#German", "Kein Tremor"),
    ]
    assert [[m.text_in(one.text) for m in one.mentions] for one in found] == [
        ["tremor"],
        ["Tremor"],
    ]
    path.write_bytes(several({"_InitialView": "No tremor", "Audio": None}, finding[0]))
    (one,) = read(path)
    assert one.events == ()
    path.write_bytes(several({"_InitialView": "No tremor", "Audio": None}, *finding))
    (one,) = read(path)
    assert [(event.code, event.message) for event in one.events] == [
        ("parts-left-out", "views without a text are not read: Audio")
    ]


def test_a_text_called_next_makes_no_chain(tmp_path: Path) -> None:
    """A link of a chain of DKPro has the feature ``next``, whose range is the type itself."""
    content = json.loads(in_json(TEXT, []))
    content["%TYPES"]["custom.Visit"] = {
        "%NAME": "custom.Visit",
        "%SUPER_TYPE": "uima.tcas.Annotation",
        "next": {"%NAME": "next", "%RANGE": "uima.cas.String"},
    }
    structures = content["%FEATURE_STRUCTURES"]
    number = 1 + max(structure["%ID"] for structure in structures)
    structures.append(
        {
            "%ID": number,
            "%TYPE": "custom.Visit",
            "@sofa": structures[0]["%ID"],
            "begin": 3,
            "end": 10,
            "next": "May",
        }
    )
    content["%VIEWS"]["_InitialView"]["%MEMBERS"].append(number)
    (tmp_path / "a.json").write_text(json.dumps(content))
    (document,) = read(tmp_path / "a.json")
    mentions = [(mention.type, mention.attributes) for mention in document.mentions]
    assert mentions == [("Visit", (("next", "May"),))]
