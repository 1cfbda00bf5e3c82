"""What the service costs beside the pipeline in it, and what it does with more than it can do.

usage: python -m studies.speed.serving latency [--repeats 200]
       python -m studies.speed.serving throughput [--repeats 5] [--documents 600]
       python -m studies.speed.serving load [--seconds 600] [--queue 16384]

The model is the shipped one without links, and the texts are the example abstracts in turns. The
service has one worker and, where there are two cores, one of them; this program, which sends, has
the other. ``load`` finds the capacity, then sends for so many seconds half of it, and twice of it,
at random times that do not wait for answers.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psutil

import fascicle
from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.serving.client.clients import ClientSettings
from fascicle.text.annotator import Annotator
from studies.common import write_result
from studies.speed.runs import texts

_HEADERS = {"Content-Type": "application/json"}
_WORDS = 250


def main() -> None:
    """Measures one of them and writes its results file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("latency", "throughput", "load"))
    parser.add_argument("--repeats", type=int, default=0)
    parser.add_argument("--documents", type=int, default=600)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--queue", type=int, default=16_384)
    args = parser.parse_args()
    with served(args.queue if args.what == "load" else 0) as (port, process):
        if args.what == "latency":
            found = latency(port, args.repeats or 200)
        elif args.what == "throughput":
            found = throughput(port, args.repeats or 5, args.documents)
        else:
            found = load(port, process, args.seconds)
    write_result(f"serving-{args.what}", found)
    sys.stdout.write(
        json.dumps({name: value for name, value in found.items() if name != "samples"}, indent=1)
        + "\n"
    )


