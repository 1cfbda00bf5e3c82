"""Command ``fascicle vectors``: trains static vectors of the words of a corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from fascicle.core.arguments import AnyPath, Paths, to_path_list, validate_arguments
from fascicle.core.document import Document
from fascicle.core.files.atomic import check_target
from fascicle.core.files.tree import open_tree, split_archive
from fascicle.core.wording import plural
from fascicle.errors import UsageError
from fascicle.evaluation.systems.model import Watch
from fascicle.formats.handlers import SUFFIXES
from fascicle.formats.requests import ReadRequest, expand_paths, read_file
from fascicle.settings.base import Natural, Positive
from fascicle.text.glove import GloveSettings, count_cooccurrence, train_glove
from fascicle.text.segment import SurfaceReader, segmenter
from fascicle.text.vectors import StaticVectors, write_vectors
from fascicle.verbs.console import Tally
from fascicle.verbs.messages import say
from fascicle.verbs.options import Overwrite, Strict, call, natural, option, positive, reads, writes
from fascicle.verbs.shared import ReadingAs, read_request


class Options(Overwrite, Strict, ReadingAs):
    """Options of ``fascicle vectors``.

    In Python: ``fascicle.verbs.vectors.train_vectors("train.tsv", "vectors.txt")``

    Attributes:
        files: files, folders, zips; give only the training part, unless the vectors may know the
            words of dev and test.
        output: text file for the vectors; .gz compresses it.
        all_parts: also read dev and test of a folder or zip with parts.
        dimension: number of dimensions; default: 300.
        window: number of context words on each side; default: 15.
        least: lowest count of a word with a vector; default: 1.
        words: keep only the N most frequent words; default: 0, which keeps all.
        passes: number of passes over the counts; default: 30.
        x_max: count of two words from which it has full weight; default: 100, as published.
        seed: seed of the random numbers; default: 1.
        lowercase: lower-case the text.
        segmenter: segmenter for text without words; default: rules@1.
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
    """Trains the vectors; returns the exit code."""
    tally = Tally()
    settings = call(VectorsSettings, args, glove=call(GloveSettings, args))
    reading = read_request(args)
    call(
        train_vectors,
        args,
        settings=settings,
        reading=reading,
        watch=tally.account.events.observe,
        tell=say,
    )
    return tally.end(verbose=args.verbose, strict=args.strict)


_TRAIN: Final = frozenset(("train", "training"))
_HELD_OUT: Final = frozenset(
    ("dev", "devel", "development", "valid", "validation", "test", "testing")
)


@dataclass(frozen=True, kw_only=True)
class VectorsSettings:
    """Settings for counting words and fitting vectors to the counts.

    Attributes:
        glove: the fit.
        window: words to each side that count as near.
        least: smallest count of a word with a vector.
        words: number of the most frequent words to keep; 0 for all.
        lowercase: lower-case the text.
        segmenter: of text without words.
        all_parts: of a folder or zip with parts, read dev and test too.
    """

    glove: GloveSettings = field(default_factory=GloveSettings)
    window: Positive = 15
    least: Positive = 1
    words: Natural = 0
    lowercase: bool = False
    segmenter: str = "rules@1"
    all_parts: bool = False


@validate_arguments
def train_vectors(
    files: Paths,
    output: AnyPath,
    settings: VectorsSettings | None = None,
    *,
    reading: ReadRequest | None = None,
    overwrite: bool = False,
    watch: Watch = iter,
    tell: Callable[[str], None] = lambda sentence: None,
) -> StaticVectors:
    """Trains GloVe vectors on the words of documents, and writes them as text.

    Args:
        files: files, folders, zips in any format.
        output: the vectors; ``.gz`` packs them.
        settings: of the counts and the fit.
        reading: format and options of the files.
        overwrite: replace an existing file.
        watch: wraps the stream of documents, to count and to show progress.
        tell: called with each sentence about the progress.

    Returns:
        The vectors.

    Raises:
        UsageError: no file, or a corpus whose dev or test part the vectors would know.
        InputError: a file that cannot be read, or no word.
        OutputError: the file exists.
    """
    options, request = settings or VectorsSettings(), reading or ReadRequest()
    check_target(output, overwrite=overwrite)
    paths = expand_paths(to_path_list(files), request)
    if not options.all_parts:
        for path in paths:
            _check_part(path)
    documents = watch(document for path in paths for document in read_file(path, request))
    sentences = sentence_words(
        documents, segmenter_name=options.segmenter, lowercase=options.lowercase
    )
    table = count_cooccurrence(
        sentences, window=options.window, least=options.least, most=options.words
    )
    tell(
        f"{plural(len(table.words), 'word')} ({table.left_out:,} left out), {len(table.values):,} "
        "counts of two together"
    )
    passes = options.glove.passes
    vectors = train_glove(
        table,
        options.glove,
        tell=lambda number, loss: tell(f"pass {number}/{passes}: mean loss {loss:.5f}"),
    )
    write_vectors(Path(output), vectors, overwrite=overwrite)
    return vectors


def _check_part(path: str) -> None:
    """Refuses a folder or zip with dev or test beside train, because the vectors would know
    their words.
    """
    if not Path(path).is_dir() and split_archive(path) is None:
        return
    with open_tree(path, suffixes=SUFFIXES) as tree:
        folders = {
            part.casefold() for name in tree.names for part in PurePosixPath(name).parent.parts
        }
    if folders & _TRAIN and (held_out := sorted(folders & _HELD_OUT)):
        raise UsageError(
            f"{path} holds the part {held_out[0]!r} beside the training part, whose words the "
            "vectors would know; give the training part alone, or all_parts=True"
        )


def sentence_words(
    documents: Iterable[Document], *, segmenter_name: str, lowercase: bool
) -> Iterator[list[str]]:
    """Yields the words of each sentence, split at white space, which a file of vectors cannot
    hold in a word.
    """
    rules = segmenter(segmenter_name)
    for document in documents:
        reader = SurfaceReader(document, rules)
        for first, last in reader.sentences:
            text = " ".join(document.text[start:end] for start, end in reader.words[first:last])
            yield (text.lower() if lowercase else text).split()
