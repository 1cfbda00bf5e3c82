"""Whether a filter that rejects little was only taught at the wrong rate: runs of one recipe at
several rates.

usage: python -m studies.combining.filter_rates RUN...

Runs of ``fascicle train`` with ``recipes/filters/combining/ncbi-disease-meta3.toml``, where
``training.learning_rate`` is another in each. Writes ``results/combining/filter-rates.json``: how
each judged the examples that were held out of its training. Nothing is scored on test.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from studies.common import write_result


def held_out(run: Path) -> tuple[float, dict[str, Any]]:
    """The rate of a run, and its counts on what was held out."""
    recipe, scores = (
        json.loads((run / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("recipe", "scores")
    )
    return recipe["training"]["learning_rate"], scores["held_out"] | {"epoch": scores["epoch"]}


def main() -> int:
    """Collects and writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path)
    found = sorted(map(held_out, parser.parse_args().runs), key=lambda one: one[0])
    write_result(
        "combining/filter-rates", {"rates": [{"rate": rate, **counts} for rate, counts in found]}
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
