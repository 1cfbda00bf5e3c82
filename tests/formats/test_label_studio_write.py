"""Tasks that we write for Label Studio, and what its own software says of them."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fascicle.core.document import Document, Link, Mention
from fascicle.formats import detect, read, write

CONFIG = """<View><Labels name="label" toName="text"><Label value="Gene"/><Label value="Disease"/></Labels>
<Text name="text" value="$text"/></View>"""
LINKS = (
    Link(
        id="D008175",
        ontology="MESH",
        name="Lung Neoplasms",
        score=0.5,
        tier="exact",
        curie="MESH:D008175",
    ),
    Link(id="", nil=True, score=0.25),
)
DOCUMENT = Document(
    id="PMC 1",
    text="😀 IL-2 in lung cancer",
    mentions=(
        Mention(((2, 6),), "Gene"),
        Mention(((10, 21),), "Disease", score=0.75, source="model@1", links=LINKS),
        Mention(
            ((10, 14), (15, 18), (20, 21)), "Disease", score=0.5, source="model@1", links=LINKS
        ),
        Mention(((15, 21),), "Disease", score=0.25, source="model@1"),
    ),
    meta={"year": "2001"},
)


def tasks_of(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.label-studio.json"
    assert not write(path, [DOCUMENT, Document(id="2", text="")], strict=True).losses
    assert detect(str(path)) == "records"
    found, empty = read(path)
    assert found == DOCUMENT
    assert (empty.id, empty.text, empty.mentions) == ("2", "", ())
    write(path, [], overwrite=True)
    assert tasks_of(path) == []


def test_gold_is_an_annotation_and_a_model_a_prediction(tmp_path: Path) -> None:
    path = tmp_path / "a.label-studio.json"
    write(path, [DOCUMENT])
    (task,) = tasks_of(path)
    assert [len(one["result"]) for one in task["annotations"]] == [1]
    assert [(one["model_version"], len(one["result"])) for one in task["predictions"]] == [
        ("model@1", 7)
    ]
    for layer in (*task["annotations"], *task["predictions"]):
        regions = [region for region in layer["result"] if region["type"] == "labels"]
        assert len({region["id"] for region in regions}) == len(regions)
        for region in regions:
            value = region["value"]
            assert DOCUMENT.text[value["start"] : value["end"]] == value["text"]


def test_links_are_shown_beside_the_region(tmp_path: Path) -> None:
    path = tmp_path / "a.label-studio.json"
    write(path, [DOCUMENT])
    (task,) = tasks_of(path)
    first, *_, second = task["predictions"][0]["result"]
    assert first["meta"]["text"] == ["MESH:D008175 Lung Neoplasms"]
    assert "meta" not in second
    first["meta"]["text"] = ["a note of a person"]
    second["meta"] = {"text": ["another"]}
    path.write_text(json.dumps([task]), encoding="utf-8")
    (document,) = read(path)
    notes = {mention.key[1:]: mention.attributes for mention in document.mentions}
    assert [notes[mention.key[1:]] for mention in DOCUMENT.mentions] == [
        (),
        (("note", "a note of a person"),),
        (),
        (("note", "another"),),
    ]
    without = [replace(mention, attributes=()) for mention in document.mentions]
    assert replace(document, mentions=tuple(without)) == DOCUMENT


def test_what_label_studio_adds_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "a.label-studio.json"
    write(path, [DOCUMENT])
    (task,) = tasks_of(path)
    task |= {
        "id": 17,
        "project": 3,
        "created_at": "2026-01-01T00:00:00Z",
        "total_annotations": 1,
        "drafts": [],
    }
    task["annotations"][0] |= {"id": 4, "completed_by": 1, "was_cancelled": False, "lead_time": 3.5}
    path.write_text(json.dumps([task]), encoding="utf-8")
    (found,) = read(path)
    assert found == DOCUMENT


def test_the_sdk_of_label_studio_accepts_ours(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        label_interface = pytest.importorskip("label_studio_sdk.label_interface")
    path = tmp_path / "a.label-studio.json"
    write(path, [DOCUMENT])
    (task,) = tasks_of(path)
    interface = label_interface.LabelInterface(CONFIG)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # it cannot be called with annotations
        assert interface.validate_task({"data": task["data"]})
        for annotation in task["annotations"]:
            assert interface.validate_annotation(annotation)
        for prediction in task["predictions"]:
            assert interface.validate_prediction(prediction)
        task["predictions"][0]["result"][0]["value"]["labels"] = ["Nothing"]
        assert not interface.validate_prediction(task["predictions"][0])


def task_of(text: str, regions: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": 1, "data": {"text": text}, "annotations": [{"id": 1, "result": regions}]}


def region(name: str, start: int, end: int, kind: str = "Disease") -> dict[str, Any]:
    value = {"start": start, "end": end, "labels": [kind]}
    return {"id": name, "from_name": "label", "to_name": "text", "type": "labels", "value": value}


def joined(first: str, second: str, label: str = "non-contig") -> dict[str, Any]:
    return {
        "type": "relation",
        "from_id": first,
        "to_id": second,
        "direction": "right",
        "labels": [label],
    }


SKIN = "skin, lung and breast cancer"


def found_in(tmp_path: Path, regions: list[dict[str, Any]]) -> Document:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([task_of(SKIN, regions)]), encoding="utf-8")
    (found,) = read(path)
    return found


def spans_of(found: Document) -> list[tuple[tuple[int, int], ...]]:
    return [one.spans for one in found.mentions]


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_relations_join_the_parts_of_a_mention_in_any_order(
    tmp_path: Path, order: list[int]
) -> None:
    relations = [joined("c", "b"), joined("a", "b")]
    regions = [
        region("b", 6, 10),
        region("a", 0, 4),
        region("c", 22, 28),
        *(relations[at] for at in order),
    ]
    found = found_in(tmp_path, regions)
    assert spans_of(found) == [((0, 4), (6, 10), (22, 28))]
    assert not found.events


def test_regions_of_different_types_are_not_joined(tmp_path: Path) -> None:
    found = found_in(tmp_path, [region("a", 0, 4), region("b", 22, 28, "Gene"), joined("a", "b")])
    assert spans_of(found) == [((0, 4),), ((22, 28),)]
    assert [one.code for one in found.events] == ["regions-left-out"]


@pytest.mark.parametrize(
    "relation", [joined("a", "gone", "causes"), joined("a", "gone"), joined("gone", "b")]
)
def test_other_relations_are_counted(tmp_path: Path, relation: dict[str, Any]) -> None:
    found = found_in(tmp_path, [region("a", 0, 4), region("b", 22, 28), relation])
    assert spans_of(found) == [((0, 4),), ((22, 28),)]
    assert [one.code for one in found.events] == ["regions-left-out"]


def test_a_relation_to_the_left_begins_at_its_other_end(tmp_path: Path) -> None:
    left = {**joined("a", "b", "r"), "direction": "left"}
    found = found_in(tmp_path, [region("a", 0, 4), region("b", 22, 28), left])
    ends = [(role, key[2]) for role, key in found.relations[0].arguments]
    assert ends == [("from", ((22, 28),)), ("to", ((0, 4),))]


def test_ids_of_regions_are_those_of_their_prediction(tmp_path: Path) -> None:
    first = [region("a", 0, 4), region("b", 22, 28), joined("a", "b", "r")]
    second = [region("a", 6, 10), region("b", 11, 14)]
    task = {"id": 1, "data": {"text": SKIN}}
    task["predictions"] = [{"model_version": "m", "result": result} for result in (first, second)]
    (tmp_path / "a.json").write_text(json.dumps([task]))
    (found,) = read(tmp_path / "a.json")
    (relation,) = found.relations
    assert [key[2] for _, key in relation.arguments] == [((0, 4),), ((22, 28),)]


def test_parts_that_overlap_are_one(tmp_path: Path) -> None:
    found = found_in(tmp_path, [region("a", 0, 4), region("b", 2, 10), joined("a", "b")])
    assert spans_of(found) == [((0, 10),)]
    assert [one.code for one in found.events] == ["overlapping-fragments"]


def test_wrong_text_of_a_part_is_told(tmp_path: Path) -> None:
    other = region("b", 22, 28)
    other["value"]["text"] = "breast"
    found = found_in(tmp_path, [region("a", 0, 4), other, joined("a", "b")])
    assert spans_of(found) == [((0, 4), (22, 28))]
    assert [one.code for one in found.events] == ["text-mismatch"]


def test_parts_have_the_same_types_in_any_order(tmp_path: Path) -> None:
    regions = [region("a", 0, 4), region("b", 22, 28)]
    for one, labels in zip(regions, (["Disease", "Site"], ["Site", "Disease"]), strict=True):
        one["value"]["labels"] = labels
    found = found_in(tmp_path, [*regions, joined("a", "b")])
    assert [(one.type, one.spans) for one in found.mentions] == [
        ("Disease", ((0, 4), (22, 28))),
        ("Site", ((0, 4), (22, 28))),
    ]
    assert not found.events
