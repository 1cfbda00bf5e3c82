"""Tasks that we write for Label Studio, and what its own software says of them."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from fascicle.core.document import Document, Link, Mention
from fascicle.formats import detect, read, write

CONFIG = """<View><Labels name="label" toName="text"><Label value="Gene"/><Label value="Disease"/></Labels>
<Text name="text" value="$text"/></View>"""
LINKS = (
    Link(id="D008175", ontology="MESH", name="Lung Neoplasms", score=0.5, tier="exact", curie="MESH:D008175"),
    Link(id="", nil=True, score=0.25),
)
DOCUMENT = Document(
    id="PMC 1",
    text="😀 IL-2 in lung cancer",
    mentions=(
        Mention(((2, 6),), "Gene"),
        Mention(((10, 21),), "Disease", score=0.75, source="model@1", links=LINKS),
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
    assert [(one["model_version"], len(one["result"])) for one in task["predictions"]] == [("model@1", 2)]
    for layer in (*task["annotations"], *task["predictions"]):
        assert len({region["id"] for region in layer["result"]}) == len(layer["result"])
        for region in layer["result"]:
            value = region["value"]
            assert DOCUMENT.text[value["start"] : value["end"]] == value["text"]


def test_links_are_shown_beside_the_region(tmp_path: Path) -> None:
    path = tmp_path / "a.label-studio.json"
    write(path, [DOCUMENT])
    (task,) = tasks_of(path)
    first, second = task["predictions"][0]["result"]
    assert first["meta"]["text"] == ["MESH:D008175 Lung Neoplasms"]
    assert "meta" not in second
    first["meta"]["text"] = ["a note of a person"]
    second["meta"] = {"text": ["another"]}
    path.write_text(json.dumps([task]), encoding="utf-8")
    (found,) = read(path)
    assert found == DOCUMENT


def test_what_label_studio_adds_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "a.label-studio.json"
    write(path, [DOCUMENT])
    (task,) = tasks_of(path)
    task |= {"id": 17, "project": 3, "created_at": "2026-01-01T00:00:00Z", "total_annotations": 1, "drafts": []}
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
        assert interface.validate_task({"data": task["data"]})  # it cannot be called with annotations
        for annotation in task["annotations"]:
            assert interface.validate_annotation(annotation)
        for prediction in task["predictions"]:
            assert interface.validate_prediction(prediction)
        task["predictions"][0]["result"][0]["value"]["labels"] = ["Nothing"]
        assert not interface.validate_prediction(task["predictions"][0])
