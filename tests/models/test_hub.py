"""Encoders by their name on the hub: without a network within seconds, with one as before."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("transformers")
SOURCES = Path(__file__).resolve().parents[2] / "src"
LOAD = """
import sys
from fascicle.errors import ModelError
from fascicle.models.encoder import load_pretrained
try:
    print(load_pretrained("someone/tiny").encoder.width)
except ModelError as error:
    print(error)
"""


def load(home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Loads in a process of its own, for the hub's client reads its settings when it is
    imported.
    """
    settings = {
        **os.environ,
        "PYTHONPATH": str(SOURCES),
        "HF_HOME": str(home),
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    for name in (
        "HF_HUB_OFFLINE",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "http_proxy",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
    ):
        settings.pop(name, None)
    command = [sys.executable, "-c", LOAD]
    return subprocess.run(
        command,
        env={**settings, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@contextmanager
def hub(folder: Path) -> Iterator[str]:
    """A hub with one model, on this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def _answer(self, *, with_body: bool) -> None:
            name = self.path.partition("?")[0].removeprefix("/someone/tiny/resolve/main/")
            found = folder / name
            body = found.read_bytes() if "/" not in name and found.is_file() else b""
            self.send_response(200 if body else 404)
            self.send_header("Content-Length", str(len(body)))
            if body:
                self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
                self.send_header("X-Repo-Commit", "0" * 40)
            else:
                self.send_header("X-Error-Code", "EntryNotFound")
            self.end_headers()
            if with_body:
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_a_hub_that_cannot_be_reached_is_told_within_seconds(tmp_path: Path) -> None:
    began = time.monotonic()
    done = load(tmp_path, HF_ENDPOINT="http://127.0.0.1:9")
    assert "someone/tiny" in done.stdout
    assert "http://127.0.0.1:9" in done.stdout
    assert (done.stdout.count("\n"), done.stderr) == (1, "")
    assert time.monotonic() - began < 60  # most of it goes to the import of torch


@pytest.mark.slow
def test_what_was_downloaded_is_used_without_a_network(tmp_path: Path, tiny_encoder: Path) -> None:
    with hub(tiny_encoder) as endpoint:
        offline = load(tmp_path, HF_ENDPOINT=endpoint, HF_HUB_OFFLINE="1")
        assert "HF_HUB_OFFLINE" in offline.stdout
        online = load(tmp_path, HF_ENDPOINT=endpoint)
        assert online.stdout == "32\n", online
    assert load(tmp_path, HF_ENDPOINT=endpoint).stdout == "32\n"
    assert load(tmp_path, HF_ENDPOINT=endpoint, HF_HUB_OFFLINE="1").stdout == "32\n"
