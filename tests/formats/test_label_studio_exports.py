"""Exports of Label Studio beside its JSON: JSON-MIN, CSV, and tasks whose predictions are
numbers.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fascicle.core.document import Document
from fascicle.errors import FormatError
from fascicle.formats import JsonlOptions, ReadReport, detect, read, write
from fascicle.formats.report import FailedDocuments
from fascicle.formats.requests import ReadRequest, read_file

TEXT = 'α "Lithium", and\nasthma 😀 x'
REGIONS = [
    {"start": 3, "end": 10, "text": "Lithium", "labels": ["Chemical"]},
    {"start": 17, "end": 23, "text": "asthma", "labels": ["Disease"]},
]
FOUND = {("Chemical", ((3, 10),)), ("Disease", ((17, 23),))}


def flat(number: int, *, annotator: int = 1, regions: Any = REGIONS, **data: Any) -> dict[str, Any]:
    facts = {
        "annotation_id": number,
        "created_at": "2024-05-01T10:00:00Z",
        "updated_at": "2024",
        "lead_time": 3.5,
    }
    return {"id": number, "text": TEXT, "ner": regions, "annotator": annotator, **facts, **data}


def as_csv(records: list[dict[str, Any]], *, separator: str = ",") -> str:
    made = io.StringIO()
    writer = csv.DictWriter(made, list(records[0]), delimiter=separator)
    writer.writeheader()
    for record in records:
        writer.writerow(
            {
                name: json.dumps(one) if isinstance(one, list) else one
                for name, one in record.items()
            }
        )
    return made.getvalue()


def of(tmp_path: Path, content: str, name: str, **options: Any) -> list[Document]:
    path = tmp_path / name
    path.write_bytes(content.encode())
    return list(read_file(str(path), ReadRequest(**options)))


def keys(document: Document) -> set[tuple[str, Any]]:
    return {(one.type, one.spans) for one in document.layer("gold")}


@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.tsv"])
def test_records_of_one_annotation_each(name: str, tmp_path: Path) -> None:
    records = [flat(1), flat(2, text="nothing here", regions=[]), flat(3, sentiment="bad")]
    records = [{"sentiment": "", **one} for one in records]
    content = (
        json.dumps(records)
        if name == "a.json"
        else as_csv(records, separator="\t" if "t" in name else ",")
    )
    given: dict[str, Any] = (
        {"fields": (("quotes", "true"),), "format": "table"} if name == "a.tsv" else {}
    )
    found = of(tmp_path, content, name, **given)
    assert [one.id for one in found] == ["1", "2", "3"]
    assert [keys(one) for one in found] == [FOUND, set(), FOUND]
    assert [one.text for one in found] == [TEXT, "nothing here", TEXT]
    assert found[2].meta["sentiment"] == "bad"
    assert not found[0].events


@pytest.mark.parametrize("name", ["a.json", "a.csv"])
def test_a_text_that_nobody_annotated_has_no_gold(name: str, tmp_path: Path) -> None:
    nobody = {**flat(2, text="nothing here"), "ner": None, "annotation_id": None, "annotator": None}
    records = [flat(1), nobody]
    found = of(tmp_path, json.dumps(records) if name == "a.json" else as_csv(records), name)
    assert [keys(one) for one in found] == [FOUND, set()]
    assert [[event.code for event in one.events] for one in found] == [[], ["unannotated-record"]]


@pytest.mark.parametrize("name", ["a.json", "a.csv"])
def test_two_annotators_of_a_task(name: str, tmp_path: Path) -> None:
    records = [flat(1), {**flat(1, annotator=2, regions=REGIONS[:1]), "annotation_id": 9}, flat(3)]
    content = json.dumps(records) if name == "a.json" else as_csv(records)
    with pytest.raises(FormatError, match="nothing says which one is gold"):
        of(tmp_path, content, name)
    first, second = of(tmp_path, content, name, fields=(("annotator", "2"),))
    assert (first.id, second.id) == ("1", "3")
    assert keys(first) == {("Chemical", ((3, 10),))}
    every, _ = of(tmp_path, content, name, fields=(("annotator", "all"),))
    assert {one.source for one in every.mentions} == {"annotator-1", "annotator-2"}


@pytest.mark.parametrize("shape", ["auto", "label-studio"])
def test_tasks_with_predictions_alone(tmp_path: Path, shape: str) -> None:
    region = {
        "type": "labels",
        "value": {"start": 0, "end": 2, "text": TEXT[:2], "labels": ["Drug"]},
        "score": 0.5,
    }
    task = {"data": {"text": TEXT}, "predictions": [{"model_version": "m", "result": [region]}]}
    (tmp_path / "a.json").write_text(json.dumps([task]), encoding="utf-8")
    (found,) = read(tmp_path / "a.json", format="label-studio", options=JsonlOptions(shape=shape))
    assert [(m.type, m.spans, m.source, m.score) for m in found.mentions] == [
        ("Drug", ((0, 2),), "m", 0.5)
    ]
    assert [one.code for one in found.events] == ["unannotated-record"]


def test_predictions_that_are_numbers(tmp_path: Path) -> None:
    result = [{"type": "labels", "value": one, "from_name": "ner"} for one in REGIONS]
    task = {
        "id": 1,
        "data": {"text": TEXT},
        "annotations": [{"result": result}],
        "predictions": [1, 2],
        "drafts": [3],
    }
    (found,) = of(tmp_path, json.dumps([task]), "a.json")
    assert keys(found) == FOUND
    assert [one.code for one in found.events] == ["drafts-left-out", "predictions-left-out"]


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("entities", json.dumps([{"start": 3, "end": 10, "type": "Chemical"}])),
        ("spans", json.dumps([{"start": 3, "end": 10, "label": "Chemical"}])),
        ("labels", json.dumps([[3, 10, "Chemical"]])),
        ("label", "[(3, 10, 'Chemical')]"),
        ("entities", "[{'start': 3, 'end': 10, 'type': 'Chemical'}]"),
    ],
)
def test_a_column_with_mentions_of_other_tools_is_read(
    column: str, cell: str, tmp_path: Path
) -> None:
    made = io.StringIO()
    csv.writer(made).writerows(
        [["id", "text", "year", column], ["7", TEXT, "1999", cell], ["8", TEXT, "2000", "[]"]]
    )
    first, second = of(tmp_path, made.getvalue(), "a.csv")
    assert (first.id, first.text, first.meta, keys(first)) == (
        "7",
        TEXT,
        {"year": "1999"},
        {("Chemical", ((3, 10),))},
    )
    assert (second.id, second.meta, keys(second)) == ("8", {"year": "2000"}, set())


@pytest.mark.parametrize(
    "columns",
    [
        {"odd": json.dumps([{"begin_offset": 0, "end_offset": 1, "kind": "X"}])},
        {"entities": "lithium; asthma"},
        {"tags": "O B-Chemical O O O"},
        {"start": "0", "end": "1", "label": "Chemical"},
        {"begin": "0", "stop": "4"},
    ],
)
def test_annotation_in_no_known_form_is_refused_and_can_be_left_out(
    columns: dict[str, str], tmp_path: Path
) -> None:
    made = io.StringIO()
    csv.writer(made).writerows(
        [["id", "text", *columns], ["7", "a b c", *columns.values()], ["8", "d", *columns]]
    )
    with pytest.raises(FormatError, match=r"looks? like"):
        of(tmp_path, made.getvalue(), "a.csv")
    path = tmp_path / "a.csv"
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert len(list(read(path, report=report))) + report.aside.count == 2
    assert report.aside.count > 0
    found = of(
        tmp_path, made.getvalue(), "a.csv", format="table", fields=(("ignored", ",".join(columns)),)
    )
    assert [one.text for one in found] == ["a b c", "d"]


def test_several_columns_of_text_have_no_offsets(tmp_path: Path) -> None:
    made = io.StringIO()
    csv.writer(made).writerows(
        [["title", "text", "entities"], ["a", "b", '[{"start": 0, "end": 1, "type": "X"}]']]
    )
    with pytest.raises(FormatError, match="one column"):
        of(tmp_path, made.getvalue(), "a.csv", format="table", fields=(("text", "title,text"),))


@given(
    st.lists(
        st.tuples(
            st.text(
                st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n"), min_size=1
            ),
            st.data(),
        ),
        min_size=1,
        max_size=3,
    )
)
@settings(deadline=None, max_examples=30)
def test_any_text_with_any_regions(
    tmp_path_factory: pytest.TempPathFactory, given_texts: list[Any]
) -> None:
    tmp_path = tmp_path_factory.mktemp("any")
    records, wanted = [], []
    for number, (text, data) in enumerate(given_texts, 1):
        start = data.draw(st.integers(0, len(text) - 1))
        end = data.draw(st.integers(start + 1, len(text)))
        region = {"start": start, "end": end, "text": text[start:end], "labels": ["X"]}
        records.append(flat(number, text=text, regions=[region]))
        wanted.append((str(number), text, {("X", ((start, end),))}))
    for name, content in (("a.json", json.dumps(records)), ("a.csv", as_csv(records))):
        assert [(one.id, one.text, keys(one)) for one in of(tmp_path, content, name)] == wanted
        assert detect(str(tmp_path / name)) == ("records" if name == "a.json" else "table")


def test_what_people_say_about_a_region_is_kept(tmp_path: Path) -> None:
    """Answers per region have the id of the region, as https://labelstud.io/tags/choices says of
    ``perRegion``; a note of the panel *Meta* is in ``meta.text``.
    """
    value = {"start": 3, "end": 10, "text": "Lithium"}
    common = {"id": "a", "to_name": "text", "meta": {"text": ["ask Ben"]}}
    region = {
        **common,
        "type": "labels",
        "from_name": "ner",
        "value": {**value, "labels": ["Drug"]},
    }
    choice = {
        **common,
        "type": "choices",
        "from_name": "fact",
        "value": {**value, "choices": ["no"]},
    }
    words = {**common, "type": "textarea", "from_name": "why", "value": {**value, "text": ["dose"]}}
    whole = {"id": "b", "type": "choices", "from_name": "topic", "value": {"choices": ["x"]}}
    task = {
        "data": {"text": TEXT, "year": 2020},
        "meta": {"batch": "3"},
        "annotations": [{"result": [choice, region, words, whole]}],
    }
    (document,) = of(tmp_path, json.dumps([task]), "a.json")
    (mention,) = document.mentions
    assert mention.attributes == (("fact", "no"), ("why", "dose"), ("note", "ask Ben"))
    assert document.meta == {"batch": "3", "year": "2020"}
    (event,) = document.events
    assert "choices 1" in event.message
    write(tmp_path / "b.label-studio.json", [document])
    (again,) = read(tmp_path / "b.label-studio.json")
    assert (again.mentions, again.meta) == (document.mentions, document.meta)


@pytest.mark.parametrize("value", [None, 5, {"x": 1}, "ask", ["ask", None, {"x": 1}]])
def test_what_is_no_note_or_answer_stops_nothing(tmp_path: Path, value: Any) -> None:
    at = {"start": 3, "end": 10, "text": "Lithium"}
    region = {
        "id": "a",
        "type": "labels",
        "value": {**at, "labels": ["Drug"]},
        "meta": {"text": value},
    }
    choice = {"id": "a", "type": "choices", "from_name": "fact", "value": {**at, "choices": value}}
    task = {"data": {"text": TEXT}, "annotations": [{"result": [region, choice]}]}
    (document,) = of(tmp_path, json.dumps([task]), "a.json")
    (mention,) = document.mentions
    texts = [str(one) for one in (value if isinstance(value, list) else [value])]
    texts = [text for text in texts if text in ("5", "ask")]
    assert mention.attributes == (
        *(("fact", text) for text in texts),
        *(("note", text) for text in texts),
    )
    assert bool(document.events) == (not texts)
