"""What pretraining runs measured: ``studies/results/pretraining-NAME.json``."""

from __future__ import annotations

import json
from pathlib import Path

from studies.tables.grids import markdown


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
