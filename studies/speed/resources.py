"""Start-up time and peak memory of ``fascicle annotate``, each as a whole process.

usage: python -m studies.speed.resources [--rounds 7]

``FASCICLE_DATA`` names the corpora. Start-up takes turns with ``python -c "import torch,
transformers"``; the ratio is the median over rounds. Both are compiled before, as an installation
compiles them. Memory is the largest resident set of the process, as the system accounts it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fascicle.formats.conll import ConllOptions
from fascicle.formats.files import read
from studies.common import write_result

ANNOTATE = [sys.executable, "-m", "fascicle", "annotate"]


def main() -> None:
    """Measures and writes ``results/resources.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    ours = [*ANNOTATE, "--text", "Lithium may cause nephrogenic diabetes insipidus."]
    theirs = [sys.executable, "-c", "import torch, transformers"]
    seconds: dict[str, list[float]] = {"fascicle": [], "import_torch_transformers": []}
    for number in range(args.rounds + 1):
        for name, command in (("fascicle", ours), ("import_torch_transformers", theirs)):
            took = _seconds(command)
            if number:
                seconds[name].append(took)
    pairs = zip(seconds["fascicle"], seconds["import_torch_transformers"], strict=True)
    report = {
        "seconds": {name: statistics.median(values) for name, values in seconds.items()},
        "all_rounds": seconds,
        "start_ratio": statistics.median(a / b for a, b in pairs),
        "peak_mb": memory(),
    }
    write_result("resources", report)
    print(report)


def memory() -> dict[str, float]:
    """Peak memory, in MB, over 10,000 and 20,000 sentences, and over documents of 200,000 and
    400,000 characters.
    """
    path = Path(os.environ["FASCICLE_DATA"]) / "bc5cdr" / "iob"
    texts = [
        d.text
        for part in ("train", "devel", "test")
        for d in read(
            path / f"{part}.tsv", format="conll", options=ConllOptions(documents="sentence")
        )
    ]
    peaks = {}
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for count in (10_000, 20_000):
            file = place / f"{count}.jsonl"
            lines = (
                f'{{"fascicle":1,"id":"{i}","text":{json.dumps(texts[i % len(texts)])}}}\n'
                for i in range(count)
            )
            file.write_text("".join(lines), encoding="utf-8")
            peaks[f"{count}_sentences"] = _peak(file, place / "out.jsonl")
        for size in (200_000, 400_000):
            file = place / f"{size}.txt"
            file.write_text((" ".join(texts) * 2)[:size], encoding="utf-8")
            peaks[f"document_of_{size}_characters"] = _peak(file, place / "out.jsonl")
    return peaks


def _seconds(command: list[str]) -> float:
    """Of the wall; the first run leaves the compiled modules for the others, which are the ones
    that count.
    """
    compiling = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=compiling)
    return time.perf_counter() - started


def _peak(file: Path, out: Path) -> float:
    """Largest resident set of one run, in MB; a child of its own, since the account is of all
    children so far.
    """
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [*ANNOTATE, str(file), "-o", str(out), "--overwrite", "--format", "jsonl"]
    done = subprocess.run(
        [sys.executable, "-c", code, *command], check=True, capture_output=True, text=True
    )
    unit = 1024 if sys.platform != "darwin" else 1
    return int(done.stdout.split()[-1]) * unit / 1e6


if __name__ == "__main__":
    main()
