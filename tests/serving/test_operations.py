"""What platforms need: identifiers of requests, packed content, health, rates, and tokens with
roles.
"""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from standing import JSON, Poison, Reply, Standing, standing
from starlette.responses import FileResponse
from starlette.types import Message

from fascicle.serving.guard import Guard, RequestRates
from fascicle.serving.problems import ProblemError
from fascicle.serving.tokens import add_token, read_tokens, withdraw_token
from fascicle.settings.serving import ServeSettings

pytestmark = pytest.mark.loopback
GZIP = {**JSON, "Content-Encoding": "gzip"}
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.mark.parametrize("name", ["a", "5f0c-1:2.3_4", "x" * 128])
def test_identifiers_of_a_request_are_kept_and_returned(served: Standing, name: str) -> None:
    reply = served.ask("GET", "/v1/pipelines", headers={"X-Request-ID": name, "traceparent": TRACE})
    assert reply.headers["x-request-id"] == reply.headers["request-id"] == name
    assert reply.headers["traceparent"] == TRACE
    until = time.monotonic() + 20  # a line is written once its answer is out
    while not any(one.get("request") == name for one in served.log) and time.monotonic() < until:
        time.sleep(0.01)
    (line,) = [one for one in served.log if one.get("request") == name]
    assert line["trace"] == TRACE.split("-")[1]


@pytest.mark.parametrize("name", ["", "x" * 129, "a b", 'a"b', "é"])
@pytest.mark.parametrize(
    "trace", ["", "00-0-0-0", TRACE.replace("4bf9", "XXXX"), f"00-{'0' * 32}-{'1' * 16}-01"]
)
def test_other_identifiers_are_replaced(served: Standing, name: str, trace: str) -> None:
    reply = served.ask(
        "GET",
        "/health/live",
        headers={"X-Request-ID": name.encode().decode("latin-1"), "traceparent": trace},
    )
    assert len(reply.headers["x-request-id"]) == 16
    assert "traceparent" not in reply.headers


def annotate(
    service: Standing, content: bytes, headers: dict[str, str], path: str = "/v1/annotate"
) -> Reply:
    return service.ask("POST", path, content, headers)


def test_packed_content_is_the_same_content(served: Standing) -> None:
    body = json.dumps(
        {"documents": [{"id": str(at), "text": "Aspirin is for pain."} for at in range(30)]}
    ).encode()
    plain = annotate(served, body, JSON)
    halves = gzip.compress(body[:40], mtime=0) + gzip.compress(body[40:], mtime=0)
    for content in (gzip.compress(body, mtime=0), halves, gzip.compress(body, 0, mtime=0)):
        packed = annotate(served, content, {**GZIP, "Accept-Encoding": "br;q=1, gzip;q=0.5"})
        assert packed.headers["content-encoding"] == "gzip"
        assert "accept-encoding" in packed.headers["vary"].lower()
        assert gzip.decompress(packed.content) == plain.content
    for accepts in ({}, {"Accept-Encoding": "gzip;q=0"}, {"Accept-Encoding": "identity"}):
        assert "content-encoding" not in annotate(served, body, {**JSON, **accepts}).headers


def test_lines_may_be_packed(served: Standing) -> None:
    lines = b"".join(b'{"id": "%d", "text": "Aspirin"}\n' % at for at in range(3))
    headers = {
        "Content-Type": "application/x-ndjson",
        "Accept": "application/x-ndjson",
        "Content-Encoding": "gzip",
    }
    reply = annotate(served, gzip.compress(lines, mtime=0), headers, "/v1/stream")
    assert [json.loads(line)["id"] for line in reply.content.splitlines()] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("content", "coding", "status"),
    [
        (gzip.compress(b'{"documents": []}', mtime=0)[:-4], "gzip", 400),
        (b"no gzip", "gzip", 400),
        (gzip.compress(b'{"documents": []}', mtime=0) + b"rest", "gzip", 400),
        (b"", "gzip", 400),
        (b"{}", "br", 415),
        (b"{}", "gzip, gzip", 415),
    ],
)
def test_packed_content_is_bounded_and_whole(
    served: Standing, content: bytes, coding: str, status: int
) -> None:
    reply = annotate(served, content, {**JSON, "Content-Encoding": coding})
    assert reply.status == status
    assert reply.json["detail"]


def test_packed_content_that_unpacks_to_too_much_is_refused(served: Standing) -> None:
    bomb = gzip.compress(
        bytes(300_000_000), mtime=0
    )  # the service takes 300,000 bytes; made once, and not by collection
    test_packed_content_is_bounded_and_whole(served, bomb, "gzip", 413)


