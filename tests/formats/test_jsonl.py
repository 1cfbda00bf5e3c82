"""JSON records in the shapes that corpora come in."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from fascicle.core.document import Document, Mention
from fascicle.errors import FormatError, InputError, UsageError
from fascicle.formats import JsonlOptions, ReadReport, read, write


def _write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def _found(document: Document) -> list[tuple[str, str]]:
    return [(m.type, m.text(document.text)) for m in document.mentions]


SHAPES: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    (
        "tokens-entities",
        {
            "tokens": ["c-fos", "gene"],
            "entities": [{"start": 0, "end": 2, "type": "DNA"}, {"start": 0, "end": 1, "type": "P"}],
        },
        [("DNA", "c-fos gene"), ("P", "c-fos")],
    ),
    (
        "tokens-mentions",
        {"tokens": ["the", "c-fos"], "doc_id": "9", "entity_mentions": [{"start": 1, "end": 2, "entity_type": "DNA"}]},
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
    ("text", {"text": "nothing said"}, []),
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
        return {"tokens": ["a", token], "doc_id": doc, "entity_mentions": [{"start": 1, "end": 2, "entity_type": "X"}]}

    path = _write(tmp_path / "a.jsonlines", sentence("1", "b"), sentence("1", "c"), sentence("2", "d"))
    documents = list(read(path))
    assert [(d.id, d.text, len(d.sentences or ())) for d in documents] == [("1", "a b a c", 2), ("2", "a d", 1)]
    assert _found(documents[0]) == [("X", "b"), ("X", "c")]


@pytest.mark.parametrize("group", [{}, {"doc_id": None}])
def test_records_without_a_group_are_documents(tmp_path: Path, group: dict[str, Any]) -> None:
    def sentence(token: str, group: dict[str, Any]) -> dict[str, Any]:
        return {"tokens": [token], "entity_mentions": [], **group}

    lines = [sentence("a", group), sentence("b", group), sentence("c", {"doc_id": "1"}), sentence("d", {"doc_id": "1"})]
    documents = read(_write(tmp_path / "a.jsonl", *lines, sentence("e", group)))
    assert [(d.id, d.text) for d in documents] == [("a:1", "a"), ("a:2", "b"), ("1", "c d"), ("a:4", "e")]


def test_one_array(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([SHAPES[2][1], {**SHAPES[2][1], "orig_id": 8}], indent=1))
    report = ReadReport()
    assert [d.id for d in read(path, report=report)] == ["7", "8"]
    assert report.tags[str(path)].scheme == "BILOU"


def test_only_some_records(tmp_path: Path) -> None:
    records = [
        {"id": str(n), "part": part, "text": "t", "entities": []} for n, part in enumerate(["train", "dev", "dev"])
    ]
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(r) + "\n" for r in records).encode()))
    documents = list(read(path, options=JsonlOptions(where=(("part", "dev"),))))
    assert [d.id for d in documents] == ["1", "2"]
    assert documents[0].meta == {"part": "dev"}
    with pytest.raises(InputError, match="no document that the options ask for"):
        list(read(path, options=JsonlOptions(where=(("part", "test"),))))


def test_fields_of_other_names(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.jsonl", {"key": 3, "body": "Bonn ist", "spans": [{"from": 0, "to": 3, "label": "LOC"}]})
    fields = (("text", "body"), ("entities", "spans"), ("start", "from"), ("end", "to"), ("type", "label"))
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
    assert codes == [("loss", "offset-outside")] * 2 + [("repair", "text-mismatch"), ("repair", "duplicate-mention")]
    (tokens,) = read(_write(tmp_path / "b.jsonl", {"tokens": ["a"], "entities": [{"start": 0, "end": 2, "type": "A"}]}))
    assert [e.code for e in tokens.events] == ["offset-outside"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"tokens": ["a"', r"a\.jsonl:1: not JSON"),
        ("[1]\n", "a JSON object is expected"),
        ("[" * 20_000, "not JSON"),
        ('{"words": ["a"]}', "no known shape has the fields words"),
        ('{"text": "a", "entities": []}\n{"text": "b"}', r"a\.jsonl:2: the record has no field 'entities'"),
        ('{"text": 5, "entities": []}', "must be a str, found int"),
        ('{"text": "a", "entities": [{"start": "0", "end": 1, "type": "X"}]}', "cannot be read; allowed"),
        ('{"text": "a", "entities": [{"start": 0, "end": 1, "type": ""}]}', "cannot be read; allowed"),
        ('{"text": "a", "entities": [[0, 1]]}', "cannot be read; allowed"),
        ('{"text": "a", "entities": [7]}', "cannot be read; allowed"),
        ('{"tokens": ["a", ""], "entities": []}', "none of them empty"),
        ('{"tokens": ["a"], "tags": ["O", "O"]}', "2 tags for 1 tokens"),
        ('{"tokens": ["a"], "tags": ["X"]}', "tag 'X' is not"),
        ('{"text": "abc", "sentences": [[0, 9]], "entities": []}', "sentence .0, 9. is not allowed"),
        ('{"text": "\\ud800", "entities": []}', r"a\.jsonl:1"),
    ],
)
def test_wrong_records(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(line)
    with pytest.raises(FormatError, match=message):
        list(read(path))


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
