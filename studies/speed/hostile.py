"""Hostile requests: all phases of schemathesis, and bytes that are nearly requests; no answer may
be wrong or a fault.

usage: python -m studies.speed.hostile [--requests 10000] [--schemathesis-seconds 300] [--seed 1]

The service keeps decisions of a project, and jobs. Schemathesis goes by its description, and every
check but two is made: a document that is not allowed is refused by itself in an answer of 200, and
a schema cannot say that offsets lie in a text. The other requests are drawn: a method, path,
parameters, headers and content of a route, of which some are exchanged, cut, doubled or damaged.
After each hundred a request that is right must be answered as at the beginning.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psutil

from fascicle.serving.app import ROUTES
from fascicle.serving.tokens import add_token
from studies.common import write_result
from studies.speed.killed_service import _errors, _started_with
from studies.speed.serving import _mebibytes

_NAME: Final = "Ada"
_EVERY: Final = 100  # requests, between two that are right
_LEFT_OUT: Final = "negative_data_rejection,positive_data_acceptance"
_TEXTS: Final = (
    "",
    "a",
    "0",
    "-1",
    "1e999",
    "NaN",
    "null",
    "%00",
    "%ff",
    "../" * 9,
    "é" * 99,
    "x" * 9_000,
    "{}",
    "a\x00b",
    "😀",
)
_HEADERS: Final = (
    *(
        "Content-Encoding: gzip",
        "Content-Encoding: br",
        "Accept: image/png",
        "Accept: */*;q=0",
        "Host: evil.example",
    ),
    *(
        "Origin: null",
        "Transfer-Encoding: chunked",
        "Expect: 100-continue",
        "Upgrade: websocket",
        "Content-Length: -1",
    ),
    *(
        "Content-Length: 99999999999",
        "traceparent: 00-0-0-0",
        "X-Request-ID: a b",
        "Range: bytes=9-1",
        "X: " + "y" * 70_000,
    ),
    *(
        "Authorization: Bearer é",
        "Content-Type: text/plain",
        "Content-Type: multipart/form-data",
        "Connection: upgrade",
    ),
)


def main() -> None:
    """Measures, and writes ``results/serving-hostile.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--schemathesis-seconds", type=int, default=300)
    parser.add_argument(
        "--seconds", type=float, default=1_800.0, help="after which no further request is drawn"
    )
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, _served(Path(folder)) as (port, process, token):
        found = attack(
            (port, token), process, count=args.requests, seed=args.seed, seconds=args.seconds
        )
        found |= _by_description(port, token, Path(folder), args.schemathesis_seconds)
        found |= {"log_faults": _errors(Path(folder)), "memory_mib_after": _mebibytes(process)}
    write_result("serving-hostile", {"seed": args.seed, **found})
    sys.stdout.write(json.dumps(found, indent=1) + "\n")


def attack(
    at: tuple[int, str], process: psutil.Process, *, count: int, seed: int, seconds: float
) -> dict[str, Any]:
    """Statuses, faults and memory over so many drawn requests.

    Args:
        at: port and token.
        process: of the service.
        count: of requests.
        seed: of their draws.
        seconds: after which no further request is drawn.
    """
    draw, statuses, memory = random.Random(seed), Counter[int](), []
    right, wrong, done, until = _right(*at), 0, 0, time.monotonic() + seconds
    while done < count and time.monotonic() < until:
        status, content = _send(at[0], _drawn(draw, at[1]))
        statuses[status] += 1
        wrong += status >= 400 and not _is_problem(content)
        done += 1
        if done % _EVERY == 0:
            wrong += _right(*at) != right
            memory.append((done, _mebibytes(process)))
    return {
        "drawn": done,
        "statuses": dict(sorted(statuses.items())),
        "wrong": wrong,
        "memory_mib": memory,
    }


