"""A teacher of torch labels texts, with a network that computes in bf16: scores to three digits, in
less time.

usage: python -m studies.best.label RUN TEXTS... -o LABELS [--against CORPUS...]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from fascicle.formats.requests import ReadRequest
from fascicle.models.model import TorchScorer, load_model
from fascicle.runtime.inputs import make_reader
from fascicle.runtime.opening import read_tokenizer
from fascicle.runtime.places import find_model
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.folders.manifest import read_manifest
from fascicle.verbs.tasks.annotate import ProgressCallbacks
from fascicle.verbs.tasks.label import LabelRequest, label_files


def main(argv: Sequence[str] | None = None) -> int:
    """Labels all texts on one thread."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run")
    parser.add_argument("files", nargs="+")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--against", nargs="*", default=[])
    args = parser.parse_args(argv)
    request = LabelRequest(
        model=args.run,
        files=tuple(args.files),
        output=args.output,
        against=tuple(args.against),
        reading_against=ReadRequest(format="conll"),
        resume=True,
    )
    tell = ProgressCallbacks(tell=lambda line: print(line, file=sys.stderr))
    account = label_files(request, open_predictor=lambda: in_bf16(args.run), listener=tell)
    print(f"{account.written:,} documents, {account.mentions:,} mentions")
    return 0


def in_bf16(run: str) -> ModelPredictor:
    """The model of a run; in bf16 its scores have three digits."""
    folder = find_model(run)
    manifest = read_manifest(folder)
    tokenizer = read_tokenizer(folder, manifest.tokenizer)
    scorer = TorchScorer(model=load_model(folder, manifest).eval(), bf16=True)
    return ModelPredictor(manifest, tokenizer, scorer, read=make_reader(folder, manifest))


if __name__ == "__main__":
    raise SystemExit(main())
