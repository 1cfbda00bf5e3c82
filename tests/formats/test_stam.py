"""Annotation stores of STAM; the examples follow https://github.com/annotation/stam, and their offsets
are those that the library stam 0.12.1 wrote for the same annotations.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.oracle.judging import Outcome, outcome

from fascicle.formats import detect

TEXT = "Lithium \U0001f600 caused gout in patients.\r\nAspirin helped."


def offset(begin: int, end: int, *, from_end: bool = False) -> dict[str, Any]:
    kind = "EndAlignedCursor" if from_end else "BeginAlignedCursor"
    return {
        "@type": "Offset",
        "begin": {"@type": kind, "value": begin},
        "end": {"@type": kind, "value": end},
    }


def selector(begin: int, end: int, resource: str = "doc.txt", **facts: bool) -> dict[str, Any]:
    return {"@type": "TextSelector", "resource": resource, "offset": offset(begin, end, **facts)}


def several(kind: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"@type": kind, "selectors": list(parts)}


def store(*annotations: tuple[dict[str, Any], dict[str, Any]], **resource: str) -> dict[str, Any]:
    data, stated = [], []
    for number, (target, values) in enumerate(annotations):
        names = []
        for key, value in values.items():
            names.append({"@type": "AnnotationData", "@id": f"D{len(data)}", "set": "s"})
            kind = {str: "String", float: "Float", bool: "Bool"}[type(value)]
            value = {"@type": kind, "value": value}
            data.append(
                {"@type": "AnnotationData", "@id": f"D{len(data)}", "key": key, "value": value}
            )
        stated.append({"@type": "Annotation", "@id": f"A{number}", "target": target, "data": names})
    text = resource or {"@id": "doc.txt", "text": TEXT}
    return {
        "@type": "AnnotationStore",
        "@id": "demo",
        "resources": [{"@type": "TextResource", **text}],
        "annotationsets": [{"@type": "AnnotationDataSet", "@id": "s", "data": data}],
        "annotations": stated,
    }


def read(folder: Path, value: dict[str, Any]) -> Outcome:
    path = folder / "demo.store.stam.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    assert detect(str(path)) == "stam"
    return outcome(path, "stam")


def mentions(found: Outcome) -> list[tuple[tuple[tuple[int, int], ...], str]]:
    return [(m.spans, m.type) for document in found.documents for m in document.mentions]


@pytest.mark.parametrize(
    ("target", "spans"),
    [
        (selector(0, 7), [((0, 7),)]),
        (selector(17, 21), [((17, 21),)]),  # code points, behind a character beyond the first plane
        (selector(-7, 0, from_end=True), [((44, 51),)]),
        (several("CompositeSelector", selector(0, 7), selector(17, 21)), [((0, 7), (17, 21))]),
        (several("MultiSelector", selector(0, 7), selector(17, 21)), [((0, 7),), ((17, 21),)]),
    ],
)
def test_selectors_are_spans(tmp_path: Path, target: Any, spans: Any) -> None:
    found = read(tmp_path, store((target, {"type": "Drug"})))
    assert found.documents[0].id == "doc"
    assert found.documents[0].text == TEXT
    assert mentions(found) == [(one, "Drug") for one in spans]


def test_data_are_type_links_and_attributes_also_those_of_an_annotation(tmp_path: Path) -> None:
    about = {"@type": "AnnotationSelector", "annotation": "A0"}
    whole = {
        "begin": {"@type": "BeginAlignedCursor", "value": 0},
        "end": {"@type": "EndAlignedCursor", "value": 0},
    }
    values = {"type": "Disease", "mesh": "D006073", "certainty": 0.5}
    found = read(
        tmp_path,
        store(
            (selector(17, 21), values),
            ({**about, "offset": whole}, {"negated": True}),
            (about, {"by": "someone"}),
            (selector(0, 7), {"drug": "lithium"}),
        ),
    )
    second, first = found.documents[0].mentions
    assert (first.type, [link.curie or link.id for link in first.links]) == (
        "Disease",
        ["MESH:D006073"],
    )
    assert dict(first.attributes) == {"certainty": "0.5", "negated": "true", "by": "someone"}
    assert (second.type, second.attributes) == ("lithium", (("drug", "lithium"),))


def test_what_is_about_no_text_is_counted(tmp_path: Path) -> None:
    parts = [{"@type": "AnnotationSelector", "annotation": "A0"}] * 2
    found = read(
        tmp_path,
        store(
            (selector(0, 7), {"type": "Drug"}),
            (several("DirectionalSelector", *parts), {"type": "causes"}),
            ({"@type": "ResourceSelector", "resource": "doc.txt"}, {"title": "T"}),
        ),
    )
    (event,) = found.documents[0].events
    assert (event.code, event.message.split()[0]) == ("relations-left-out", "2")


def test_a_text_in_a_file_of_its_own_is_read_from_the_folder_alone(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "doc.txt").write_text(TEXT, encoding="utf-8", newline="")
    (tmp_path / "secret.txt").write_text(TEXT, encoding="utf-8", newline="")
    stated = (selector(0, 7), {"type": "Drug"})
    assert mentions(read(inside, store(stated, **{"@include": "doc.txt"}))) == [(((0, 7),), "Drug")]
    for name in ("../secret.txt", str(tmp_path / "secret.txt"), "none.txt"):
        found = read(inside, store(stated, **{"@include": name}))
        assert not found.documents
        assert "is not in the folder of the store" in str(found)


def test_other_json_is_refused_with_its_place(tmp_path: Path) -> None:
    for value in (
        {"@type": "AnnotationStore", "annotations": 1},
        {"@type": "AnnotationStore", "annotations": [{"target": {"@type": "TextSelector"}}]},
    ):
        assert "annotation store of STAM" in str(read(tmp_path, value))


@given(text=st.text(max_size=30), data=st.data())
def test_offsets_count_code_points_from_both_ends(
    text: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = "".join(sign for sign in text if not 0xD800 <= ord(sign) < 0xE000) + "x"
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    folder = tmp_path_factory.mktemp("stam")
    both = (
        (selector(start, end, "d"), {"type": "X"}),
        (selector(start - len(text), end - len(text), "d", from_end=True), {"type": "Y"}),
    )
    found = read(folder, store(*both, **{"@id": "d", "text": text}))
    for spans, _ in mentions(found):
        assert "".join(text[a:b] for a, b in spans).strip() == text[start:end].strip()


def test_data_without_ids_are_stated_in_their_place(tmp_path: Path) -> None:
    value = store((selector(0, 7), {"type": "Drug"}), (selector(17, 21), {"type": "Disease"}))
    datum = {"set": "s", "key": "type", "value": {"@type": "String", "value": "Symptom"}}
    value["annotations"][1]["data"] = [datum]
    del value["annotationsets"][0]["data"][1]["@id"]
    result = read(tmp_path, value)
    assert not result.error
    assert [mention.type for mention in result.documents[0].mentions] == ["Drug", "Symptom"]


def test_data_that_the_store_lacks_are_refused(tmp_path: Path) -> None:
    value = store((selector(0, 7), {"type": "Drug"}))
    value["annotations"][0]["data"][0]["@id"] = "D9"
    (message,) = read(tmp_path, value).said
    assert "this is no annotation store of STAM (KeyError: ('s', 'D9'))" in message


@pytest.mark.parametrize(
    "stated",
    [{"text": ["Lithium"]}, {"@include": "x" * 300}, {"@include": "a\0b"}, {"@include": None}],
)
def test_a_text_that_is_none_is_refused(tmp_path: Path, stated: dict[str, Any]) -> None:
    (message,) = read(tmp_path, store(**{"@id": "a"}, **stated)).said
    assert "no annotation store of STAM" in message or "is not in the folder" in message


def test_a_selector_that_is_too_deep_is_refused(tmp_path: Path) -> None:
    deep = '{"@type": "DirectionalSelector", "selectors": [' * 5_000 + "]}" * 5_000
    content = json.dumps(store((selector(0, 7), {"type": "Drug"}))).replace(
        json.dumps(selector(0, 7)), deep
    )
    path = tmp_path / "a.store.stam.json"
    path.write_text(content)
    (message,) = outcome(path, "stam").said
    assert "this is no annotation store of STAM (RecursionError" in message


def test_a_cursor_that_is_no_number_is_refused(tmp_path: Path) -> None:
    target = selector(0, 7)
    target["offset"]["end"]["value"] = "x"
    (message,) = read(tmp_path, store((target, {"type": "Drug"}))).said
    assert "this is no annotation store of STAM" in message


@pytest.mark.parametrize(
    ("data", "kind", "attributes"),
    [
        ([("person", None)], "person", ()),
        (
            [("type", "A"), ("sure", None), ("n", 1), ("n", 2)],
            "A",
            (("n", "1|2"), ("sure", "true")),
        ),
        ([("sure", False)], "sure", (("sure", "false"),)),
        ([("type", "A"), ("type", "B")], "A", (("type", "B"),)),
    ],
)
def test_null_and_several_values_of_a_key_are_kept(
    tmp_path: Path, data: list[tuple[str, Any]], kind: str, attributes: Any
) -> None:
    """The specification of STAM has the value Null, for tags, and data of one key several times."""
    content = store((selector(0, 7), {"a": "b"}))
    content["annotations"][0]["data"] = [
        {
            "set": "s",
            "key": key,
            "value": {"@type": "Null"} if value is None else {"@type": "Any", "value": value},
        }
        for key, value in data
    ]
    ((mention,),) = (document.mentions for document in read(tmp_path, content).documents)
    assert (mention.type, tuple(sorted(mention.attributes))) == (kind, attributes)
