"""What ``fascicle annotate`` costs in this checkout against another one of the same project: time,
start-up, memory.

usage: python -m studies.speed.checkouts OTHER_FOLDER [--rounds 9] [--copies 40] [--model FOLDER]

With ``--model`` both read the same model and give no links, so that only the code differs.
Both checkouts run with this interpreter, as whole processes, in turns and with the order turned
round in every second round, so that a noisy machine disturbs both alike. Both keep their compiled
modules, as an installed package does: without them a process would first compile every module that
it imports.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from studies.common import ROOT, write_result

_ABSTRACTS = ROOT / "examples" / "abstracts"
_SENTENCE = "Lithium may cause nephrogenic diabetes insipidus."


def main() -> None:
    """Measures and writes ``results/checkouts.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("other", type=Path, help="folder of the other checkout")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument(
        "--copies", type=int, default=40, help="how often the example abstracts are repeated"
    )
    parser.add_argument(
        "--model", type=Path, help="model for both checkouts; by default the one that each ships"
    )
    args = parser.parse_args()
    options = ["--model", str(args.model.resolve()), "--no-link"] if args.model else []
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder) / "texts.txt"
        paths = sorted(_ABSTRACTS.glob("*.txt"))
        texts.write_text(
            "\n".join(p.read_text("utf-8") for p in paths) * args.copies, encoding="utf-8"
        )
        works = {
            "start": ["--text", _SENTENCE, *options],
            "long_text": [
                str(texts),
                "-o",
                str(Path(folder) / "out.jsonl"),
                "--overwrite",
                *options,
            ],
        }
        report = {
            name: compare(args.other.resolve(), work, rounds=args.rounds)
            for name, work in works.items()
        }
    model = args.model.name if args.model else "of each checkout"
    write_result(
        "checkouts", {"other": commit(args.other), "this": commit(ROOT), "model": model, **report}
    )
    print(report)


def compare(other: Path, work: list[str], *, rounds: int) -> dict[str, object]:
    """Medians over rounds of this checkout's numbers over the other's; the first round warms the
    disk.
    """
    rows: list[dict[str, float]] = []
    for number in range(rounds + 1):
        order = ("this", "other") if number % 2 else ("other", "this")
        row = {
            f"{side}_{key}": value
            for side in order
            for key, value in run(work, other, side).items()
        }
        rows += [row] if number else []
    return {
        **{
            f"{key}_ratio": statistics.median(
                row[f"this_{key}"] / row[f"other_{key}"] for row in rows
            )
            for key in ("wall", "cpu", "peak")
        },
        "rounds": rows,
    }


def run(work: list[str], other: Path, side: str) -> dict[str, float]:
    """One whole process: wall and CPU seconds, and the largest resident set in MB."""
    root = ROOT if side == "this" else other
    command = [sys.executable, "-m", "fascicle", "annotate", *work]
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    environment["PYTHONPATH"] = str(root / "src")
    start = time.monotonic()
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    if status:
        raise SystemExit(f"the command ended with status {status} in {root}")
    return {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "peak": usage.ru_maxrss / 1024}


def commit(folder: Path) -> str:
    """The commit that a checkout stands at."""
    return subprocess.check_output(
        ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"], text=True
    ).strip()


if __name__ == "__main__":
    main()
