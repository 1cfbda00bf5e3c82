"""spaCy with blank pipelines: its files both ways, and its own training data."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin, SpanGroup
from tests.support.interop import facts

from fascicle.core.document import Document
from fascicle.formats import read, write


@pytest.mark.parametrize("language", ["en", "xx", "de"])
def test_it_reads_what_we_write(language: str, documents: list[Document], tmp_path: Path) -> None:
    write(tmp_path / "a.spacy", documents)
    found = list(DocBin().from_disk(tmp_path / "a.spacy").get_docs(spacy.blank(language).vocab))
    assert [one.text for one in found] == [one.text for one in documents]
    for doc, ours in zip(found, documents, strict=True):
        assert {(one.start_char, one.end_char, one.text, one.label_) for one in doc.ents} == facts(
            ours
        )


@pytest.mark.parametrize("language", ["en", "xx", "de"])
def test_we_read_what_it_writes(language: str, documents: list[Document], tmp_path: Path) -> None:
    nlp, stored, wanted = spacy.blank(language), DocBin(store_user_data=True), []
    for one in documents:
        doc = nlp(one.text)
        spans = [
            doc.char_span(start, end, label=kind) for start, end, _, kind in sorted(facts(one))
        ]
        doc.ents = [span for span in spans if span is not None]
        doc.spans["sc"] = SpanGroup(doc, spans=list(doc.ents))
        wanted.append(
            (doc.text, {(ent.start_char, ent.end_char, ent.text, ent.label_) for ent in doc.ents})
        )
        stored.add(doc)
    stored.to_disk(tmp_path / "a.spacy")
    assert [(one.text, facts(one)) for one in read(tmp_path / "a.spacy")] == wanted
    assert sum(len(found) for _, found in wanted) > 3


def test_it_trains_on_what_we_write(documents: list[Document], tmp_path: Path) -> None:
    from spacy.training import Corpus, biluo_to_iob, offsets_to_biluo_tags

    write(tmp_path / "a.spacy", documents)
    nlp = spacy.blank("en")
    examples = list(Corpus(tmp_path / "a.spacy")(nlp))
    assert [one.reference.text for one in examples] == [one.text for one in documents]
    for example, ours in zip(examples, documents, strict=True):
        reference = example.reference
        tags = offsets_to_biluo_tags(
            reference, [(start, end, kind) for start, end, _, kind in facts(ours)]
        )
        assert "-" not in tags
        assert biluo_to_iob(tags) == [
            f"{one.ent_iob_}-{one.ent_type_}".rstrip("-") for one in reference
        ]
