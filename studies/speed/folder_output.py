"""What one output file for each input costs beside one file for all: CPU and wall time, and time to
the first file.

usage: python -m studies.speed.folder_output [--files 10000] [--rounds 3] [--unit abstract|sentence]
[--model biomed]

The texts are the example abstracts, or sentences of them, one in a file. Both commands run in
processes of their own, in turns, so that a noisy machine disturbs both alike. Between them a bare
loop writes as many files of the same sizes: that is what the file system itself takes, which no
program can avoid.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from studies.common import ROOT, write_result

_ABSTRACTS = ROOT / "examples" / "abstracts"
_LEAST = 40  # characters of a sentence
_LOOK = 0.005  # seconds between two looks at a folder


def main() -> None:
    """Measures and writes ``results/folder-output.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--unit", choices=("abstract", "sentence"), default="abstract")
    parser.add_argument("--model", default="biomed")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        make_texts(place / "texts", count=args.files, unit=args.unit)
        report = measure(place, model=args.model, rounds=args.rounds)
    write_result(
        f"folder-output-{args.unit}s", {"files": args.files, "model": args.model, **report}
    )
    print(report)


def make_texts(folder: Path, *, count: int, unit: str) -> None:
    """Writes texts: abstracts, or single sentences."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(_ABSTRACTS.glob("*.txt"))]
    if unit == "sentence":
        texts = [
            found for text in texts for found in re.split(r"(?<=\.)\s", text) if len(found) > _LEAST
        ]
    draw = random.Random(1)
    folder.mkdir()
    for number in range(count):
        (folder / f"text-{number:06}.txt").write_text(draw.choice(texts), encoding="utf-8")


def measure(place: Path, *, model: str, rounds: int) -> dict[str, object]:
    """Runs both commands in turns; times in seconds."""
    rows: list[dict[str, float]] = []
    for number in range(rounds):
        one = run(place / "texts", place / f"one-{number}.jsonl", model=model)
        many = run(place / "texts", place / f"many-{number}", model=model)
        bare = write_bare(place / f"many-{number}", place / f"bare-{number}")
        named = (("one", one), ("many", many), ("bare", bare))
        rows.append({f"{name}_{key}": value for name, row in named for key, value in row.items()})
    return {
        "cpu_ratio": statistics.median(row["many_cpu"] / row["one_cpu"] for row in rows),
        "cpu_ratio_without_file_system": statistics.median(
            (row["many_cpu"] - row["bare_cpu"]) / row["one_cpu"] for row in rows
        ),
        "wall_ratio": statistics.median(row["many_wall"] / row["one_wall"] for row in rows),
        "first_file": statistics.median(row["many_first"] for row in rows),
        "rounds": rows,
    }


def run(texts: Path, output: Path, *, model: str) -> dict[str, float]:
    """One command: its CPU and wall time, and when its first file (or the beginning of its only
    one) was there.
    """
    command = [sys.executable, "-m", "fascicle", "annotate", str(texts), "--model", model, "-o"]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    first: list[float] = []
    target = str(output) if output.suffix else f"{output}/"
    process = subprocess.Popen([*command, target], stderr=subprocess.DEVNULL)
    watcher = threading.Thread(target=watch, args=(output, process, first, start))
    watcher.start()
    process.wait()
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    watcher.join()
    if process.returncode:
        raise SystemExit(f"the command ended with {process.returncode}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu": cpu, "wall": wall, "first": first[0] if first else wall}


def write_bare(source: Path, target: Path) -> dict[str, float]:
    """Writes copies of all files of a folder, with nothing around it, and brings them to the
    disk once.
    """
    contents = {path.name: path.read_bytes() for path in source.iterdir() if path.is_file()}
    target.mkdir()
    start, before = time.monotonic(), time.process_time()
    for name, content in contents.items():
        (target / name).write_bytes(content)
    os.sync()
    return {"cpu": time.process_time() - before, "wall": time.monotonic() - start}


def watch(output: Path, process: subprocess.Popen[bytes], first: list[float], start: float) -> None:
    """Notes when the first output was there: a file in a folder, or the first bytes of the part
    of one file.
    """
    while process.poll() is None and not first:
        if is_there(output):
            first.append(time.monotonic() - start)
        time.sleep(_LOOK)


def is_there(output: Path) -> bool:
    """Whether a folder has a visible file, or one file has begun to grow beside its name."""
    if output.suffix:
        part = output.with_name(f"{output.name}.part")
        return part.exists() and part.stat().st_size > 0
    return output.is_dir() and any(not entry.name.startswith(".") for entry in output.iterdir())


if __name__ == "__main__":
    main()
