"""Runs of a pipeline over up to a million documents: memory, bytes after kills, costs of planning,
finishing, updating.

usage: python -m studies.speed.scale [--documents 1000000] [--workers 2] [--kills 5] [--changed
       1000] [--seed 1] [--without killed grown updated ray s3] [--beside TEXT]

A document is a part of an example abstract under an id of its own. It goes through a finder of
abbreviations, the names of the shipped term pack, two rules and a choice. Each part of the script
is one question:

- ``killed``: a run that is killed at random moments, itself or a worker in turns, against one that
  nobody disturbs: the same bytes, each document once, and memory that does not grow;
- ``grown``: CPU seconds of planning and of finishing an eighth, a quarter, half and all of the
  documents;
- ``updated``: CPU seconds of ``--update`` with so many changed documents against those of the run
  before;
- ``ray``: a run on a cluster of three nodes of this machine, one of which is killed (needs
  ``ray``);
- ``s3``: a run from and to a server of S3 on this machine (needs ``moto[server]`` and ``s3fs``).

Written: ``results/scale.json``, in which parts that are left out stay as they were.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.util
import json
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.pipeline.loading import PipelineOpener
from fascicle.pipeline.running.run import Run
from fascicle.pipeline.workers import own_mebibytes
from studies.common import result, write_result
from studies.speed.killed_runs import children
from studies.speed.runs import slope, texts

_CHARACTERS = 300  # of a document
_NODES = 3
PIPELINE = """
[[steps]]
kind = "abbreviations"
[[steps]]
kind = "dictionary"
name = "names"
pack = "basic"
[[steps]]
kind = "rules"
name = "doses"
[[steps.rules]]
type = "Dose"
words = '\\d+ (mg|g|ml)'
tests = [{ text = "They took 5 mg of it.", find = ["5 mg"] }]
[[steps.rules]]
type = "Share"
words = '\\d+ (percent|per cent)'
tests = [{ text = "It was 5 percent.", find = ["5 percent"] }]
[[steps]]
kind = "choice"
sources = ["names", "doses"]
keep = "nested"
"""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is measured.

    Attributes:
        place: folder for everything.
        documents: how many.
        workers: at a time.
        kills: of one run.
        changed: documents of the update.
        seed: of what happens at random.
    """

    place: Path
    documents: int
    workers: int
    kills: int
    changed: int
    seed: int

    @property
    def source(self) -> Path:
        """The file of the documents."""
        return self.place / "in.jsonl"

    @property
    def pipeline(self) -> Path:
        """The file of the pipeline."""
        return self.place / "pipeline.toml"


def main() -> None:
    """Measures and writes ``results/scale.json``; ends with an error if a byte differs or a
    document is not there.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--changed", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without", nargs="*", default=[], choices=list(PARTS))
    parser.add_argument("--beside", default="nothing else")
    args = parser.parse_args()
    facts = {
        "documents": args.documents,
        "workers": args.workers,
        "seed": args.seed,
        "beside": args.beside,
    }
    report: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        asked = Asked(
            place=Path(folder),
            documents=args.documents,
            workers=args.workers,
            kills=args.kills,
            changed=args.changed,
            seed=args.seed,
        )
        asked.pipeline.write_text(PIPELINE, encoding="utf-8")
        write_documents(asked.source, range(args.documents))
        calm, found = undisturbed(asked)
        report["calm"] = {**facts, **found}
        for name, part in PARTS.items():
            if name not in args.without:
                report[name] = {**facts, **part(asked, calm)}
                sys.stdout.write(f"{name}: {json.dumps(report[name])[:2_000]}\n")
    write_result("scale", {"parts": {**result("scale").get("parts", {}), **report}})
    if wrong := [
        name
        for name, found in report.items()
        if not (found.get("same_bytes", True) and found.get("each_once", True))
    ]:
        sys.exit(
            f"the parts are not those of a calm run with each document once: {', '.join(wrong)}"
        )


def write_documents(path: Path, numbers: range, *, mark: str = "") -> None:
    """Writes the documents of these numbers; a mark at the end of each text makes it another
    one.
    """
    parts = [
        text[at : at + _CHARACTERS] for text in texts() for at in range(0, len(text), _CHARACTERS)
    ]
    with path.open("wb") as stream:
        for number in numbers:
            stream.write(
                codec.encode(Document(id=f"d{number}", text=parts[number % len(parts)] + mark))
                + b"\n"
            )


def started(
    asked: Asked, out: str, *, inputs: tuple[str, ...] = (), more: tuple[str, ...] = ()
) -> subprocess.Popen[bytes]:
    """Begins a run, or goes on with it."""
    command = [sys.executable, "-m", "fascicle", "run", *(inputs or (str(asked.source),))]
    command += ["--pipeline", str(asked.pipeline), "-o", out, "--workers", str(asked.workers)]
    return subprocess.Popen([*command, *(more or ("--resume",))], stderr=subprocess.PIPE)


def ended(run: subprocess.Popen[bytes]) -> None:
    """Waits for a run that nobody kills."""
    _, said = run.communicate()
    if run.returncode:
        sys.exit(f"a run ended with {run.returncode}: {said.decode()[-1_000:]}")


def sums(folder: Path) -> dict[str, str]:
    """The hash of each part."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob("part-*"))
    }


