"""Documents of Fascicle to which programs in other languages added mentions, with offsets in
their own unit.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.formats.oracle.judging import outcome

from fascicle.core import codec
from fascicle.core.document import Document, Mention
from fascicle.formats import read

TEXT = "\U0001f600 Aspirin helped"


def _line(*mentions: dict[str, Any], **more: Any) -> str:
    return (
        json.dumps({"fascicle": 3, "id": "1", "text": TEXT, "mentions": list(mentions), **more})
        + "\n"
    )


def _mention(start: int, end: int, text: str | None) -> dict[str, Any]:
    return {"spans": [[start, end]], "type": "Drug", **({} if text is None else {"text": text})}


OURS, THEIRS = _mention(2, 9, "Aspirin"), _mention(3, 10, "Aspirin")


@pytest.mark.parametrize(
    ("mentions", "spans"),
    [
        ((THEIRS,), [(2, 9)]),  # as JavaScript and Java count
        ((_mention(5, 12, "Aspirin"),), [(2, 9)]),  # bytes
        ((OURS, _mention(11, 17, "helped")), [(2, 9), (10, 16)]),  # the first was there
        ((OURS,), [(2, 9)]),
    ],
)
def test_the_texts_of_mentions_show_the_unit(
    mentions: tuple[dict[str, Any], ...], spans: list[tuple[int, int]], tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(_line(*mentions), encoding="utf-8")
    found = outcome(path, "jsonl")
    assert [one.spans for one in found.documents[0].mentions] == [(span,) for span in spans]
    assert found.is_silent
    codes = [event.code for event in found.documents[0].events]
    assert codes == ([] if mentions == (OURS,) else ["offsets-moved"])


@pytest.mark.parametrize(
    "line",
    [
        _line(_mention(3, 10, "Ibuprofen")),
        _line(THEIRS, _mention(11, 17, "ibuprofen")),
        _line(THEIRS, relations=[{"type": "x", "arguments": [["a", ["gold", "Drug", [[3, 10]]]]]}]),
        _line(_mention(12, 18, None)),  # outside, without a text
    ],
)
def test_other_texts_are_said(line: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(line, encoding="utf-8")
    found = outcome(path, "jsonl")
    assert not found.is_silent
    assert [
        one.spans
        for document in found.documents
        for one in document.mentions
        if one.spans == ((2, 9),)
    ] == []


@settings(max_examples=40)
@given(st.text("aé\U0001f600 \r\n", min_size=1), st.data())
def test_what_fascicle_writes_is_never_moved(
    tmp_path_factory: pytest.TempPathFactory, text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    document = Document(id="1", text=text, mentions=(Mention(((start, end),), "X"),))
    path = tmp_path_factory.mktemp("own") / "a.jsonl"
    path.write_bytes(codec.encode(document) + b"\n")
    assert list(read(path, format="jsonl")) == [document]
