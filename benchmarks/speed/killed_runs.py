"""Kills a run of a pipeline, its workers and itself, at random moments; nothing may be lost or doubled.

usage: python -m benchmarks.speed.killed_runs [--documents 10000] [--kills 100] [--seed 1] [--workers 2]

The documents are the example abstracts, in turns, under ids of their own, and go through the dictionary of the examples
in shards of 100. Every fourth kill is of the run itself, which is then started again with ``--resume``. The parts must
have the bytes of those of a run that nobody disturbs.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.common import ROOT, write_result
from fascicle.core import codec
from fascicle.core.document import Document

_EXAMPLES = ROOT / "examples"
_PIPELINE = """
[[steps]]
kind = "recogniser"
model = "{names}"
[shards]
documents = 100
"""


def main() -> None:
    """Measures and writes ``results/killed-runs.json``; ends with an error if a byte differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        _prepare(place, args.documents)
        begun = time.monotonic()
        _started(place, "calm", args.workers).wait()
        calm = time.monotonic() - begun
        chance = random.Random(args.seed)
        kills, starts = _disturbed(place, args.workers, args.kills, chance)
        same = _parts(place / "calm") == _parts(place / "killed")
    facts = {"documents": args.documents, "kills": kills, "starts": starts, "calm_seconds": calm, "same_bytes": same}
    write_result("killed-runs", {**facts, "seed": args.seed, "workers": args.workers})
    sys.stdout.write(f"{facts}\n")
    if not same:
        sys.exit("the parts differ")


def _prepare(place: Path, count: int) -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted((_EXAMPLES / "abstracts").glob("*.txt"))]
    with (place / "in.jsonl").open("wb") as stream:
        for number in range(count):
            stream.write(codec.encode(Document(id=f"d{number}", text=texts[number % len(texts)])) + b"\n")
    names = _EXAMPLES / "from-a-dictionary" / "names.tsv"
    (place / "pipeline.toml").write_text(_PIPELINE.replace("{names}", str(names)), encoding="utf-8")


def _started(place: Path, name: str, workers: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "fascicle", "run", str(place / "in.jsonl"), "--pipeline", str(place)]
    command += ["-o", str(place / name), "--workers", str(workers), "--resume"]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def _disturbed(place: Path, workers: int, most: int, chance: random.Random) -> tuple[int, int]:
    """Runs until all is done; returns how often something was killed, and how often the run was started."""
    kills, starts = 0, 0
    while not (place / "killed" / "_SUCCESS").exists():
        run = _started(place, "killed", workers)
        starts += 1
        while run.poll() is None:
            if kills >= most:
                run.wait()
                break
            time.sleep(chance.uniform(0.2, 1.5))
            victims = [run.pid] if kills % 4 == 3 else _children(run.pid)
            if victims and run.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(chance.choice(victims), signal.SIGKILL)
                    kills += 1
    return kills, starts


def _children(pid: int) -> list[int]:
    """The workers of a run, and whatever else it started (Linux)."""
    with contextlib.suppress(OSError):
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    return []


def _parts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("part-*"))}


if __name__ == "__main__":
    main()