def undisturbed(asked: Asked) -> tuple[dict[str, str], dict[str, Any]]:
    """The hashes of the parts of a run that nobody disturbs, what it costs, and whether it has
    each document once.
    """
    before, begun = _cpu(), time.perf_counter()
    ended(started(asked, str(asked.place / "calm")))
    facts = {
        "cpu_seconds": round(_cpu() - before, 2),
        "seconds": round(time.perf_counter() - begun, 2),
    }
    return sums(asked.place / "calm"), {**facts, **identity(asked.place / "calm", asked.documents)}


def identity(folder: Path, count: int) -> dict[str, Any]:
    """Whether each document is in exactly one part, and the account says so."""
    seen = bytearray(count)
    for path in sorted(folder.glob("part-*")):
        with path.open("rb") as stream:
            for line in stream:
                seen[int(codec.decode(line).id[1:])] += 1
    account = json.loads((folder / "_SUCCESS").read_bytes())
    is_whole = account["documents"] == count == account["done"] + account["quarantined"]
    return {"account": account, "each_once": seen.count(1) == count and is_whole}


def killed(asked: Asked, calm: Mapping[str, str]) -> dict[str, Any]:
    """A run that is killed, again and again; memory of its processes against the documents that
    are done.
    """
    chance, folder = random.Random(asked.seed), asked.place / "killed"
    moments = sorted(chance.uniform(0.05, 0.9) for _ in range(asked.kills))
    samples: list[tuple[int, int, int]] = []
    starts = 0
    while not (folder / "_SUCCESS").exists():
        run, starts = started(asked, str(folder)), starts + 1
        while run.poll() is None:
            done = _done(folder, len(calm))
            workers = children(run.pid)
            samples.append(
                (done, own_mebibytes(run.pid), max(map(own_mebibytes, workers), default=0))
            )
            if moments and done >= moments[0] * len(calm) and workers:
                victim = run.pid if len(moments) % 2 else chance.choice(workers)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
                    moments.pop(0)
            time.sleep(0.2)
        run.communicate()
        if run.returncode not in (0, -signal.SIGKILL):
            sys.exit(f"the killed run ended with {run.returncode}")
    return {
        "kills": asked.kills - len(moments),
        "starts": starts,
        "same_bytes": sums(folder) == calm,
        **identity(folder, asked.documents),
        "memory": _memory(samples, asked.documents / len(calm)),
    }


def _done(folder: Path, shards: int) -> int:
    """Shards with a marker."""
    return min(shards, sum(1 for _ in folder.glob("done-*.json")))


def _memory(samples: list[tuple[int, int, int]], per_shard: float) -> dict[str, Any]:
    """MiB of the run and of its largest worker, after a fifth of the work, and how they grow.

    A run of seconds may end before it is seen at two places; then nothing is known of its growth.
    """
    most = max(one[0] for one in samples)
    kept = [one for one in samples if one[0] >= most / 5 and all(one[1:])]
    at = [one[0] * per_shard / 100_000 for one in kept]
    return {
        name: {
            "most_mib": max(values, default=None),
            "mib_per_100000": slope(at, values) if len(set(at)) > 1 else None,
        }
        for name, values in (
            ("run", [one[1] for one in kept]),
            ("worker", [one[2] for one in kept]),
        )
    }


