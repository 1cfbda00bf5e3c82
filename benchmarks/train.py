"""Runs a shipped recipe with one seed and keeps what a table needs under ``benchmarks/results/``.

usage: python benchmarks/train.py RECIPE [--seed N] [--runs FOLDER] [--resume]

Written: ``results/RECIPE-sN.json`` (scores with interval, cost, data hashes, versions, machine, every epoch) and
``results/predictions/RECIPE-sN.test.tsv.gz`` (the predictions, without text). ``FASCICLE_DATA`` names the corpora.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
from pathlib import Path

import msgspec

from common import HERE, RESULTS, sentence_scores
from fascicle.core.document import Document, Patch, apply
from fascicle.evaluate.intervals import bootstrap_f1
from fascicle.formats.atomic import atomic_text_writer
from fascicle.formats.predictions import read as read_predictions
from fascicle.formats.source import Source
from fascicle.recipe.reader import read_recipe
from fascicle.train.corpus import read_part
from fascicle.train.run import EpochScored, Finished, Note, run_recipe


def main() -> None:
    """Parses, runs, writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipe")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--resume", action="store_true")
    args = parser.parse_args()
    recipe = read_recipe(HERE.parent / "recipes" / f"{args.recipe}.toml")
    recipe = msgspec.structs.replace(recipe, seed=args.seed)
    name = f"{args.recipe}-s{args.seed}"
    for event in run_recipe(recipe, args.runs / name, resume=args.resume):
        if isinstance(event, EpochScored):
            dev = f"dev F1 {event.dev.micro.f1:.4f}"
            print(f"{name} epoch {event.epoch} loss {event.loss:.4f} {dev} {event.seconds:.0f} s", flush=True)
        elif isinstance(event, Note):
            print(event.text, flush=True)
        elif isinstance(event, Finished):
            keep(args.runs / name, name, read_part(recipe.corpus, "test"))


def keep(run: Path, name: str, test: list[Document]) -> None:
    """Copies the results of a run, with the interval of its test F1."""
    predictions = run / "predictions" / "test.tsv"
    said = {p.id: p.mentions for p in read_predictions(Source(path=str(predictions)), mention_source="model")}
    annotated = [apply(d, Patch(add=said.get(d.id, ()))) for d in test]
    interval = bootstrap_f1(sentence_scores(annotated, source="model"))
    value = {
        "run": name,
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        **json.loads((run / "scores.json").read_text(encoding="utf-8")),
        "test_f1_interval": interval.as_dict(),
        "recipe": json.loads((run / "recipe.json").read_text(encoding="utf-8")) | {"corpus": "see recipes/"},
        "facts": json.loads((run / "run.json").read_text(encoding="utf-8")),
        "epochs": [json.loads(x) for x in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()],
    }
    (RESULTS / "predictions").mkdir(parents=True, exist_ok=True)
    with atomic_text_writer(RESULTS / f"{name}.json", overwrite=True) as stream:
        stream.write(json.dumps(value, indent=1) + "\n")
    with gzip.GzipFile(RESULTS / "predictions" / f"{name}.test.tsv.gz", "wb", mtime=0) as packed:
        packed.write(predictions.read_bytes())


if __name__ == "__main__":
    main()
