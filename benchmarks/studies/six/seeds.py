"""Further seeds of a model that ships: made and decided in the same way, scored on the same rows, not shipped.

usage: python -m benchmarks.studies.six.seeds REFIT TWIN [--of biomed@1]

REFIT and TWIN are as in ``ship_six``, of another seed. The thresholds are those of
``benchmarks.studies.six.thresholds TWIN``, which runs before. Written: F1 of each row, by model and seed, into
``results/six-seeds.json``.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common import result, write_result
from benchmarks.studies.six import rows
from benchmarks.studies.six.assembling import assembled
from benchmarks.studies.six.corpora import ROWS
from benchmarks.studies.six.spread import SEEDS, with_seed
from fascicle.loading import load


def main(argv: Sequence[str] | None = None) -> None:
    """Makes the model of a seed, scores it and stores the numbers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("refit", type=Path)
    parser.add_argument("twin", type=Path)
    parser.add_argument("--of", default="biomed@1", help="the model that ships")
    args = parser.parse_args(argv)
    seeds = {seed_of(run) for run in (args.refit, args.twin)}
    if len(seeds) > 1:
        parser.error(f"{args.refit} and {args.twin} have different seeds; give two runs of one seed")
    with tempfile.TemporaryDirectory() as folder:
        model = assembled(args.refit, args.twin, Path(folder), name=args.of)
        found = rows.scores_of(load(model.int8), ROWS)
    scores = {
        row: {form: {"strict": strict.micro.f1, "seqeval": said["f1"]} for form, (strict, said) in forms.items()}
        for row, forms in found.items()
    }
    write_result(SEEDS, with_seed(result(SEEDS), args.of, seeds.pop(), {"rows": scores, "decision": model.decision}))


def seed_of(run: Path) -> int:
    """The seed of a run."""
    return int(json.loads((run / "recipe.json").read_text(encoding="utf-8"))["seed"])


if __name__ == "__main__":
    main()
