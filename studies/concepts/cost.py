"""What linking costs in two checkouts, in turns; see ``plan.md``.

python -m studies.concepts.cost FOLDER BEFORE AFTER [--runs 7]

FOLDER has the mentions of ``mentions.py``; BEFORE and AFTER are checkouts. Each run is a process
with one thread. Writes ``results/concepts-cost.json``: medians, and medians of the ratios of
neighbouring runs with quartiles.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from studies.common import write_result
from studies.concepts.mentions import found

CORPORA: Final = ("bc5cdr", "nlm-gene")
# Runs in either checkout, with nothing of this study: opens, links a first text, then links all.
# Older checkouts have the linker in another place.
_WORK: Final = """
import json, resource, sys, time
from fascicle.formats import read
documents = [one for path in sys.argv[1:] for one in read(path)]
start = time.perf_counter()
try:
    from fascicle.linking.opening import find
except ModuleNotFoundError:
    from fascicle.knowledge.linking.opening import find
linker = find("basic").opened()
linker.predict(documents[:1])
opened = time.perf_counter()
for _ in range(2):
    before = time.process_time()
    linker.predict(documents)
    spent = time.process_time() - before
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"open_ms": 1e3 * (opened - start), "link_ms": 1e3 * spent, "peak_mb": peak / 1024}))
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Measures and stores."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--runs", type=int, default=7)
    args = parser.parse_args(argv)
    paths = _given(args.folder)
    runs = [
        [_once(checkout, paths) for checkout in (args.before, args.after)]
        for _ in range(args.runs + 1)
    ][1:]
    rows: dict[str, Any] = {}
    for name in ("open_ms", "link_ms", "peak_mb"):
        before, after = ([one[side][name] for one in runs] for side in (0, 1))
        ratios = [b / a for a, b in zip(before, after, strict=True)]
        rows[name] = {
            "before": round(statistics.median(before), 1),
            "after": round(statistics.median(after), 1),
            "ratio": round(statistics.median(ratios), 3),
            "ratio_quartiles": [round(one, 3) for one in statistics.quantiles(ratios, n=4)[::2]],
        }
    print(json.dumps(rows, indent=1))
    write_result("concepts-cost", {"corpora": CORPORA, "runs": args.runs, "rows": rows})
    return 0


def _given(folder: Path) -> list[Path]:
    """Files with mentions and abbreviations, as the steps before a linker give them to both
    checkouts.
    """
    from fascicle.core.patches import apply
    from fascicle.formats import write
    from fascicle.terms.abbreviations.finder import AbbreviationFinder

    paths = [folder / "cost" / f"{name}.jsonl" for name in CORPORA]
    for name, path in zip(CORPORA, paths, strict=True):
        path.parent.mkdir(exist_ok=True)
        documents = list(found(folder, "biomed", name, "test"))
        patches = AbbreviationFinder().run(documents)
        given = (
            apply(one, patch, step="abbreviations")
            for one, patch in zip(documents, patches, strict=True)
        )
        write(path, given, format="native", overwrite=True)
    return paths


def _once(checkout: Path, paths: Sequence[Path]) -> dict[str, float]:
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", _WORK, *map(str, paths)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


if __name__ == "__main__":
    raise SystemExit(main())
