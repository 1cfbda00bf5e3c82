"""Further seeds of a model that ships: under the same decision, scored on the same rows, not shipped.

usage: python -m studies.six.seeds RUN [--of biomed@2]

RUN is as the one that ships, of another seed. It takes the decision that ships: thresholds, calibration and rules for
abbreviations, which the twin of the first seed chose on dev. So only the weights are others. Written: F1 of each row,
by model and seed, into ``results/six-seeds.json``.
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
from fascicle.verbs.export import export
from studies.common import BIOMED, result, write_result
from studies.six import rows
from studies.six.assembling import rewritten
from studies.six.corpora import ROWS
from studies.six.deciding import decided
from studies.six.spread import SEEDS, with_seed


def main(argv: Sequence[str] | None = None) -> None:
    """Makes the model of a seed, scores it and stores the numbers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--of", default=BIOMED, help="the model that ships")
    args = parser.parse_args(argv)
    recipe = json.loads((args.run / "recipe.json").read_text(encoding="utf-8"))
    shipped = read_manifest(find_model(args.of))
    with tempfile.TemporaryDirectory() as folder:
        run = rewritten(args.run, decided(read_manifest(args.run / "best"), shipped), Path(folder))
        export(run, Path(folder) / "int8", int8=True, name=args.of)
        found = rows.scores_of(load(Path(folder) / "int8"), ROWS)
    scores = {
        row: {form: {"strict": strict.micro.f1, "seqeval": said["f1"]} for form, (strict, said) in forms.items()}
        for row, forms in found.items()
    }
    write_result(SEEDS, with_seed(result(SEEDS), args.of, recipe["seed"], {"run": args.run.name, "rows": scores}))


if __name__ == "__main__":
    main()
