"""Inputs in JSON, one for each shape that other tools write, and the flaws that their files
have.
"""

from __future__ import annotations

import json
from typing import Any

from tests.formats.oracle.judging import Marked, Page, mark
from tests.formats.use.given import Given

ASPIRIN = "Aspirin helps against pain."
BOTH = (mark(0, 7, "Chemical"), mark(22, 26, "Disease"))


def _lines(*records: Any) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)


def _given(
    name: str,
    *records: Any,
    wanted: tuple[Page, ...],
    flawed: bool = False,
    reader: str = "records",
) -> Given:
    return Given(
        name=name, format=reader, files={"a.jsonl": _lines(*records)}, wanted=wanted, flawed=flawed
    )


def _studio(result: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {
        "id": 5,
        "data": {"text": "\U0001f600 Aspirin helps"},
        "annotations": [{"id": 1, "completed_by": 1, "was_cancelled": False, "result": result}],
        "predictions": [],
        **more,
    }


def _region(start: int, end: int, **more: Any) -> dict[str, Any]:
    value = {"start": start, "end": end, "labels": ["Chemical"], **more}
    return {
        "id": f"r{start}",
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        "value": value,
    }


RECORDS = (
    _given(
        "text and entities",
        {"id": "1", "text": ASPIRIN, "entities": [{"start": 0, "end": 7, "type": "Chemical"}]},
        {"id": "2", "text": "", "entities": []},
        wanted=(Page(ASPIRIN, BOTH[:1], "1"), Page("", (), "2")),
    ),
    _given(
        "an entity that ends outside the text",
        {"id": "1", "text": ASPIRIN, "entities": [{"start": 22, "end": 28, "type": "Disease"}]},
        wanted=(Page(ASPIRIN, BOTH[1:], "1"),),
        flawed=True,
    ),
    _given(
        "an entity whose text is elsewhere",
        {
            "id": "1",
            "text": ASPIRIN,
            "entities": [{"start": 21, "end": 25, "type": "Disease", "text": "pain"}],
        },
        wanted=(Page(ASPIRIN, BOTH[1:], "1"),),
        flawed=True,
    ),
    _given(
        "GLiNER counts both words",
        {
            "tokenized_text": ["Breast", "cancer", "and", "EGFR"],
            "ner": [[0, 1, "Disease"], [3, 3, "Gene"]],
        },
        wanted=(Page("Breast cancer and EGFR", (mark(0, 13, "Disease"), mark(18, 22, "Gene"))),),
    ),
    _given(
        "GLiNER with a half-open end after the last word",
        {"tokenized_text": ["Breast", "cancer"], "ner": [[0, 2, "Disease"]]},
        wanted=(Page("Breast cancer", (mark(0, 13, "Disease"),)),),
        flawed=True,
    ),
    _given(
        "DyGIE counts words of the document",
        {
            "doc_key": "d",
            "sentences": [["We", "parse", "text"], ["It", "works"]],
            "ner": [[[1, 2, "Task"]], [[3, 3, "Other"]]],
        },
        wanted=(Page("We parse text It works", (mark(3, 13, "Task"), mark(14, 16, "Other")), "d"),),
    ),
    _given(
        "DyGIE with words counted in the sentence",
        {
            "doc_key": "d",
            "sentences": [["We", "parse", "text"], ["It", "works"]],
            "ner": [[[1, 2, "Task"]], [[0, 0, "Other"]]],
        },
        wanted=(Page("We parse text It works", (mark(3, 13, "Task"), mark(14, 16, "Other")), "d"),),
        flawed=True,
    ),
    _given(
        "tokens with tags that are texts",
        {
            "id": "0",
            "tokens": ["John", "lives", "in", "Bonn"],
            "ner_tags": ["B-PER", "O", "O", "B-LOC"],
        },
        wanted=(Page("John lives in Bonn", (mark(0, 4, "PER"), mark(14, 18, "LOC"))),),
    ),
    _given(
        "a tag less than tokens",
        {"id": "0", "tokens": ["John", "lives", "in", "Bonn"], "tags": ["B-PER", "O", "B-LOC"]},
        wanted=(Page("John lives in Bonn", (mark(0, 4, "PER"), mark(14, 18, "LOC"))),),
        flawed=True,
    ),
    _given(
        "tokens and entities with half-open ends",
        {
            "tokens": ["lung", "cancer", "of", "mice"],
            "entities": [{"start": 0, "end": 2, "type": "Disease"}],
        },
        wanted=(Page("lung cancer of mice", (mark(0, 11, "Disease"),)),),
    ),
    _given(
        "sentences of one document",
        {
            "doc_id": "9",
            "tokens": ["c-fos"],
            "entity_mentions": [{"start": 0, "end": 1, "entity_type": "Gene"}],
        },
        {"doc_id": "9", "tokens": ["no", "gene"], "entity_mentions": []},
        wanted=(Page("c-fos no gene", (mark(0, 5, "Gene"),), "9"),),
    ),
    _given(
        "a mention that ends behind its sentence",
        {
            "doc_id": "9",
            "tokens": ["no", "c-fos"],
            "entity_mentions": [{"start": 1, "end": 3, "entity_type": "Gene"}],
        },
        {"doc_id": "9", "tokens": ["gene"], "entity_mentions": []},
        wanted=(Page("no c-fos gene", (mark(3, 8, "Gene"),), "9"),),
        flawed=True,
    ),
    _given(
        "an id beside tokens and tags",
        {"id": "d7", "tokens": ["in", "Bonn"], "tags": ["O", "B-LOC"]},
        wanted=(Page("in Bonn", (mark(3, 7, "LOC"),), "d7"),),
    ),
    _given(
        "Prodigy with tokens and an answer",
        {
            "text": ASPIRIN,
            "tokens": [{"text": "Aspirin", "start": 0, "end": 7, "id": 0}],
            "spans": [
                {"start": 0, "end": 7, "token_start": 0, "token_end": 0, "label": "Chemical"}
            ],
            "answer": "accept",
            "_input_hash": 1,
        },
        wanted=(Page(ASPIRIN, BOTH[:1]),),
    ),
    _given(
        "doccano with offsets in UTF-16",
        {"id": 1, "text": "\U0001f600\U0001f600 pain", "label": [[5, 9, "Disease"]]},
        wanted=(Page("\U0001f600\U0001f600 pain", (mark(3, 7, "Disease"),)),),
        flawed=True,
    ),
    _given(
        "doccano with relations",
        {
            "id": 1,
            "text": ASPIRIN,
            "entities": [{"id": 1, "label": "Disease", "start_offset": 22, "end_offset": 26}],
            "relations": [],
        },
        wanted=(Page(ASPIRIN, BOTH[1:], "1"),),
    ),
    _given(
        "spaCy's doc.to_json",
        {"text": ASPIRIN, "ents": [{"start": 0, "end": 7, "label": "Chemical"}]},
        wanted=(Page(ASPIRIN, BOTH[:1]),),
    ),
    _given(
        "BigBIO with passages and normalised ids",
        {
            "id": "0",
            "document_id": "77",
            "passages": [
                {"id": "1", "type": "title", "text": ["Aspirin"], "offsets": [[0, 7]]},
                {"id": "2", "type": "abstract", "text": ["No pain."], "offsets": [[8, 16]]},
            ],
            "entities": [
                {
                    "id": "3",
                    "type": "Chemical",
                    "text": ["Aspirin"],
                    "offsets": [[0, 7]],
                    "normalized": [{"db_name": "MESH", "db_id": "D001241"}],
                }
            ],
            "events": [],
            "coreferences": [],
            "relations": [],
        },
        wanted=(Page("Aspirin No pain.", (mark(0, 7, "Chemical", "MESH:D001241"),), "77"),),
    ),
    _given(
        "BigBIO with an entity whose text is elsewhere",
        {
            "id": "0",
            "document_id": "77",
            "passages": [
                {"id": "1", "type": "title", "text": ["Aspirin helps"], "offsets": [[0, 13]]}
            ],
            "entities": [
                {"id": "3", "type": "X", "text": ["Aspirin"], "offsets": [[1, 8]], "normalized": []}
            ],
            "events": [],
            "coreferences": [],
            "relations": [],
        },
        wanted=(Page("Aspirin helps", (mark(0, 7, "X"),), "77"),),
        flawed=True,
    ),
    _given(
        "a fact in a field of its own, which is a link",
        {
            "text": ASPIRIN,
            "entities": [{"start": 0, "end": 7, "type": "Chemical", "mesh": "D001241"}],
        },
        wanted=(Page(ASPIRIN, (mark(0, 7, "Chemical", "MESH:D001241"),)),),
    ),
    _given(
        "an article in parts",
        {
            "id": "1",
            "title": "On aspirin",
            "abstract": "It helps.",
            "paragraphs": ["First.", "Second."],
        },
        wanted=(Page("On aspirin\n\nIt helps.\n\nFirst.\n\nSecond.", (), "1"),),
    ),
    Given(
        name="CRLF, a byte order mark and an empty line",
        format="records",
        files={
            "a.jsonl": b"\xef\xbb\xbf"
            + _lines({"id": "1", "text": ASPIRIN, "entities": []})
            .replace("\n", "\r\n\r\n")
            .encode()
        },
        wanted=(Page(ASPIRIN, (), "1"),),
    ),
    _given(
        "the same id twice",
        {"id": "1", "text": ASPIRIN, "entities": []},
        {"id": "1", "text": "Other", "entities": []},
        wanted=(Page(ASPIRIN, (), "1"), Page("Other", (), "1#2")),
        flawed=True,
    ),
)

NATIVE = (
    _given(
        "a document of Fascicle",
        {
            "fascicle": 1,
            "id": "1",
            "text": "lung and liver cancer \U0001f600",
            "mentions": [
                {
                    "spans": [[0, 4], [15, 21]],
                    "type": "Disease",
                    "links": [{"id": "D008175", "ontology": "MESH", "curie": "MESH:D008175"}],
                }
            ],
        },
        wanted=(
            Page(
                "lung and liver cancer \U0001f600",
                (Marked(((0, 4), (15, 21)), "Disease", ("MESH:D008175",)),),
                "1",
            ),
        ),
        reader="jsonl",
    ),
    _given(
        "a mention whose text is another",
        {
            "fascicle": 1,
            "id": "1",
            "text": ASPIRIN,
            "mentions": [{"spans": [[1, 8]], "type": "Chemical", "text": "Aspirin"}],
        },
        wanted=(Page(ASPIRIN, BOTH[:1], "1"),),
        flawed=True,
        reader="jsonl",
    ),
    _given(
        "a mention outside the text",
        {
            "fascicle": 1,
            "id": "1",
            "text": "Aspirin",
            "mentions": [{"spans": [[0, 8]], "type": "Chemical"}],
        },
        wanted=(Page("Aspirin", (mark(0, 7, "Chemical"),), "1"),),
        flawed=True,
        reader="jsonl",
    ),
)

STUDIO = (
    Given(
        name="an export of Label Studio",
        format="label-studio",
        files={
            "a.json": json.dumps([_studio([_region(2, 9, text="Aspirin")], total_annotations=1)])
        },
        wanted=(Page("\U0001f600 Aspirin helps", (mark(2, 9, "Chemical"),), "5"),),
    ),
    Given(
        name="offsets in UTF-16 beside the text",
        format="label-studio",
        files={"a.json": json.dumps([_studio([_region(3, 10, text="Aspirin")])])},
        wanted=(Page("\U0001f600 Aspirin helps", (mark(2, 9, "Chemical"),), "5"),),
        flawed=True,
    ),
    Given(
        name="predictions that are numbers",
        format="label-studio",
        files={
            "a.json": json.dumps([_studio([_region(2, 9, text="Aspirin")], predictions=[1, 2])])
        },
        wanted=(Page("\U0001f600 Aspirin helps", (mark(2, 9, "Chemical"),), "5"),),
        flawed=True,
    ),
    Given(
        name="a region whose text is not there",
        format="label-studio",
        files={"a.json": json.dumps([_studio([_region(2, 9, text="Ibuprof")])])},
        wanted=(),
        flawed=True,
    ),
)


def _kazu(match: str, start: int, end: int) -> dict[str, Any]:
    mapping = {
        "default_label": "Aspirin",
        "source": "MESH",
        "parser_name": "MESH",
        "idx": "D001241",
        "string_match_strategy": "x",
        "string_match_confidence": "HIGHLY_LIKELY",
    }
    entity = {
        "match": match,
        "entity_class": "drug",
        "spans": [{"start": start, "end": end}],
        "namespace": "gold",
        "start": start,
        "end": end,
        "match_norm": match.upper(),
        "mappings": [mapping],
        "metadata": {},
    }
    sections = [
        {"name": "title", "text": "Title.", "entities": [], "metadata": {}},
        {"name": "abstract", "text": "Aspirin helps.", "entities": [entity], "metadata": {}},
    ]
    return {"idx": "d1", "sections": sections, "metadata": {}}


KAZU = (
    Given(
        name="offsets count from the section",
        format="kazu",
        files={"a.kazu.json": json.dumps(_kazu("Aspirin", 0, 7))},
        wanted=(Page("Title.\n\nAspirin helps.", (mark(8, 15, "drug", "MESH:D001241"),), "d1"),),
        flawed=True,
    ),
    Given(
        name="offsets wrong by one",
        format="kazu",
        files={"a.kazu.json": json.dumps(_kazu("Aspirin", 1, 8))},
        wanted=(Page("Title.\n\nAspirin helps.", (mark(8, 15, "drug", "MESH:D001241"),), "d1"),),
        flawed=True,
    ),
)
ALL = (*RECORDS, *NATIVE, *STUDIO, *KAZU)
