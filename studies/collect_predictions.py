"""Packs what complete runs predicted: dev predictions of every epoch, of the chosen one, and those
on test.

usage: python -m studies.collect_predictions RUN... -o studies/results/GRID/runs [--overwrite]

Each run becomes a small folder of the same form, ``OUT/RUN/predictions/dev-epoch-01.tsv.gz`` ...,
with what of its ``run.json`` says which data it saw. There is no text in it, and predictions of
epochs have no scores, which no reader of several epochs needs. ``fascicle combine`` and ``compare``
read the files as they are, and a recipe of a filter takes such a folder as a member. The same runs
give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from fascicle.core.files.atomic import atomic_text_writer
from fascicle.core.files.source import Source
from fascicle.errors import InputError, OutputError
from fascicle.formats.predictions import Prediction, read, write

_KEPT = ("recipe", "seed", "types", "data")
_EPOCH = re.compile(r"dev-(?:epoch|step)-[0-9]+(?:\.[a-z0-9_]+)?\.tsv")


def main() -> None:
    """Parses, packs, tells how much it is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path, help="run folders")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, help="the folder of the packed runs"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace what is there already")
    args = parser.parse_args()
    for run in args.runs:
        size = pack(run, args.output / run.name, overwrite=args.overwrite)
        sys.stdout.write(f"{run.name}: {size / 1000:.0f} kB\n")


def pack(run: Path, target: Path, *, overwrite: bool = False) -> int:
    """Packs one run; returns its bytes.

    Args:
        run: a complete run folder.
        target: the folder to write.
        overwrite: replace files that are there.

    Raises:
        InputError: the run is not complete.
        OutputError: the folder is there.
    """
    if not (run / "scores.json").is_file():
        raise InputError(f"{run} holds no complete run; finish it with --resume, or leave it out")
    if target.exists() and not overwrite:
        raise OutputError(f"{target} exists already; give another place, or --overwrite")
    (target / "predictions").mkdir(parents=True, exist_ok=True)
    facts = json.loads((run / "run.json").read_text(encoding="utf-8"))
    with atomic_text_writer(target / "run.json", overwrite=overwrite) as stream:
        stream.write(
            json.dumps({name: facts[name] for name in _KEPT if name in facts}, indent=1) + "\n"
        )
    for path in sorted((run / "predictions").glob("*.tsv")):
        found = read(Source(path=str(path)))
        kept = map(_without_scores, found) if _EPOCH.fullmatch(path.name) else found
        write(target / "predictions" / f"{path.name}.gz", steady(kept), overwrite=overwrite)
    return sum(path.stat().st_size for path in target.rglob("*") if path.is_file())


def _without_scores(prediction: Prediction) -> Prediction:
    bare = tuple(msgspec.structs.replace(mention, score=None) for mention in prediction.mentions)
    return msgspec.structs.replace(prediction, mentions=bare)


def steady(predictions: Iterator[Prediction]) -> Iterator[Prediction]:
    """With scores to four digits, as many as anybody reads from them."""
    for prediction in predictions:
        rounded = (
            mention
            if mention.score is None
            else msgspec.structs.replace(mention, score=round(mention.score, 4))
            for mention in prediction.mentions
        )
        yield msgspec.structs.replace(prediction, mentions=tuple(rounded))


if __name__ == "__main__":
    main()