def grown(asked: Asked, calm: Mapping[str, str]) -> dict[str, Any]:
    """CPU seconds of planning and finishing runs of several sizes, and how they grow.

    The growth is what each document of the last doubling costs, over what each document of the one
    before costs: 1 is linear, whatever a run costs at its start.
    """
    found: dict[int, dict[str, float]] = {}
    opener = PipelineOpener(given=str(asked.pipeline))
    for share in (8, 4, 2, 1):
        count = asked.documents // share
        path = asked.place / "some.jsonl"
        write_documents(path, range(count))
        run = Run.of(
            [str(path)], opener, str(asked.place / f"grown-{count}"), workers=asked.workers
        )
        clock: list[float] = []
        last: list[float] = []
        begun, spent = time.perf_counter(), time.process_time()
        planned: list[float] = []
        run.do(
            started=lambda _, planned=planned: planned.append(time.process_time()),
            progress=lambda now, clock=clock, last=last: (
                clock.append(now.documents),
                last.append(time.process_time()),
            ),
        )
        ends = next(at for at, documents in zip(last, clock, strict=True) if documents >= count)
        found[count] = {
            "planning_cpu_seconds": round(planned[0] - spent, 3),
            "finishing_cpu_seconds": round(time.process_time() - ends, 3),
            "seconds": round(time.perf_counter() - begun, 2),
        }
    costs = ("planning_cpu_seconds", "finishing_cpu_seconds")
    few, half, all_of_them = list(found.values())[-3:]
    return {
        "sizes": found,
        "growth": {
            name: round(
                (all_of_them[name] - half[name]) / max(2 * (half[name] - few[name]), 1e-9), 3
            )
            for name in costs
        },
    }


def updated(asked: Asked, calm: Mapping[str, str]) -> dict[str, Any]:
    """The cost of an update, whose documents are spread over all shards, against that of the run
    before it.
    """
    folder, other = asked.place / "updated", asked.place / "changed.jsonl"
    before = _cpu()
    ended(started(asked, str(folder), more=("--update",)))
    first = _cpu() - before
    step = max(1, asked.documents // asked.changed)
    write_documents(other, range(0, step * asked.changed, step), mark=" It was changed.")
    before = _cpu()
    ended(started(asked, str(folder), inputs=(str(asked.source), str(other)), more=("--update",)))
    again = _cpu() - before
    return {
        "changed": asked.changed,
        "cpu_seconds": {"run": round(first, 2), "update": round(again, 2)},
        "cpu_ms_a_document": {
            "run": round(1_000 * first / asked.documents, 4),
            "update": round(1_000 * again / asked.documents, 4),
        },
        "share": round(again / first, 4),
        **identity(folder, asked.documents),
    }


def ray(asked: Asked, calm: Mapping[str, str]) -> dict[str, Any]:
    """The same on a cluster, one node of which is killed when a third of the work is done."""
    if not importlib.util.find_spec("ray"):
        return {"missing": "ray is not installed"}
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    folder = asked.place / "ray"
    size: dict[str, Any] = {"num_cpus": 1, "memory": 5 << 30, "object_store_memory": 100 << 20}
    nodes = Cluster(initialize_head=True, head_node_args={**size, "include_dashboard": False})
    try:
        others = [nodes.add_node(**size) for _ in range(_NODES - 1)]
        run = started(asked, str(folder), more=("--resume", "--ray", nodes.address))
        while run.poll() is None and _done(folder, len(calm)) < len(calm) / 3:
            time.sleep(0.2)
        nodes.remove_node(others[0], allow_graceful=False)
        ended(run)
    finally:
        nodes.shutdown()
    return {
        "nodes": _NODES,
        "killed": 1,
        "same_bytes": sums(folder) == calm,
        **identity(folder, asked.documents),
    }


def s3(asked: Asked, calm: Mapping[str, str]) -> dict[str, Any]:
    """The same from and to an object store."""
    if not (importlib.util.find_spec("moto") and importlib.util.find_spec("s3fs")):
        return {"missing": "moto or s3fs is not installed"}
    with _store() as system:
        system.mkdir("bucket")
        system.put(str(asked.source), "bucket/in.jsonl")
        begun = time.perf_counter()
        ended(started(asked, "s3://bucket/out", inputs=("s3://bucket/in.jsonl",)))
        seconds = time.perf_counter() - begun
        near = asked.place / "s3"
        system.get("bucket/out/", str(near), recursive=True)
    return {
        "seconds": round(seconds, 2),
        "same_bytes": sums(near) == calm,
        **identity(near, asked.documents),
    }


@contextlib.contextmanager
def _store() -> Iterator[Any]:
    """A server that speaks S3, which the processes that start here are told of."""
    import s3fs

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.environ["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{port}"
    os.environ |= dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "test")
    os.environ["AWS_DEFAULT_REGION"] = "us-east-1"
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", port), timeout=1),
            ):
                break
            time.sleep(0.2)
        yield s3fs.S3FileSystem()
    finally:
        server.kill()
        server.wait()


def _cpu() -> float:
    """CPU seconds of the processes that this one started and that have ended, workers of runs
    included.
    """
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


PARTS: Mapping[str, Callable[[Asked, Mapping[str, str]], dict[str, Any]]] = {
    "killed": killed,
    "grown": grown,
    "updated": updated,
    "ray": ray,
    "s3": s3,
}

if __name__ == "__main__":
    main()
