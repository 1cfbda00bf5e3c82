"""The packages spaCy 3.8.18, dkpro-cassis 0.12 and gatenlp 1.0.8: their own objects, saved by
them.
"""

from __future__ import annotations

from pathlib import Path

import gatenlp
import pytest
import spacy
from cassis import Cas, TypeSystem
from spacy.tokens import Doc, DocBin
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


@pytest.mark.parametrize("unit", ["p", "j"])
def test_fascicle_reads_what_gatenlp_writes(unit: str, tmp_path: Path) -> None:
    """The unit is in `offset_type`: code points of Python, or UTF-16 of Java.

    Of a text that ends with a character of two units, gatenlp saves an end there as if it were of
    one."""
    for seed, drafts in made(TASTE, name=f"gate {unit}"):
        path = tmp_path / f"{seed}.bdocjs"
        text, marks = text_of(drafts[0], ""), marks_of(drafts[0], "")
        if text[-1] > "\uffff":
            marks = frozenset(one for one in marks if one[1] < len(text))
        doc = gatenlp.Document(text)
        for start, end, kind in marks:
            doc.annset("Key").add(start, end, kind)
        path.write_text(doc.save_mem(fmt="bdocjs", offset_type=unit), encoding="utf-8")
        assert all_seen(read(path)) == [(text, marks)], seed
