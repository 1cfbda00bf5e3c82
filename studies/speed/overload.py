"""Ten minutes of twice the capacity, with slow readers and half-open connections beside it: nothing
wrong, memory flat.

usage: python -m studies.speed.overload [--seconds 600] [--model biomed-fast] [--readers 12] [--gone
2]

The capacity is found first. Then requests come at twice its rate, at random times that do not wait
for answers. Each answer is compared with the model offline. Meanwhile readers ask for an answer of
3 MB: a third of them reads nothing to the end, a third 2 kB a second, and a third 64 kB a second,
whose answers must be whole. So many connections a second end without a word (``TCP_REPAIR``, which
needs an administrator), after nothing, after part of the headers, or after a request; of others
only the client's half is closed. Every fault and cut connection is counted, and so are the
connections that are left a minute after the end.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import psutil

import fascicle
from studies.common import write_result
from studies.speed.crowd import _HEALTH, _REAL, _STARTS, _ask, _served
from studies.speed.runs import texts
from studies.speed.serving import _closed, _mebibytes, _mentions, _open

_REPAIR: Final = getattr(socket, "TCP_REPAIR", 19)
_LONG: Final = {"id": "long", "text": "病" * 990_000}  # nearly as long as a document may be
_GET: Final = (
    b"GET /v1/curation/document?id=long HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
)
_PACES: Final = {
    "none": (0, 1_000.0),
    "slow": (2_048, 1.0),
    "steady": (16_384, 0.25),
}  # bytes, and seconds between them
_AFTER: Final = 60.0  # seconds until every connection that was lost is given up


def main() -> None:
    """Measures, and writes the results file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--model", default="biomed-fast")
    parser.add_argument("--readers", type=int, default=12)
    parser.add_argument(
        "--gone", type=float, default=2.0, help="connections a second that end without a word"
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = overload(
            Path(folder), args.model, seconds=args.seconds, readers=args.readers, gone=args.gone
        )
    write_result("serving-overload", found)
    sys.stdout.write(json.dumps(found, indent=1) + "\n")


def overload(
    folder: Path, model: str, *, seconds: float, readers: int, gone: float
) -> dict[str, Any]:
    """Answers, refusals, readers, memory and what is left of a service that is asked for twice
    of what it can do.
    """
    given, annotator = texts(), fascicle.load(model, threads=1, links=False)
    wanted = [_mentions(annotator, text) for text in given]
    bodies = [json.dumps({"documents": [{"text": text}]}).encode() for text in given]
    log = folder / "log"
    with _served(
        log, model, ["--queue", "16384", "--curation", str(folder / "decisions.sqlite")]
    ) as (port, process):
        size = _add_long(port)
        capacity = asyncio.run(_closed(port, bodies, seconds=min(30.0, seconds)))
        crowd = _Crowd(port, size)
        memory = [(0.0, _mebibytes(process))]

        async def all_at_once() -> dict[str, Any]:
            tasks = crowd.tasks(readers, gone)
            load = _open(
                port, bodies, wanted, rate=2 * capacity, seconds=seconds, memory=(process, memory)
            )
            try:
                return await load
            finally:
                for one in tasks:
                    one.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

        found = asyncio.run(all_at_once())
        time.sleep(_AFTER)
        left = sum(one.status == psutil.CONN_ESTABLISHED for one in process.net_connections())
    load = {"capacity_per_second": capacity, "twice": found, **crowd.counts, "memory_mib": memory}
    return {
        "model": model,
        "seconds": seconds,
        **load,
        "connections_left": left,
        "log_faults": _faults(log),
    }


class _Crowd:
    """Clients that read slowly, or are gone; what became of them is counted."""

    def __init__(self, port: int, size: int) -> None:
        self._port, self._size = port, size
        self._readers, self._gone, self._health = Counter[str](), Counter[str](), Counter[int]()
        self._slowest = 0.0

    @property
    def counts(self) -> dict[str, Any]:
        """What became of everybody."""
        return {
            "readers": dict(self._readers),
            "gone": dict(self._gone),
            "health": dict(self._health),
            "health_seconds_at_most": self._slowest,
        }

    def tasks(self, readers: int, gone: float) -> list[asyncio.Task[None]]:
        """Everybody at work."""
        paces = list(_PACES)
        some = [self._read(paces[at % len(paces)]) for at in range(readers)]
        return [asyncio.create_task(one) for one in (*some, self._go(gone), self._look())]

    async def _read(self, pace: str) -> None:
        while True:
            begun = time.monotonic()
            count = 0
            with suppress(OSError):
                count = await self._answer(pace)
            end = "whole" if count >= self._size else "cut"
            self._readers[f"{pace} {end}"] += 1
            await asyncio.sleep(max(0.0, 1.0 - (time.monotonic() - begun)))

    async def _answer(self, pace: str) -> int:
        """Bytes of an answer that came, at this pace, before the connection ended."""
        most, pause = _PACES[pace]
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8_192)
        sock.setblocking(False)
        loop, count = asyncio.get_running_loop(), 0
        with sock:
            await loop.sock_connect(sock, ("127.0.0.1", self._port))
            await loop.sock_sendall(sock, _GET)
            while True:
                await asyncio.sleep(pause)
                want = most
                while want > 0:
                    if not (piece := await loop.sock_recv(sock, want)):
                        return count
                    count, want = count + len(piece), want - len(piece)

    async def _go(self, rate: float) -> None:
        """Connects, says something, and is gone."""
        kinds = [*_STARTS, _REAL]
        at = 0
        while rate:
            await asyncio.sleep(1 / rate)
            at += 1
            half = at % 5 == 0
            with (
                suppress(OSError),
                socket.create_connection(("127.0.0.1", self._port), timeout=5) as sock,
            ):
                sock.sendall(_REAL if half else kinds[at % len(kinds)])
                if half:
                    sock.shutdown(socket.SHUT_WR)
                    await asyncio.sleep(0.2)
                else:
                    # the other side hears nothing of the end
                    sock.setsockopt(socket.IPPROTO_TCP, _REPAIR, 1)
                self._gone["half closed" if half else "half open"] += 1

    async def _look(self) -> None:
        while True:
            begun = time.monotonic()
            self._health[await _ask(self._port, _HEALTH)] += 1
            self._slowest = max(self._slowest, time.monotonic() - begun)
            await asyncio.sleep(1)


def _add_long(port: int) -> int:
    """Adds a long document to what is curated; returns the bytes of its answer."""
    url, body = (
        f"http://127.0.0.1:{port}/v1/curation/document",
        json.dumps({"documents": [_LONG], "who": "Ada"}),
    )
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(
        urllib.request.Request(f"{url}s", body.encode(), headers)
    ) as answer:
        assert answer.status == 200
    with urllib.request.urlopen(f"{url}?id=long") as answer:
        return len(answer.read())


def _faults(log: Path) -> int:
    """Lines of the log about statuses of 500 and more but 503, and lines that are none of it."""
    count = 0
    for line in log.read_text(encoding="utf-8").splitlines():
        try:
            told = json.loads(line)
        except ValueError:
            count += "Traceback" in line
            continue
        count += told.get("status", 0) >= 500 or "fault" in told
    return count


if __name__ == "__main__":
    main()