def test_empty_parts_of_packed_content_have_an_end_too(served: Standing) -> None:
    empty = gzip.compress(b"", mtime=0) * 1_000
    pieces = f"{len(empty):x}\r\n".encode() + empty + b"\r\n"
    head = b"POST /v1/annotate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
    found = served.raw(head + b"Transfer-Encoding: chunked\r\n\r\n" + pieces * 20)  # and no end
    assert found.startswith(b"HTTP/1.1 413")


def test_a_service_is_live_before_it_is_ready(
    served: Standing, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (
        served.ask("GET", "/health/live").status,
        served.ask("GET", "/health/ready").status,
    ) == (200, 200)
    monkeypatch.setattr(type(served.service), "is_ready", property(lambda self: False))
    assert (
        served.ask("GET", "/health/live").status,
        served.ask("GET", "/health/ready").status,
    ) == (200, 503)
    assert served.ask("GET", "/health").status == 503


def test_a_rate_is_of_one_token_and_comes_back() -> None:
    now = [0.0]
    rates = RequestRates(lambda: now[0])
    for _ in range(30):
        rates.check("Ada", 30)
    with pytest.raises(ProblemError, match="30 requests") as refused:
        rates.check("Ada", 30)
    assert refused.value.headers == {"Retry-After": "2"}
    rates.check("Bob", 30)
    now[0] = 2.0
    rates.check("Ada", 30)
    with pytest.raises(ProblemError):
        rates.check("Ada", 30)
    now[0] = 1_000.0
    for _ in range(30):
        rates.check("Ada", 30)


class Team:
    """A service with named tokens."""

    def __init__(self, service: Standing, place: Path, secrets: dict[str, str]) -> None:
        self.service, self.place, self.secrets = service, place, secrets

    def ask(self, who: str, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        return self.service.ask(
            method,
            path,
            body,
            {"Authorization": f"Bearer {self.secrets[who]}", **(JSON if body else {}), **headers},
        )


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    place = tmp_path / "tokens.json"
    secrets = {
        name: add_token(place, name, role)
        for name, role in (
            ("Ada", "curator"),
            ("Bob", "curator"),
            ("Rita", "reviewer"),
            ("Adam", "administrator"),
        )
    }
    settings = ServeSettings(
        tokens=read_tokens(place), curation=str(tmp_path / "decisions.sqlite"), rate=40, jobs=4
    )
    with standing({"poison": Poison(seconds=0.05)}, settings) as service:
        yield Team(service, place, secrets)


def test_roles_decide_what_a_token_does(team: Team) -> None:
    assert team.service.ask("GET", "/v1/pipelines").status == 401
    assert (
        team.service.ask("GET", "/v1/pipelines", headers={"Authorization": "Bearer nothing"}).status
        == 401
    )
    assert team.ask("Ada", "GET", "/v1/pipelines").status == 200
    raw = {"Content-Type": "application/octet-stream"}
    path = "/v1/curation/import?name=a.txt&who="
    statuses = [
        team.service.ask(
            "POST", path + who, b"Text", {"Authorization": f"Bearer {team.secrets[who]}", **raw}
        ).status
        for who in ("Ada", "Rita", "Adam")
    ]
    assert statuses == [403, 200, 200]


def test_decisions_are_saved_under_the_name_of_the_token(team: Team) -> None:
    assert team.ask("Ada", "GET", "/v1/curation").json["who"] == "Ada"
    documents = [{"id": "a", "text": "Aspirin."}]
    assert (
        team.ask(
            "Ada", "POST", "/v1/curation/documents", {"documents": documents, "who": "Bob"}
        ).status
        == 403
    )
    assert (
        team.ask(
            "Ada", "POST", "/v1/curation/documents", {"documents": documents, "who": "Ada"}
        ).status
        == 200
    )
    step = {"document": "a", "id": "1" * 32, "who": "Bob", "finished": True}
    assert team.ask("Ada", "POST", "/v1/curation/steps", step).status == 403
    assert team.ask("Bob", "POST", "/v1/curation/steps", step).json["steps"][0]["who"] == "Bob"


def test_a_token_that_is_withdrawn_is_refused_once_the_file_is_read_again(team: Team) -> None:
    withdraw_token(team.place, "Ada")
    team.service.service.change_tokens("", read_tokens(team.place))
    assert team.ask("Ada", "GET", "/v1/pipelines").status == 401
    assert team.ask("Bob", "GET", "/v1/pipelines").status == 200
    for name in ("Bob", "Rita", "Adam"):
        withdraw_token(team.place, name)
    team.service.service.change_tokens("", read_tokens(team.place))
    assert team.ask("Adam", "GET", "/v1/pipelines").status == 401


class _Lines:
    """A stream of lines that stays open."""

    def __init__(self, team: Team, who: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", team.service.port, timeout=60)
        self._connection.putrequest("POST", "/v1/stream")
        self._connection.putheader("Authorization", f"Bearer {team.secrets[who]}")
        self._connection.putheader("Content-Type", "application/x-ndjson")
        self._connection.putheader("Transfer-Encoding", "chunked")
        self._connection.endheaders()
        self._reply: http.client.HTTPResponse | None = None

    def ask(self, name: str) -> bytes:
        """Returns the line of the answer to one document; empty if the stream has ended without
        an end.
        """
        line = json.dumps({"id": name, "text": "x and x"}).encode() + b"\n"
        self._connection.send(b"%x\r\n%s\r\n" % (len(line), line))
        self._reply = self._reply or self._connection.getresponse()
        try:
            return self._reply.readline()
        except (http.client.IncompleteRead, ConnectionError):
            return b""

    def close(self) -> None:
        self._connection.close()


def test_a_stream_ends_with_the_token_that_is_withdrawn_and_others_go_on(team: Team) -> None:
    ada, bob = _Lines(team, "Ada"), _Lines(team, "Bob")
    assert [json.loads(one.ask("1"))["id"] for one in (ada, bob)] == ["1", "1"]
    # read again, and nothing has changed
    team.service.service.change_tokens("", read_tokens(team.place))
    assert [json.loads(one.ask("2"))["id"] for one in (ada, bob)] == ["2", "2"]
    withdraw_token(team.place, "Ada")
    team.service.service.change_tokens("", read_tokens(team.place))
    assert ada.ask("3") == b""
    assert json.loads(bob.ask("3"))["id"] == "3"
    ada.close()
    bob.close()
    until = time.monotonic() + 20
    while not any(one.get("route") == "/v1/stream" and one.get("cut") for one in team.service.log):
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_download_ends_with_the_token_that_is_withdrawn(tmp_path: Path) -> None:
    place, path = tmp_path / "tokens.json", tmp_path / "result"
    secret = add_token(place, "Ada")
    add_token(place, "Bob")
    path.write_bytes(bytes(1_000_000))
    settings, sent, log = (
        [ServeSettings(tokens=read_tokens(place))],
        list[int](),
        list[dict[str, Any]](),
    )
    guard = Guard(FileResponse(path), current=lambda: settings[-1], open_paths=(), log=log.append)

    async def send(message: Message) -> None:
        sent.append(len(message.get("body", b"")))
        if sum(sent) and len(settings) == 1:
            settings.append(ServeSettings(tokens=withdraw_token(place, "Ada")))

    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {secret}".encode())]
    scope = {"type": "http", "method": "GET", "path": "/v1/jobs/1/result", "headers": headers}
    # in a thread of its own, for a browser of other tests has a loop in this one
    with ThreadPoolExecutor(1) as thread:
        thread.submit(
            lambda: asyncio.run(guard(scope, asyncio.Queue[Message]().get, send))
        ).result()
    assert 0 < sum(sent) < 100_000
    assert [(one["status"], one.get("cut")) for one in log] == [(200, True)]


def test_one_token_has_its_rate_and_others_theirs(team: Team) -> None:
    statuses = [team.ask("Ada", "GET", "/v1/pipelines").status for _ in range(60)]
    assert statuses.count(200) < 60
    assert set(statuses) == {200, 429}
    refused = team.ask("Ada", "GET", "/v1/pipelines")
    assert int(refused.headers["retry-after"]) >= 1
    assert team.ask("Bob", "GET", "/v1/pipelines").status == 200
    assert team.service.ask("GET", "/health/live").status == 200


@pytest.mark.slow
def test_jobs_are_listed_for_their_owner(team: Team) -> None:
    content = b'{"text": "x and x"}\n' * 200

    def send(who: str) -> str:
        kind = {
            "Authorization": f"Bearer {team.secrets[who]}",
            "Content-Type": "application/octet-stream",
        }
        return str(team.service.ask("POST", "/v1/jobs?name=in.jsonl", content, kind).json["id"])

    def listed(who: str) -> dict[str, str]:
        return {one["id"]: one["status"] for one in team.ask(who, "GET", "/v1/jobs").json["jobs"]}

    first, second, others = send("Ada"), send("Ada"), send("Bob")
    assert list(listed("Ada")) == [first, second]
    assert list(listed("Bob")) == [others]
    assert list(listed("Adam")) == [first, second, others]
    assert team.ask("Bob", "GET", f"/v1/jobs/{first}").status == 404
    assert team.ask("Bob", "DELETE", f"/v1/jobs/{first}").status == 404
    assert team.ask("Ada", "DELETE", f"/v1/jobs/{second}").status == 204
    assert listed("Ada")[second] == "cancelled"
    assert team.ask("Ada", "GET", f"/v1/jobs/{second}/result").status == 409
    assert team.ask("Adam", "DELETE", f"/v1/jobs/{first}").status == 204
    time.sleep(1)
    assert listed("Ada") == {first: "cancelled", second: "cancelled"}
    assert team.ask("Ada", "DELETE", f"/v1/jobs/{first}").status == 204
    assert list(listed("Ada")) == [second]
