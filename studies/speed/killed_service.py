"""Kills a service with all its processes, at random moments, while clients ask; nothing accepted
may be lost.

usage: python -m studies.speed.killed_service [--kills 50] [--seed 1] [--pause 20]

The service finds abbreviations and the names of the shipped term pack in the example abstracts. It
is killed with its process group (SIGKILL), also while it starts, and is started again on the same
folders. Meanwhile `fascicle.Client` asks, up to 20 times for the same, jobs are sent, and a curator
decides. Each answer is compared with the pipeline offline, each job that was accepted with the
bytes of ``fascicle run``, and each decision that was acknowledged with the rows of the database
after every kill.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

import psutil

import fascicle
from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.formats.files import read
from fascicle.pipeline.loading import open_pipeline
from fascicle.serving.client.calls import FILE, Call, ServiceError
from fascicle.serving.client.clients import ClientSettings
from studies.common import write_result
from studies.speed.runs import prepare

CLIENTS = 2  # threads that ask for answers
SENDERS = 4  # threads that send jobs, and wait for them
# eight would do for a service that is not killed before it has started
SETTINGS = ClientSettings(attempts=20)
PORTION = 20  # documents of a request
JOB = 300  # documents of a job
WAIT = 300.0  # seconds for everything that was accepted, after the last start
_LEAST_PAUSE = 0.2  # seconds between a start and a kill


def main() -> None:
    """Measures and writes ``results/killed-service.json``; ends with an error if anything is
    lost or wrong.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--pause", type=float, default=20.0, help="seconds between a start and a kill at most"
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = disturb(Path(folder), kills=args.kills, seed=args.seed, pause=args.pause)
    write_result("killed-service", {"seed": args.seed, "pause": args.pause, **found})
    sys.stdout.write(f"{json.dumps(found, indent=1)}\n")
    if faults(found):
        sys.exit("something was lost")


def faults(found: dict[str, int]) -> list[str]:
    """What must not be, and is."""
    return [name for name in WRONG if found[name]]


WRONG = (
    "answers_wrong",
    "given_up",
    "jobs_wrong",
    "decisions_lost",
    "errors",
    "orphans",
    "left_over",
)


def disturb(place: Path, *, kills: int, seed: int, pause: float) -> dict[str, int]:
    """Kills a service so often, and counts what clients get and what they do not.

    Args:
        place: an empty folder.
        kills: of the service.
        seed: of the moments.
        pause: seconds between a start and a kill at most.
    """
    prepare(place, JOB)
    given = list(read(place / "in.jsonl"))
    with open_pipeline(place / "pipeline.toml") as pipeline:
        wanted = list(pipeline.stream(given))
    load = Load(
        _free_port(),
        wanted,
        given=given,
        file=(place / "in.jsonl").read_bytes(),
        result=_offline(place),
    )
    draw = random.Random(seed)
    orphans = ready = 0
    with load.running() as workers:
        for _ in range(kills):
            with _started(place, load.port) as process:
                time.sleep(draw.uniform(_LEAST_PAUSE, pause))
                ready += _is_ready(load.port)
                orphans += _kill(process)
            load.lost |= _missing(place / "decisions.sqlite", load.steps)
        with _started(place, load.port) as process:
            load.stop.set()
            for one in workers:
                one.result(WAIT)
            load.lost |= _missing(place / "decisions.sqlite", load.steps)
            _end(process)
    found = {"kills": kills, "kills_when_ready": ready, **load.counts}
    return {**found, "errors": _errors(place), "orphans": orphans, "left_over": _left(place)}


