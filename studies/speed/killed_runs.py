"""Kills runs of a pipeline, their workers and themselves, at random moments; nothing may be lost or
doubled.

usage: python -m studies.speed.killed_runs [--documents 10000] [--kills 100] [--seed 1] [--workers
2] [--model]

The documents and the pipelines are those of ``studies.speed.runs``, in shards of 100. Every fourth
kill is of the run itself, which is then started again with ``--resume``. When a run ends before
there were enough kills, another one begins. The parts of each must have the bytes of those of a run
that nobody disturbs, which has every document once.
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
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from fascicle.core import codec
from studies.common import write_result
from studies.speed.runs import prepare


def main() -> None:
    """Measures and writes ``results/killed-runs.json``; ends with an error if a byte differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--model", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        prepare(place, args.documents, model=args.model)
        begun = time.monotonic()
        _started(place, "calm", args.workers).wait()
        calm = time.monotonic() - begun
        whole = _parts(place / "calm")
        ids = [codec.decode(line).id for part in whole.values() for line in part.splitlines()]
        same = sorted(ids) == sorted(f"d{number}" for number in range(args.documents))
        killer = _Killer(
            random.Random(args.seed), most=args.kills, pause=max(1.5, 2 * calm / args.kills)
        )
        runs = 0
        while killer.kills < args.kills:
            killer.disturb(place, f"killed-{runs}", args.workers)
            same = same and _parts(place / f"killed-{runs}") == whole
            runs += 1
    facts: dict[str, object] = {
        "documents": args.documents,
        "kills": killer.kills,
        "starts": killer.starts,
    }
    facts |= {"runs": runs, "calm_seconds": calm, "same_bytes": same}
    name = "killed-runs-model" if args.model else "killed-runs"
    write_result(name, {**facts, "seed": args.seed, "workers": args.workers})
    sys.stdout.write(f"{facts}\n")
    if not same:
        sys.exit("the parts differ")


def _started(place: Path, name: str, workers: int) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-m",
        "fascicle",
        "run",
        str(place / "in.jsonl"),
        "--pipeline",
        str(place),
    ]
    command += ["-o", str(place / name), "--workers", str(workers), "--resume"]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


@dataclass
class _Killer:
    """Kills at random moments.

    Attributes:
        chance: decides when, and whom.
        most: kills.
        pause: seconds between two of them at most.
        kills: so far.
        starts: of runs, so far.
    """

    chance: random.Random
    _: KW_ONLY
    most: int
    pause: float
    kills: int = 0
    starts: int = 0

    def disturb(self, place: Path, name: str, workers: int) -> None:
        """Starts a run, and starts it again, until all is done."""
        while not (place / name / "_SUCCESS").exists():
            run = _started(place, name, workers)
            self.starts += 1
            while run.poll() is None and self.kills < self.most:
                time.sleep(self.chance.uniform(0.2, self.pause))
                victims = [run.pid] if self.kills % 4 == 3 else children(run.pid)
                if victims and run.poll() is None:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(self.chance.choice(victims), signal.SIGKILL)
                        self.kills += 1
            if run.wait() not in (0, -signal.SIGKILL):
                sys.exit(f"{name} ended with {run.returncode}")


def children(pid: int) -> list[int]:
    """The workers of a run, and whatever else it started (Linux)."""
    with contextlib.suppress(OSError):
        return [
            int(one)
            for one in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        ]
    return []


def _parts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("part-*"))}


if __name__ == "__main__":
    main()
