"""The packages spaCy 3.8.18 and dkpro-cassis 0.12: their own objects, saved by them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import spacy
from cassis import Cas, TypeSystem, load_cas_from_json
from spacy.tokens import Doc, DocBin, Span
from tests.formats.oracle.drafts import Taste
from tests.reality.crossing import all_seen, document, made, marks_of, text_of

from fascicle.formats import read, write

TASTE = Taste(empty=False, flat=True)
NAMED = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"


def test_spacy_and_fascicle_read_each_other(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    for seed, drafts in made(TASTE, name="spacy"):
        docs = []
        for one in drafts:
            words, text = one.said(0), one.parts[0]
            ends = [end for _, end in one.words[0]]
            doc = Doc(nlp.vocab, words=words, spaces=[text[end : end + 1] == " " for end in ends])
            assert doc.text == text
            doc.ents = [
                doc.char_span(start, end, label=kind) for start, end, kind in marks_of(one, "")
            ]
            docs.append(doc)
        DocBin(docs=docs).to_disk(tmp_path / f"{seed}.spacy")
        wanted = [(text_of(one, ""), marks_of(one, "")) for one in drafts]
        assert all_seen(read(tmp_path / f"{seed}.spacy")) == wanted
        write(tmp_path / f"{seed}-ours.spacy", [document(one, "") for one in drafts])
        theirs = DocBin().from_disk(tmp_path / f"{seed}-ours.spacy").get_docs(nlp.vocab)
        assert [
            (doc.text, frozenset((ent.start_char, ent.end_char, ent.label_) for ent in doc.ents))
            for doc in theirs
        ] == wanted


def cas_of(text: str, marks: frozenset[tuple[int, int, str]]) -> tuple[Cas, TypeSystem]:
    """A CAS with named entities."""
    types = TypeSystem()
    named = types.create_type(name=NAMED, supertypeName="uima.tcas.Annotation")
    types.create_feature(domainType=named, name="value", rangeType="uima.cas.String")
    cas = Cas(typesystem=types)
    cas.sofa_string, cas.sofa_mime = text, "text/plain"
    for start, end, kind in marks:
        cas.add(named(begin=start, end=end, value=kind))
    return cas, types


@pytest.mark.parametrize("name", ["a.xmi", "a.json"])
def test_fascicle_reads_what_cassis_writes(name: str, tmp_path: Path) -> None:
    for seed, drafts in made(TASTE, name=name):
        folder = tmp_path / str(seed)
        folder.mkdir()
        text, marks = text_of(drafts[0], ""), marks_of(drafts[0], "")
        cas, types = cas_of(text, marks)
        types.to_xml(folder / "TypeSystem.xml")
        cas.to_xmi(folder / name) if name == "a.xmi" else cas.to_json(folder / name)
        assert all_seen(read(folder / name)) == [(text, marks)]


def test_cassis_reads_what_fascicle_writes(tmp_path: Path) -> None:
    for seed, drafts in made(TASTE, name="cas ours"):
        path, one = tmp_path / f"{seed}.cas.json", drafts[0]
        write(path, [document(one, "")])
        with path.open("rb") as stream:
            cas = load_cas_from_json(stream)
        marks = frozenset((found.begin, found.end, found.value) for found in cas.select(NAMED))
        assert (cas.sofa_string, marks) == (text_of(one, ""), marks_of(one, "")), seed


def test_the_json_of_spacy_has_the_ids_of_groups_alone(tmp_path: Path) -> None:
    """`Doc.to_json` (https://spacy.io/api/doc#to_json)."""
    doc, path = spacy.blank("en")("Lithium caused tremor."), tmp_path / "a.json"
    lithium = Span(doc, 0, 1, "Chemical", kb_id="MESH:D008094")
    doc.ents = [lithium]
    assert "kb_id" not in doc.to_json()["ents"][0]
    doc.spans["sc"] = [lithium, Span(doc, 2, 3, "Disease")]
    path.write_text(json.dumps(doc.to_json()), encoding="utf-8")
    (ours,) = read(path)
    assert [(one.type, [link.curie for link in one.links]) for one in ours.mentions] == [
        ("Chemical", ["MESH:D008094"]),
        ("Disease", []),
    ]
