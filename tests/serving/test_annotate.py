"""Documents through the service: each answer is that of the pipeline, and a bad document costs
itself alone.
"""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from poison import open_poison
from standing import Poison, Standing, standing

from fascicle.core import codec
from fascicle.core.document import Document, Mention
from fascicle.errors import UsageError
from fascicle.formats.files import read
from fascicle.pipeline.loading import open_pipeline
from fascicle.pipeline.pipeline import Pipeline
from fascicle.serving.server import pipeline_openers
from fascicle.settings.choices import Choices

pytestmark = pytest.mark.loopback
TEXTS = [
    "Aspirin is for headache.",
    "Caffeine may cause pain in the liver (LI). LI pain.",
    "",
    "🙂 é Aspirin 漢字 pain",
]


@pytest.fixture(scope="module")
def offline(small: Path) -> Pipeline:
    return open_pipeline(small)


def expected(pipeline: Pipeline, *documents: Document) -> list[Any]:
    return [json.loads(codec.encode(one)) for one in pipeline.stream(documents)]


def test_answers_are_those_of_the_pipeline(served: Standing, offline: Pipeline) -> None:
    documents = [Document(id=f"d{at}", text=text) for at, text in enumerate(TEXTS)]
    reply = served.annotate(*({"id": one.id, "text": one.text} for one in documents))
    assert reply.status == 200
    answers = reply.json["documents"]
    assert [one["status"] for one in answers] == ["done"] * len(TEXTS)
    assert [one["document"] for one in answers] == expected(offline, *documents)
    assert any(mention.get("links") for one in answers for mention in one["document"]["mentions"])


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=60), min_size=1, max_size=5)
)
def test_any_text_comes_back_as_it_was(
    served: Standing, offline: Pipeline, texts: list[str]
) -> None:
    answers = served.annotate(*({"text": text} for text in texts)).json["documents"]
    documents = [Document(id=f"text-{at}", text=text) for at, text in enumerate(texts, start=1)]
    assert [one["document"] for one in answers] == expected(offline, *documents)


def test_documents_may_have_any_field_of_the_native_format(
    served: Standing, offline: Pipeline
) -> None:
    mention = Mention(((0, 7),), "Drug", 0.5, "other")
    document = Document(
        id="a", text=TEXTS[0], mentions=(mention,), meta={"journal": "x"}, words=((0, 7),)
    )
    (answer,) = served.annotate(json.loads(codec.encode(document))).json["documents"]
    assert [answer["document"]] == expected(offline, document)
    assert answer["document"]["meta"] == {"journal": "x"}


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"text": 5}, "text"),
        ({}, "text"),
        ({"text": "a", "mentions": [{"spans": [[0, 9]], "type": "X"}]}, "9"),
        ({"text": "a", "tex": "b"}, "tex"),
        ({"text": "a", "fascicle": 99}, "99"),
        ({"text": "x" * 20_001}, "20,001"),
        ([1], "array"),
        ("a", "str"),
        (None, "null"),
    ],
)
def test_a_bad_document_costs_itself(served: Standing, wrong: Any, told: str) -> None:
    answers = served.annotate({"id": "good", "text": "pain"}, wrong, {"text": "pain"}).json[
        "documents"
    ]
    assert [one["status"] for one in answers] == ["done", "refused", "done"]
    assert told in answers[1]["problem"]["detail"]
    assert "document" not in answers[1]


def test_a_refused_document_keeps_its_id(served: Standing) -> None:
    answers = served.annotate({"id": "mine"}, {"text": 1}, {"id": [7], "text": "x"}).json[
        "documents"
    ]
    assert [(one["id"], one["status"]) for one in answers] == [
        (i, "refused") for i in ("mine", "text-2", "text-3")
    ]


def test_a_number_is_an_id(served: Standing) -> None:
    (answer,) = served.annotate({"id": 7, "text": "x"}).json["documents"]
    assert (answer["id"], answer["status"], answer["document"]["id"]) == ("7", "done", "7")


@pytest.mark.parametrize("path", ["annotate", "stream"])
def test_a_type_that_the_pipeline_does_not_look_for_is_refused(served: Standing, path: str) -> None:
    body = {"documents": [{"text": TEXTS[1]}]} if path == "annotate" else {"text": TEXTS[1]}
    kind = {"Content-Type": "application/json" if path == "annotate" else "application/x-ndjson"}
    answer = served.ask("POST", f"/v1/{path}?only=Disease,Diseases", body, kind)
    assert answer.status == 422
    assert "'Diseases' (did you mean 'Disease'?)" in answer.json["detail"]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("types=Disease", "only=Disease"),
        ("min_score=0.99", "threshold=0.99"),
        ("link=false", "links=false"),
    ],
)
def test_an_older_name_of_a_parameter_is_read_alone(
    served: Standing, older: str, newer: str
) -> None:
    given = {"text": TEXTS[1]}
    answers = [served.annotate(given, query=f"?{query}").json for query in (older, newer)]
    assert answers[0]["documents"] == answers[1]["documents"]
    both = served.annotate(given, query=f"?{older}&{newer}")
    assert both.status == 422
    names = [query.partition("=")[0] for query in (older, newer)]
    assert (
        both.json["detail"] == f"{names[0]} is an older name of {names[1]}: give {names[1]} alone"
    )