@dataclass
class Load:
    """Clients of a service, and what it told them.

    Attributes:
        port: of the service.
        wanted: documents as the pipeline gives them offline.
        given: the same documents as they are sent.
        file: of a job.
        result: that a job must have.
    """

    port: int
    wanted: Sequence[Document]
    _: KW_ONLY
    given: Sequence[Document]
    file: bytes
    result: bytes
    stop: threading.Event = field(default_factory=threading.Event)
    answers: int = 0
    answers_wrong: int = 0
    given_up: int = 0
    unanswered: int = 0
    jobs: int = 0
    jobs_wrong: int = 0
    steps: dict[str, tuple[int, str, list[Any]]] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def counts(self) -> dict[str, int]:
        """What became of everything."""
        names = ("answers", "answers_wrong", "given_up", "jobs", "jobs_wrong", "unanswered")
        found = {name: int(getattr(self, name)) for name in names}
        return {**found, "decisions": len(self.steps), "decisions_lost": len(self.lost)}

    @contextmanager
    def running(self) -> Iterator[list[Future[None]]]:
        """Everybody at work, until ``stop`` is set and what was accepted is there."""
        tasks = [*[self.ask] * CLIENTS, *[self.send_jobs] * SENDERS, self.decide]
        with ThreadPoolExecutor(len(tasks)) as threads:
            try:
                yield [
                    threads.submit(self._with_client, task, number)
                    for number, task in enumerate(tasks)
                ]
            finally:
                self.stop.set()

    def _with_client(
        self, task: Callable[[fascicle.Client, random.Random], None], number: int
    ) -> None:
        with fascicle.Client(f"http://127.0.0.1:{self.port}", settings=SETTINGS) as client:
            task(client, random.Random(number))

    def ask(self, client: fascicle.Client, draw: random.Random) -> None:
        """Asks for portions of documents, and compares what comes."""
        while not self.stop.is_set():
            first = draw.randrange(len(self.given) - PORTION)
            part = slice(first, first + PORTION)
            try:
                found = client.annotate(self.given[part])
            except ServiceError:
                found = []
            with self.lock:
                self.given_up += not found
                self.answers += len(found)
                self.answers_wrong += sum(
                    a != b for a, b in zip(found, self.wanted[part], strict=False) if found
                )

    def send_jobs(self, client: fascicle.Client, draw: random.Random) -> None:
        """Sends a job, waits for it, and compares its bytes; whether one without an answer
        exists is not known.
        """
        params = {"name": "in.jsonl"}
        send = Call(
            method="POST",
            path="/v1/jobs",
            params=params,
            content=self.file,
            media_type=FILE,
            again=False,
        )
        while not self.stop.is_set():
            try:
                accepted = json.loads(client.call(send))
            except ServiceError as error:
                with self.lock:
                    self.unanswered += error.status == 0
                    self.given_up += error.status != 0
                continue
            try:
                wrong = _result(client, accepted["id"]) != self.result
            except ServiceError:
                wrong = True
            with self.lock:
                self.jobs += 1
                self.jobs_wrong += wrong
            time.sleep(draw.uniform(0, 0.5))

    def decide(self, client: fascicle.Client, draw: random.Random) -> None:
        """Accepts and rejects mentions, one step after the other; a step that is sent again
        keeps its id.
        """
        number = 0
        while not self.stop.is_set():
            name = f"text-{number}"
            document = self.wanted[number % len(self.wanted)].having(id=name)
            self._insist(
                client,
                "documents",
                {"documents": [json.loads(codec.encode(document))], "who": "Ada"},
            )
            after = 0
            for mention in document.mentions[:50]:
                here = {"spans": mention.spans, "type": mention.type}
                item = json.dumps(mention.key, separators=(",", ":"))  # as it is kept
                edits = [{"item": item, "after": draw.choice([None, here])}]
                mark = secrets.token_hex(16)
                step = {"document": name, "id": mark, "who": "Ada", "after": after, "edits": edits}
                (saved,) = self._insist(client, "steps", step)["steps"]
                after = saved["number"]
                self.steps[mark] = (after, name, edits)
                # not before: there is one decision at least, also on a busy machine
                if self.stop.is_set():
                    break
            number += 1

    def _insist(self, client: fascicle.Client, what: str, body: dict[str, Any]) -> Any:
        """What the service says to something that a curator sends, however often it takes."""
        call = Call(method="POST", path=f"/v1/curation/{what}", content=json.dumps(body).encode())
        while True:
            try:
                return json.loads(client.call(call))
            except ServiceError as error:
                with self.lock:
                    self.given_up += 1
                if error.status:
                    raise


def _result(client: fascicle.Client, name: str) -> bytes:
    """The result of a job, when it is done."""
    while True:
        status = json.loads(client.call(Call(method="GET", path=f"/v1/jobs/{name}")))["status"]
        if status not in ("waiting", "running"):
            return client.call(Call(method="GET", path=f"/v1/jobs/{name}/result"))
        time.sleep(0.1)


def _missing(path: Path, steps: dict[str, tuple[int, str, list[Any]]]) -> set[str]:
    """Steps that were acknowledged, and are not in the database as they were sent."""
    told = dict(list(steps.items()))
    if not told:
        return set()
    query = (
        "SELECT s.id, s.number, d.id, s.content FROM steps s JOIN documents d ON d.place = "
        "s.document"
    )
    with closing(sqlite3.connect(path, timeout=60)) as connection:
        sound = connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows = {
            row[0]: (row[1], row[2], json.loads(row[3]).get("edits", []))
            for row in connection.execute(query)
        }
    same = json.loads(json.dumps(told))
    return {mark for mark, step in same.items() if not sound or list(rows.get(mark, ())) != step}


def _offline(place: Path) -> bytes:
    """The parts of a run of the same file, one after the other."""
    command = [
        sys.executable,
        "-m",
        "fascicle",
        "run",
        str(place / "in.jsonl"),
        "--pipeline",
        str(place),
    ]
    subprocess.run([*command, "-o", str(place / "offline")], check=True, stderr=subprocess.DEVNULL)
    return b"".join(path.read_bytes() for path in sorted((place / "offline").glob("part-*")))


@contextmanager
def _started(place: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """A service of a pipeline, with jobs and decisions."""
    words = [str(place / "pipeline.toml"), "--port", str(port), "--jobs", str(place / "jobs")]
    with _started_with(place, [*words, "--curation", str(place / "decisions.sqlite")]) as process:
        yield process


@contextmanager
def _started_with(place: Path, words: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A service in a group and a folder of its own; its log goes behind that of the one before."""
    command = [sys.executable, "-m", "fascicle", "serve", *words]
    with (place / "log").open("ab") as log:
        process = subprocess.Popen(command, stderr=log, start_new_session=True, cwd=place)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _is_ready(port: int) -> bool:
    """Whether the service answers now."""
    with (
        suppress(OSError),
        urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=0.5) as answer,
    ):
        return bool(answer.status == 200)
    return False


def _kill(process: subprocess.Popen[bytes]) -> int:
    """Kills a service; returns how many of its workers live on."""
    if process.poll() is not None:
        sys.exit(f"the service ended by itself, with {process.returncode}")
    below = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    _, alive = psutil.wait_procs(below, timeout=10)
    return len(alive)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(60)


def _errors(place: Path) -> int:
    """Answers with a status of 500 and more, and whatever else the log has that is no line of
    it.
    """
    count = 0
    for line in (place / "log").read_text(encoding="utf-8").splitlines():
        try:
            count += json.loads(line).get("status", 0) >= 500
        except ValueError:
            count += "Traceback" in line
    return count


def _left(place: Path) -> int:
    """Folders of jobs that no service knows of."""
    return sum(
        one.is_dir() and not (one / "job.json").is_file() for one in (place / "jobs").iterdir()
    )


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


if __name__ == "__main__":
    main()
