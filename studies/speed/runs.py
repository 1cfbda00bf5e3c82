"""What runs of a pipeline cost: memory over many documents, two workers against one, a pipeline
against its steps.

usage: python -m studies.speed.runs memory [--documents 100000]
       python -m studies.speed.runs workers [--documents 40000, or 1000 with --model] [--repeats 3]
       [--model] python -m studies.speed.runs overhead [--documents 200] [--repeats 5] [--model]
       python -m studies.speed.runs start [--repeats 7]
       python -m studies.speed.runs damaged [--documents 10000]

The documents are the example abstracts, in turns, under ids of their own. They go through a finder
of abbreviations and the names of the shipped term pack; with ``--model`` through the pipeline of
the examples, which has the shipped model.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.core.patches import apply
from fascicle.pipeline.loading import PipelineOpener, open_pipeline
from fascicle.pipeline.pipeline import Pipeline
from fascicle.pipeline.running.run import Run, RunProgress
from fascicle.pipeline.running.supervisor import Supervisor
from studies.common import ROOT, take_turns, write_result

EXAMPLES = ROOT / "examples"
PIPELINE = """
[[steps]]
kind = "abbreviations"
[[steps]]
kind = "dictionary"
pack = "basic"
[shards]
documents = {documents}
"""
_DAMAGED = (
    *("medline", "jats", "jats-tables", "bioc"),
    *("bioc-json", "bioc-json-lines", "jsonl", "json-array", "json-label-studio", "jsonl-bigbio"),
)
_BLOCK = 10  # neighbouring measurements of memory, which depend on each other, are drawn together
_DRAWS = 2_000
_PAGE = os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    """Measures one of them and writes its results file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("memory", "workers", "overhead", "start", "damaged"))
    parser.add_argument("--documents", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=0)
    parser.add_argument("--model", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if args.what == "memory":
            name, found = "runs-memory", memory(place, args.documents or 100_000)
        elif args.what == "workers":
            found = workers(
                place,
                args.documents or (1_000 if args.model else 40_000),
                repeats=args.repeats or 3,
                model=args.model,
            )
            name = "runs-workers"
        elif args.what == "start":
            name, found = "runs-start", start(place, repeats=args.repeats or 7)
        elif args.what == "damaged":
            name, found = "runs-damaged", damaged(place, args.documents or 10_000)
        else:
            found = overhead(
                place, args.documents or 200, repeats=args.repeats or 5, model=args.model
            )
            name = "runs-overhead"
    name += "-model" if args.model else ""
    write_result(name, {"model": args.model, **found})
    sys.stdout.write(
        f"{name}: { {key: value for key, value in found.items() if key != 'samples'} }\n"
    )


def texts() -> list[str]:
    """The example abstracts."""
    return [
        path.read_text(encoding="utf-8") for path in sorted((EXAMPLES / "abstracts").glob("*.txt"))
    ]


def documents(count: int) -> list[Document]:
    """The example abstracts in turns, under ids of their own."""
    given = texts()
    return [Document(id=f"d{number}", text=given[number % len(given)]) for number in range(count)]


def prepare(place: Path, count: int, *, model: bool = False, shard: int = 100) -> str:
    """Writes ``in.jsonl`` and, for dictionary steps, ``pipeline.toml``; returns the path of the
    pipeline.
    """
    given = texts()
    with (place / "in.jsonl").open("wb") as stream:
        for number in range(count):
            stream.write(
                codec.encode(Document(id=f"d{number}", text=given[number % len(given)])) + b"\n"
            )
    if model:
        settings = (
            (EXAMPLES / "pipeline" / "pipeline.toml")
            .read_text(encoding="utf-8")
            .replace("../", f"{EXAMPLES}/")
        )
        settings += f"\n[shards]\ndocuments = {shard}\n"
    else:
        settings = PIPELINE.replace("{documents}", str(shard))
    (place / "pipeline.toml").write_text(settings, encoding="utf-8")
    return str(place / "pipeline.toml")


def memory(place: Path, count: int) -> dict[str, Any]:
    """MiB of the worker and of the run against documents done, after the first fifth; one worker
    that never ends.
    """
    opener = PipelineOpener(given=prepare(place, count, shard=max(count // 1_000, 1)))
    run = Run.of([str(place / "in.jsonl")], opener, str(place / "out"))
    crew: list[Supervisor] = []
    samples: list[tuple[int, float, float]] = []

    def see(now: RunProgress) -> None:
        if now.documents != (samples[-1][0] if samples else 0) and crew[0].pids:
            samples.append((now.documents, _own(crew[0].pids[0]), _own(os.getpid())))

    run.do(progress=see, started=crew.append)
    kept = [sample for sample in samples if sample[0] > count // 5]
    done = [sample[0] / 100_000 for sample in kept]
    return {
        "documents": count,
        "worker_mib_per_100000": slope(done, [sample[1] for sample in kept]),
        "run_mib_per_100000": slope(done, [sample[2] for sample in kept]),
        "worker_mib": kept[-1][1],
        "run_mib": kept[-1][2],
        "samples": samples[:: max(len(samples) // 200, 1)],
    }


def start(place: Path, *, repeats: int) -> dict[str, Any]:
    """Seconds of whole processes that annotate one abstract with the shipped model, in turns."""
    prepare(place, 1)
    (place / "pipeline.toml").write_text(
        '[[steps]]\nkind = "recogniser"\nmodel = "biomed"\n', encoding="utf-8"
    )
    seconds: dict[str, list[float]] = {"annotate": [], "run": []}
    for turn in range(repeats + 1):
        for name, more in (
            ("annotate", ["--model", "biomed"]),
            ("run", ["--pipeline", str(place)]),
        ):
            command = [sys.executable, "-m", "fascicle", name, str(place / "in.jsonl"), *more]
            begun = time.perf_counter()
            subprocess.run(
                [*command, "-o", str(place / f"{name}-{turn}.jsonl")],
                check=True,
                stderr=subprocess.DEVNULL,
            )
            if turn:  # the first one warms up
                seconds[name].append(time.perf_counter() - begun)
    ratio = statistics.median(
        b / a for a, b in zip(seconds["annotate"], seconds["run"], strict=True)
    )
    return {"seconds": seconds, "ratio": ratio}


def damaged(place: Path, count: int) -> dict[str, Any]:
    """Damaged files of XML and JSON, as many of each kind, under the rules of
    ``tests/torture/fuzz_readers.py``.
    """
    command = [
        sys.executable,
        str(ROOT / "tests" / "torture" / "fuzz_readers.py"),
        "--processes",
        "2",
    ]
    command += [word for kind in _DAMAGED for word in ("--only", kind)]
    command += ["--count", str(count // len(_DAMAGED)), "--results", str(place / "found.json")]
    subprocess.run(command, check=False)
    found: dict[str, Any] = json.loads((place / "found.json").read_bytes())
    return found


def _own(pid: int) -> float:
    """MiB of a process that it shares with no file."""
    try:
        resident, shared = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1:3]
    except OSError:
        return float("nan")
    return (int(resident) - int(shared)) * _PAGE / 2**20


def slope(at: Sequence[float], values: Sequence[float]) -> dict[str, float]:
    """Least squares, with a 95 % interval by drawing blocks of neighbours."""
    x, y = np.array(at), np.array(values)
    good = ~np.isnan(y)
    x, y = x[good], y[good]
    chance = np.random.default_rng(1)
    starts = np.arange(max(len(x) - _BLOCK, 1))
    draws = []
    for _ in range(_DRAWS):
        chosen = chance.choice(starts, size=max(len(x) // _BLOCK, 2))
        rows = np.concatenate([np.arange(one, min(one + _BLOCK, len(x))) for one in chosen])
        if np.ptp(x[rows]) > 0:
            draws.append(np.polyfit(x[rows], y[rows], 1)[0])
    low, high = np.quantile(draws, (0.025, 0.975))
    return {"estimate": float(np.polyfit(x, y, 1)[0]), "low": float(low), "high": float(high)}


def workers(place: Path, count: int, *, repeats: int, model: bool) -> dict[str, Any]:
    """Seconds of whole runs with one and with two workers, in turns."""
    opener = PipelineOpener(given=prepare(place, count, model=model, shard=max(count // 40, 1)))
    seconds: dict[int, list[float]] = {1: [], 2: []}
    work: dict[int, list[float]] = {1: [], 2: []}
    for turn in range(repeats):
        for number in (1, 2) if turn % 2 else (2, 1):
            run = Run.of(
                [str(place / "in.jsonl")],
                opener,
                str(place / f"out-{turn}-{number}"),
                workers=number,
            )
            started: list[float] = []
            begun = time.perf_counter()
            run.do(started=lambda _, at=started: at.append(time.perf_counter()))
            ended = time.perf_counter()
            seconds[number].append(ended - begun)
            work[number].append(ended - started[0])
    characters = sum(map(len, texts())) * count / len(texts())
    return {
        "documents": count,
        "characters": round(characters),
        "seconds": seconds,
        "seconds_of_work": work,
        "ratio": statistics.median(
            one / two for one, two in zip(seconds[1], seconds[2], strict=True)
        ),
        "ratio_of_work": statistics.median(
            one / two for one, two in zip(work[1], work[2], strict=True)
        ),
        "documents_per_second": {
            number: count / statistics.median(found) for number, found in work.items()
        },
    }


def overhead(place: Path, count: int, *, repeats: int, model: bool) -> dict[str, Any]:
    """CPU time of a pipeline against its steps, one after the other, on the same batches."""
    given = documents(count)
    with open_pipeline(prepare(place, count, model=model)) as pipeline:
        alone = _alone(pipeline, given)
        gc.collect()
        gc.freeze()  # as in a worker
        found = take_turns(
            alone,
            lambda: deque(pipeline.results(given), maxlen=0),
            repeats=repeats,
            other="pipeline",
        )
    return {"documents": count, "overhead": found["ratio"], **found}


def _alone(pipeline: Pipeline, given: Sequence[Document]) -> Callable[[], None]:
    """Runs each step on the documents as the steps before it left them."""
    from fascicle.pipeline.runner import batches

    calls = []
    for batch in batches(given, characters=pipeline.limits.batch):
        now = list(batch)
        for step in pipeline.steps:
            calls.append((step, now))
            now = [
                apply(one, patch, step=step.name, drops=step.drops)
                for one, patch in zip(now, step.run(now), strict=True)
            ]

    def run() -> None:
        for step, documents in calls:
            list(step.run(documents))

    return run


if __name__ == "__main__":
    main()
