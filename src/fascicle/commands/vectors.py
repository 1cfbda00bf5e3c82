"""``fascicle vectors``: static vectors of the words of a corpus."""

from __future__ import annotations

import argparse

from fascicle.commands.console import Tally
from fascicle.commands.inputs import add_reading, reading_of
from fascicle.commands.parsing import Parser, add_overwrite, add_strict, natural, positive
from fascicle.commands.places import reads, writes
from fascicle.commands.saying import say


def configure(parser: Parser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "files",
        nargs="*",
        type=reads,
        metavar="CORPUS",
        help="files, folders, zips: only the training part, unless the vectors may know the words of dev and test",
    )
    parser.add_argument(
        "-o", "--output", type=writes, required=True, metavar="FILE", help="the vectors as text; .gz packs them"
    )
    parser.add_argument("--all-parts", action="store_true", help="also read dev and test of a folder or zip with parts")
    parser.add_argument("--dimension", type=positive, default=300, metavar="N", help="default: 300")
    parser.add_argument("--window", type=positive, default=15, metavar="N", help="words to each side; default: 15")
    parser.add_argument("--least", type=positive, default=1, metavar="N", help="least count of a word; default: 1")
    parser.add_argument("--words", type=natural, default=0, metavar="N", help="the N most frequent; default: 0, all")
    parser.add_argument("--passes", type=positive, default=30, metavar="N", help="over the counts; default: 30")
    parser.add_argument(
        "--x-max", type=positive, default=100, metavar="N", help="count of full weight; default: 100, as published"
    )
    parser.add_argument("--seed", type=natural, default=1, metavar="N", help="default: 1")
    parser.add_argument("--lowercase", action="store_true", help="lower-case the text")
    parser.add_argument("--segmenter", default="rules@1", help="of text without words; default: rules@1")
    add_overwrite(parser)
    add_strict(parser)
    add_reading(parser, aliases=("--format",))


def run(args: argparse.Namespace) -> int:
    """Trains; returns the exit code."""
    from fascicle.tasks.vectors import VectorsSettings, train_vectors
    from fascicle.vectors.glove import GloveSettings

    tally = Tally()
    settings = VectorsSettings(
        glove=GloveSettings(dimension=args.dimension, passes=args.passes, x_max=args.x_max, seed=args.seed),
        window=args.window,
        least=args.least,
        words=args.words,
        lowercase=args.lowercase,
        segmenter=args.segmenter,
        all_parts=args.all_parts,
    )
    train_vectors(
        args.files,
        args.output,
        settings,
        reading=reading_of(args),
        overwrite=args.overwrite,
        watch=tally.observe,
        tell=say,
    )
    tally.say(verbose=args.verbose)
    return tally.exit_code(strict=args.strict)
