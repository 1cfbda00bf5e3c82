"""Odd but valid files in JSON, written from the descriptions of their formats alone."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.formats.oracle.judging import Marked, Page, mark
from tests.formats.use.given import Given

SMILE: Final = "\U0001f600"
TEXT: Final = "Aspirin helps against pain."
DRUG, PAIN = mark(0, 7, "Drug"), mark(22, 26, "Disease")


def _lines(
    name: str,
    *records: Any,
    wanted: tuple[Page, ...],
    flawed: bool = False,
    reader: str = "records",
) -> Given:
    content = "".join(json.dumps(one) + "\n" for one in records)
    return Given(name=name, format=reader, files={"a.jsonl": content}, wanted=wanted, flawed=flawed)


def _whole(
    name: str, content: Any, *wanted: Page, flawed: bool = False, reader: str = "records"
) -> Given:
    return Given(
        name=name,
        format=reader,
        files={"a.json": json.dumps(content, indent=1)},
        wanted=wanted,
        flawed=flawed,
    )


def _task(*results: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "id": 5,
            "data": {"text": TEXT},
            "annotations": [{"id": 1, "result": list(results), **more}],
        }
    ]


def _region(start: int, end: int, *labels: str, **more: Any) -> dict[str, Any]:
    value = {"start": start, "end": end, "text": TEXT[start:end], "labels": list(labels)}
    return {
        "id": f"r{start}",
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        "value": value,
        **more,
    }


def _denotation(name: str, start: int, end: int, kind: str) -> dict[str, Any]:
    return {"id": name, "span": {"begin": start, "end": end}, "obj": kind}


DOCCANO = (
    _lines(
        "doccano with comments, and spans in no order",
        {"id": 1, "text": TEXT, "label": [[22, 26, "Disease"], [0, 7, "Drug"]], "Comments": []},
        {"id": 2, "text": "Nothing.", "label": [], "Comments": ["why?"]},
        wanted=(Page(TEXT, (DRUG, PAIN), "1"), Page("Nothing.", (), "2")),
    ),
    _lines(
        "doccano of the years before 2021, with numbers for labels",
        {
            "id": 1,
            "text": TEXT,
            "meta": {},
            "annotation_approver": None,
            "annotations": [{"label": 3, "start_offset": 0, "end_offset": 7, "user": 1}],
        },
        wanted=(Page(TEXT, (mark(0, 7, "3"),), "1"),),
        flawed=True,
    ),
    _lines(
        "doccano with entities, relations and their empty lists",
        {
            "id": 1,
            "text": TEXT,
            "entities": [{"id": 4, "label": "Drug", "start_offset": 0, "end_offset": 7}],
            "relations": [],
            "Comments": [],
        },
        wanted=(Page(TEXT, (DRUG,), "1"),),
    ),
    _whole(
        "doccano in one list, whose text is called data",
        [{"id": 1, "data": TEXT, "label": [[0, 7, "Drug"]]}],
        Page(TEXT, (DRUG,), "1"),
    ),
)
LABEL_STUDIO = (
    _whole(
        "Label Studio's small form",
        [
            {
                "id": 5,
                "text": TEXT,
                "label": [{"start": 0, "end": 7, "text": "Aspirin", "labels": ["Drug"]}],
                "annotator": 1,
                "annotation_id": 2,
                "created_at": "2024-01-01T00:00:00Z",
                "updated_at": "2024-01-01T00:00:00Z",
                "lead_time": 3.5,
            }
        ],
        Page(TEXT, (DRUG,), "5"),
    ),
    _whole(
        "a region with two labels, and a choice for it",
        _task(
            _region(0, 7, "Drug", "Chemical"),
            {
                "id": "r0",
                "from_name": "sure",
                "to_name": "text",
                "type": "choices",
                "value": {"choices": ["yes"]},
            },
        ),
        Page(TEXT, (DRUG, mark(0, 7, "Chemical")), "5"),
        reader="label-studio",
        flawed=True,
    ),
    _whole(
        "a task that was skipped, and one without annotations",
        [
            *_task(_region(0, 7, "Drug"), was_cancelled=True),
            {"id": 6, "data": {"text": "None."}, "annotations": []},
        ],
        Page(TEXT, (), "5"),
        Page("None.", (), "6"),
        reader="label-studio",
    ),
    _whole(
        "relations, and a note on a region",
        _task(
            _region(0, 7, "Drug", meta={"text": ["a note"]}),
            _region(22, 26, "Disease"),
            {
                "from_id": "r0",
                "to_id": "r22",
                "type": "relation",
                "direction": "right",
                "labels": ["treats"],
            },
        ),
        Page(TEXT, (DRUG, PAIN), "5"),
        reader="label-studio",
        flawed=True,
    ),
    _whole(
        "regions of a page, whose places are paths",
        [
            {
                "id": 5,
                "data": {"text": "<p>Aspirin</p>"},
                "annotations": [
                    {
                        "id": 1,
                        "result": [
                            {
                                "id": "r",
                                "from_name": "l",
                                "to_name": "t",
                                "type": "hypertextlabels",
                                "value": {
                                    "start": "/p[1]/text()[1]",
                                    "end": "/p[1]/text()[1]",
                                    "startOffset": 0,
                                    "endOffset": 7,
                                    "globalOffsets": {"start": 0, "end": 7},
                                    "text": "Aspirin",
                                    "hypertextlabels": ["Drug"],
                                },
                            }
                        ],
                    }
                ],
            }
        ],
        Page("<p>Aspirin</p>", (mark(3, 10, "Drug"),), "5"),
        reader="label-studio",
        flawed=True,
    ),
)
PRODIGY = (
    _lines(
        "Prodigy with tasks that were rejected and ignored",
        {
            "text": TEXT,
            "spans": [{"start": 0, "end": 7, "label": "Drug"}],
            "answer": "accept",
            "_task_hash": 1,
        },
        {"text": "Second.", "spans": [], "answer": "reject", "_task_hash": 2},
        {"text": "Third.", "spans": [], "answer": "ignore", "_task_hash": 3},
        wanted=(Page(TEXT, (DRUG,)),),
        flawed=True,
    ),
    _lines(
        "Prodigy with places of tokens, hashes and a session",
        {
            "text": TEXT,
            "_input_hash": 1,
            "_task_hash": -2,
            "_is_binary": False,
            "_view_id": "ner_manual",
            "_session_id": None,
            "_timestamp": 1700000000,
            "tokens": [
                {"text": "Aspirin", "start": 0, "end": 7, "id": 0, "ws": True},
                {"text": "helps", "start": 8, "end": 13, "id": 1, "ws": True},
            ],
            "spans": [{"start": 0, "end": 7, "token_start": 0, "token_end": 0, "label": "Drug"}],
            "answer": "accept",
        },
        wanted=(Page(TEXT, (DRUG,)),),
    ),
    _lines(
        "Prodigy with relations of spans",
        {
            "text": TEXT,
            "spans": [
                {"start": 0, "end": 7, "token_start": 0, "token_end": 0, "label": "Drug"},
                {"start": 22, "end": 26, "token_start": 3, "token_end": 3, "label": "Disease"},
            ],
            "relations": [
                {
                    "head": 0,
                    "child": 3,
                    "label": "treats",
                    "head_span": {
                        "start": 0,
                        "end": 7,
                        "token_start": 0,
                        "token_end": 0,
                        "label": "Drug",
                    },
                    "child_span": {
                        "start": 22,
                        "end": 26,
                        "token_start": 3,
                        "token_end": 3,
                        "label": "Disease",
                    },
                }
            ],
            "answer": "accept",
        },
        wanted=(Page(TEXT, (DRUG, PAIN)),),
    ),
)
_TOKENS: Final = [
    ("Aspirin", "U-Drug"),
    ("helps", "O"),
    ("against", "O"),
    ("chest", "B-Disease"),
    ("pain", "L-Disease"),
]
SPACY = (
    _whole(
        "pairs of a text and its entities",
        [[TEXT, {"entities": [[0, 7, "Drug"], [22, 26, "Disease"]]}]],
        Page(TEXT, (DRUG, PAIN)),
    ),
    _whole(
        "the training data of spaCy 2",
        [
            {
                "id": 0,
                "paragraphs": [
                    {
                        "raw": "Aspirin helps against chest pain",
                        "sentences": [
                            {
                                "tokens": [
                                    {"id": n, "orth": w, "ner": t}
                                    for n, (w, t) in enumerate(_TOKENS)
                                ],
                                "brackets": [],
                            }
                        ],
                    }
                ],
            }
        ],
        Page("Aspirin helps against chest pain", (DRUG, mark(22, 32, "Disease"))),
    ),
    _whole(
        "a document of spaCy with ids of a knowledge base",
        {
            "text": TEXT,
            "ents": [
                {"start": 0, "end": 7, "label": "Drug", "kb_id": "MESH:D001241", "ent_id": ""}
            ],
            "sents": [{"start": 0, "end": 27}],
            "tokens": [{"id": 0, "start": 0, "end": 7}, {"id": 1, "start": 8, "end": 27}],
            "cats": {},
        },
        Page(TEXT, (mark(0, 7, "Drug", "MESH:D001241"),)),
    ),
    _lines(
        "JSON Lines of spaCy's own entity ruler is no corpus",
        {"label": "Drug", "pattern": "aspirin"},
        wanted=(),
        flawed=True,
    ),
)
_BIGBIO: Final = {"events": [], "coreferences": [], "relations": []}
BIGBIO = (
    _lines(
        "BigBIO with a mention of two places and two concepts",
        {
            "id": "0",
            "document_id": "7",
            "passages": [
                {
                    "id": "1",
                    "type": "abstract",
                    "text": ["lung and liver cancer"],
                    "offsets": [[0, 21]],
                }
            ],
            "entities": [
                {
                    "id": "2",
                    "type": "Disease",
                    "text": ["lung", "cancer"],
                    "offsets": [[0, 4], [15, 21]],
                    "normalized": [
                        {"db_name": "MESH", "db_id": "D008175"},
                        {"db_name": "OMIM", "db_id": "211980"},
                    ],
                }
            ],
            **_BIGBIO,
        },
        wanted=(
            Page(
                "lung and liver cancer",
                (Marked(((0, 4), (15, 21)), "Disease", ("MESH:D008175", "OMIM:211980")),),
                "7",
            ),
        ),
    ),
    _lines(
        "BigBIO with a relation, a chain and an event",
        {
            "id": "0",
            "document_id": "7",
            "passages": [
                {"id": "1", "type": "title", "text": ["Aspirin."], "offsets": [[0, 8]]},
                {"id": "2", "type": "abstract", "text": ["It helps."], "offsets": [[9, 18]]},
            ],
            "entities": [
                {
                    "id": "3",
                    "type": "Drug",
                    "text": ["Aspirin"],
                    "offsets": [[0, 7]],
                    "normalized": [],
                },
                {"id": "4", "type": "Drug", "text": ["It"], "offsets": [[9, 11]], "normalized": []},
            ],
            "events": [
                {
                    "id": "5",
                    "type": "Helps",
                    "trigger": {"text": ["helps"], "offsets": [[12, 17]]},
                    "arguments": [],
                }
            ],
            "coreferences": [{"id": "6", "entity_ids": ["3", "4"]}],
            "relations": [
                {"id": "7", "type": "same", "arg1_id": "3", "arg2_id": "4", "normalized": []}
            ],
        },
        wanted=(Page("Aspirin. It helps.", (DRUG, mark(9, 11, "Drug")), "7"),),
        flawed=True,
    ),
)
PUBANNOTATION = (
    _whole(
        "PubAnnotation with attributes and relations",
        {
            "target": "http://pubannotation.org/docs/sourcedb/PubMed/sourceid/7",
            "sourcedb": "PubMed",
            "sourceid": "7",
            "text": TEXT,
            "project": "p",
            "denotations": [_denotation("T1", 0, 7, "Drug"), _denotation("T2", 22, 26, "Disease")],
            "attributes": [{"id": "A1", "subj": "T2", "pred": "negated", "obj": True}],
            "relations": [{"id": "R1", "pred": "treats", "subj": "T1", "obj": "T2"}],
        },
        Page(TEXT, (DRUG, PAIN)),
    ),
    _whole(
        "PubAnnotation in tracks",
        {
            "sourcedb": "PubMed",
            "sourceid": "7",
            "text": TEXT,
            "tracks": [
                {"project": "a", "denotations": [_denotation("T1", 0, 7, "Drug")]},
                {"project": "b", "denotations": [_denotation("T1", 22, 26, "Disease")]},
            ],
        },
        Page(TEXT, (DRUG, PAIN)),
    ),
    _whole(
        "PubAnnotation with a bag of places, blocks and a style",
        [
            {
                "sourcedb": "PMC",
                "sourceid": "7",
                "divid": 0,
                "text": "lung and liver cancer",
                "denotations": [
                    {
                        "id": "T1",
                        "span": [{"begin": 0, "end": 4}, {"begin": 15, "end": 21}],
                        "obj": "Disease",
                    }
                ],
                "blocks": [{"id": "B1", "span": {"begin": 0, "end": 21}, "obj": "sentence"}],
                "typesettings": [{"span": {"begin": 0, "end": 4}, "style": "italic"}],
            }
        ],
        Page("lung and liver cancer", (Marked(((0, 4), (15, 21)), "Disease"),)),
        flawed=True,
    ),
    _lines(
        "PubAnnotation, one document in a line, with UTF-16 of a program in Ruby's place",
        {
            "text": f"{SMILE} Aspirin",
            "sourcedb": "a",
            "sourceid": "7",
            "denotations": [_denotation("T1", 2, 9, "Drug")],
        },
        wanted=(Page(f"{SMILE} Aspirin", (mark(2, 9, "Drug"),)),),
    ),
)


def _bdoc(text: str, kind: str, **sets: list[tuple[str, int, int]]) -> dict[str, Any]:
    groups = {
        name: {
            "name": "detached-from:" + name,
            "annotations": [
                {"type": type_, "start": start, "end": end, "id": n, "features": {}}
                for n, (type_, start, end) in enumerate(marks)
            ],
            "next_annid": len(marks),
        }
        for name, marks in sets.items()
    }
    return {
        "annotation_sets": groups,
        "text": text,
        "features": {},
        "offset_type": kind,
        "name": "d",
    }


GATE = (
    _whole(
        "GATE with two sets",
        _bdoc(TEXT, "p", Key=[("Drug", 0, 7)], Other=[("Disease", 22, 26)]),
        Page(TEXT, (DRUG, PAIN)),
    ),
    _whole(
        "GATE with offsets of Java",
        _bdoc(f"{SMILE} Aspirin", "j", Key=[("Drug", 3, 10)]),
        Page(f"{SMILE} Aspirin", (mark(2, 9, "Drug"),)),
    ),
)
RECORDS = (
    _lines(
        "articles with a title, an abstract and an id of each kind",
        {"pmid": 7, "title": "Gout", "abstract": "One."},
        {"pmid": 8, "title": "Pain", "abstract": None},
        wanted=(Page("Gout\n\nOne.", (), "7"), Page("Pain", (), "8")),
    ),
    _lines(
        "a mention with a fact whose name is a vocabulary",
        {
            "id": "1",
            "text": TEXT,
            "entities": [{"start": 0, "end": 7, "type": "Drug", "mesh": "D001241"}],
        },
        wanted=(Page(TEXT, (mark(0, 7, "Drug", "MESH:D001241"),), "1"),),
    ),
    _lines(
        "offsets that are texts",
        {"id": "1", "text": TEXT, "entities": [{"start": "0", "end": "7", "type": "Drug"}]},
        wanted=(Page(TEXT, (DRUG,), "1"),),
        flawed=True,
    ),
    _lines(
        "a length in place of an end",
        {"id": "1", "text": TEXT, "entities": [{"offset": 0, "length": 7, "type": "Drug"}]},
        wanted=(Page(TEXT, (DRUG,), "1"),),
        flawed=True,  # a hint says which fields to name
    ),
    _lines(
        "names without places",
        {"id": "1", "text": TEXT, "entities": ["Aspirin", "pain"]},
        wanted=(Page(TEXT, (), "1"),),
        flawed=True,
    ),
)
BIOC = (
    _whole(
        "the list of collections that PMC's service answers",
        [
            {
                "bioctype": "BioCCollection",
                "source": "PMC",
                "date": "20200101",
                "key": "pmc.key",
                "version": "1.0",
                "infons": {},
                "documents": [
                    {
                        "bioctype": "BioCDocument",
                        "id": "7",
                        "infons": {"license": "CC BY"},
                        "passages": [
                            {
                                "bioctype": "BioCPassage",
                                "offset": 0,
                                "infons": {"section_type": "TITLE", "type": "front"},
                                "text": "Gout",
                                "sentences": [],
                                "annotations": [],
                                "relations": [],
                            }
                        ],
                        "annotations": [],
                        "relations": [],
                    }
                ],
            }
        ],
        Page("Gout", (), "7"),
        reader="bioc-json",
    ),
)
NATIVE = (
    _lines(
        "our own lines to which a program in JavaScript added a mention",
        {
            "fascicle": 1,
            "id": "1",
            "text": f"{SMILE} Aspirin",
            "mentions": [{"spans": [[3, 10]], "type": "Drug", "text": "Aspirin"}],
        },
        wanted=(Page(f"{SMILE} Aspirin", (mark(2, 9, "Drug"),), "1"),),
        reader="jsonl",
    ),
)
_ANNOTATION: Final = {
    "@context": "http://www.w3.org/ns/anno.jsonld",
    "type": "Annotation",
    "body": {"type": "TextualBody", "value": "Drug", "purpose": "tagging"},
}


def _web(name: str, *selectors: dict[str, Any], flawed: bool = False) -> Given:
    stated = {**_ANNOTATION, "target": {"source": "https://x.org/7", "selector": list(selectors)}}
    files: dict[str, str | bytes] = {"a.json": json.dumps([stated]), "7.txt": TEXT}
    wanted = (Page(TEXT, (DRUG,), "7"),)
    return Given(name=name, format="web-annotation", files=files, wanted=wanted, flawed=flawed)


WEB = (
    _web(
        "a position, and an address without a suffix",
        {"type": "TextPositionSelector", "start": 0, "end": 7},
    ),
    _web(
        "a quote in JSON-LD with a prefix alone",
        {"type": "TextQuoteSelector", "exact": "Aspirin", "prefix": ""},
    ),
    _web("a selector of elements", {"type": "CssSelector", "value": "p > b"}, flawed=True),
)


def _stam(name: str, begin: int, end: int, cursor: str, *, resource: dict[str, str]) -> Given:
    identifier = resource.get("@id") or resource["@include"]
    offset = {
        "@type": "Offset",
        "begin": {"@type": cursor, "value": begin},
        "end": {"@type": cursor, "value": end},
    }
    datum = {"@type": "AnnotationData", "@id": "D", "set": "types"}
    drug = {"@type": "String", "value": "Drug"}
    store = {
        "@type": "AnnotationStore",
        "resources": [{"@type": "TextResource", **resource}],
        "annotationsets": [{"@id": "types", "data": [{**datum, "key": "class", "value": drug}]}],
        "annotations": [
            {
                "@type": "Annotation",
                "target": {"@type": "TextSelector", "resource": identifier, "offset": offset},
                "data": [datum],
            }
        ],
    }
    files: dict[str, str | bytes] = {"a.store.stam.json": json.dumps(store)}
    if "@include" in resource:
        files[identifier] = TEXT
    read = "a.store.stam.json"
    wanted = (Page(TEXT, (DRUG,), "7"),)
    return Given(name=name, format="stam", files=files, wanted=wanted, read=read)


STAM = (
    _stam(
        "offsets from the end, and a type under another key",
        -len(TEXT),
        7 - len(TEXT),
        "EndAlignedCursor",
        resource={"@id": "7", "text": TEXT},
    ),
    _stam(
        "a text in a file of its own",
        0,
        7,
        "BeginAlignedCursor",
        resource={"@include": "7.txt"},
    ),
)
ALL: Final = (
    *DOCCANO,
    *LABEL_STUDIO,
    *PRODIGY,
    *SPACY,
    *BIGBIO,
    *PUBANNOTATION,
    *GATE,
    *RECORDS,
    *BIOC,
    *NATIVE,
    *WEB,
    *STAM,
)
