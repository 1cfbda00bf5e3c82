"""Annotations of the W3C beside their texts; the examples follow
https://www.w3.org/TR/annotation-model/.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.formats.oracle.judging import Outcome, outcome, seen

from fascicle.core.document import Document
from fascicle.formats import detect, read

CONTEXT = "http://www.w3.org/ns/anno.jsonld"
TEXT = "\U0001f600 Aspirin helps. Aspirin again."
POSITION = {"type": "TextPositionSelector", "start": 2, "end": 9}
QUOTE = {"type": "TextQuoteSelector", "exact": "Aspirin", "prefix": "helps. ", "suffix": " again"}


def annotation(
    *selectors: dict[str, Any], body: Any = "Drug", source: Any = "http://x.org/d/a.txt"
) -> dict[str, Any]:
    told = (
        [{"type": "TextualBody", "value": body, "purpose": "tagging"}]
        if isinstance(body, str)
        else body
    )
    target = {"source": source, "selector": list(selectors) if len(selectors) > 1 else selectors[0]}
    return {
        "@context": CONTEXT,
        "id": "http://x.org/1",
        "type": "Annotation",
        "body": told,
        "target": target,
    }


def found_in(folder: Path, content: Any, *, name: str = "a.json", **texts: str) -> Outcome:
    for stem, text in (texts or {"a": TEXT}).items():
        (folder / f"{stem}.txt").write_text(text, encoding="utf-8")
    (folder / name).write_text(
        content if isinstance(content, str) else json.dumps(content), encoding="utf-8"
    )
    assert detect(str(folder / name)) == "web-annotation"
    return outcome(folder / name, "web-annotation")


def spans_of(found: Outcome) -> list[tuple[int, int]]:
    return [(one.start, one.end) for document in found.documents for one in document.mentions]


@pytest.mark.parametrize(
    ("target", "span"),
    [
        ([POSITION], (2, 9)),
        ([QUOTE], (17, 24)),
        ([POSITION, QUOTE], (2, 9)),
        # UTF-16, against the model
        ([{**POSITION, "start": 3, "end": 10}, {**QUOTE, "prefix": ""}], (2, 9)),
        (
            [
                {
                    "type": "FragmentSelector",
                    "conformsTo": "http://tools.ietf.org/rfc/rfc5147",
                    "value": "char=2,9",
                }
            ],
            (2, 9),
        ),
    ],
)
def test_selectors(target: list[dict[str, Any]], span: tuple[int, int], tmp_path: Path) -> None:
    found = found_in(tmp_path, annotation(*target))
    assert (spans_of(found), found.documents[0].id, found.is_silent) == ([span], "a", True)


@pytest.mark.parametrize(
    ("body", "kind", "ids", "attributes"),
    [
        ("Drug", "Drug", (), ()),
        ({"type": "TextualBody", "value": "Drug"}, "Drug", (), ()),
        ("http://purl.obolibrary.org/obo/CHEBI_15365", "CHEBI", ("CHEBI:15365",), ()),
        (
            [
                {"type": "TextualBody", "value": "Drug", "purpose": "classifying"},
                {"source": "http://id.nlm.nih.gov/mesh/D001241", "purpose": "identifying"},
                {"type": "TextualBody", "value": "sure?", "purpose": "commenting"},
                {"type": "TextualBody", "value": "old", "purpose": "tagging"},
            ],
            "Drug",
            ("MESH:D001241",),
            (("commenting", "sure?"), ("tag", "old")),
        ),
    ],
)
def test_bodies(
    body: Any, kind: str, ids: tuple[str, ...], attributes: Any, tmp_path: Path
) -> None:
    stated = annotation(POSITION)
    stated["body"] = annotation(POSITION, body=body)["body"] if body == "Drug" else body
    (document,) = found_in(tmp_path, stated).documents
    (mention,) = document.mentions
    assert (mention.type, seen(document).marks[0].ids, mention.attributes) == (
        kind,
        ids,
        attributes,
    )


def _page(*stated: dict[str, Any]) -> dict[str, Any]:
    return {"@context": CONTEXT, "type": "AnnotationPage", "items": list(stated)}


@pytest.mark.parametrize("form", ["page", "collection", "list", "lines"])
def test_forms_of_a_file_and_several_texts(form: str, tmp_path: Path) -> None:
    stated = [
        annotation(POSITION),
        annotation({**POSITION, "start": 0, "end": 4}, source={"id": "http://x.org/b%20c.txt"}),
        annotation({**POSITION, "start": 17, "end": 24}),
    ]
    content: Any = {
        "page": _page(*stated),
        "collection": {
            "@context": CONTEXT,
            "type": "AnnotationCollection",
            "first": _page(*stated),
        },
        "list": stated,
        "lines": "".join(json.dumps(one) + "\n" for one in stated),
    }[form]
    found = found_in(
        tmp_path,
        content,
        name="x.jsonl" if form == "lines" else "x.json",
        **{"a": TEXT, "b c": "gout"},
    )
    assert [(one.id, len(one.mentions)) for one in found.documents] == [("a", 2), ("b c", 1)]
    assert found.is_silent


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        (
            annotation(POSITION, source="http://x.org/missing.txt"),
            "put it beside them as missing.txt",
        ),
        (annotation({**POSITION, "end": 900}), "offset-outside"),
        (annotation({**QUOTE, "exact": "Ibuprofen"}), "offset-outside"),
        (annotation({**POSITION, "refinedBy": POSITION}), "offset-outside"),
        (annotation({"type": "XPathSelector", "value": "/html/body"}), "offset-outside"),
        (annotation(POSITION, body=[]), "mention-without-type"),
        (annotation(POSITION, source="http://x.org/a.json"), "put it beside them"),
        ({"@context": CONTEXT, "type": "Annotation", "body": "x"}, "has no target"),
        (annotation(POSITION, source="../../etc/passwd"), "put it beside them as passwd.txt"),
        (annotation(POSITION, source=f"http://x.org/{'x' * 300}"), "put it beside them as xx"),
    ],
)
def test_what_cannot_be_placed_is_said(stated: dict[str, Any], said: str, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "passwd").write_text(TEXT)
    found = found_in(
        folder, stated, name="a.json", **({} if "a.json" not in str(stated) else {"other": TEXT})
    )
    assert said in str(found.said)
    assert spans_of(found) == []


@settings(max_examples=40, deadline=None)
@given(st.text("aé\U0001f600 \n", min_size=1), st.data())
def test_positions_are_read_as_they_are_written(
    tmp_path_factory: pytest.TempPathFactory, text: str, data: st.DataObject
) -> None:
    spans = set()
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text) - 1))
        spans.add((start, data.draw(st.integers(start + 1, len(text)))))
    stated = [
        annotation({**POSITION, "start": start, "end": end}, {**QUOTE, "exact": text[start:end]})
        for start, end in spans
    ]
    folder = tmp_path_factory.mktemp("web")
    (folder / "a.txt").write_text(text, encoding="utf-8", newline="")
    (folder / "x.json").write_text(json.dumps(_page(*stated)))
    documents: list[Document] = list(read(folder / "x.json"))
    assert [one.text for one in documents] == [text]
    assert {(one.start, one.end) for one in documents[0].mentions} == spans


def test_positions_of_data_count_bytes(tmp_path: Path) -> None:
    """https://www.w3.org/TR/annotation-model/#data-position-selector counts the byte stream."""
    selector = {"type": "DataPositionSelector", "start": 3, "end": 7}
    assert spans_of(found_in(tmp_path, annotation(selector), a="\u00e9 Anna lives.")) == [(2, 6)]
    outside = {**selector, "end": 99}
    assert not spans_of(found_in(tmp_path, annotation(outside), a="\u00e9 Anna lives."))
