"""The real server in a process of its own: crowds that say nothing, faults in its log, and
hangups.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from standing import JSON, Poison, Standing, standing

from fascicle.serving.tokens import add_token, withdraw_token
from fascicle.settings.serving import ServeSettings

pytestmark = pytest.mark.loopback
TOKENS = ("first-token-0123456789", "second-token-0123456789")
PROGRAM = """
import sys
from pathlib import Path
from fascicle.serving.server import PipelineOpener
from fascicle.serving.server import run
from fascicle.serving.tokens import read_tokens
from fascicle.settings.serving import ServeSettings
from fascicle.verbs.serve import read_token
if __name__ == "__main__":
    folder, token, seconds = sys.argv[1:]
    named = Path(token).with_name("tokens.json")
    tokens = lambda: (read_token(token), read_tokens(named) if named.exists() else None)
    settings = ServeSettings(connections=20, headers=2, requests=5, idle=2, seconds=float(seconds), token=tokens()[0], tokens=tokens()[1])
    run({"small": PipelineOpener(given=folder)}, settings, "127.0.0.1", 0, tokens=tokens,
        started=lambda url: print(url, flush=True))
"""


@contextmanager
def process(
    small: Path, folder: Path, *, seconds: float = 120
) -> Iterator[tuple[int, int, Path, Path]]:
    """A service; its port, process, log, and file of the token."""
    program, token, log = folder / "program.py", folder / "token", folder / "log"
    program.write_text(PROGRAM, encoding="utf-8")
    token.write_text(TOKENS[0], encoding="utf-8")
    command = [sys.executable, str(program), str(small), str(token), str(seconds)]
    with (
        log.open("wb") as err,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=err, text=True) as one,
    ):
        try:
            assert one.stdout is not None
            found = re.search(r":(\d+)/", one.stdout.readline())
            assert found is not None, log.read_text(encoding="utf-8")
            yield int(found[1]), one.pid, log, token
        finally:
            one.terminate()
            one.wait(120)


def status(port: int, path: str, token: str = TOKENS[0]) -> tuple[int, float]:
    """The status of an answer, and the seconds it took."""
    begun = time.monotonic()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", headers={"Authorization": f"Bearer {token}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, time.monotonic() - begun
    except urllib.error.HTTPError as error:
        return error.code, time.monotonic() - begun


def connect(port: int, content: bytes) -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", port), timeout=60)
    sock.sendall(content)
    return sock


@pytest.mark.parametrize("start", [b"", b"GET / HTTP/1.1\r\n"], ids=["nothing", "headers"])
def test_who_says_nothing_gives_way(small: Path, tmp_path: Path, start: bytes) -> None:
    with process(small, tmp_path) as (port, _, log, _), ExitStack() as held:
        before = log.stat().st_size
        socks = [held.enter_context(connect(port, start)) for _ in range(100)]
        assert status(port, "/v1/pipelines")[0] == 200
        begun = time.monotonic()
        for sock in socks:  # all are closed, by the limit of their number or that in time
            assert _is_closed(sock)
        assert time.monotonic() - begun < 60
        assert log.stat().st_size - before < 2_000


def _is_closed(sock: socket.socket) -> bool:
    try:
        return sock.recv(1) == b""
    except ConnectionError:
        return True


def test_bodies_that_do_not_come_give_way(small: Path, tmp_path: Path) -> None:
    head = f"POST /v1/annotate HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKENS[0]}\r\n"
    head += "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n "
    with process(small, tmp_path) as (port, _, _, _), ExitStack() as held:
        for _ in range(8):
            held.enter_context(connect(port, head.encode()))
        assert [status(port, "/v1/pipelines")[0] for _ in range(5)] == [200] * 5


def test_a_byte_now_and_then_does_not_renew_the_time_of_a_body(small: Path, tmp_path: Path) -> None:
    head = f"POST /v1/annotate HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKENS[0]}\r\n"
    head += "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    with process(small, tmp_path) as (port, _, _, _), connect(port, head.encode()) as sock:
        sock.settimeout(0.5)
        answer, begun = b"", time.monotonic()
        while not answer and time.monotonic() - begun < 60:
            sock.sendall(b" ")
            try:
                answer = sock.recv(65_536)
            except TimeoutError:
                continue
        assert answer.split(b" ")[1] == b"408"


def ask_and_read_later(port: int, head: str, content: bytes = b"") -> socket.socket:
    """A connection that asked for something, and of which little is kept until it is read."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8_192)
    sock.settimeout(60)
    sock.connect(("127.0.0.1", port))
    more = f"Host: a\r\nAuthorization: Bearer {TOKENS[0]}\r\nContent-Type: application/json\r\n"
    sock.sendall(
        f"{head} HTTP/1.1\r\n{more}Content-Length: {len(content)}\r\n\r\n".encode() + content
    )
    return sock


# longer than what the system keeps of an answer
LONG = [{"id": str(at), "text": "病 " * 100_000} for at in range(20)]