@contextmanager
def served(queue: int) -> Iterator[tuple[int, psutil.Process]]:
    """A service on a core of its own; its port and its process."""
    more = ["--queue", str(queue)] if queue else []
    command = [
        sys.executable,
        "-m",
        "fascicle",
        "serve",
        "biomed",
        "--no-link",
        "--port",
        "0",
        *more,
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    found = re.search(r":(\d+)/", process.stderr.readline())
    assert found is not None
    drain = ThreadPoolExecutor(1)
    drain.submit(lambda: [None for _ in process.stderr or ()])
    _part_cores(process.pid)
    try:
        yield int(found[1]), psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()
        drain.shutdown()


def latency(port: int, repeats: int) -> dict[str, Any]:
    """Seconds for one text: of the model in this process, and of the service for one client, in
    turns.
    """
    model = fascicle.load("biomed", threads=1, links=False)
    text = " ".join(" ".join(texts()).split()[:_WORDS])
    body = json.dumps({"documents": [{"text": text}]}).encode()
    connection = http.client.HTTPConnection("127.0.0.1", port)

    def ask() -> bytes:
        connection.request("POST", "/v1/annotate", body, _HEADERS)
        answer = connection.getresponse().read()
        assert answer.count(b'"done"') == 1
        return answer

    (answer,) = json.loads(ask())["documents"]
    assert answer["document"].get("mentions", []) == _mentions(model, text)
    seconds: dict[str, list[float]] = {"model": [], "service": []}
    for turn in range(repeats + 5):
        for name, call in (("model", lambda: model(text)), ("service", ask)):
            taken = _timed(call)
            if turn >= 5:
                seconds[name].append(taken)
    found = {
        f"{name}_p{at}": _quantile(values, at / 100)
        for name, values in seconds.items()
        for at in (50, 95)
    }
    bar = 1.3 * found["model_p50"] + 0.005
    return {
        "repeats": repeats,
        "words": _WORDS,
        **found,
        "bar_p50": bar,
        "bar_p95": 2 * bar,
        "samples": seconds,
    }


def throughput(port: int, repeats: int, count: int) -> dict[str, Any]:
    """Characters a second of the model offline, and of the service for a client, in turns."""
    given = texts()
    documents = [Document(id=f"d{at}", text=given[at % len(given)]) for at in range(count)]
    model = fascicle.load("biomed", threads=1, links=False)
    wanted = list(model.stream(documents))
    seconds: dict[str, list[float]] = {"offline": [], "service": []}
    with fascicle.Client(
        f"http://127.0.0.1:{port}", settings=ClientSettings(attempts=50)
    ) as client:
        for _ in range(repeats):
            seconds["offline"].append(_timed(lambda: list(model.stream(documents))))
            seconds["service"].append(_timed(lambda: _compare(client.annotate(documents), wanted)))
    ratio = statistics.median(
        a / b for a, b in zip(seconds["offline"], seconds["service"], strict=True)
    )
    return {"documents": count, "repeats": repeats, "ratio": ratio, "samples": seconds}


def load(port: int, process: psutil.Process, seconds: float) -> dict[str, Any]:
    """Latencies, refusals, wrong answers and memory at half and at twice the capacity."""
    given = texts()
    model = fascicle.load("biomed", threads=1, links=False)
    wanted = [_mentions(model, text) for text in given]
    bodies = [json.dumps({"documents": [{"text": text}]}).encode() for text in given]
    capacity = asyncio.run(_closed(port, bodies, seconds=min(30.0, seconds)))
    half = asyncio.run(_open(port, bodies, wanted, rate=capacity / 2, seconds=min(120.0, seconds)))
    memory = [(0.0, _mebibytes(process))]
    twice = asyncio.run(
        _open(port, bodies, wanted, rate=2 * capacity, seconds=seconds, memory=(process, memory))
    )
    return {"capacity_per_second": capacity, "half": half, "twice": twice, "memory_mib": memory}


async def _closed(port: int, bodies: Sequence[bytes], *, seconds: float, clients: int = 4) -> float:
    """Documents a second that a few clients get done that wait for each answer."""
    done = 0
    until = time.perf_counter() + seconds

    async def client() -> None:
        nonlocal done
        while time.perf_counter() < until:
            status, _ = await _ask(port, bodies[done % len(bodies)])
            done += status == 200

    await asyncio.gather(*(client() for _ in range(clients)))
    return done / seconds


async def _open(
    port: int,
    bodies: Sequence[bytes],
    wanted: Sequence[Any],
    *,
    rate: float,
    seconds: float,
    memory: tuple[psutil.Process, list[tuple[float, float]]] | None = None,
) -> dict[str, Any]:
    """Requests at random times, whatever the answers do."""
    draw = random.Random(1)
    statuses: Counter[int] = Counter()
    accepted: list[float] = []
    wrong = 0
    begun = time.perf_counter()

    async def one(number: int) -> None:
        nonlocal wrong
        sent = time.perf_counter()
        status, content = await _ask(port, bodies[number % len(bodies)])
        statuses[status] += 1
        if status == 200:
            accepted.append(time.perf_counter() - sent)
            (answer,) = json.loads(content)["documents"]
            wrong += answer["document"].get("mentions", []) != wanted[number % len(bodies)]

    running: set[asyncio.Task[None]] = set()
    at, number = 0.0, 0
    while (at := at + draw.expovariate(rate)) < seconds:
        await asyncio.sleep(max(0.0, begun + at - time.perf_counter()))
        task = asyncio.create_task(one(number))
        running.add(task)
        task.add_done_callback(running.discard)
        number += 1
        if memory is not None and at - memory[1][-1][0] > seconds / 60:
            memory[1].append((at, _mebibytes(memory[0])))
    await asyncio.gather(*running)
    quantiles = {f"p{one}": _quantile(accepted, one / 100) for one in (50, 95, 99)}
    return {"rate": rate, "sent": number, "statuses": dict(statuses), "wrong": wrong, **quantiles}


async def _ask(port: int, body: bytes) -> tuple[int, bytes]:
    """One request on a connection of its own; status 0 where there is no answer."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = f"POST /v1/annotate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
        writer.write(
            f"{head}Content-Type: application/json\r\nConnection: close\r\n\r\n".encode() + body
        )
        answer = await reader.read()
        writer.close()
    except OSError:
        return 0, b""
    start, _, content = answer.partition(b"\r\n\r\n")
    return (int(start.split(b" ")[1]), content) if start else (0, b"")


def _mentions(model: Annotator, text: str) -> Any:
    """What a client is to get for a text."""
    return json.loads(codec.encode(model(("text-1", text)))).get("mentions", [])


def _part_cores(pid: int) -> None:
    """Gives the service, with its workers, and this process a core each."""
    if hasattr(os, "sched_setaffinity") and len(cores := sorted(os.sched_getaffinity(0))) > 1:
        os.sched_setaffinity(0, {cores[0]})
        for one in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
            one.cpu_affinity([cores[1]])


def _mebibytes(process: psutil.Process) -> float:
    """Memory of its own of a process and those below it."""
    found = [process, *process.children(recursive=True)]
    return sum(one.memory_info().rss - one.memory_info().shared for one in found) / 2**20


def _compare(found: Sequence[Document], wanted: Sequence[Document]) -> None:
    assert [one.mentions for one in found] == [one.mentions for one in wanted]


def _timed(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def _quantile(values: Sequence[float], share: float) -> float:
    return (
        sorted(values)[min(int(share * len(values)), len(values) - 1)] if values else float("nan")
    )


if __name__ == "__main__":
    main()
