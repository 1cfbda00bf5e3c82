"""Records with a title and an abstract, as services and papers' own data sets write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.formats.oracle.judging import outcome

from fascicle.formats import read
from fascicle.formats.records import JsonlOptions

ABOUT = {"title": "Gout", "abstract": "It hurts."}


def _written(folder: Path, *records: dict[str, Any]) -> Path:
    path = folder / "a.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["id", "_id", "pmid", "doc_id", "document_id", "doi", "pmcid"])
@pytest.mark.parametrize("record", [ABOUT, {"text": "Gout"}, {"text": "Gout", "entities": []}])
def test_an_id_has_its_usual_names(name: str, record: dict[str, Any], tmp_path: Path) -> None:
    ids = [
        one.id
        for one in read(
            _written(tmp_path, {name: 7, **record}, {name: "x", **record}), format="records"
        )
    ]
    assert ids == ["7", "x"]


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (ABOUT, "Gout\n\nIt hurts."),
        ({"title": "Gout", "abstract": None}, "Gout"),
        ({"title": "Gout", "journal": "A journal of pain"}, "Gout"),
        # as in SciFact
        ({"title": "Gout", "abstract": ["It hurts. ", "It ends."]}, "Gout\n\nIt hurts. It ends."),
        ({**ABOUT, "paragraphs": ["One."]}, "Gout\n\nIt hurts.\n\nOne."),
    ],
)
def test_title_and_abstract_are_the_text(record: dict[str, Any], text: str, tmp_path: Path) -> None:
    (document,) = read(_written(tmp_path, record), format="records")
    assert document.text == text
    assert [one.name for one in document.sections or ()] == ["title", "abstract", "paragraph"][
        : text.count("\n\n") + 1
    ]


@pytest.mark.parametrize(
    "more",
    [
        {"body": "A long text. " * 30},
        {"sections": [{"heading": "A", "text": "A long text. " * 30}]},
    ],
)
def test_a_longer_text_is_not_left_out_in_silence(more: dict[str, Any], tmp_path: Path) -> None:
    found = outcome(_written(tmp_path, {**ABOUT, **more}), "records")
    assert not found.documents
    assert "no known shape" in str(found.said)


def test_annotation_of_such_a_record_is_refused(tmp_path: Path) -> None:
    path = _written(tmp_path, {**ABOUT, "entities": [{"start": 0, "end": 4, "type": "Disease"}]})
    assert "looks like annotation" in str(outcome(path, "records").said)


@pytest.mark.parametrize("record", [{}, {"data": {}, "annotations": []}])
def test_an_empty_record_is_named_as_such(record: dict[str, Any], tmp_path: Path) -> None:
    found = outcome(_written(tmp_path, record), "records")
    assert found.said
    assert "(none)" not in str(found.said)


def test_several_fields_are_sections_of_one_text(tmp_path: Path) -> None:
    path = _written(
        tmp_path,
        {"pmid": 7, "head": "Gout", "about": {"body": "It hurts."}},
        {"pmid": 8, "head": "Ague", "about": {"body": None}},
        {"pmid": 9, "journal": "Pain"},
    )
    seen = outcome(path, "records", options=JsonlOptions(fields=(("text", "head, about.body"),)))
    assert [(one.id, one.text) for one in seen.documents] == [
        ("7", "Gout\n\nIt hurts."),
        ("8", "Ague"),
    ]
    assert [(part.name, part.start, part.end) for part in seen.documents[0].sections or ()] == [
        ("head", 0, 4),
        ("about.body", 6, 15),
    ]
    assert "no field 'head'; it has journal, pmid" in str(seen.said)


def test_mentions_have_one_text(tmp_path: Path) -> None:
    path = _written(tmp_path, {**ABOUT, "entities": [{"start": 0, "end": 4, "type": "Disease"}]})
    fields = (("text", "title,abstract"), ("entities", "entities"))
    said = str(outcome(path, "records", options=JsonlOptions(fields=fields)).said)
    assert "mentions have one text; name one of title, abstract" in said
