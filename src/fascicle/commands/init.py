"""``fascicle init``: a commented recipe for annotated files."""

from __future__ import annotations

import sys

from fascicle.commands.options import Overwrite, called, option
from fascicle.commands.places import reads, writes
from fascicle.commands.saying import say


class Options(Overwrite):
    """Options of ``fascicle init``.

    In Python: ``fascicle.tasks.init.init("train.tsv", "recipe.toml", dev="dev.tsv")``

    Attributes:
        train: training file or folder, or a folder that holds train, dev and test.
        dev: development part, on which every choice is made.
        test: test part, scored once at the end.
        output: default: recipe.toml.
        encoder: a Hugging Face name, or a folder.
        name: name of the model; default: that of the folder of TRAIN.
    """

    train: str = option("TRAIN", reads)
    dev: str | None = option("--dev PATH", reads)
    test: str | None = option("--test PATH", reads)
    output: str = option("-o --output OUTPUT", writes, default="recipe.toml")
    encoder: str | None = option("--encoder NAME", reads)
    name: str | None = option("--name NAME")


def run(args: Options) -> int:
    """Writes the recipe; returns the exit code."""
    from fascicle.tasks.init import init

    text = called(init, args)
    sys.stdout.write(text)
    say(f"wrote {args.output}; train with: fascicle train {args.output}")
    return 0
