"""Command ``fascicle corpus``: counts, checks and converts corpora."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from fascicle.core.document import Document
from fascicle.formats.account import Account
from fascicle.formats.outputs import STDOUT, write_documents
from fascicle.formats.report import WriteReport
from fascicle.formats.requests import Input, ReadRequest, places_to_read, read_inputs
from fascicle.formats.sources import distinct_files, notes_on
from fascicle.formats.stats import corpus_stats, format_table
from fascicle.pipeline.running.parts import expand_runs
from fascicle.verbs import corpus_check, shared
from fascicle.verbs.console import Tally, with_progress
from fascicle.verbs.messages import emit, say, say_notes
from fascicle.verbs.options import (
    Overwrite,
    Strict,
    call,
    fills,
    option,
    positive,
    reads,
    writes,
)


class Stats(Strict, shared.ReadingAs):
    """Count documents, mentions, types, nesting.

    In Python: ``fascicle.formats.stats.corpus_stats(fascicle.read("corpus.tsv"))``

    Attributes:
        files: files, folders, zips; - for standard input.
        json: print the counts as JSON.
    """

    files: list[str] = option("PATH *", reads)
    json: bool = option("--json")


class Convert(shared.Beside, shared.Colour, Overwrite, shared.StrictWriting, shared.ReadingOptions):
    """Write corpora in another format.

    In Python: ``fascicle.write("corpus.jsonl", fascicle.read("corpus.tsv"))``

    Attributes:
        files: files, folders, zips; - for standard input.
        output: the file to write (for brat: a folder, or a .zip); default: standard output.
        source: write only the mentions of this source.
    """

    files: list[str] = option("IN *", reads)
    output: str = option("-o --output OUTPUT", writes, default=STDOUT)
    format: str | None = shared.output_format("by the suffix of the output, else jsonl")
    source: str | None = option("--source NAME")


class FetchCorpus(Overwrite):
    """Fetch the files of a public corpus from a repository.

    In Python: ``fascicle.verbs.tasks.corpus_fetch.fetch("bc5cdr", "corpora")``

    Attributes:
        name: name of the corpus; default: list all known corpora.
        output: the folder for the corpora; default: only print what would be fetched, and its size.
        table: your own table of corpora, in the form of the shipped one; its addresses begin with
            https.
        mebibytes: largest size of a file, in MiB; default: 1024.
        seconds: longest time of a fetch of a file, in seconds; the same command continues it later;
            default: 3600.
    """

    name: str = option("NAME ?", default="")
    output: str | None = option("-o --output FOLDER", fills)
    table: str | None = option("--table TOML", reads)
    mebibytes: int = option("--most MIB", positive, default=1_024)
    seconds: int = option("--seconds N", positive, default=3_600)


def _run_fetch(args: FetchCorpus) -> int:
    """Fetches a corpus, or lists what can be; returns the exit code."""
    # late: they load what the network needs
    from fascicle.verbs.tasks import corpus_fetch
    from fascicle.verbs.tasks.index_fetch import FetchLimits

    table = args.table or corpus_fetch.PUBLIC
    if not args.name:
        for name, row in corpus_fetch.corpora(table).items():
            sys.stdout.write(f"{name}\t{row.title}\t{row.licence}\t{row.page}\n")
        return 0
    limits = call(FetchLimits, args)
    files = corpus_fetch.fetch(
        args.name, args.output, table=table, limits=limits, overwrite=args.overwrite, told=say
    )
    for file in files:
        sys.stdout.write(f"{file.path}\n")
        say(f"{file.path} has the SHA-256 {file.sha256}, as of {file.fetched}")
    return 0


def _run_stats(args: Stats) -> int:
    """Prints the counts; returns the exit code."""
    tally = Tally()
    documents = with_progress(_documents(args.files, shared.read_request(args), tally.account))
    stats = corpus_stats(documents, tally.account.reading)
    tally.account.written, tally.account.mentions = stats.documents, stats.mentions
    tally.account.refuse_nothing()
    emit(stats.as_dict(), format_table(stats), as_json=args.json)
    tally.say(verbose=args.verbose)
    tally.close(done="counted", quiet=True)
    return tally.exit_code(strict=args.strict)


def _run_convert(args: Convert) -> int:
    """Converts the corpora; returns the exit code."""
    writing = shared.write_request(args)
    writing.check()
    tally = Tally()
    account, report = tally.account, tally.account.open_report()
    quiet = writing.path == STDOUT and sys.stdout.isatty()
    inputs = _documents(expand_runs(args.files), shared.read_request(args), account)
    documents = with_progress(_refusing_nothing(inputs, account, report), quiet=quiet)
    write_documents(shared.select_source(documents, args.source), writing, report=report)
    account.add(report)
    if args.verbose:
        for line in account.reading.lines():
            say(line)
    return tally.end(writing.path, strict=args.strict)


def _documents(files: Sequence[str], request: ReadRequest, account: Account) -> Iterator[Document]:
    places = places_to_read(files, request)
    say_notes(notes_on(places, format=request.format))
    sources = distinct_files(source for place in places for source in place.sources)
    inputs = [Input(name=source) for source in sources]
    yield from account.counted(
        document for _, document in read_inputs(inputs, request, report=account.reading)
    )


def _refusing_nothing(
    documents: Iterator[Document], account: Account, report: WriteReport
) -> Iterator[Document]:
    for document in documents:
        yield document
        account.passed(report)
    account.refuse_nothing(report)


COMMANDS = {
    "stats": (Stats, _run_stats),
    "convert": (Convert, _run_convert),
    "fetch": (FetchCorpus, _run_fetch),
    "check": (corpus_check.Options, corpus_check.run),
}
