"""The files of deploy/: checked by the programs that read them, and nginx in front of a service."""

from __future__ import annotations

import json
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from http.client import HTTPSConnection
from pathlib import Path

import pytest
from standing import JSON, Standing

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
EXTRAS = ("client", "serve", "office", "html", "parquet")


@pytest.mark.parametrize(
    ("program", "arguments"),
    [("kubernetes-validate", ["--strict", "kubernetes.yaml"]), ("hadolint", ["Dockerfile"])],
)
def test_a_program_finds_nothing_wrong(program: str, arguments: list[str]) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not there")
    done = subprocess.run(
        [program, *arguments], cwd=DEPLOY, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_container_has_pinned_packages_with_hashes() -> None:
    """They are those of ``constraints-dev.txt``; ``python3 deploy/lock.py`` writes them again."""
    lines = (
        (DEPLOY / "requirements.txt")
        .read_text(encoding="utf-8")
        .replace("\\\n", " ")
        .splitlines()[1:]
    )
    pinned = {}
    for line in lines:
        name, *hashes = line.split()
        assert hashes
        assert all(re.fullmatch("--hash=sha256:[0-9a-f]{64}", one) for one in hashes), name
        pinned.update([name.split("==")])
    tested = (
        (DEPLOY.parent / "constraints-dev.txt")
        .read_text(encoding="utf-8")
        .lower()
        .replace("_", "-")
        .splitlines()
    )
    versions = dict(line.split("==") for line in tested if "==" in line)
    assert {name: versions.get(name, version) for name, version in pinned.items()} == pinned
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    asked = [
        *project["dependencies"],
        *(one for extra in EXTRAS for one in project["optional-dependencies"][extra]),
    ]
    names = {re.split(r"[><=\[]", one)[0] for one in asked} - {"fascicle"}
    assert names <= pinned.keys()


def test_every_package_that_is_installed_has_a_licence() -> None:
    done = subprocess.run(
        [sys.executable, str(DEPLOY / "licences.py"), *EXTRAS],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    found = dict(line.split("\t")[::2] for line in done.stdout.splitlines())
    assert found["fascicle"] == "Apache-2.0"
    assert {"numpy", "onnxruntime", "starlette", "h11", "anyio"} <= found.keys()
    assert not [name for name, licence in found.items() if licence == "unknown"]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(scope="module")
def proxy(served: Standing, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of nginx with the configuration of deploy/, but for names, ports and paths."""
    if shutil.which("nginx") is None or shutil.which("openssl") is None:
        pytest.skip("nginx is not there")
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    subject = ["-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    text = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    for before, after in (
        ("fascicle:8080", f"127.0.0.1:{served.port}"),
        ("8443", f"127.0.0.1:{port}"),
        ("/tmp/", f"{folder}/"),
        ("/etc/nginx/tls", str(folder)),
    ):
        assert before in text
        text = text.replace(before, after)
    (folder / "nginx.conf").write_text(text, encoding="utf-8")
    with subprocess.Popen(
        ["nginx", "-c", str(folder / "nginx.conf"), "-p", str(folder), "-g", "daemon off;"]
    ) as one:
        until = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert one.poll() is None
                assert time.monotonic() < until
                time.sleep(0.1)
        yield port
        one.terminate()


def connected(port: int) -> HTTPSConnection:
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    return HTTPSConnection("127.0.0.1", port, timeout=60, context=trusting)


@pytest.mark.loopback
def test_pages_and_identifiers_come_through(proxy: int, served: Standing) -> None:
    connection = connected(proxy)
    connection.request("GET", "/")
    page = connection.getresponse()
    assert (page.status, b"<html" in page.read()) == (200, True)
    content = json.dumps({"documents": [{"text": "Aspirin is for pain."}]})
    connection.request(
        "POST", "/v1/annotate", content, {**JSON, "Origin": f"https://127.0.0.1:{proxy}"}
    )
    reply = connection.getresponse()
    assert (reply.status, json.loads(reply.read())["documents"][0]["status"]) == (200, "done")
    name = reply.headers["X-Request-ID"]
    assert len(name) == 32  # that of nginx
    until = time.monotonic() + 20
    while not any(one["request"] == name for one in served.log) and time.monotonic() < until:
        time.sleep(0.01)
    assert any(one["request"] == name for one in served.log)
    connection.request(
        "POST", "/v1/annotate", content, {**JSON, "Origin": "https://elsewhere.example"}
    )
    assert connection.getresponse().status == 403
    connection.close()


@pytest.mark.loopback
def test_lines_are_answered_before_the_last_one_is_sent(proxy: int) -> None:
    connection = connected(proxy)
    connection.putrequest("POST", "/v1/stream")
    for header in (("Content-Type", "application/x-ndjson"), ("Transfer-Encoding", "chunked")):
        connection.putheader(*header)
    connection.endheaders()

    def send(line: bytes) -> None:
        connection.send(b"%x\r\n%s\r\n" % (len(line), line))

    send(b'{"id": "1", "text": "Aspirin"}\n')
    reply = connection.getresponse()
    assert json.loads(reply.readline())["id"] == "1"  # the content is not yet at its end
    send(b'{"id": "2", "text": "pain"}\n')
    assert json.loads(reply.readline())["id"] == "2"
    connection.send(b"0\r\n\r\n")
    assert reply.read() == b""
    connection.close()
