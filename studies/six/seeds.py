"""Seeds of a model that ships, under its whole decision, scored on the same rows.

usage: python -m studies.six.seeds [RUN] [--of biomed@2]

RUN is as the one that ships, of another seed, and does not ship. It takes the decision that ships:
thresholds, calibration, rules for abbreviations and the decision of documents, which the twin of
the first seed chose. So only the weights are others. Without RUN, the model that ships is scored,
as seed 1. Written: F1 of each row, by model and seed, into ``results/six-seeds-decided.json``.
Models that shipped before had no decision of documents; their seeds stand in
``results/six-seeds.json``.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fascicle.loading import load
from fascicle.runtime.places import find_model
from fascicle.settings.folders.manifest import read_manifest
from fascicle.text.annotator import Annotator
from fascicle.verbs.export import export
from studies.common import BIOMED, result, write_result
from studies.six import rows
from studies.six.assembling import rewritten
from studies.six.corpora import ROWS
from studies.six.deciding import decided
from studies.six.spread import DECIDED, with_seed


def main(argv: Sequence[str] | None = None) -> None:
    """Makes the model of a seed, scores it and stores the numbers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", type=Path, nargs="?")
    parser.add_argument("--of", default=BIOMED, help="the model that ships")
    args = parser.parse_args(argv)
    if args.run is None:
        store(args.of, seed=1, run=args.of, model=load(args.of, links=False))
        return
    seed = json.loads((args.run / "recipe.json").read_text(encoding="utf-8"))["seed"]
    shipped = read_manifest(find_model(args.of))
    with tempfile.TemporaryDirectory() as folder:
        run = rewritten(args.run, decided(read_manifest(args.run / "best"), shipped), Path(folder))
        export(run, Path(folder) / "int8", int8=True, name=args.of)
        store(args.of, seed=seed, run=args.run.name, model=load(Path(folder) / "int8", links=False))


def store(name: str, *, seed: int, run: str, model: Annotator) -> None:
    """Scores the model of a seed and stores the numbers."""
    scores = {
        row: {
            form: {"strict": strict.micro.f1, "seqeval": said["f1"]}
            for form, (strict, said) in forms.items()
        }
        for row, forms in rows.scores_of(model, ROWS).items()
    }
    write_result(DECIDED, with_seed(result(DECIDED), name, seed, {"run": run, "rows": scores}))


if __name__ == "__main__":
    main()
