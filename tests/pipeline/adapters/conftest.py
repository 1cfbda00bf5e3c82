"""The adapters as installed plug-ins, whatever is installed, and a service that answers as it is
told.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from tests.support.steps import declare


@pytest.fixture(autouse=True)
def entry_points(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """The entry points that pyproject.toml declares, where this process and those that it starts
    find them.
    """
    folder = tmp_path_factory.mktemp("installed")
    declared = declare(folder)
    # afterwards, because what was found on a path is remembered
    monkeypatch.syspath_prepend(str(folder))
    return declared


Answer = Callable[[dict[str, Any], int], Any]


@dataclass
class Service:
    """A language model that says what a function answers to each request.

    Attributes:
        address: of the service.
        answer: takes the request and its number; a text is the content of an answer, a number a
            state of HTTP, bytes the whole body, an iterator its parts, and a float seconds of
            silence.
        requests: all of them, with their headers.
    """

    address: str
    answer: Answer = lambda request, number: json.dumps({"names": []})
    requests: list[tuple[dict[str, Any], dict[str, str]]] = field(default_factory=list)


@pytest.fixture
def service() -> Iterator[Service]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append((request, dict(self.headers)))
            if self.path != "/v1/chat/completions":
                self.send_error(404)
                return
            said = state.answer(request, len(state.requests))
            if isinstance(said, float):
                time.sleep(said)
                return
            if isinstance(said, int):
                self.send_response(said)
                self.send_header("Location", f"{state.address}/elsewhere")
                self.end_headers()
                return
            if isinstance(said, Iterator):
                self.send_response(200)
                self.end_headers()
                self.wfile.writelines(said)
                return
            body = said if isinstance(said, bytes) else completion(said)
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state = Service(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


def completion(content: Any, tokens: int = 10) -> bytes:
    """The body of an answer."""
    message = {"role": "assistant", "content": content}
    return json.dumps(
        {"choices": [{"message": message}], "usage": {"total_tokens": tokens}}
    ).encode()
