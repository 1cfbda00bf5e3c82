"""``fascicle init``: a commented recipe for annotated files."""

from __future__ import annotations

import argparse
import sys

from fascicle.commands.parsing import add_overwrite
from fascicle.commands.places import reads, writes
from fascicle.commands.saying import say


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "path", type=reads, metavar="TRAIN", help="training file or folder, or a folder that holds train, dev and test"
    )
    parser.add_argument("--dev", type=reads, metavar="PATH", help="development part, on which every choice is made")
    parser.add_argument("--test", type=reads, metavar="PATH", help="test part, scored once at the end")
    parser.add_argument("-o", "--output", type=writes, default="recipe.toml", help="default: recipe.toml")
    parser.add_argument("--encoder", type=reads, metavar="NAME", help="a Hugging Face name, or a folder")
    parser.add_argument("--name", help="name of the model; default: that of the folder of TRAIN")
    add_overwrite(parser)


def run(args: argparse.Namespace) -> int:
    """Writes the recipe; returns the exit code."""
    from fascicle.tasks.init import init

    text = init(
        args.path,
        args.output,
        dev=args.dev,
        test=args.test,
        encoder=args.encoder or "",
        name=args.name or "",
        overwrite=args.overwrite,
    )
    sys.stdout.write(text)
    say(f"wrote {args.output}; train with: fascicle train {args.output}")
    return 0
