"""The native format: mentions with their text, and files without it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fascicle.core import codec
from fascicle.core.document import Document, Link, Mention, to_document
from fascicle.errors import FormatError

DOCUMENT = Document(
    id="1",
    text="lung and breast cancer",
    mentions=(
        Mention(
            ((0, 4), (16, 22)),
            "Disease",
            score=0.5,
            source="m",
            links=(Link(id="D1"),),
            attributes=(("a", "b"),),
        ),
        Mention(((9, 22),), "Disease"),
    ),
)


def test_each_mention_has_its_text() -> None:
    record = json.loads(codec.encode(DOCUMENT))
    assert [mention["text"] for mention in record["mentions"]] == ["lung cancer", "breast cancer"]
    assert codec.decode(codec.encode(DOCUMENT)) == DOCUMENT


def test_files_without_the_text_of_mentions_are_read() -> None:
    record = json.loads(codec.encode(DOCUMENT))
    for mention in record["mentions"]:
        del mention["text"]
    assert codec.decode(json.dumps(record)) == DOCUMENT


# As the release with schema 1 wrote it.
SCHEMA_1 = (
    '{"id":"1","text":"lung and breast '
    'cancer","sections":[{"start":0,"end":22,"name":"title"}],"sentences":[[0,22]],'
    '"words":[[0,4]],"mentions":[{"spans":[[0,4],[16,22]],"type":"Disease","text":"lung '
    'cancer","score":0.5,'
    '"source":"m",'
    '"links":[{"id":"D1","ontology":"MESH","score":0.5},{"id":""}],"attributes":[["a","b"]]}],'
    '"abbreviations":[[[0,1],[0,4]]],"meta":{"year":"2020"},'
    '"events":[{"step":"s","kind":"note","code":"c","message":"m","span":[0,1]}],"fascicle":1}'
)


def test_documents_of_schema_1_are_read() -> None:
    found = codec.decode(SCHEMA_1)
    assert [(link.id, link.ontology, link.score, link.nil) for link in found.mentions[0].links] == [
        ("D1", "MESH", 0.5, False),
        ("", "", None, False),
    ]
    assert found.changes == ()
    before, after = json.loads(SCHEMA_1), json.loads(codec.encode(found))
    assert (before.pop("fascicle"), after.pop("fascicle")) == (1, 2)
    assert after == before


@pytest.mark.parametrize("text", ["breast cancers", "Breast cancer", ""])
def test_another_text_than_that_at_the_offsets_is_said(text: str) -> None:
    record = json.loads(codec.encode(DOCUMENT))
    record["mentions"][1]["text"] = text
    found = codec.decode(json.dumps(record))
    assert found.mentions == DOCUMENT.mentions
    assert [(event.kind, event.code, event.span) for event in found.events] == [
        ("repair", "text-mismatch", (9, 22))
    ]


@pytest.mark.parametrize(
    "mention",
    [
        {"spans": [[0, 99]], "type": "X"},
        {"spans": [[3, 2]], "type": "X"},
        {"spans": [], "type": "X"},
        {"spans": [[0, 1]], "type": ""},
        {"spans": [[0, 1]], "type": "X", "score": 2},
        {"spans": [[0, 1]], "type": "X", "text": 1},
        {"spans": [[0, 1]]},
    ],
)
def test_mentions_that_are_none(mention: dict[str, object]) -> None:
    with pytest.raises(FormatError):
        codec.decode(
            json.dumps({"fascicle": 1, "id": "a", "text": "asthma", "mentions": [mention]})
        )


@pytest.mark.parametrize(
    "part",
    [{"relations": [{"type": "x", "more": 1}]}, {"sections": [{"start": 0, "end": 1, "more": 1}]}],
)
def test_what_a_later_release_would_add_to_a_part_is_not_lost_in_silence(
    part: dict[str, object],
) -> None:
    with pytest.raises(FormatError, match="more"):
        codec.decode(json.dumps({"fascicle": 3, "id": "a", "text": "asthma", **part}))


def test_scalars_of_numpy_are_written() -> None:
    mention = Mention(((np.int64(0), np.int64(1)),), np.str_("T"), score=np.float64(0.5))
    document = Document(
        id=np.str_("a"), text=np.str_("bb"), mentions=(mention,), meta={"k": np.str_("v")}
    )
    assert (type(document.id), type(document.text)) == (str, str)
    plain = Document(
        id="a", text="bb", mentions=(Mention(((0, 1),), "T", score=0.5),), meta={"k": "v"}
    )
    assert codec.decode(codec.encode(document)) == plain
    (text,) = np.array(["lithium"])
    assert json.loads(json.dumps(to_document(text, 1).to_dict()))["text"] == "lithium"
