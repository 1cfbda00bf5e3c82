"""UIMA CAS. That mentions and offsets are right is a matter of `tests.formats.oracle.cas`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.formats.oracle.cas import TYPES, in_json, xmi

from fascicle.errors import FormatError, InputError
from fascicle.formats import detect, read

pytest.importorskip("cassis")
TEXT = "\U0001f600 aspirin"
ENTITIES = ({"begin": 3, "end": 10, "value": "Drug", "identifier": "http://x.org/1"}, {"begin": 0, "end": 2})


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
    relation = {name: {"%NAME": name, "%RANGE": "uima.tcas.Annotation"} for name in ("Governor", "Dependent")}
    metadata = "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.DocumentMetaData"
    made["%TYPES"] |= {
        "custom.Span": {"%NAME": "custom.Span", **annotation, "label": {"%NAME": "label", **string}},
        "custom.Relation": {"%NAME": "custom.Relation", **annotation, **relation},
        metadata: {"%NAME": metadata, **annotation, "documentTitle": {"%NAME": "documentTitle", **string}},
    }
    made["%FEATURE_STRUCTURES"] += [
        {"%ID": 20, "%TYPE": "custom.Span", "@sofa": 1, "begin": 3, "end": 10, "label": "Dose"},
        {"%ID": 21, "%TYPE": "custom.Relation", "@sofa": 1, "begin": 3, "end": 10, "@Governor": 20, "@Dependent": 20},
        {"%ID": 22, "%TYPE": metadata, "@sofa": 1, "begin": 0, "end": 10, "documentTitle": "paper.txt"},
    ]
    made["%VIEWS"]["_InitialView"]["%MEMBERS"] += [20, 21, 22]
    path = tmp_path / "admin.json"
    path.write_text(json.dumps(made))
    (found,) = read(path)
    assert found.id == "paper.txt"
    assert [(one.text_in(TEXT), one.type) for one in found.mentions] == [("aspirin", "Dose")]
    assert [event.code for event in found.events] == ["relations-left-out"]


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
    path.write_bytes(xmi(TEXT, ENTITIES).replace(b"<xmi:XMI", b'<!DOCTYPE a [<!ENTITY b "c">]><xmi:XMI', 1))
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
    (tmp_path / "a.xmi").write_bytes(xmi(TEXT, ENTITIES).replace(b"type:NamedEntity", b"type:Other"))
    (tmp_path / "TypeSystem.xml").write_text(TYPES)
    with pytest.raises(FormatError, match=r"a type that TypeSystem\.xml beside it does not have "):
        list(read(tmp_path / "a.xmi"))