def test_what_is_asked_for_is_left_out_of_what_was_found(
    served: Standing, offline: Pipeline
) -> None:
    (whole,) = expected(offline, Document(id="text-1", text=TEXTS[1]))
    given = {"text": TEXTS[1]}
    (only,) = served.annotate(given, query="?only=Disease").json["documents"]
    wanted = [one for one in whole["mentions"] if one["type"] == "Disease"]
    assert 0 < len(wanted) < len(whole["mentions"])
    assert only["document"]["mentions"] == wanted
    (sure,) = served.annotate(given, query="?threshold=0.99").json["documents"]
    assert sure["document"]["mentions"] == [
        one for one in whole["mentions"] if one.get("score", 1) >= 0.99
    ]
    own = {"text": "pain", "mentions": [{"spans": [[0, 4]], "type": "Mine", "score": 0.1}]}
    (kept,) = served.annotate(own, query="?only=Disease&threshold=0.5").json["documents"]
    assert "Mine" in {one["type"] for one in kept["document"]["mentions"]}
    (bare,) = served.annotate(given, query="?links=false").json["documents"]
    assert {bool(one.get("links")) for one in whole["mentions"] if one["source"] == "terms"} == {
        True
    }
    assert [{**one, "links": None} for one in whole["mentions"]] == [
        {**one, "links": None} for one in bare["document"]["mentions"]
    ]
    assert not any(one.get("links") for one in bare["document"]["mentions"])
    assert "linked" not in {one["code"] for one in bare["document"].get("events", ())}
    mine = {
        "text": "pain",
        "mentions": [{"spans": [[0, 4]], "type": "Mine", "links": [{"id": "1"}]}],
    }
    (kept,) = served.annotate(mine, query="?links=false").json["documents"]
    assert [one.get("links") for one in kept["document"]["mentions"] if one["type"] == "Mine"] == [
        [{"id": "1"}]
    ]
    (told,) = served.annotate(given, query="?candidates=2").json["documents"]
    assert {one["mention"] for one in told["candidates"]} == set(range(len(whole["mentions"])))
    assert max(len(one["candidates"]) for one in told["candidates"]) <= 2


@pytest.mark.parametrize(
    ("media", "suffix"),
    [
        ("application/vnd.bioc+json", ".json"),
        ("application/vnd.bioc+xml", ".xml"),
        ("text/x-pubtator", ".pubtator"),
    ],
)
def test_other_formats_have_the_same_mentions(
    served: Standing, offline: Pipeline, tmp_path: Path, media: str, suffix: str
) -> None:
    reply = served.annotate(
        {"id": "12", "text": TEXTS[0]}, headers={"Accept": f"text/html;q=0.1, {media}"}
    )
    assert reply.headers["content-type"].startswith(media)
    path = tmp_path / f"answer{suffix}"
    path.write_bytes(reply.content)
    (found,) = read(path)
    (wanted,) = offline.stream([Document(id="12", text=TEXTS[0])])
    assert {(one.start, one.end, one.type) for one in found} == {
        (one.start, one.end, one.type) for one in wanted
    }
    refused = served.annotate({"text": TEXTS[0]}, {"text": 5}, headers={"Accept": media})
    assert refused.status == 422
    assert [one["status"] for one in refused.json["documents"]] == ["refused"]


def test_a_stream_keeps_the_order(served: Standing, offline: Pipeline) -> None:
    texts = [TEXTS[at % 3] + " " * at for at in range(200)]
    lines = [json.dumps({"text": text}).encode() for text in texts]
    lines[7:7] = [b"", b"{", b'{"text": 5}']
    reply = served.ask(
        "POST", "/v1/stream", b"\n".join(lines), {"Content-Type": "application/x-ndjson"}
    )
    answers = [json.loads(line) for line in reply.content.splitlines()]
    assert [one["id"] for one in answers] == [f"text-{at}" for at in range(1, 203)]
    assert [one["status"] for one in answers[7:9]] == ["refused", "refused"]
    del answers[7:9]
    found = [one["document"].get("mentions") for one in answers]
    assert found == [
        one.get("mentions")
        for one in expected(offline, *(Document(id="x", text=text) for text in texts))
    ]


