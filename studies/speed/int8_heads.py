"""What 8-bit export costs each head: F1 on test of the exported model less that of the trained one,
paired.

usage: python -m studies.speed.int8_heads GRID --runs FOLDER [--only GLOB]

For every complete run of the grid in FOLDER, seed 1: the model is exported with scales measured on
its training texts, predicts the test part through ONNX Runtime, and is compared with the
predictions that the run itself wrote. Results that stand in ``results/int8_heads.json`` are kept;
those of the runs at hand are measured again.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
import tempfile
from pathlib import Path

from fascicle.core.document import Document, Mention, Patch
from fascicle.core.files.source import Source
from fascicle.core.patches import apply
from fascicle.evaluation.scoring.inputs import by_sentence
from fascicle.evaluation.scoring.scores import Scores, score
from fascicle.evaluation.uncertainty.intervals import bootstrap_difference
from fascicle.formats.predictions import read as read_predictions
from fascicle.loading import load
from fascicle.models.export.folders import export_model
from fascicle.training.corpus import read_part
from fascicle.training.experiments.grid import GridRun, read_grid
from studies.common import RESULTS, write_result


def main() -> int:
    """Parses, measures, writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("grid")
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--only", default="*")
    args = parser.parse_args()
    path = RESULTS / "int8_heads.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["runs"] if path.exists() else {}
    wanted = [
        run
        for run in read_grid(args.grid).runs
        if run.recipe.seed == 1 and run.recipe.corpus.test and fnmatch.fnmatch(run.name, args.only)
    ]
    done = [run for run in wanted if (args.runs / run.name / "scores.json").exists()]
    if not done:
        sys.stderr.write(
            f"{args.runs} has no complete run of seed 1 named {args.only!r}; give the --runs of "
            "the grid\n"
        )
        return 2
    for run in done:
        rows[run.name] = compared(run, args.runs / run.name)
        print(run.name, rows[run.name], flush=True)
        write_result("int8_heads", {"runs": rows})
    return 0


def compared(run: GridRun, folder: Path) -> dict[str, object]:
    """The difference that 8 bits make to one run."""
    corpus = run.resolved().corpus
    test = read_part(corpus, "test")
    with tempfile.TemporaryDirectory() as place:
        export_model(folder, Path(place) / "int8", sample=read_part(corpus, "train"))
        patches = load(Path(place) / "int8", threads=1, links=False).predict(test)
        size = sum(file.stat().st_size for file in (Path(place) / "int8").iterdir())
    whole = {
        p.id: p.mentions
        for p in read_predictions(Source(path=str(folder / "predictions" / "test.tsv")))
    }
    before = scored(test, [whole.get(d.id, ()) for d in test])
    after = scored(test, [p.add for p in patches])
    return {
        "f1": before.micro.f1,
        "int8_f1": after.micro.f1,
        "difference": bootstrap_difference(after, before).as_dict(),
        "int8_bytes": size,
    }


def scored(test: list[Document], found: list[tuple[Mention, ...]]) -> Scores:
    """Scores with the sentence as the unit, all mentions as one source."""
    said = [
        apply(d, Patch(add=tuple(Mention(m.spans, m.type, source="model") for m in ms)))
        for d, ms in zip(test, found, strict=True)
    ]
    return score(by_sentence(test), by_sentence(said, source="model"))


if __name__ == "__main__":
    sys.exit(main())
