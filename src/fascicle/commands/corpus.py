"""``fascicle corpus``: what is in corpora, what is wrong with them, and corpora in other formats."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence

from fascicle.commands import corpus_check
from fascicle.commands.console import Tally, with_progress
from fascicle.commands.inputs import add_reading, reading_of
from fascicle.commands.outputs import add_colour, add_format, of_source, writing_of
from fascicle.commands.parsing import Parser, add_command, add_json, add_overwrite, add_strict, commands_of
from fascicle.commands.places import reads, writes
from fascicle.commands.saying import say
from fascicle.commands.strictness import add_strictness
from fascicle.core.document import Document
from fascicle.errors import UsageError
from fascicle.formats.account import Account
from fascicle.formats.outputs import write_documents
from fascicle.formats.report import WriteReport
from fascicle.formats.requests import STDOUT, Input, ReadRequest, paths_of, read_inputs, table_notes
from fascicle.formats.stats import corpus_stats, format_table


def configure(parser: Parser) -> None:
    """Adds the commands."""
    parser.set_defaults(run=_run_nothing)
    commands = commands_of(parser, dest="corpus_command")
    stats = add_command(commands, "stats", help_text="count documents, mentions, types, nesting")
    stats.set_defaults(run=run_stats)
    stats.add_argument(
        "files", nargs="*", type=reads, metavar="PATH", help="files, folders, zips; - for standard input"
    )
    add_json(stats, what="the counts")
    add_strict(stats)
    add_reading(stats, aliases=("--format",))
    convert = add_command(commands, "convert", help_text="write corpora in another format")
    convert.set_defaults(run=run_convert)
    convert.add_argument(
        "files", nargs="*", type=reads, metavar="IN", help="files, folders, zips; - for standard input"
    )
    convert.add_argument(
        "-o",
        "--output",
        type=writes,
        default=STDOUT,
        help="a file (for brat: a folder, or a .zip); default: standard output",
    )
    add_format(convert, default="by the suffix of the output, else jsonl")
    convert.add_argument("--source", metavar="NAME", help="only the mentions of this source")
    add_colour(convert)
    add_overwrite(convert)
    add_strictness(convert)
    add_reading(convert)
    corpus_check.configure(add_command(commands, "check", help_text=corpus_check.HELP))


def run_stats(args: argparse.Namespace) -> int:
    """Counts; returns the exit code."""
    tally = Tally()
    documents = with_progress(_documents(args.files, reading_of(args), tally.account), quiet=False)
    stats = corpus_stats(documents, tally.account.reading)
    tally.account.written, tally.account.mentions = stats.documents, stats.mentions
    tally.account.refuse_nothing()
    sys.stdout.write(json.dumps(stats.as_dict(), ensure_ascii=False) + "\n" if args.json else format_table(stats))
    tally.say(verbose=args.verbose)
    tally.close(done="counted", quiet=True)
    return tally.exit_code(strict=args.strict)


def run_convert(args: argparse.Namespace) -> int:
    """Converts; returns the exit code."""
    writing = writing_of(args)
    writing.check()
    tally = Tally()
    account, report = tally.account, tally.account.open_report()
    quiet = writing.path == STDOUT and sys.stdout.isatty()
    read = _documents(args.files, reading_of(args), account)
    documents = with_progress(_refusing_nothing(read, account, report), quiet=quiet)
    write_documents(of_source(documents, args.source), writing, report=report)
    account.add(report)
    if args.verbose:
        for line in account.reading.lines():
            say(line)
    tally.say()
    tally.close(writing.path)
    return tally.exit_code(strict=args.strict)


def _documents(files: Sequence[str], request: ReadRequest, account: Account) -> Iterator[Document]:
    inputs = [Input(name=path) for path in paths_of(files, request)]
    for note in table_notes(files, request):
        say(f"note: {note}")
    for _, document in read_inputs(inputs, request, report=account.reading):
        account.read += 1
        account.events.see(document)
        yield document


def _refusing_nothing(documents: Iterator[Document], account: Account, report: WriteReport) -> Iterator[Document]:
    for document in documents:
        yield document
        account.passed(report)
    account.refuse_nothing(report)


def _run_nothing(args: argparse.Namespace) -> int:
    raise UsageError("corpus needs a command of its own: stats, convert or check; see fascicle corpus --help")
