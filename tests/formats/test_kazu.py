"""JSON of Kazu: documents of sections, and what Kazu itself makes of ours."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from fascicle.core.document import Document, Link, Mention, Section
from fascicle.errors import FormatError
from fascicle.formats import ReadReport, detect, read, write
from fascicle.formats.report import FailedDocuments

DATA = os.environ.get("FASCICLE_DATA")
TEXT = "IL-2 β\n\nLung and liver cancer.\n \nIt ends"
LINKS = (
    Link(
        id="3558",
        ontology="NCBIGene",
        name="IL2",
        score=0.25,
        tier="exact",
        curie="NCBIGene:3558",
        same=("HGNC:6001", "ENSEMBL:ENSG00000109471"),
    ),
    Link(id="2", ontology="A"),
)
DOCUMENT = Document(
    id="7",
    text=TEXT,
    sections=(
        Section(0, 6, "title"),
        Section(8, 8, " empty"),
        Section(8, 30, "abstract", (("page", "3"), ("b", "c"))),
    ),
    sentences=((0, 6), (8, 30), (33, 40)),
    mentions=(
        Mention(
            ((0, 4),),
            "gene",
            score=0.5,
            source="my model",
            links=LINKS,
            attributes=(("a", "b"), ("a", "c")),
        ),
        Mention(((8, 12), (23, 29)), "disease"),
        Mention(((33, 35),), "X"),
    ),
    meta={"year": "2001"},
)
GIVEN: dict[str, Any] = {
    "idx": "9",
    "sections": [
        {"text": "A rash.", "name": "title"},
        {
            "text": "IL-2 rises",
            "name": "abstract",
            "metadata": {"page": 3},
            "entities": [
                {
                    "match": "IL-2",
                    "entity_class": "gene",
                    "spans": [{"start": 0, "end": 4}],
                    "namespace": "SomeStep",
                    "mention_confidence": "PROBABLE",
                    "mappings": [
                        {
                            "default_label": "IL2",
                            "source": "ENSEMBL",
                            "parser_name": "OPENTARGETS_TARGET",
                            "idx": "ENSG1",
                            "string_match_strategy": "ExactMatchMappingStrategy",
                            "string_match_confidence": "HIGHLY_LIKELY",
                        }
                    ],
                    "linking_candidates": [[{"synonym_norm": "IL 2"}, {"exact_match": True}]],
                    "start": 0,
                    "end": 4,
                    "match_norm": "IL 2",
                }
            ],
        },
    ],
    "metadata": {"n": 3},
}


def of(tmp_path: Path, content: str, **options: Any) -> list[Document]:
    path = tmp_path / "a.kazu.json"
    path.write_text(content, encoding="utf-8")
    return list(read(path, **options))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.kazu.jsonl"
    assert not write(path, [DOCUMENT, Document(id="8", text="")], strict=True).losses
    assert detect(str(path)) == "kazu"
    assert list(read(path)) == [DOCUMENT, Document(id="8", text="")]


@pytest.mark.parametrize(
    "content", [json.dumps(GIVEN), json.dumps(GIVEN, indent=2), json.dumps([GIVEN])]
)
def test_a_document_of_kazu(tmp_path: Path, content: str) -> None:
    (found,) = of(tmp_path, content)
    assert (found.id, found.text, found.meta) == ("9", "A rash.\n\nIL-2 rises", {"n": "3"})
    assert found.sections == (Section(0, 7, "title"), Section(9, 19, "abstract", (("page", "3"),)))
    (mention,) = found.mentions
    assert (mention.spans, mention.type, mention.source) == (((9, 13),), "gene", "SomeStep")
    assert mention.links == (Link(id="ENSG1", ontology="ENSEMBL", name="IL2"),)
    assert mention.attributes == (("mention-confidence", "PROBABLE"),)
    (event,) = found.events
    assert event.code == "parts-left-out"


def test_facts_of_a_section_that_it_cannot_have_are_counted(tmp_path: Path) -> None:
    twice = (("before", "x"), ("page", "3"), ("page", "4"))
    report = write(
        tmp_path / "a.kazu.jsonl",
        [Document(id="1", text="ab", sections=(Section(0, 2, "a", twice),))],
    )
    assert report.losses == {"section-attributes": 2}
    (found,) = of(
        tmp_path,
        json.dumps({"idx": "1", "sections": [{"text": "a", "name": "na", "metadata": {"n": 1}}]}),
    )
    assert [event.code for event in found.events] == ["parts-left-out"]


@pytest.mark.parametrize("at", [0, 1, 2])
def test_empty_sections_stay(tmp_path: Path, at: int) -> None:
    texts = ["ab", "cd", "ef"]
    texts[at] = ""
    given = {"idx": "1", "sections": [{"text": text, "name": f"s{text}"} for text in texts]}
    (found,) = of(tmp_path, json.dumps(given))
    assert [(one.name, found.text[one.start : one.end]) for one in found.sections or ()] == [
        (f"s{one}", one) for one in texts
    ]
    path = tmp_path / "b.kazu.jsonl"
    assert not write(path, [found]).losses
    assert list(read(path)) == [found]


def test_mentions_across_sections_are_counted(tmp_path: Path) -> None:
    document = Document(
        id="1",
        text="ab cd",
        sections=(Section(0, 2, "a"), Section(3, 5, "b")),
        mentions=(Mention(((1, 4),), "X"),),
    )
    report = write(tmp_path / "a.kazu.jsonl", [document])
    assert (report.losses, report.mentions) == ({"across-sections": 1}, 0)


def test_a_bad_document_costs_itself(tmp_path: Path) -> None:
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    lines = [
        json.dumps({"idx": "1", "sections": []}),
        '{"idx": 3, "sections": []}',
        "{",
        json.dumps(GIVEN),
    ]
    assert [one.id for one in of(tmp_path, "\n".join(lines), report=report)] == ["1", "9"]
    assert report.aside.count == 2
    with pytest.raises(FormatError, match="Kazu"):
        of(tmp_path, lines[1])


@pytest.mark.parametrize("spans", [[], [{"start": -1, "end": 2}], [{"start": 3, "end": 99}]])
def test_offsets_outside_are_counted(tmp_path: Path, spans: list[dict[str, int]]) -> None:
    entity = {"match": "x", "entity_class": "gene", "spans": spans, "namespace": "s"}
    section = {"text": "A rash.", "name": "na", "entities": [entity]}
    (found,) = of(tmp_path, json.dumps({"idx": "1", "sections": [section]}))
    assert [event.code for event in found.events] == ["offset-outside"]


def test_kazu_reads_ours_and_we_read_kazu(tmp_path: Path) -> None:
    kazu = pytest.importorskip("kazu.data")
    path = tmp_path / "a.kazu.jsonl"
    write(path, [DOCUMENT])
    theirs = kazu.Document.from_json(path.read_text(encoding="utf-8"))
    assert [section.name for section in theirs.sections] == ["title", " empty", "abstract", "na"]
    for section in theirs.sections:
        for entity in section.entities:
            spans = sorted((span.start, span.end) for span in entity.spans)
            assert " ".join(section.text[start:end] for start, end in spans) == entity.match
    assert {mapping.idx for entity in theirs.get_entities() for mapping in entity.mappings} == {
        "3558",
        "2",
    }
    assert of(tmp_path, theirs.to_json()) == [DOCUMENT]


@pytest.mark.skipif(not DATA, reason="FASCICLE_DATA is not set")
def test_biored_comes_back(tmp_path: Path) -> None:
    found = list(read(Path(str(DATA)) / "biored" / "Test.BioC.XML"))
    path = tmp_path / "a.kazu.jsonl"
    assert write(path, found).losses == {"relations": sum(len(one.relations) for one in found)}
    assert [(one.text, one.sections, one.mentions, one.meta) for one in read(path)] == [
        (one.text, one.sections, one.mentions, one.meta) for one in found
    ]