def test_who_reads_an_answer_slowly_gets_all_of_it(small: Path, tmp_path: Path) -> None:
    content = json.dumps({"documents": LONG}, ensure_ascii=False).encode()
    with process(small, tmp_path) as (port, _, log, _):
        with ask_and_read_later(port, "POST /v1/write?format=jsonl", content) as sock:
            found = sock.recv(65_536)
            size = int(re.search(rb"content-length: (\d+)", found)[1])  # type: ignore[index]
            count = len(found.partition(b"\r\n\r\n")[2])
            while count < size and (piece := sock.recv(65_536)):
                count += len(piece)
                # 3 MB a second; each pause of reading is short, all together are not
                time.sleep(0.02)
        assert count == size
        assert '"connection"' not in log.read_text(encoding="utf-8")


def test_who_reads_nothing_gives_way(small: Path, tmp_path: Path) -> None:
    lines = b"".join(
        json.dumps({"fascicle": 2, **one}, ensure_ascii=False).encode() + b"\n" for one in LONG[:7]
    )
    bearer = {"Authorization": f"Bearer {TOKENS[0]}", "Content-Type": "application/x-ndjson"}
    with process(small, tmp_path) as (port, _, log, _), ExitStack() as held:
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/v1/jobs?name=a.jsonl", lines, bearer
        )
        name = json.loads(urllib.request.urlopen(request, timeout=60).read())["id"]
        until = time.monotonic() + 120
        while status(port, f"/v1/jobs/{name}/result")[0] != 200:
            assert time.monotonic() < until
            time.sleep(0.2)
        for _ in range(8):  # more than may run
            held.enter_context(ask_and_read_later(port, f"GET /v1/jobs/{name}/result"))
        while status(port, "/v1/pipelines")[0] != 200 or '"unread"' not in log.read_text(
            encoding="utf-8"
        ):
            assert time.monotonic() < until
            time.sleep(0.2)


def test_a_stream_without_end_does_not_keep_the_service_from_ending(
    small: Path, tmp_path: Path
) -> None:
    head = f"POST /v1/stream HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKENS[0]}\r\n"
    head += "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
    line = json.dumps({"text": "Aspirin"}).encode() + b"\n"
    with (
        process(small, tmp_path, seconds=2) as (port, pid, log, _),
        connect(port, head.encode()) as sock,
    ):
        chunk = b"%x\r\n%s\r\n" % (len(line), line)
        sock.sendall(chunk)
        assert sock.recv(65_536).split(b" ")[1] == b"200"
        os.kill(pid, signal.SIGTERM)
        until, is_cut = time.monotonic() + 40, False
        while not is_cut:
            assert time.monotonic() < until
            time.sleep(0.2)
            try:
                sock.sendall(chunk)
            except OSError:
                is_cut = True
        assert "Traceback" not in log.read_text(encoding="utf-8")


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no hangups here")
def test_a_hangup_reads_the_token_again(small: Path, tmp_path: Path) -> None:
    with process(small, tmp_path) as (port, pid, log, token):
        token.write_text(TOKENS[1], encoding="utf-8")
        os.kill(pid, signal.SIGHUP)
        until = time.monotonic() + 60
        while status(port, "/v1/pipelines", TOKENS[1])[0] != 200:
            assert time.monotonic() < until
            time.sleep(0.1)
        assert status(port, "/v1/pipelines", TOKENS[0])[0] == 401
        token.unlink()
        os.kill(pid, signal.SIGHUP)
        while '"kept"' not in (told := log.read_text(encoding="utf-8")):
            assert time.monotonic() < until
            time.sleep(0.05)
        assert status(port, "/v1/pipelines", TOKENS[1])[0] == 200
        assert "Traceback" not in told
        assert str(token) not in told
        assert not any(one in told for one in TOKENS)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no hangups here")
def test_a_hangup_forgets_a_named_token_that_was_withdrawn(small: Path, tmp_path: Path) -> None:
    place = tmp_path / "tokens.json"
    ada, bob = (add_token(place, name) for name in ("Ada", "Bob"))
    with process(small, tmp_path) as (port, pid, log, _):
        assert [status(port, "/v1/pipelines", one)[0] for one in (ada, bob)] == [200, 200]
        withdraw_token(place, "Ada")
        os.kill(pid, signal.SIGHUP)
        until = time.monotonic() + 60
        while status(port, "/v1/pipelines", ada)[0] != 401:
            assert time.monotonic() < until
            time.sleep(0.1)
        assert status(port, "/v1/pipelines", bob)[0] == 200
        told = log.read_text(encoding="utf-8")
        assert not any(one in told for one in ("Ada", "Bob", ada, bob, "tokens.json"))


def test_a_fault_is_logged_without_its_message(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with standing({"poison": Poison()}, ServeSettings()) as found:
        told = _fault(found)
        assert (told["fault"], bool(told["at"])) == ("OSError", True)
        assert "private-name" not in json.dumps(found.log)
    assert "private-name" not in "".join(capfd.readouterr())


def _fault(found: Standing) -> dict[str, object]:
    def fail(name: str) -> None:
        raise OSError(36, "File name too long", "private-name")

    found.service.pool = fail  # type: ignore[assignment, method-assign]
    reply = found.ask("POST", "/v1/annotate", {"documents": [{"text": "x"}]}, JSON)
    assert reply.status == 500
    until = time.monotonic() + 20  # a line is written once its answer is out
    while not found.log and time.monotonic() < until:
        time.sleep(0.01)
    assert found.log[-1]["request"] == reply.headers["request-id"]
    return found.log[-1]
