"""Routes for clients of Kazu: its requests, and answers as it gives them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from standing import TOKEN, Poison, Standing, standing

from fascicle.formats import read
from fascicle.settings.serving import ServeSettings

pytestmark = pytest.mark.loopback
TEXT = {"text": "Aspirin is for pain."}


def test_clients_of_kazu_get_documents_of_kazu(served: Standing, tmp_path: Path) -> None:
    texts = [
        {"text": "Aspirin is for pain."},
        {"sections": {"title": "Aspirin", "body": "It is for pain."}},
    ]
    reply = served.ask("POST", "/api/kazu/ner_and_linking", texts)
    assert reply.status == 200
    path = tmp_path / "answer.kazu.json"
    path.write_bytes(reply.content)
    first, second = read(path, format="kazu")
    assert {one.text for one in first} >= {"Aspirin", "pain"}
    assert [section.name for section in second.sections or ()] == ["title", "body"]
    assert any(one.mention.links for one in first)
    bare = served.ask("POST", "/api/kazu/ner_only", texts[0]).json
    entities = bare[0]["sections"][0]["entities"]
    assert {one["namespace"] for one in entities} >= {"terms"}
    assert not any(one.get("mappings") for one in entities)
    assert (
        served.ask("POST", "/api/kazu/ner_only", {"text": "a", "sections": {"b": "c"}}).status
        == 422
    )


def test_empty_sections_stay(served: Standing) -> None:
    given = {"title": "", "body": "It is for pain.", "notes": "", "end": "Aspirin"}
    for route in ("ner_and_linking", "ner_only", "linking_only?entity_class=Disease"):
        (document,) = served.ask("POST", f"/api/kazu/{route}", {"sections": given}).json
        assert [(one["name"], one["text"]) for one in document["sections"]] == list(given.items())


def entities(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for section in document["sections"] for one in section.get("entities", ())]


def test_several_documents_are_answered_as_each_alone(served: Standing) -> None:
    texts = [TEXT, {"sections": {"title": "Aspirin", "body": "It is for pain."}}]
    whole = served.ask("POST", "/api/kazu/ner_and_linking", texts).json
    assert served.ask("POST", "/api/kazu/batch", texts).json == whole
    assert served.ask("POST", "/api/kazu/batch", TEXT).status == 422  # no list


def test_whole_sections_are_linked(served: Standing) -> None:
    texts = [
        {"text": "breast cancer"},
        {"sections": {"first": "asthma", "blank": " ", "second": "nothing of a name"}},
    ]
    reply = served.ask("POST", "/api/kazu/linking_only?entity_class=Disease", texts)
    assert reply.status == 200
    (one,), (known, unknown) = map(entities, reply.json)
    assert {each["namespace"] for each in (one, known, unknown)} == {"KAZUAPILinkingOnlyRequest"}
    assert (one["match"], one["entity_class"], one["spans"]) == (
        "breast cancer",
        "Disease",
        [{"start": 0, "end": 13}],
    )
    assert [each["source"] for each in one["mappings"]] == ["DOID"]  # whose label it is
    assert known["mappings"][0]["default_label"] == "Asthma"
    assert "mappings" not in unknown


def test_the_links_of_sections_are_those_of_the_service(served: Standing) -> None:
    mention = {"spans": [[0, 6]], "type": "Disease"}
    decided = served.ask("POST", "/v1/why", {"text": "asthma", "mentions": [mention]}).json[
        "decisions"
    ][0]
    (document,) = served.ask(
        "POST", "/api/kazu/linking_only?entity_class=Disease", {"text": "asthma"}
    ).json
    (mapping,) = entities(document)[0]["mappings"]
    assert f"{mapping['source']}:{mapping['idx']}" == decided["candidates"][0]["curie"]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("", "entity_class"),
        ("?entity_class=", "entity_class"),
        ("?entity_class=Disease&kind=x", "kind"),
        ("?entity_class=Disease&pipeline=poison", "links"),
    ],
)
def test_what_cannot_be_linked_is_refused(served: Standing, query: str, says: str) -> None:
    reply = served.ask("POST", f"/api/kazu/linking_only{query}", {"text": "asthma"})
    assert reply.status == 422
    assert says in reply.json["detail"]


def test_tasks_of_label_studio_say_what_the_document_says(served: Standing) -> None:
    text = {"sections": {"title": "Aspirin & <caffeine>", "body": "It is for pain, or asthma."}}
    told = served.ask("POST", "/api/kazu/ls-annotations", text).json
    assert told["doc"] == served.ask("POST", "/api/kazu/ner_and_linking", text).json[0]
    assert len(told["ls_tasks"]) == len(told["doc"]["sections"]) == 2
    choices = {
        (source.get("value"), one.get("value"))
        for source in ElementTree.fromstring(told["ls_view"]).iterfind(".//Taxonomy/Choice")
        for one in source
    }
    labels = {
        one.get("value")
        for one in ElementTree.fromstring(told["ls_view"]).iterfind(".//Labels/Label")
    }
    for task, section in zip(told["ls_tasks"], told["doc"]["sections"], strict=True):
        data, (annotation,) = task["data"], task["annotations"]
        assert data["text"] == section["text"]
        assert re.fullmatch(rf"text-1_{section['name']}_\d", data["id"])
        spans = {"labels": set[Any](), "taxonomy": set[Any]()}
        for region in annotation["result"]:
            value = region["value"]
            assert value["text"] == data["text"][value["start"] : value["end"]]
            spans[region["type"]] |= {
                (value["start"], value["end"], str(one)) for one in value[region["type"]]
            }
            assert set(value.get("labels", ())) <= labels
            named = {tuple(one) for one in value.get("taxonomy", ())}
            assert named <= choices | {("None", "unmapped|unmapped")}
        expected = {(*one["spans"][0].values(), one["entity_class"]) for one in section["entities"]}
        assert spans["labels"] == expected
        concepts = {
            (
                *one["spans"][0].values(),
                str([each["source"], f"{each['default_label']}|{each['idx']}"]),
            )
            for one in section["entities"]
            for each in one.get("mappings", ())
        }
        assert concepts
        assert concepts <= spans["taxonomy"]


def test_one_document_is_taken_for_tasks(served: Standing) -> None:
    assert served.ask("POST", "/api/kazu/ls-annotations", [TEXT]).status == 422


def test_spans_of_one_entity_are_joined(served: Standing) -> None:
    from fascicle.serving.records import KazuDocument
    from fascicle.serving.routes.kazu import _tasks

    entity = {
        "entity_class": "Disease",
        "spans": [{"start": 0, "end": 4}, {"start": 14, "end": 20}],
    }
    section = {"name": "na", "text": "skin and lung cancer", "entities": [entity]}
    (task,) = _tasks(KazuDocument(idx="a", sections=(section,)))
    result = task["annotations"][0]["result"]
    (joined,) = [one for one in result if one["type"] == "relation"]
    ends = {one["id"]: one["value"]["text"] for one in result if one["type"] == "labels"}
    assert (ends[joined["from_id"]], ends[joined["to_id"]]) == ("skin", "cancer")


def test_steps_are_named_in_order(served: Standing) -> None:
    assert served.ask("GET", "/api/steps").json == ["names", "terms", "abbreviations", "link"]
    assert served.ask("GET", "/api/steps?pipeline=none").status == 404


def test_it_says_that_it_is_there(served: Standing) -> None:
    reply = served.ask("GET", "/api")
    assert (reply.status, type(reply.json)) == (200, str)


def test_limits_and_tokens_hold() -> None:
    with standing(
        {"poison": Poison()}, ServeSettings(documents=2, text=100, token=TOKEN)
    ) as locked:
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        for path in ("batch", "ls-annotations", "linking_only?entity_class=Disease"):
            assert locked.ask("POST", f"/api/kazu/{path}", [TEXT]).status == 401
        assert locked.ask("GET", "/api/steps").status == 401
        assert locked.ask("GET", "/api/steps", headers=bearer).status == 200
        assert locked.ask("POST", "/api/kazu/batch", [TEXT] * 3, headers=bearer).status == 413
        assert (
            locked.ask(
                "POST", "/api/kazu/ls-annotations", {"text": "x" * 101}, headers=bearer
            ).status
            == 422
        )