def test_a_stream_answers_while_it_is_read(served: Standing) -> None:
    head = b"POST /v1/stream HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
    head += b"Transfer-Encoding: chunked\r\n\r\n"
    line = b'{"text": "pain"}\n'
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as sock:
        sock.sendall(head)
        for number in range(1, 4):
            sock.sendall(b"%x\r\n%s\r\n" % (len(line), line))
            found = b""
            while b"text-%d" % number not in found:
                found += sock.recv(65_536)
        sock.sendall(b"0\r\n\r\n")
        while not found.endswith(b"0\r\n\r\n"):
            found += sock.recv(65_536)


def test_an_error_costs_one_document(served: Standing) -> None:
    texts = ["x and x", "!raise x", "!outside", "xx"]
    answers = served.annotate(*({"text": text} for text in texts), query="?pipeline=poison").json[
        "documents"
    ]
    assert [one["status"] for one in answers] == ["done", "failed", "failed", "done"]
    good = [Document(id=f"text-{at}", text=texts[at - 1]) for at in (1, 4)]
    assert [one["document"] for one in answers if one["status"] == "done"] == expected(
        open_poison(), *good
    )
    assert "LookupError" in answers[1]["problem"]["detail"]


def test_a_crash_costs_one_document(served: Standing) -> None:
    before = served.service.pools["poison"].deaths
    texts = ["x and x", "no letter", "!segfault x", "xx"]
    answers = served.annotate(*({"text": text} for text in texts), query="?pipeline=poison").json[
        "documents"
    ]
    assert [one["status"] for one in answers] == ["done", "done", "failed", "done"]
    assert "killed:SIGSEGV" in answers[2]["problem"]["detail"]
    good = [Document(id=f"text-{at}", text=texts[at - 1]) for at in (1, 2, 4)]
    assert [one["document"] for one in answers if one["status"] == "done"] == expected(
        open_poison(), *good
    )
    assert served.service.pools["poison"].deaths == before + 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("poison", "status"),
    [("exit", "failed"), ("hang", "timed_out"), ("grow", "failed"), ("allocate", "failed")],
)
def test_other_poison_costs_one_document(small: Path, poison: str, status: str) -> None:
    with standing({"poison": Poison()}) as alone:
        answers = alone.annotate({"text": "x"}, {"text": f"!{poison} x"}, {"text": "xx"}).json[
            "documents"
        ]
    assert [one["status"] for one in answers] == ["done", status, "done"]
    assert "Traceback" not in json.dumps(answers)


def test_many_clients_share_workers(served: Standing, offline: Pipeline) -> None:
    texts = {number: [f"{'pain ' * at}{number}" for at in range(5)] for number in range(12)}
    found: dict[int, Any] = {}

    def ask(number: int) -> None:
        reply = served.annotate(*({"id": "same", "text": text} for text in texts[number]))
        found[number] = [one["document"] for one in reply.json["documents"]]

    threads = [threading.Thread(target=ask, args=(number,)) for number in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, own in texts.items():
        assert found[number] == expected(offline, *(Document(id="same", text=text) for text in own))


def test_a_pipeline_is_not_served_without_the_links_that_its_file_asks_for(small: Path) -> None:
    bare = Choices(links=False)
    with pytest.raises(UsageError, match="links = false into its step recogniser"):
        pipeline_openers([str(small)], choices=bare)
    (opening,) = pipeline_openers(["basic"], choices=bare).values()
    given = Document(id="a", text="Aspirin is for pain.")
    (result,) = opening().of_batch([given])
    assert result.document is not None
    assert result.document.mentions
    assert not any(one.links for one in result.document.mentions)


def test_some_steps_of_a_pipeline_are_done(served: Standing) -> None:
    text = {"text": "Aspirin is for headache."}

    def mentions(names: str, document: dict[str, Any] = text) -> list[dict[str, Any]]:
        (answer,) = served.annotate(document, query=f"?steps={names}").json["documents"]
        return answer["document"]["mentions"]

    assert {one["source"] for one in mentions("names")} == {"names"}
    assert not any(one.get("links") for one in mentions("names"))
    assert any(one.get("links") for one in mentions("names,link"))
    own = {**text, "mentions": [{"spans": [[0, 7]], "type": "Chemical"}]}
    (linked,) = mentions("link", own)
    assert linked["links"]
    for names, sentence in (("link", "needs mentions"), ("nams", "did you mean 'names'")):
        reply = served.annotate(text, query=f"?steps={names}")
        assert reply.status == 422
        assert sentence in reply.json["detail"]