def _drawn(draw: random.Random, token: str) -> bytes:
    """The bytes of a request of which something is not right."""
    route = draw.choice(ROUTES)
    path = re.sub(r"{\w+(:\w+)?}", lambda _: draw.choice((*_TEXTS, "0" * 32)), route.path)
    query = "&".join(
        f"{one.name}={draw.choice(_TEXTS)}" for one in route.query if draw.random() < 0.6
    )
    body = json.dumps(route.example or {"documents": [{"text": "Aspirin"}], "who": _NAME}).encode()
    if draw.random() < 0.7:
        body = _damaged(body, draw)
    method = draw.choice(
        (*[route.method] * 6, "GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "TRACE", "BREW")
    )
    names = [
        "Host: localhost",
        "Connection: close",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    ]
    names += [f"Authorization: Bearer {token}"] * (draw.random() < 0.9)
    names += draw.sample(_HEADERS, draw.choice((0, 0, 1, 2)))
    head = (
        f"{method} {path}{'?' * bool(query)}{query} HTTP/1.1\r\n" + "\r\n".join(names) + "\r\n\r\n"
    )
    found = head.encode() + body
    return _damaged(found, draw) if draw.random() < 0.1 else found


def _damaged(content: bytes, draw: random.Random) -> bytes:
    """Bytes of which some are exchanged, cut, doubled or nested."""
    at = draw.randrange(len(content) + 1)
    end = min(len(content), at + draw.choice((1, 3, 20)))
    ways = (
        content[:at] + bytes([draw.randrange(256)]) + content[at + 1 :],
        content[:at] + content[end:],
        content[:end] + content[at:],
        content[:at] + draw.choice(_TEXTS).encode() + content[end:],
        b'{"documents":' + b"[" * draw.choice((9, 9_000)) + content,
        re.sub(rb"\d+", lambda _: draw.choice((b"-1", b"9" * 30, b"1e400", b"null")), content),
    )
    return draw.choice(ways)


def _send(port: int, content: bytes) -> tuple[int, bytes]:
    """Status and content of an answer; status 0 where the connection ends without one."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as sock:
        found = b""
        try:
            sock.sendall(content)
            sock.shutdown(socket.SHUT_WR)
            while piece := sock.recv(65_536):
                found += piece
        except ConnectionError:
            pass
    head, _, rest = found.partition(b"\r\n\r\n")
    return (int(head.split(b" ")[1]) if head else 0), rest


def _is_problem(content: bytes) -> bool:
    """Whether an answer says what was wrong; the server itself says it in a line, before there
    is a request.
    """
    return (
        not content
        or content.startswith(b"Invalid HTTP")
        or {"title", "detail"} <= json.loads(content).keys()
    )


def _right(port: int, token: str) -> Any:
    """What a request that is right is answered."""
    body = json.dumps({"documents": [{"id": "a", "text": "Aspirin helps."}]}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    with urllib.request.urlopen(
        urllib.request.Request(f"http://127.0.0.1:{port}/v1/annotate", body, headers)
    ) as answer:
        return json.loads(answer.read())["documents"]


def _by_description(port: int, token: str, folder: Path, seconds: int) -> dict[str, Any]:
    """What schemathesis finds in its phases, and how many requests it sent."""
    before = _requests(folder)
    command = [
        sys.executable,
        "-m",
        "schemathesis.cli",
        "run",
        f"http://127.0.0.1:{port}/openapi.json",
        "-c",
        "all",
    ]
    command += [
        "--exclude-checks",
        _LEFT_OUT,
        "--phases",
        "examples,coverage,fuzzing,stateful",
        "--no-color",
    ]
    command += [
        "-H",
        f"Authorization: Bearer {token}",
        "--max-time",
        str(seconds),
        "--continue-on-failure",
    ]
    command += ["--suppress-health-check", "all", "--generation-database", "none"]
    # it leaves files there
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)
    sys.stderr.write(done.stdout[-20_000:])
    failures = Counter(re.findall(r"^- (.+)$", done.stdout, re.MULTILINE))
    sent = _requests(folder) - before
    return {
        "schemathesis_requests": sent,
        "schemathesis_exit": done.returncode,
        "schemathesis_failures": dict(failures),
    }


def _requests(folder: Path) -> int:
    """How many requests the log has, those that it counts together included."""
    found = (
        json.loads(line)
        for line in (folder / "log").read_text(encoding="utf-8").splitlines()
        if line[:1] == "{"
    )
    return sum(one.get("times", 1) for one in found if one["event"] == "request")


@contextmanager
def _served(folder: Path) -> Iterator[tuple[int, psutil.Process, str]]:
    """A service of a project; its port and process, and the token of its administrator."""
    (folder / "names.tsv").write_text("Chemical\tAspirin\n", encoding="utf-8")
    (folder / "project.toml").write_text(f'curators = ["{_NAME}"]\n', encoding="utf-8")
    token = add_token(folder / "tokens.json", _NAME, "administrator")
    words = [
        "names.tsv",
        "--no-link",
        "--port",
        "0",
        "--curation",
        "decisions.sqlite",
        "--tokens",
        "tokens.json",
    ]
    with _started_with(folder, [*words, "--project", "project.toml", "--jobs", "jobs"]) as process:
        while not (found := re.search(r":(\d+)/", (folder / "log").read_text(encoding="utf-8"))):
            if process.poll() is not None:
                sys.exit((folder / "log").read_text(encoding="utf-8"))
            time.sleep(0.1)
        yield int(found[1]), psutil.Process(process.pid), token


if __name__ == "__main__":
    main()
