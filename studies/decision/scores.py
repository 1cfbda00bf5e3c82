"""Reads corpora once with the network and keeps what it says, so that a decision is fitted and judged without it.

usage: python -m studies.decision.scores MODEL FOLDER NAME=FILE [NAME=FILE ...] [--given]

Each FILE, below ``FASCICLE_DATA``, gives ``FOLDER/MODEL/NAME.jsonl`` in the native format: documents with their gold,
and the mentions of the model with the scores of its head, before any curve, threshold or rule. Characters are made
plain before the network reads. What is there already is not read again.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from fascicle.core.document import Document
from fascicle.core.patches import apply
from fascicle.formats import read, write
from fascicle.loading import load_single
from fascicle.runtime.predictor import ModelPredictor
from fascicle.text.characters import with_plain_characters


def main(argv: Sequence[str] | None = None) -> int:
    """Reads and writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model")
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", nargs="+", metavar="NAME=FILE")
    parser.add_argument("--given", action="store_true", help="show the model the sentences and words of the corpus")
    args = parser.parse_args(argv)
    data = Path(os.environ["FASCICLE_DATA"])
    predictor = load_single(args.model, threads=1).uncalibrated()
    for name, _, file in (one.partition("=") for one in args.files):
        target = args.folder / args.model / f"{name}.jsonl"
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            write(target, scored(predictor, read(data / file), given=args.given), format="native")
            print(name, flush=True)
    return 0


def scored(predictor: ModelPredictor, documents: Iterator[Document], *, given: bool) -> Iterator[Document]:
    """Documents with their gold and what the model says.

    Args:
        predictor: without calibration.
        documents: of a corpus; ids get a number, since passages of an article share one.
        given: whether the model sees their sentences and words.
    """
    for at, document in enumerate(documents):
        shown = document.having(mentions=()) if given else Document(id="", text=document.text)
        (patch,) = predictor.predict([with_plain_characters(shown)])
        kept = msgspec.structs.replace(document, id=f"{at}:{document.id}", events=())
        yield apply(kept, msgspec.structs.replace(patch, events=()), step=predictor.name)


if __name__ == "__main__":
    raise SystemExit(main())
