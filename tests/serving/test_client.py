"""Clients: what they get is what the pipeline says, and what a service or a network does between
costs them nothing.
"""

from __future__ import annotations

import asyncio
import http.client
import itertools
import socket
import subprocess
import sys
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from standing import Standing

import fascicle
from fascicle.core.document import Document
from fascicle.errors import InputError, UsageError
from fascicle.pipeline.loading import open_pipeline
from fascicle.serving.client import calls
from fascicle.serving.client.calls import ServiceError
from fascicle.serving.client.clients import ClientSettings
from fascicle.serving.records import Problem

pytest.importorskip("httpx2")
pytestmark = pytest.mark.loopback
QUICK = ClientSettings(attempts=8, seconds=20)
T = TypeVar("T")


@pytest.fixture
def client(served: Standing) -> Iterator[fascicle.Client]:
    with fascicle.Client(f"http://127.0.0.1:{served.port}/", settings=QUICK) as found:
        yield found


@contextmanager
def rough(port: int, troubles: list[str]) -> Iterator[tuple[int, list[str]]]:
    """A way to the service on which requests meet one trouble after the other, then none; and
    what it did.
    """
    left, done = iter(troubles), list[str]()
    lock = threading.Lock()

    class Way(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            with lock:
                trouble = next(left, "")
                done.append(trouble)
            if trouble == "drop":
                self.close_connection = True
                return None
            if trouble.isdigit():
                return self._answer(int(trouble), b"{}", {"Retry-After": "0"})
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request(
                "POST", self.path, content, {"Content-Type": self.headers["Content-Type"]}
            )
            found = connection.getresponse()
            answer = found.read()
            connection.close()
            if trouble == "half":
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer[: len(answer) // 2])
                self.close_connection = True
                return None
            return self._answer(found.status, answer, {})

        def _answer(self, status: int, content: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Way)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port, done
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def many(count: int) -> list[Document]:
    return [
        Document(id=f"d{at}", text=f"Aspirin is for pain {at}." + " " * (at % 7))
        for at in range(count)
    ]


def test_a_client_gets_what_the_pipeline_says(client: fascicle.Client, small: Path) -> None:
    documents = many(150)
    assert client.annotate(documents) == list(open_pipeline(small).stream(documents))
    assert client(("a", "pain")).id == "a"
    assert client.pipelines()[0].name == "small"
    assert client.health().status == "ready"


def test_a_service_that_takes_fewer_gets_fewer(client: fascicle.Client, served: Standing) -> None:
    assert served.service.settings.documents < calls._DOCUMENTS
    assert [one.id for one in client.stream(iter(many(70)))] == [one.id for one in many(70)]


def test_a_bad_document_is_set_aside(client: fascicle.Client) -> None:
    given = [("a", "xx"), ("b", "!raise"), ("c", "x")]
    aside: list[InputError] = []
    found = list(client.stream(given, pipeline="poison", aside=aside.append))
    assert [one.id for one in found] == ["a", "c"]
    assert [one.key for one in aside] == ["b"]
    with pytest.raises(InputError, match="LookupError"):
        client.annotate(given, pipeline="poison")


def test_files_concepts_and_reasons(client: fascicle.Client, tmp_path: Path) -> None:
    document = client(("12", "Aspirin is for pain."))
    content = client.write([document], format="pubtator")
    (tmp_path / "a.pubtator").write_bytes(content)
    (found,) = client.read(tmp_path / "a.pubtator")
    assert found.id == "12"
    assert client.concept("MESH:D008094").label == "Lithium"
    assert client.why(document, candidates=2).decisions


def test_older_names_of_arguments_are_read(client: fascicle.Client) -> None:
    given = ["Aspirin is for pain."]
    older = client.annotate(given, min_score=0.5, types=["Disease"], link=False)
    newer = client.annotate(given, threshold=0.5, only=["Disease"], links=False)
    assert [one.mentions for one in older] == [one.mentions for one in newer]
    assert {mention.type for one in newer for mention in one.mentions} <= {"Disease"}


@pytest.mark.parametrize(
    ("wrong", "status"),
    [({"pipeline": "none"}, 404), ({"threshold": 7}, 422)],
    ids=["pipeline", "score"],
)
def test_a_refusal_is_an_error_at_once(
    client: fascicle.Client, wrong: dict[str, object], status: int
) -> None:
    with pytest.raises(ServiceError) as caught:
        client.annotate(["pain"], **wrong)
    assert caught.value.status == status


def test_trouble_on_the_way_costs_nothing(served: Standing, small: Path) -> None:
    documents = many(260)
    wanted = list(open_pipeline(small).stream(documents))
    troubles = ["drop", "429", "half", "503", "500", "502", "half", "429"]
    with (
        rough(served.port, troubles) as (port, done),
        fascicle.Client(f"http://127.0.0.1:{port}", settings=QUICK) as client,
    ):
        assert client.annotate(documents) == wanted
    assert done[: len(troubles)] == troubles


def test_trouble_without_end_is_an_error(served: Standing) -> None:
    settings = ClientSettings(attempts=3, seconds=5)
    for trouble, status in (("drop", 0), ("429", 429)):
        with (
            rough(served.port, [trouble] * 9) as (port, done),
            fascicle.Client(f"http://127.0.0.1:{port}", settings=settings) as client,
        ):
            with pytest.raises(ServiceError) as caught:
                client.annotate(["pain"])
            assert (caught.value.status, len(done)) == (status, 3)


FAULT = Problem(
    title="Internal Server Error", status=500, detail="this is a fault", code="internal"
)


@pytest.mark.parametrize(
    ("status", "content", "again", "asked"),
    [
        (429, b"", False, True),  # refused: nothing was begun
        (503, b"", False, True),
        (502, b"", True, True),  # of whatever stands before the service, and lost it meanwhile
        (500, b"Internal Server Error", True, True),
        (502, b"", False, False),  # a job may have begun
        (500, b"Internal Server Error", False, False),
        (500, msgspec.json.encode(FAULT), True, False),  # of the service, which would fail again
        (404, b"", True, False),
    ],
)
def test_what_is_asked_again(status: int, content: bytes, again: bool, asked: bool) -> None:
    call = calls.Call(method="POST", path="/v1/jobs", again=again)
    assert calls.should_retry(call, status, content) is asked


def test_the_other_client_says_the_same(served: Standing, small: Path) -> None:
    documents = many(120)

    async def ask(port: int) -> list[Document]:
        async with fascicle.AsyncClient(f"http://127.0.0.1:{port}", settings=QUICK) as client:
            assert [one.name for one in await client.pipelines()] == ["small", "poison"]
            assert (await client.concept("MESH:D008094")).label == "Lithium"
            return await client.annotate(documents)

    with rough(served.port, []) as (port, _), pytest.raises(ServiceError):  # this way takes no GET
        alone(ask(port))
    assert alone(ask(served.port)) == list(open_pipeline(small).stream(documents))


def alone(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns; in a thread of its own, for browsers of other tests leave a loop
    in this one.
    """
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, coroutine).result()


@pytest.mark.slow
def test_a_service_that_is_killed_again_and_again_costs_nothing(small: Path) -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    command = [sys.executable, "-m", "fascicle", "serve", str(small), "--port", str(port)]
    documents = many(2_000)
    patient = ClientSettings(attempts=60, seconds=60)
    done = threading.Event()
    kills = []

    def keep_killing() -> None:
        while not done.is_set():
            with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
                assert process.stderr is not None
                assert "serving at" in process.stderr.readline()
                reader = threading.Thread(target=process.stderr.read)
                reader.start()
                done.wait(0.1 if len(kills) < 3 else None)
                process.kill()
                kills.append(process.pid)
                reader.join()

    thread = threading.Thread(target=keep_killing)
    thread.start()
    try:
        with fascicle.Client(f"http://127.0.0.1:{port}", settings=patient) as client:
            found = client.annotate(documents)
    finally:
        done.set()
        thread.join()
    assert len(kills) > 3
    assert found == list(open_pipeline(small).stream(documents))


def test_other_servers_are_no_services() -> None:
    with pytest.raises(ServiceError, match="address"):
        calls.answers(b"<html>", many(1))
    with pytest.raises(ServiceError, match="sent"):
        calls.answers(b'{"documents":[]}', many(1))
    assert calls.response_error(500, b"<html>").status == 500


@given(
    st.integers(1, 60),
    st.sampled_from(["", "0", "3", "99999999", "-1", "Wed, 21 Oct 2026 07:28:00 GMT"]),
)
def test_pauses_are_bounded_and_heed_the_service(attempt: int, told: str) -> None:
    for drawn in (0.0, 0.5, 1.0):
        pause = calls.retry_pause(attempt, told, draw=lambda: drawn)  # noqa: B023
        assert 0 < pause <= 1.25 * 30
        assert pause >= (3 if told == "3" else 0)


def test_older_and_newer_names_of_a_choice_exclude_each_other() -> None:
    with pytest.raises(UsageError, match=r"^min_score is an older name of threshold: give thresh"):
        calls.annotate_options({"threshold": 0.5, "min_score": 0.1})


def test_one_type_may_be_a_text() -> None:
    assert calls.annotate_options({"only": "Gene"}).params == {"only": "Gene"}
    assert calls.annotate_options({"types": ["Gene", "X"]}).params == {"only": "Gene,X"}


@given(st.lists(st.integers(0, 2 * calls.PORTION), max_size=30))
def test_portions_hold_everything_once(sizes: list[int]) -> None:
    given = [("a", "x" * size) for size in sizes]
    found = list(calls.portions(given))
    assert [len(one.text) for portion in found for one in portion] == sizes
    for portion in found:
        assert len(portion) == 1 or sum(len(one.text) for one in portion) <= calls.PORTION
    for first, second in itertools.pairwise(found):
        full = sum(len(one.text) for one in first) + len(second[0].text) > calls.PORTION
        assert full or len(first) == calls._DOCUMENTS


def test_one_text_in_place_of_several_is_refused(client: fascicle.Client) -> None:
    with pytest.raises(UsageError, match="list"):
        client.annotate("pain")


def test_without_the_package_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['httpx2'] = None\n"
        "import fascicle\n"
        "try:\n    fascicle.Client\nexcept fascicle.errors.MissingExtraError as error:\n    "
        "print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "fascicle[client]" in done.stdout
