"""What the decision of documents costs: the shipped models with it and without it, in turns, over
whole abstracts.

usage: python -m studies.decision.throughput

Median CPU time of 15 runs of each. Writes ``results/decision-cost.json``.
"""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from fascicle.core.document import Document
from fascicle.formats import read
from fascicle.loading import load_single
from studies.common import MODELS, take_turns, write_result

TEXTS: Final = 40
RUNS: Final = 15


def main() -> int:
    """Measures and stores."""
    path = Path(os.environ["FASCICLE_DATA"]) / "biored" / "Test.PubTator"
    documents = [Document(id=one.id, text=one.text) for one in islice(read(path), TEXTS)]
    found: dict[str, object] = {}
    for name in MODELS:
        model = load_single(name, threads=1)
        plain = msgspec.structs.replace(
            model.manifest.decision, document=msgspec.UNSET, characters=msgspec.UNSET
        )
        without = model.deciding(plain)
        found[name] = take_turns(
            lambda model=model: model.predict(documents),  # type: ignore[misc]
            lambda without=without: without.predict(documents),  # type: ignore[misc]
            repeats=RUNS,
            other="without",
        )
        print(name, found[name])
    write_result("decision-cost", {"texts": TEXTS, "runs": RUNS, "models": found})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
