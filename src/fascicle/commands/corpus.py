"""``fascicle corpus``: what is in corpora, what is wrong with them, and corpora in other formats."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

from fascicle.commands import corpus_check
from fascicle.commands.console import Tally, say, with_progress
from fascicle.commands.inputs import add_reading, paths_of, read_file
from fascicle.commands.outputs import (
    STDOUT,
    Look,
    add_colour,
    add_format,
    check_output,
    format_of,
    wants_colour,
    write_documents,
)
from fascicle.commands.parsing import Parser, add_command, add_json, add_overwrite, add_strict, commands_of
from fascicle.commands.places import reads, writes
from fascicle.core.document import Document
from fascicle.errors import UsageError
from fascicle.formats.files import unique_ids
from fascicle.formats.report import ReadReport
from fascicle.formats.stats import corpus_stats, format_table

HELP = "count what is in corpora, check them, or convert them"


def configure(parser: Parser) -> None:
    """Adds the commands."""
    parser.set_defaults(run=_no_command)
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
    add_strict(convert)
    add_reading(convert)
    corpus_check.configure(add_command(commands, "check", help_text=corpus_check.HELP))


def run_stats(args: argparse.Namespace) -> int:
    """Counts; returns the exit code."""
    tally, report = Tally(), ReadReport()
    stats = corpus_stats(with_progress(_documents(args, tally, report), quiet=False), report)
    sys.stdout.write(json.dumps(stats.as_dict(), ensure_ascii=False) + "\n" if args.json else format_table(stats))
    tally.say(verbose=args.verbose)
    return tally.exit_code(strict=args.strict)


def run_convert(args: argparse.Namespace) -> int:
    """Converts; returns the exit code."""
    name = args.format or format_of(args.output) or "jsonl"
    check_output(args.output, format_name=name, overwrite=args.overwrite)
    tally, report = Tally(), ReadReport()
    look = Look(format=name, source=args.source, colour=wants_colour(args.color, args.output))
    quiet = args.output == STDOUT and sys.stdout.isatty()
    documents = with_progress(_documents(args, tally, report), quiet=quiet)
    written = write_documents(args.output, documents, look=look, overwrite=args.overwrite)
    tally.add_report(written)
    if args.verbose:
        for line in (*report.lines(), f"{written.documents:,} documents and {written.mentions:,} mentions written"):
            say(line)
    tally.say()
    return tally.exit_code(strict=args.strict)


def _documents(args: argparse.Namespace, tally: Tally, report: ReadReport) -> Iterator[Document]:
    paths = paths_of(args.files, format_name=args.input_format)
    found = (
        document for path in paths for document in read_file(path, args, format_name=args.input_format, report=report)
    )
    return tally.observe(unique_ids(found))


def _no_command(args: argparse.Namespace) -> int:
    raise UsageError("corpus needs a command of its own: stats, convert or check; see fascicle corpus --help")
