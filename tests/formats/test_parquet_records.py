"""Parquet of other programs: rows are records, and names of tags are those of the hub."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import fascicle
from fascicle.core.document import Document
from fascicle.errors import FascicleError, FormatError, UsageError
from fascicle.formats import ReadReport
from fascicle.formats.arrow import ALL, open_table, schemas
from fascicle.formats.report import FailedDocuments
from fascicle.formats.requests import ReadRequest, read_all_documents

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

NAMES = ["O", "B-Disease", "I-Disease", "B-Chemical"]
TOKENS = [["Lithium", "caused", "diabetes", "insipidus", "."], ["No", "asthma", "."]]
TAGS = [[3, 0, 1, 2, 0], [0, 1, 0]]
MENTIONS = [
    [("Chemical", "Lithium"), ("Disease", "diabetes insipidus")],
    [("Disease", "asthma")],
]
LABEL = {"names": NAMES, "_type": "ClassLabel"}
# as versions 2, 3 and 4 of the library datasets write a list of labels
FEATURES: list[Any] = [
    [LABEL],
    {"feature": LABEL, "_type": "Sequence"},
    {"feature": LABEL, "_type": "List"},
]


def table(path: Path, rows: list[dict[str, Any]], features: dict[str, Any] | None = None) -> Path:
    made = pa.Table.from_pylist(rows)
    if features is not None:
        facts = json.dumps({"info": {"features": features}})
        made = made.replace_schema_metadata({"huggingface": facts})
    pq.write_table(made, path)
    return path


def asked(path: Path, request: ReadRequest) -> list[Document]:
    return list(read_all_documents([str(path)], request, report=ReadReport()))


def found(documents: list[Document]) -> list[list[tuple[str, str]]]:
    return [[(mention.type, mention.text) for mention in document] for document in documents]


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("names", [("tokens", "ner_tags"), ("tokens", "tags")])
def test_the_hub_names_the_tags(tmp_path: Path, names: tuple[str, str], feature: Any) -> None:
    rows = [
        {"id": str(at), names[0]: tokens, names[1]: tags}
        for at, (tokens, tags) in enumerate(zip(TOKENS, TAGS, strict=True))
    ]
    path = table(tmp_path / "train-00000-of-00001.parquet", rows, {names[1]: feature})
    documents = list(fascicle.read(path))
    assert found(documents) == MENTIONS
    assert documents[0].text == "Lithium caused diabetes insipidus ."


def test_other_columns_and_names_are_given_as_for_records(tmp_path: Path) -> None:
    rows = [{"words": tokens, "ner": tags} for tokens, tags in zip(TOKENS, TAGS, strict=True)]
    path = table(tmp_path / "a.parquet", rows)
    with pytest.raises(FascicleError, match="no known shape has the fields ner, words"):
        list(fascicle.read(path))
    fields = (("tokens", "words"), ("tags", "ner"))
    request = ReadRequest(fields=fields, labels=",".join(NAMES))
    assert found(asked(path, request)) == MENTIONS
    named = table(tmp_path / "b.parquet", rows, {"ner": FEATURES[2]})
    assert found(asked(named, ReadRequest(fields=fields))) == MENTIONS


def test_numbers_without_names_are_refused(tmp_path: Path) -> None:
    path = table(tmp_path / "a.parquet", [{"tokens": TOKENS[0], "ner_tags": TAGS[0]}])
    with pytest.raises(FormatError, match="numbers if their names are known"):
        list(fascicle.read(path))


LIST_OF_STRUCTS = [
    {"start": 0, "end": 7, "label": 0},
    {"start": 15, "end": 21, "label": 1},
]
STRUCT_OF_LISTS = {"start": [0, 15], "end": [7, 21], "label": [0, 1]}
KIND = {"names": ["Chemical", "Disease"], "_type": "ClassLabel"}
NUMBER = {"dtype": "int32", "_type": "Value"}
PARTS: dict[str, Any] = {"start": NUMBER, "end": NUMBER, "label": KIND}


@pytest.mark.parametrize(
    ("entities", "feature"),
    [
        (LIST_OF_STRUCTS, [PARTS]),
        (LIST_OF_STRUCTS, {"feature": PARTS, "_type": "List"}),
        (STRUCT_OF_LISTS, {"feature": PARTS, "_type": "Sequence"}),
        (
            STRUCT_OF_LISTS,
            {name: {"feature": part, "_type": "List"} for name, part in PARTS.items()},
        ),
    ],
)
def test_spans_of_a_text_have_the_names_of_their_labels(
    tmp_path: Path, entities: Any, feature: Any
) -> None:
    rows = [{"text": "Lithium caused asthma.", "entities": entities}]
    path = table(tmp_path / "a.parquet", rows, {"entities": feature})
    assert found(list(fascicle.read(path))) == [[("Chemical", "Lithium"), ("Disease", "asthma")]]


def test_records_of_argilla_are_rows_too(tmp_path: Path) -> None:
    spans = [{"start": 0, "end": 7, "label": "Chemical"}]
    row = {"id": "1", "text": "Lithium helps.", "mark.responses": [spans], "mark.suggestion": None}
    path = table(tmp_path / "a.parquet", [{**row, "mark.responses.status": ["submitted"]}])
    assert found(list(fascicle.read(path))) == [[("Chemical", "Lithium")]]


@pytest.mark.parametrize("broken", ["{", "[]", '{"info": 3}', '{"info": {"features": []}}'])
def test_facts_of_the_hub_that_are_none_are_no_names(tmp_path: Path, broken: str) -> None:
    rows = [{"text": "Lithium caused asthma.", "entities": LIST_OF_STRUCTS[:1]}]
    made = pa.Table.from_pylist([{**rows[0], "entities": [{"start": 0, "end": 7, "label": "X"}]}])
    pq.write_table(made.replace_schema_metadata({"huggingface": broken}), tmp_path / "a.parquet")
    assert found(list(fascicle.read(tmp_path / "a.parquet"))) == [[("X", "Lithium")]]


def test_a_label_without_a_name_is_set_aside(tmp_path: Path) -> None:
    rows = [{"text": "Lithium", "entities": [{"start": 0, "end": 7, "label": at}]} for at in (0, 7)]
    path = table(tmp_path / "a.parquet", rows, {"entities": [PARTS]})
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert found(list(fascicle.read(path, report=report))) == [[("Chemical", "Lithium")]]
    assert report.aside.count == 1
    assert "a.parquet, row 2" in report.aside.sentences[0]


def test_tables_of_our_own_take_no_options_of_records(tmp_path: Path) -> None:
    with open_table(tmp_path / "own.parquet", schemas()[ALL], 1) as add_rows:
        add_rows([("a", "Asthma", *[None] * 7)])
    assert [document.id for document in fascicle.read(tmp_path / "own.parquet")] == ["a"]
    with pytest.raises(UsageError, match="leave the options of records out"):
        asked(tmp_path / "own.parquet", ReadRequest(fields=(("text", "x"),)))


def test_cells_that_json_has_no_type_for_are_texts_or_counted(tmp_path: Path) -> None:
    # the texts are those of ISO 8601, and the digits of the decimal number as they are stored
    row = {
        "id": Decimal("12"),
        "text": "No asthma.",
        "seen": date(2020, 1, 2),
        "stored": datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC),
        "at": time(3, 4),
        "dose": Decimal("1.50"),
        "scan": b"\x89PNG",
    }
    (document,) = asked(table(tmp_path / "a.parquet", [row]), ReadRequest())
    assert document.id == "12"
    assert document.meta == {
        "seen": "2020-01-02",
        "stored": "2020-01-02T03:04:05+00:00",
        "at": "03:04:00",
        "dose": "1.50",
    }
    assert [(event.kind, event.code) for event in document.events] == [
        ("loss", "user-data-left-out")
    ]
    assert "scan" in document.events[0].message


def test_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    columns = [pa.array(["1"]), pa.array(["No asthma."]), pa.array(["Asthma."])]
    pq.write_table(pa.Table.from_arrays(columns, names=["id", "text", "text"]), path)
    with pytest.raises(FascicleError, match=r"2 columns are called 'text'; .*rename all but one"):
        asked(path, ReadRequest())
