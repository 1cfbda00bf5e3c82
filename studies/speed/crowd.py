"""What a crowd of clients that send nothing, or next to nothing, costs those who ask for something.

usage: python -m studies.speed.crowd [--silent 5000] [--slow 300] [--seconds 40]

The service may open 1,024 files. First so many clients connect and send nothing or part of the
headers, from 20 addresses of this machine; each that is cut off connects again once. Then others
send a content of which one byte comes each 12 seconds. Meanwhile one client asks for ``/health``
and one for mentions, four times a second, in processes of their own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import psutil

from studies.common import write_result

_FILES: Final = 1_024
_STARTS: Final = (
    b"",
    b"GET /health HTTP/1.1\r\n",
    b"POST /v1/annotate HTTP/1.1\r\nHost: localhost\r\nX: ",
)
_HEAD: Final = (
    b"POST /v1/annotate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
)
_BODY: Final = b'{"documents": [{"text": "Lithium can cause tremor."}]}'
_REAL: Final = _HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(_BODY) + _BODY
_HEALTH: Final = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def main() -> None:
    """Measures, and writes the results file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--silent", type=int, default=5_000)
    parser.add_argument("--slow", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=40.0, help="of each of the two parts")
    args = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(
        resource.RLIMIT_NOFILE, (min(hard, max(soft, 2 * args.silent + 1_000)), hard)
    )
    with tempfile.TemporaryDirectory() as folder:
        found = crowd(Path(folder), silent=args.silent, slow=args.slow, seconds=args.seconds)
    write_result("serving-crowd", found)
    sys.stdout.write(json.dumps(found, indent=1) + "\n")


def crowd(
    folder: Path, *, silent: int, slow: int, seconds: float, model: str = "biomed"
) -> dict[str, Any]:
    """Seconds of answers, bytes of log and memory while the crowd is there."""
    log = folder / "log"
    with _served(log, model) as (port, process):
        asyncio.run(_ask(port, _REAL))
        before, memory = log.stat().st_size, _mebibytes(process)
        asked, held, top = asyncio.run(
            _both(port, process, silent=silent, slow=slow, seconds=seconds)
        )
        told = log.stat().st_size - before
    result: dict[str, Any] = {"silent": silent, "slow": slow, "seconds": seconds, "opened": held}
    for name, answers in asked.items():
        worst = sorted(((taken, at, status) for at, status, taken in answers), reverse=True)[:5]
        bad = sum(status != 200 for _, status, _ in answers)
        result[name] = {
            "asked": len(answers),
            "not_200": bad,
            "worst_seconds": worst[0][0],
            "worst": worst,
        }
    return {**result, "log_bytes": told, "memory_mib_before": memory, "memory_mib_at_most": top}


@contextmanager
def _served(
    log: Path, model: str, more: Sequence[str] = ()
) -> Iterator[tuple[int, psutil.Process]]:
    command = [sys.executable, "-m", "fascicle", "serve", model, "--no-link", "--port", "0", *more]
    limited = ["sh", "-c", f'ulimit -n {_FILES}; exec "$@"', "sh", *command]
    with log.open("wb") as stream, subprocess.Popen(limited, stderr=stream) as process:
        try:
            until = time.monotonic() + 120
            while not (found := re.search(r":(\d+)/", log.read_text(encoding="utf-8"))):
                assert process.poll() is None, log.read_text(encoding="utf-8")
                assert time.monotonic() < until
                time.sleep(0.1)
            yield int(found[1]), psutil.Process(process.pid)
        finally:
            process.kill()
            process.wait()


async def _both(
    port: int, process: psutil.Process, *, silent: int, slow: int, seconds: float
) -> Any:
    held, top = [0], [0.0]
    watch = [asyncio.create_task(_look(process, top))]
    begun, until = time.time(), time.time() + 2 * seconds + 1
    pool = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
    asking = {
        name: pool.submit(_again, port, one, until)
        for name, one in (("health", _HEALTH), ("request", _REAL))
    }
    await asyncio.sleep(1)
    crowd = [asyncio.create_task(_silent(port, at, held)) for at in range(silent)]
    await asyncio.sleep(seconds)
    crowd += [asyncio.create_task(_slow(port, at)) for at in range(slow)]
    await asyncio.sleep(seconds)
    for task in (*watch, *crowd):
        task.cancel()
    ended = await asyncio.gather(*watch, *crowd, return_exceptions=True)
    for one in ended:
        if isinstance(one, Exception):
            raise one
    asked = {
        name: [(at - begun, *rest) for at, *rest in await asyncio.wrap_future(one)]
        for name, one in asking.items()
    }
    pool.shutdown()
    return asked, held[0], top[0]


async def _silent(port: int, at: int, held: list[int]) -> None:
    for _ in range(2):
        with suppress(OSError):
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", port, local_addr=(f"127.0.0.{at % 20 + 1}", 0)
            )
            held[0] += 1
            writer.write(_STARTS[at % len(_STARTS)])
            try:
                await reader.read()
            finally:
                writer.close()


async def _slow(port: int, at: int) -> None:
    with suppress(OSError):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(_HEAD + b"Content-Length: 1000\r\n\r\n")
        try:
            while not reader.at_eof():
                writer.write(b" ")
                await writer.drain()
                with suppress(TimeoutError):
                    await asyncio.wait_for(reader.read(), 12)
        finally:
            writer.close()


def _again(port: int, request: bytes, until: float) -> list[tuple[float, int, float]]:
    """When, with which status and after how many seconds one was answered, in a process of its
    own.
    """
    found = []
    while (begun := time.time()) < until:
        status = asyncio.run(_ask(port, request))
        found.append((begun, status, time.time() - begun))
        time.sleep(0.25)
    return found


async def _ask(port: int, request: bytes) -> int:
    try:
        async with asyncio.timeout(30):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request)
            answer = await reader.read()
            writer.close()
    except (OSError, TimeoutError):
        return 0
    return int(answer.split(b" ")[1]) if answer else 0


async def _look(process: psutil.Process, top: list[float]) -> None:
    while True:
        top[0] = max(top[0], await asyncio.to_thread(_mebibytes, process))
        await asyncio.sleep(0.5)


def _mebibytes(process: psutil.Process) -> float:
    return (
        sum(one.memory_info().rss for one in (process, *process.children(recursive=True))) / 2**20
    )


if __name__ == "__main__":
    main()
