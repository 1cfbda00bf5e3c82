"""Keeps what a pretraining run measured: ``studies/results/pretraining-NAME.json``, without weights
and texts.

usage: python -m studies.pretraining.record RUN
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from pathlib import Path

from fascicle.core.files.atomic import atomic_text_writer
from studies.common import RESULTS
from studies.tables.grids import markdown


def main() -> int:
    """Writes one file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path)
    run: Path = parser.parse_args().run
    facts, scores = (
        json.loads((run / name).read_text(encoding="utf-8")) for name in ("run.json", "scores.json")
    )
    lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    date = (
        datetime.datetime.fromtimestamp((run / "scores.json").stat().st_mtime, tz=datetime.UTC)
        .date()
        .isoformat()
    )
    value = {
        "date": date,
        **facts,
        "scores": scores,
        "metrics": [json.loads(line) for line in lines],
    }
    with atomic_text_writer(
        RESULTS / f"pretraining-{facts['recipe']}.json", overwrite=True
    ) as stream:
        stream.write(json.dumps(value, indent=1) + "\n")
    return 0


def table(results: Path) -> str:
    """Held-out pseudo-perplexity of each recorded run, step by step.

    Args:
        results: folder of the results files.
    """
    body = []
    for path in sorted(results.glob("pretraining-*.json")):
        value = json.loads(path.read_text(encoding="utf-8"))
        pieces = value["windows"]["pieces"] / value["steps"]
        for line in value["metrics"]:
            body.append(
                [
                    f"`{value['recipe']}`",
                    f"{line['step']:,}",
                    f"{line['step'] * pieces / 1e6:.1f}",
                    f"{line['held_out']['perplexity']:.1f}",
                ]
            )
    return markdown(["run", "steps", "million pieces", "pseudo-perplexity"], body)


if __name__ == "__main__":
    sys.exit(main())
