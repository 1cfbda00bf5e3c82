"""CPU time and memory of this build over those of another one, such as the one before a part of the
work.

usage: python -m studies.speed.since --before FOLDER [--rounds 5] [--citations 1000] [--beside TEXT]
[--only JOB ...]

``FOLDER`` has the sources of the other build (``git archive COMMIT src | tar x -C FOLDER``), and
``FASCICLE_DATA`` names the corpora. Each build has a process of its own with one thread, and they
take turns; the first round, which imports, does not count. Each build uses the linker and the pack
that it ships; ``biomed-fast@2`` is in both. Written: ``results/since.json``, in which jobs that are
not measured keep their rows.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from studies.speed.clock import Clock, SameProcess, TimedScorer
from studies.speed.workers import Worker

# What imports Fascicle is imported where it is used: a worker has that of another build.

_MODEL: Final = "biomed-fast@2"
_SHARE: Final = 6  # of so many names of the shipped pack one is in the pack that is built
_PEAK: Final = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
_SOURCES: Final = """
name = "since"
[sources.x]
path = "ids.tsv"
reader = "table"
type = "Chemical"
columns = { id = "id", name = "name" }
"""


def main() -> None:
    """Measures, prints and writes; as a worker, does the jobs that it is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--before", type=Path, help="folder with src of the other build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--citations", type=int, default=1_000)
    parser.add_argument("--beside", default="nothing else")
    parser.add_argument("--only", nargs="*", choices=JOBS, default=list(JOBS))
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        for line in sys.stdin:
            sys.stdout.write(json.dumps(JOBS[line.strip()](args.work)) + "\n")
            sys.stdout.flush()
        return
    if not args.before:
        parser.error("--before names the folder with src of the other build")
    from studies.common import result, write_result

    with tempfile.TemporaryDirectory() as folder:
        make_inputs(Path(folder), args.citations)
        for job, row in measure(Path(folder), args.before, args.only, args.rounds):
            sys.stdout.write(f"{job}: {row}\n")
            sys.stdout.flush()
            jobs = {**result("since").get("jobs", {}), job: row}
            write_result("since", {"beside": args.beside, "jobs": jobs})


def make_inputs(folder: Path, citations: int) -> None:
    """Makes the files that both builds read."""
    from studies.speed import ratios
    from studies.speed.citations import PIPELINE, write_citations

    write_citations(folder / "citations.xml.gz", citations)
    pipeline = PIPELINE.format(model=_MODEL, shard=2_000)
    (folder / "pipeline.toml").write_text(pipeline, encoding="utf-8")
    ratios.write_texts(folder)
    ratios.write_names(folder)
    names = (folder / "names.txt").read_text(encoding="utf-8").splitlines()[::_SHARE]
    rows = "".join(f"x:{number}\t{name}\n" for number, name in enumerate(names))
    (folder / "ids.tsv").write_text(f"id\tname\n{rows}", encoding="utf-8")
    (folder / "sources.toml").write_text(_SOURCES, encoding="utf-8")
    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    lines = (json.dumps({"id": str(n), "text": text}) for n, text in enumerate(texts))
    (folder / "abstracts.jsonl").write_text("\n".join(lines), encoding="utf-8")


def measure(
    folder: Path, before: Path, jobs: Sequence[str], rounds: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each job with the medians of both builds, and median, least and greatest of the ratios."""
    sources = {"before": before.resolve() / "src", "now": Path("src").resolve()}
    workers = {
        side: Worker(
            "studies.speed.since",
            ["--work", folder],
            {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(path), **_ALONE},
        )
        for side, path in sources.items()
    }
    for job in jobs:
        values: dict[str, list[float]] = {side: [] for side in workers}
        for number in range(rounds + 1):
            for side in sorted(workers, reverse=number % 2 == 1):
                values[side].append(workers[side].ask(job)["value"])
        now, old = values["now"][1:], values["before"][1:]
        ratios = sorted(a / b for a, b in zip(now, old, strict=True))
        yield (
            job,
            {
                "before": statistics.median(old),
                "now": statistics.median(now),
                "ratio": [statistics.median(ratios), ratios[0], ratios[-1]],
                "rounds": rounds,
            },
        )
    for worker in workers.values():
        worker.end()


_ALONE: Final = MappingProxyType({"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"})


def _run(folder: Path) -> dict[str, float]:
    """CPU seconds of a run without its network, and without opening the model."""
    import fascicle.pipeline.loading as opening
    from fascicle.pipeline.running.run import Run
    from fascicle.runtime.predictor import ModelPredictor

    clock, score = Clock(), ModelPredictor._score
    opened = clock.around("load", opening.open_pipeline)

    def timed(self: Any, *args: Any) -> Any:
        inner = self._scorer
        self._scorer = TimedScorer(inner, clock)
        try:
            return score(self, *args)
        finally:
            self._scorer = inner

    changed = ((ModelPredictor, "_score", timed), (opening, "open_pipeline", opened))
    before = [(owner, name, vars(owner)[name]) for owner, name, _ in changed]
    for owner, name, work in changed:
        setattr(owner, name, work)
    try:
        with tempfile.TemporaryDirectory() as out, clock.stage("rest"):
            opener = opening.PipelineOpener(given=str(folder / "pipeline.toml"))
            Run.of([str(folder / "citations.xml.gz")], opener, f"{out}/run", pool=SameProcess).do()
    finally:
        for owner, name, work in before:
            setattr(owner, name, work)
    return {"value": clock.spent["rest"], **clock.spent}


def _build(folder: Path) -> dict[str, float]:
    """CPU seconds of a pack of a sixth of the names of the shipped one, each a concept."""
    from fascicle.cli import main as command

    with tempfile.TemporaryDirectory() as out:
        started = time.process_time()
        sys.stdout, before = sys.stderr, sys.stdout
        try:
            code = command(["index", "build", str(folder / "sources.toml"), "-o", f"{out}/pack"])
        finally:
            sys.stdout = before
        if code:
            raise RuntimeError(f"index build returned {code}")
        return {"value": time.process_time() - started}


def _abbreviations(folder: Path) -> dict[str, float]:
    """CPU seconds of the short forms of 1,000 abstracts."""
    from fascicle.core.document import Document
    from fascicle.terms.abbreviations.finder import find_abbreviations

    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    documents = [Document(id=str(number), text=text) for number, text in enumerate(texts)]
    started = time.process_time()
    for document in documents:
        find_abbreviations(document)
    return {"value": time.process_time() - started}


def _memory(folder: Path) -> dict[str, float]:
    """MB of the largest resident set of ``annotate`` with links over 1,000 abstracts."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "fascicle", "annotate", str(folder / "abstracts.jsonl")]
        command += ["-o", f"{out}/out.jsonl", "--model", _MODEL, "--link", "--threads", "1"]
        done = subprocess.run(
            [sys.executable, "-c", _PEAK, *command], check=True, stdout=subprocess.PIPE, text=True
        )
    return {"value": int(done.stdout.split()[-1]) * 1024 / 1e6}


JOBS: Final = MappingProxyType(
    {
        "everything but the network in a run": _run,
        "a pack built": _build,
        "abbreviations": _abbreviations,
        "memory of annotate with links": _memory,
    }
)

if __name__ == "__main__":
    main()
