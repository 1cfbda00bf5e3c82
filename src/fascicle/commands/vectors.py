"""``fascicle vectors``: static vectors of the words of a corpus."""

from __future__ import annotations

from fascicle.commands.console import Tally
from fascicle.commands.options import Overwrite, Strict, called, option
from fascicle.commands.parsing import natural, positive
from fascicle.commands.places import reads, writes
from fascicle.commands.saying import say
from fascicle.commands.shared import ReadingAs, reading_of


class Options(Overwrite, Strict, ReadingAs):
    """Options of ``fascicle vectors``.

    In Python: ``fascicle.tasks.vectors.train_vectors("train.tsv", "vectors.txt")``

    Attributes:
        files: files, folders, zips: only the training part, unless the vectors may know the words of dev and test.
        output: the vectors as text; .gz packs them.
        all_parts: also read dev and test of a folder or zip with parts.
        dimension: default: 300.
        window: words to each side; default: 15.
        least: least count of a word; default: 1.
        words: the N most frequent; default: 0, all.
        passes: over the counts; default: 30.
        x_max: count of full weight; default: 100, as published.
        seed: default: 1.
        lowercase: lower-case the text.
        segmenter: of text without words; default: rules@1.
    """

    files: list[str] = option("CORPUS *", reads)
    output: str = option("-o --output FILE", writes, required=True)
    all_parts: bool = option("--all-parts")
    dimension: int = option("--dimension N", positive, default=300)
    window: int = option("--window N", positive, default=15)
    least: int = option("--least N", positive, default=1)
    words: int = option("--words N", natural, default=0)
    passes: int = option("--passes N", positive, default=30)
    x_max: int = option("--x-max N", positive, default=100)
    seed: int = option("--seed N", natural, default=1)
    lowercase: bool = option("--lowercase")
    segmenter: str = option("--segmenter SEGMENTER", default="rules@1")


def run(args: Options) -> int:
    """Trains; returns the exit code."""
    from fascicle.tasks.vectors import VectorsSettings, train_vectors
    from fascicle.vectors.glove import GloveSettings

    tally = Tally()
    settings = called(VectorsSettings, args, glove=called(GloveSettings, args))
    reading = reading_of(args)
    called(train_vectors, args, settings=settings, reading=reading, watch=tally.account.events.observe, tell=say)
    tally.say(verbose=args.verbose)
    return tally.exit_code(strict=args.strict)
