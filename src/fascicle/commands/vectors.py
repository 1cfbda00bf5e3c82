"""``fascicle vectors``: static vectors of the words of a corpus."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from fascicle.commands.console import Tally, say
from fascicle.commands.inputs import add_reading, reading_of
from fascicle.commands.parsing import Parser, add_overwrite, add_strict, natural, positive
from fascicle.commands.places import reads, writes
from fascicle.core.document import Document
from fascicle.core.wording import counted
from fascicle.errors import UsageError
from fascicle.files.atomic import check_target
from fascicle.files.tree import archive_of, open_tree
from fascicle.formats.brat_lines import SUFFIXES
from fascicle.formats.requests import paths_of, read_file
from fascicle.text.segment import segmenter
from fascicle.text.surfaces import SurfaceReader

_TRAIN: Final = frozenset(("train", "training"))
_HELD_OUT: Final = frozenset(("dev", "devel", "development", "valid", "validation", "test", "testing"))


def configure(parser: Parser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "files",
        nargs="*",
        type=reads,
        metavar="CORPUS",
        help="files, folders, zips: the training part alone, unless vectors may know the words of dev and test",
    )
    parser.add_argument(
        "-o", "--output", type=writes, required=True, metavar="FILE", help="the vectors as text; .gz packs them"
    )
    parser.add_argument(
        "--all-parts", action="store_true", help="of a folder or zip with parts, read dev and test too, not train alone"
    )
    parser.add_argument("--dimension", type=positive, default=300, metavar="N", help="default: 300")
    parser.add_argument("--window", type=positive, default=15, metavar="N", help="words to each side; default: 15")
    parser.add_argument("--least", type=positive, default=1, metavar="N", help="occurrences of a word; default: 1")
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
    from fascicle.vectors.cooccurrence import count_cooccurrence
    from fascicle.vectors.files import write_vectors
    from fascicle.vectors.glove import GloveSettings, train_glove

    check_target(args.output, overwrite=args.overwrite)
    tally = Tally()
    request = reading_of(args)
    paths = paths_of(args.files, request)
    if not args.all_parts:
        for path in paths:
            _check_part(path)
    documents = (document for path in paths for document in read_file(path, request))
    sentences = sentences_of(tally.observe(documents), segmenter_name=args.segmenter, lowercase=args.lowercase)
    table = count_cooccurrence(sentences, window=args.window, least=args.least, most=args.words)
    say(
        f"{counted(len(table.words), 'word')} ({table.left_out:,} left out), {len(table.values):,} counts of two "
        "together"
    )
    settings = GloveSettings(dimension=args.dimension, passes=args.passes, x_max=args.x_max, seed=args.seed)
    vectors = train_glove(
        table, settings, tell=lambda number, loss: say(f"pass {number}/{settings.passes}: mean loss {loss:.5f}")
    )
    write_vectors(args.output, vectors, overwrite=args.overwrite)
    tally.say(verbose=args.verbose)
    return tally.exit_code(strict=args.strict)


def _check_part(path: str) -> None:
    """Vectors that were trained on a test part have seen its words."""
    if not Path(path).is_dir() and archive_of(path) is None:
        return
    with open_tree(path, suffixes=SUFFIXES) as tree:
        folders = {part.casefold() for name in tree.names for part in PurePosixPath(name).parent.parts}
    if folders & _TRAIN and (others := sorted(folders & _HELD_OUT)):
        raise UsageError(
            f"{path} holds the part {others[0]!r} beside the training part, whose words the vectors would know; give "
            "the training part alone, or say --all-parts"
        )


def sentences_of(documents: Iterable[Document], *, segmenter_name: str, lowercase: bool) -> Iterator[list[str]]:
    """The words of each sentence; words that hold white space, which a file of vectors cannot, are cut there."""
    rules = segmenter(segmenter_name)
    for document in documents:
        reader = SurfaceReader(document, rules)
        for first, last in reader.sentences:
            text = " ".join(document.text[start:end] for start, end in reader.words[first:last])
            yield (text.lower() if lowercase else text).split()
