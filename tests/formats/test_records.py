"""JSON records in the shapes that corpora come in."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from fascicle.core.document import Document, Link, Mention
from fascicle.errors import FormatError, InputError, UsageError
from fascicle.formats import JsonlOptions, ReadReport, read, write
from fascicle.formats.report import FailedDocuments


def _write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def _found(document: Document) -> list[tuple[str, str]]:
    return [(m.type, m.text_in(document.text)) for m in document.mentions]


SHAPES: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    (
        "tokens-entities",
        {
            "tokens": ["c-fos", "gene"],
            "entities": [
                {"start": 0, "end": 2, "type": "DNA"},
                {"start": 0, "end": 1, "type": "P"},
            ],
        },
        [("DNA", "c-fos gene"), ("P", "c-fos")],
    ),
    (
        "tokens-mentions",
        {
            "tokens": ["the", "c-fos"],
            "doc_id": "9",
            "entity_mentions": [{"start": 1, "end": 2, "entity_type": "DNA"}],
        },
        [("DNA", "c-fos")],
    ),
    (
        "tokens-tags",
        {"tokens": ["John", "Booth", "fled"], "tags": ["B-Peop", "L-Peop", "O"], "orig_id": 7},
        [("Peop", "John Booth")],
    ),
    (
        "text-entities",
        {
            "id": "1",
            "text": "IL-2 β gene",
            "sentences": [[0, 11]],
            "entities": [{"start": 5, "end": 6, "type": "sign"}],
        },
        [("sign", "β")],
    ),
    ("text-labels", {"text": "Bonn ist", "label": [[0, 4, "LOC"]]}, [("LOC", "Bonn")]),
    (
        "dygie",
        {
            "doc_key": "k",
            "sentences": [["We", "parse", "text"], ["It", "works"]],
            "ner": [[[1, 2, "Task"]], [[3, 3, "Generic"]]],
        },
        [("Task", "parse text"), ("Generic", "It")],
    ),
    ("data-labels", {"data": "Bonn ist", "label": [[0, 4, "LOC"]]}, [("LOC", "Bonn")]),
    ("text", {"text": "nothing said"}, []),
    ("tokens-ner-tags", {"tokens": ["a", "Bonn"], "ner_tags": ["O", "B-LOC"]}, [("LOC", "Bonn")]),
    (
        "text-entity-labels",
        {"text": "Bonn", "entities": [{"start": 0, "end": 4, "label": "LOC"}]},
        [("LOC", "Bonn")],
    ),
    (
        "prodigy",
        {
            "text": "Bonn",
            "spans": [{"start": 0, "end": 4, "label": "LOC", "token_start": 0, "token_end": 0}],
            "tokens": [{"text": "Bonn", "start": 0, "end": 4, "id": 0}],
            "_input_hash": 1,
            "answer": "accept",
        },
        [("LOC", "Bonn")],
    ),
    (
        "spacy",
        {
            "text": "Bonn",
            "ents": [{"start": 0, "end": 4, "label": "LOC"}],
            "sents": [{"start": 0, "end": 4}],
        },
        [("LOC", "Bonn")],
    ),
    ("doccano", {"id": 1, "text": "Bonn", "labels": [[0, 4, "LOC"]]}, [("LOC", "Bonn")]),
    (
        "doccano-relations",
        {
            "id": 1,
            "text": "Bonn",
            "entities": [{"id": 2, "label": "LOC", "start_offset": 0, "end_offset": 4}],
            "relations": [{"id": 3, "from_id": 2, "to_id": 2, "type": "same"}],
        },
        [("LOC", "Bonn")],
    ),
]


@pytest.mark.parametrize(("shape", "record", "mentions"), SHAPES)
def test_shapes_are_told_by_their_fields(
    tmp_path: Path, shape: str, record: dict[str, Any], mentions: list[tuple[str, str]]
) -> None:
    path = _write(tmp_path / "a.jsonl", record)
    report = ReadReport()
    (document,) = read(path, report=report)
    assert report.shapes == {str(path): shape}
    assert _found(document) == mentions
    (same,) = read(path, options=JsonlOptions(shape=shape))
    assert same == document


def test_details_of_the_shapes(tmp_path: Path) -> None:
    (dygie,) = read(_write(tmp_path / "a.jsonl", SHAPES[5][1]))
    assert dygie.id == "k"
    assert dygie.sentences == ((0, 13), (14, 22))
    (tags,) = read(_write(tmp_path / "b.jsonl", SHAPES[2][1]))
    assert tags.id == "7"
    (text,) = read(_write(tmp_path / "c.jsonl", SHAPES[3][1]))
    assert text.words is None
    assert text.sentences == ((0, 11),)
    (numbered,) = read(_write(tmp_path / "d.jsonl", SHAPES[0][1]))
    assert numbered.id == "d:1"
    assert numbered.meta == {"text": "joined"}


def test_sentences_of_one_document_are_put_together(tmp_path: Path) -> None:
    def sentence(doc: str, token: str) -> dict[str, Any]:
        return {
            "tokens": ["a", token],
            "doc_id": doc,
            "entity_mentions": [{"start": 1, "end": 2, "entity_type": "X"}],
        }

    path = _write(
        tmp_path / "a.jsonlines", sentence("1", "b"), sentence("1", "c"), sentence("2", "d")
    )
    documents = list(read(path))
    assert [(d.id, d.text, len(d.sentences or ())) for d in documents] == [
        ("1", "a b a c", 2),
        ("2", "a d", 1),
    ]
    assert _found(documents[0]) == [("X", "b"), ("X", "c")]


@pytest.mark.parametrize("group", [{}, {"doc_id": None}])
def test_records_without_a_group_are_documents(tmp_path: Path, group: dict[str, Any]) -> None:
    def sentence(token: str, group: dict[str, Any]) -> dict[str, Any]:
        return {"tokens": [token], "entity_mentions": [], **group}

    lines = [
        sentence("a", group),
        sentence("b", group),
        sentence("c", {"doc_id": "1"}),
        sentence("d", {"doc_id": "1"}),
    ]
    documents = read(_write(tmp_path / "a.jsonl", *lines, sentence("e", group)))
    assert [(d.id, d.text) for d in documents] == [
        ("a:1", "a"),
        ("a:2", "b"),
        ("1", "c d"),
        ("a:4", "e"),
    ]


def test_one_array(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([SHAPES[2][1], {**SHAPES[2][1], "orig_id": 8}], indent=1))
    report = ReadReport()
    assert [d.id for d in read(path, report=report)] == ["7", "8"]
    assert report.tags[str(path)].scheme == "BILOU"


def test_one_object_over_several_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(SHAPES[2][1], indent=1))
    assert [d.id for d in read(path)] == ["7"]
    path.write_text(json.dumps(SHAPES[2][1], indent=1)[:-3])
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert list(read(path, report=report)) == []
    assert report.aside.count == 1


def test_only_some_records(tmp_path: Path) -> None:
    records = [
        {"id": str(n), "part": part, "text": "t", "entities": []}
        for n, part in enumerate(["train", "dev", "dev"])
    ]
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(r) + "\n" for r in records).encode()))
    documents = list(read(path, options=JsonlOptions(where=(("part", "dev"),))))
    assert [d.id for d in documents] == ["1", "2"]
    assert documents[0].meta == {"part": "dev"}
    with pytest.raises(InputError, match="no document that the options ask for"):
        list(read(path, options=JsonlOptions(where=(("part", "test"),))))


def test_fields_of_other_names(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "a.jsonl",
        {"key": 3, "body": "Bonn ist", "spans": [{"from": 0, "to": 3, "label": "LOC"}]},
    )
    fields = (
        ("text", "body"),
        ("entities", "spans"),
        ("start", "from"),
        ("end", "to"),
        ("type", "label"),
    )
    options = JsonlOptions(fields=(*fields, ("id", "key"), ("inclusive", "true")))
    (document,) = read(path, options=options)
    assert document.id == "3"
    assert _found(document) == [("LOC", "Bonn")]


def test_offsets_outside_the_text_and_other_text(tmp_path: Path) -> None:
    entities = [
        {"start": 0, "end": 99, "type": "A"},
        {"start": 3, "end": 3, "type": "A"},
        {"start": 0, "end": 3, "type": "A", "text": "Bonn"},
        {"start": 0, "end": 3, "type": "A"},
    ]
    (document,) = read(_write(tmp_path / "a.jsonl", {"text": "Bonn", "entities": entities}))
    assert [m.spans for m in document.mentions] == [((0, 3),)]
    codes = [(e.kind, e.code) for e in document.events]
    told = [
        ("repair", code) for code in ("text-mismatch", "duplicate-mention", "most-offsets-wrong")
    ]
    assert codes == [("loss", "offset-outside")] * 2 + told
    (tokens,) = read(
        _write(
            tmp_path / "b.jsonl",
            {"tokens": ["a"], "entities": [{"start": 0, "end": 2, "type": "A"}]},
        )
    )
    assert [e.code for e in tokens.events] == ["offset-outside"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"tokens": ["a"', r"a\.jsonl:1: not JSON"),
        ("[1]\n", "a JSON object is expected"),
        ("[" * 20_000, "not JSON"),
        ('{"words": ["a"]}', "no known shape has the fields words"),
        (
            '{"words": ["Gout", "hurts"], "labels": ["B-Disease", "O"]}',
            r'fields=\[\("tokens", "words"\), \("tags", "labels"\)\]',
        ),
        (
            '{"n": [1, 2], "words": ["a", "b"]}',
            r'fields=\[\("tokens", "words"\), \("tags", "n"\)\]',
        ),
        (
            '{"text": "Gout hurts.", "start": 0, "end": 4, "type": "Disease"}',
            "fields 'start' and 'end' look like the offsets of one mention",
        ),
        ('{"tokens": ["a"], "entities": []}\n{"tokens": ["b"]}', r"a\.jsonl:2: "),
        ('{"text": 5, "entities": []}', "must be a str, found int"),
        (
            '{"text": "a", "entities": [{"start": "0", "end": 1, "type": "X"}]}',
            "cannot be read; allowed",
        ),
        (
            '{"text": "a", "entities": [{"start": 0, "end": 1, "type": ""}]}',
            "cannot be read; allowed",
        ),
        ('{"text": "a", "entities": [[0, 1]]}', "cannot be read; allowed"),
        (
            '{"text": "a", "entities": [{"start": 0, "end": 1, "type": "X", "links": ["D1"]}]}',
            "links.*D1",
        ),
        (
            '{"text": "a", "entities": [{"start": 0, "end": 1, "type": "X", "links": [{"curie": '
            '"D1"}]}]}',
            "links",
        ),
        ('{"text": "a", "entities": [7]}', "cannot be read; allowed"),
        ('{"tokens": ["a", ""], "entities": []}', "none of them empty"),
        ('{"tokens": ["a"], "tags": ["O", "O"]}', "2 tags for 1 tokens"),
        ('{"tokens": ["a"], "tags": ["X"]}', "tag 'X' is not"),
        (
            '{"text": "abc", "sentences": [[0, 9]], "entities": []}',
            "sentence .0, 9. is not allowed",
        ),
        ('{"text": "\\ud800", "entities": []}', r"a\.jsonl:1"),
    ],
)
def test_wrong_records(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(line)
    with pytest.raises(FormatError, match=message):
        list(read(path))


def test_links_of_a_record_are_those_of_its_mention(tmp_path: Path) -> None:
    links = (
        Link(id="D1", ontology="MESH", name="a", score=0.5, tier="exact", curie="MESH:D1"),
        Link(id="", nil=True),
    )
    made = Document(
        id="1", text="ab", mentions=(Mention(((0, 1),), "X", links=links), Mention(((1, 2),), "X"))
    )
    write(tmp_path / "a.records.jsonl", [made])
    assert list(read(tmp_path / "a.records.jsonl")) == [made]
    other = tmp_path / "other.jsonl"
    other.write_text(
        '{"text": "a", "entities": [{"start": 0, "end": 1, "type": "X", "links": ["http://a"]}]}'
    )
    (document,) = read(other, options=JsonlOptions(fields=(("links", "concepts"),)))
    assert document.mentions[0].links == ()


@pytest.mark.parametrize("score", [1.5, -0.1, 97])
def test_a_score_that_is_no_probability_is_an_attribute(tmp_path: Path, score: float) -> None:
    entity = {"start": 0, "end": 4, "type": "A", "score": score}
    (document,) = read(_write(tmp_path / "a.jsonl", {"text": "Bonn", "entities": [entity]}))
    ((mention,), events) = (document.mentions, document.events)
    assert (mention.score, mention.attributes, events) == (None, (("score", str(score)),), ())


@pytest.mark.parametrize("score", [True, False, "0.5", [0.5]])
def test_a_score_that_is_no_number_is_said(tmp_path: Path, score: object) -> None:
    entity = {"start": 0, "end": 4, "type": "A", "score": score}
    (document,) = read(_write(tmp_path / "a.jsonl", {"text": "Bonn", "entities": [entity]}))
    assert [mention.score for mention in document.mentions] == [None]
    assert [(event.code, "score" in event.message) for event in document.events] == [
        ("attributes-left-out", True)
    ]


@pytest.mark.parametrize("score", [0, 1, 0.5, None])
def test_a_probability_is_read(tmp_path: Path, score: float | None) -> None:
    entity = {"start": 0, "end": 4, "type": "A", "score": score}
    (document,) = read(_write(tmp_path / "a.jsonl", {"text": "Bonn", "entities": [entity]}))
    assert ([mention.score for mention in document.mentions], document.events) == ([score], ())


def test_wrong_options() -> None:
    with pytest.raises(UsageError, match="did you mean 'dygie'"):
        JsonlOptions(shape="dygi")
    with pytest.raises(UsageError, match="did you mean 'tokens'"):
        JsonlOptions(fields=(("token", "x"),))
    with pytest.raises(UsageError, match="give true or false"):
        JsonlOptions(fields=(("inclusive", "yes"),))


def test_written_and_read(tmp_path: Path) -> None:
    mentions = (Mention(((0, 4),), "A"), Mention(((0, 4), (9, 10)), "B"))
    document = Document(id="x", text="Bonn und Köln", sentences=((0, 13),), mentions=mentions)
    path = tmp_path / "out.jsonl"
    report = write(path, [document])
    assert (report.documents, report.mentions) == (1, 2)
    (found,) = read(path)
    assert found == document


def test_a_line_of_a_megabyte(tmp_path: Path) -> None:
    (document,) = read(_write(tmp_path / "a.jsonl", {"text": "x" * 2**20, "entities": []}))
    assert len(document.text) == 2**20


UNREAD: list[tuple[str, str]] = [
    ('{"text": "Bonn", "mentions": [{"start": 0, "end": 4, "type": "LOC"}]}', "mentions"),
    ('{"text": "Bonn", "annotations": [{"begin": 0, "end": 4, "label": "LOC"}]}', "annotations"),
    ('{"text": "Bonn", "annotations": {"LOC": [[0, 4]]}}', "annotations"),
    ('{"text": "Bonn", "entites": [{"start": 0, "end": 4, "type": "LOC"}]}', "entites"),
    ('{"text": "Bonn", "found": [[{"startOffset": 0, "endOffset": 4, "type": "LOC"}]]}', "found"),
    ('{"text": "Bonn", "labels": {"LOC": [[0, 4]]}}', "labels"),
    ('{"text": "Bonn", "tags": ["B-LOC"]}', "tags"),
    ('{"text": "Bonn", "ner_tags": [3]}', "ner_tags"),
    ('{"text": "Bonn", "entities": "[[0, 4, \'LOC\']]"}', "entities"),
    ('{"text": "Bonn", "entities": [], "spans": [[0, 4, "LOC"]]}', "spans"),
    ('{"tokens": ["Bonn"], "tags": ["O"], "ner_tags": ["B-LOC"]}', "ner_tags"),
    ('{"text": "Bonn", "predictions": [{"result": []}]}', "predictions"),
    (
        '{"text": "Bonn", "denotations": {"T1": {"span": {"begin": 0, "end": 4}, "obj": "LOC"}}}',
        "denotations",
    ),
    ('{"text": "Bonn", "meta": {"x": [{"named_entities": [{"start": 0, "end": 4}]}]}}', "meta"),
    (
        '{"text": "Bonn", "sentences": [{"entities": [{"start": 0, "end": 4, "label": "LOC"}]}]}',
        "sentences",
    ),
    ('{"text": "Bonn", "entities": {"LOC": [{"indices": [0, 4]}]}}', "entities"),
]


@pytest.mark.parametrize(("line", "field"), UNREAD)
@pytest.mark.parametrize("after", ["", '{"text": "a"}\n', '{"text": "a", "entities": []}\n'])
def test_annotation_is_never_passed_over(tmp_path: Path, line: str, field: str, after: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(after + line + "\n")
    number = after.count("\n") + 1
    with pytest.raises(FormatError, match=rf"a\.jsonl:{number}: .*'{field}'.*fields=") as caught:
        list(read(path))
    assert f'("ignored", "{field}")' in str(caught.value)
    (*_, document) = read(path, options=JsonlOptions(fields=(("ignored", field),)))
    assert document.text == "Bonn"
    assert document.mentions == ()


def test_the_error_names_the_fields(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "a.jsonl",
        {"text": "Bonn", "annotations": [{"begin": 0, "end": 4, "label": "LOC"}]},
    )
    with pytest.raises(FormatError) as caught:
        list(read(path))
    fields = (("entities", "annotations"), ("start", "begin"), ("type", "label"))
    assert all(f'("{part}", "{field}")' in str(caught.value) for part, field in fields)
    (document,) = read(path, options=JsonlOptions(fields=fields))
    assert _found(document) == [("LOC", "Bonn")]


FACTS = [
    {"label": "positive"},
    {"label": 1},
    {"labels": ["news", "sport"]},
    {"tags": ["news", "sport"]},
    {"labels": [], "spans": [], "annotations": None},
    {"entities": None, "mentions": 7},
    {"tokens": [{"text": "a", "start": 0, "end": 1}]},
    {"relations": [{"from": 1, "to": 2, "type": "x"}]},
    {"authors": [{"name": "x", "start": 3}]},
]


@pytest.mark.parametrize("fact", FACTS)
def test_facts_about_the_text_are_no_annotation(tmp_path: Path, fact: dict[str, Any]) -> None:
    (document,) = read(_write(tmp_path / "a.jsonl", {"text": "a", **fact}))
    assert document.mentions == ()
    assert document.events == ()
    assert document.meta == {
        name: str(value) for name, value in fact.items() if isinstance(value, str | int)
    }


def test_every_record_has_a_shape_of_its_own(tmp_path: Path) -> None:
    bare, full = (
        {"text": "Bonn"},
        {"text": "Bonn", "entities": [{"start": 0, "end": 4, "type": "LOC"}]},
    )
    prodigy = {"text": "Bonn", "spans": [{"start": 0, "end": 4, "label": "LOC"}]}
    path = _write(tmp_path / "a.jsonl", bare, bare, full, prodigy, bare, full)
    report = ReadReport()
    documents = list(read(path, report=report))
    assert [len(document.mentions) for document in documents] == [0, 0, 1, 1, 0, 1]
    said = [[(event.kind, event.code) for event in document.events] for document in documents]
    note = [("note", "unannotated-record")]
    assert said == [[], [], note, [], note, []]
    assert "2" in documents[2].events[0].message
    assert report.shapes == {str(path): "text, text-entities, prodigy"}
    assert [d.events for d in read(_write(tmp_path / "b.jsonl", bare, bare))] == [(), ()]


def test_suggestions_beside_a_response_are_left_out_with_an_event(tmp_path: Path) -> None:
    span = {"start": 0, "end": 4, "label": "LOC"}
    record = {"fields": {"text": "Bonn"}, "responses": {"spans": [{"value": [span]}]}}
    more = {"suggestions": {"spans": {"value": [{**span, "end": 3}], "agent": "m"}}}
    (document,) = read(_write(tmp_path / "a.jsonl", record | more))
    assert [mention.spans for mention in document.mentions] == [((0, 4),)]
    assert [(event.code, event.message) for event in document.events] == [
        ("suggestions-left-out", "suggestions are not read (1)")
    ]
    (document,) = read(_write(tmp_path / "b.jsonl", record | {"suggestions": {}}))
    assert not document.events


def test_a_named_shape_is_that_of_all_records(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.jsonl", {"text": "a", "entities": []}, {"text": "b"})
    with pytest.raises(FormatError, match=r"a\.jsonl:2: the record has no field 'entities'"):
        list(read(path, options=JsonlOptions(shape="text-entities")))


NATIVE = {"id": "1", "text": "Bonn", "mentions": [{"spans": [[0, 4]], "type": "LOC"}]}


@pytest.mark.parametrize("record", [NATIVE, {"id": "1", "text": "Bonn", "words": [[0, 4]]}])
def test_native_records_without_their_version(tmp_path: Path, record: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match=r'a\.jsonl:1: .*"fascicle": 1'):
        list(read(_write(tmp_path / "a.jsonl", record)))
    with pytest.raises(FormatError, match=r"a\.jsonl:2: .*into another file"):
        list(read(_write(tmp_path / "a.jsonl", {"text": "a"}, {**record, "fascicle": 1})))


def test_what_the_annotator_rejected(tmp_path: Path) -> None:
    record = {"text": "Bonn", "spans": [{"start": 0, "end": 4, "label": "LOC"}]}
    records = [{**record, "answer": answer} for answer in ("accept", "reject", "ignore")]
    path = _write(tmp_path / "a.jsonl", *records)
    with pytest.raises(FormatError, match=r"a\.jsonl:2: .*answer=accept"):
        list(read(path))
    assert len(list(read(path, options=JsonlOptions(where=(("answer", "accept"),))))) == 1
    assert len(list(read(path, options=JsonlOptions(where=(("answer", "reject"),))))) == 1


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("jsonl", '{"fascicle":2,"id":"a","text":"cat","id":"b"}'),
        ("records", '{"id":"a","text":"cat","entities":[],"id":"b"}'),
        ("bioc-json", '{"id":"a","passages":[{"offset":0,"text":"dog","text":"cat"}],"id":"b"}'),
        (
            "label-studio",
            '{"id":"a","data":{"text":"dog","text":"cat"},"annotations":[{"result":[]}],"id":"b"}',
        ),
    ],
)
def test_the_last_value_of_a_key_counts(tmp_path: Path, name: str, line: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    (document,) = read(path, format=name)
    assert (document.id, document.text) == ("b", "cat")


def test_predictions_of_dygie_are_not_ignored(tmp_path: Path) -> None:
    """DyGIE++ (doc/data.md) writes ``predicted_ner`` and ``predicted_relations`` beside gold."""
    record = {**SHAPES[5][1], "predicted_ner": [[[0, 0, "X", 1.0, 0.9]]], "predicted_relations": []}
    path = _write(tmp_path / "a.jsonl", record)
    with pytest.raises(FormatError, match="'predicted_ner' looks like annotation"):
        list(read(path))
    (document,) = read(path, options=JsonlOptions(fields=(("ignored", "predicted_ner"),)))
    assert len(document.mentions) == 2
