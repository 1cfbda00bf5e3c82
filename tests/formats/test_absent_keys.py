"""JSON Lines that data frames wrote again: each key is in each record, with ``null`` where it
was absent.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fascicle.core import codec
from fascicle.core.document import Document, Event, Link, Mention, Relation
from fascicle.core.files.source import Source
from fascicle.errors import FormatError
from fascicle.formats import read
from fascicle.formats.predictions import make_prediction
from fascicle.formats.predictions import read as read_predictions
from fascicle.formats.predictions import write as write_predictions

FIXTURES = Path(__file__).parent / "data_frames"


def _documents() -> list[Document]:
    link = Link(id="D1", ontology="MESH", curie="MESH:D1", same=("DOID:1",))
    first = Mention(((0, 7),), "Drug", score=0.5, links=(link,), attributes=(("negated", "true"),))
    second = Mention(((15, 21),), "Disease", source="model", links=(Link(id="", nil=True),))
    event = Event(step="x", kind="note", code="y", message="z")
    related = (Relation(type="r", arguments=(("a", first.key), ("b", second.key))),)
    full = Document(
        id="a",
        text="Lithium caused tremor.",
        mentions=(first, second),
        relations=related,
        meta={"year": "x1"},
    )
    return [
        full,
        Document(id="b", text="No names.", events=(event,)),
        Document(id="c", text="", sentences=()),
    ]


def _filled(values: list[Any]) -> list[Any]:
    """The same records, each with the keys of all, as a table has them."""
    if all(isinstance(value, dict) for value in values):
        keys = dict.fromkeys(key for value in values for key in value)
        columns = {
            key: _filled([value[key] for value in values if value.get(key) is not None])
            for key in keys
        }
        parts = {key: iter(column) for key, column in columns.items()}
        return [
            {key: next(parts[key]) if value.get(key) is not None else None for key in keys}
            for value in values
        ]
    if all(isinstance(value, list) for value in values):
        flat = iter(_filled([one for value in values for one in value]) if any(values) else [])
        return [[next(flat) for _ in value] for value in values]
    return values


def test_null_is_an_absent_key_of_a_document() -> None:
    lines = [json.loads(codec.encode(document)) for document in _documents()]
    filled = _filled(lines)
    assert filled[1]["mentions"] is None
    assert filled[0]["mentions"][0]["source"] is None
    assert [codec.decode(json.dumps(line)) for line in filled] == _documents()


def test_null_is_an_absent_key_of_a_prediction(tmp_path: Path) -> None:
    write_predictions(tmp_path / "a.predictions.jsonl", map(make_prediction, _documents()))
    lines = [
        json.loads(line) for line in (tmp_path / "a.predictions.jsonl").read_text().splitlines()
    ]
    (tmp_path / "b.predictions.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in _filled(lines))
    )
    ours, again = (
        list(read_predictions(Source(path=str(tmp_path / f"{name}.predictions.jsonl"))))
        for name in "ab"
    )
    assert ours == again


def test_null_is_an_absent_key_of_a_document_of_bioc(tmp_path: Path) -> None:
    annotation = {
        "id": "1",
        "infons": {"type": "X"},
        "text": "a",
        "locations": [{"offset": 0, "length": 1}],
    }
    passage = {
        "offset": 0,
        "infons": {},
        "text": "a",
        "annotations": [annotation],
        "sentences": None,
    }
    (tmp_path / "a.jsonl").write_text(
        json.dumps({"id": "1", "passages": [passage], "relations": None})
    )
    (document,) = read(tmp_path / "a.jsonl")
    assert (document.text, len(document.mentions)) == ("a", 1)


def test_null_is_an_absent_key_of_a_record(tmp_path: Path) -> None:
    entity = {
        "start": 0,
        "end": 1,
        "type": "X",
        "links": [{"id": "D1", "name": None, "same": None}],
        "spans": None,
    }
    record = {"text": "a", "entities": [entity], "sentences": None}
    other = {"text": "b", "entities": None, "sentences": None}
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n" + json.dumps(other))
    first, second = read(tmp_path / "a.jsonl")
    assert first.mentions[0].links == (Link(id="D1"),)
    assert second.mentions == ()


@pytest.mark.parametrize(
    "line", ['{"fascicle": 2, "id": null, "text": "a"}', '{"fascicle": 2, "id": "1", "text": null}']
)
def test_null_is_no_id_and_no_text(line: str) -> None:
    with pytest.raises(FormatError):
        codec.decode(line)


def test_an_id_that_pandas_made_a_number_is_read() -> None:
    assert codec.decode('{"fascicle": 2, "id": 123, "text": "a"}').id == "123"


@pytest.mark.parametrize("library", ["pandas", "polars", "duckdb", "datasets"])
def test_what_each_library_wrote_is_what_it_read(library: str) -> None:
    """The files were written by the library; polars refuses the lists of texts and lists in
    relations.
    """
    wanted = [one.having(relations=()) if library == "polars" else one for one in _documents()]
    assert list(read(FIXTURES / f"{library}.jsonl")) == wanted
