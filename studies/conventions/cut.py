"""Makes an encoder smaller: some of its layers, and the pieces that biomedical text needs.

usage: python -m studies.conventions.cut ENCODER -o FOLDER [--layers N ...] [--pieces N --texts FILE
...]

ENCODER is one that a recipe can name. ``--layers 8`` keeps the first 8 layers, and ``--layers 2 4
6`` these three. The pieces are those that occur most often in the train parts of
``studies/grids/conventions.toml`` (FASCICLE_DATA names their folder) and in FILE.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fascicle.core.document import Document
from fascicle.formats import read
from fascicle.models.encoder import load_pretrained, save_pretrained
from fascicle.models.layers import with_layers
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.experiments.grid import read_grid
from fascicle.training.recogniser.parts import read_data
from fascicle.training.starting import reduce_vocabulary
from studies.common import ROOT


def main(argv: Sequence[str] | None = None) -> None:
    """Writes the encoder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("encoder")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--layers", type=int, nargs="*", default=[])
    parser.add_argument("--pieces", type=int)
    parser.add_argument("--texts", nargs="*", default=[])
    args = parser.parse_args(argv)
    found = load_pretrained(args.encoder)
    if args.layers:
        kept = range(1, args.layers[0] + 1) if len(args.layers) == 1 else args.layers
        found = replace(found, encoder=with_layers(found.encoder, kept))
    if args.pieces:
        found, note = reduce_vocabulary(
            found, [*_taught(), *_texts(args.texts)], pieces=args.pieces
        )
        sys.stderr.write(note + "\n")
    args.output.mkdir(parents=True)
    save_pretrained(args.output, found)


def _taught() -> Sequence[Document]:
    runs = read_grid(ROOT / "studies" / "grids" / "conventions.toml").runs
    recipe = next(run for run in runs if run.name == "six-teacher-s1").resolved()
    assert isinstance(recipe, Recipe)
    return read_data(recipe).train


def _texts(files: Sequence[str]) -> Iterator[Document]:
    for file in files:
        yield from read(file)


if __name__ == "__main__":
    main()
