"""``fascicle corpus check``: its options."""

from __future__ import annotations

import argparse
from fractions import Fraction

from fascicle.commands.inputs import INPUT_FORMATS, add_reading
from fascicle.commands.parsing import Parser, add_json, add_overwrite, natural, positive
from fascicle.commands.places import reads, writes
from fascicle.core.document import GOLD
from fascicle.doctor.settings import NEVER, SEVERITIES, CheckSettings
from fascicle.formats.requests import STDOUT

HELP = "find defects, and copies of texts in other parts and corpora"
_EXIT = "exit codes: 0 done; 2 bad input or usage, or nothing could be read; 3 a file was not read to its end, or \
there is a finding of at least the severity of --fail-on (by default an error)"


def configure(parser: Parser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.epilog = _EXIT
    parser.add_argument(
        "files", nargs="*", type=reads, metavar="CORPUS", help="corpora without parts; - for standard input"
    )
    for name in ("train", "dev", "test"):
        parser.add_argument(
            f"--{name}",
            nargs="+",
            action="extend",
            type=reads,
            default=[],
            metavar="FILE",
            help=f"the {name} part of a corpus",
        )
    parser.add_argument(
        "--against",
        nargs="+",
        action="extend",
        type=reads,
        default=[],
        metavar="OTHER",
        help="other corpora that may contain copies",
    )
    parser.add_argument("--source", default=GOLD, metavar="NAME", help="whose mentions are checked; default: gold")
    parser.add_argument(
        "--near",
        type=_share,
        default=CheckSettings.near,
        metavar="SHARE",
        help="Jaccard of near duplicates; default: 0.7",
    )
    _add_number(parser, "--min-words", CheckSettings.min_words, "of a text whose copies are leaks; default: 8")
    _add_number(parser, "--long", CheckSettings.long_sentence, "most words of a sentence; default: 128")
    group = parser.add_argument_group("what a model can return")
    group.add_argument(
        "--tokenizer", type=reads, metavar="DIR", help="a folder with a tokenizer.json: check what is unreachable"
    )
    group.add_argument("--width", type=positive, metavar="N", help="most units of a mention; default: any number")
    group.add_argument("--level", choices=("word", "piece"), default="word", help="what a unit is; default: word")
    group.add_argument("--max-length", type=positive, default=256, metavar="N", help="pieces of a window; default: 256")
    _add_report(parser)
    add_reading(parser, aliases=("--format",))
    parser.add_argument("--against-format", choices=INPUT_FORMATS, default="auto", help="of OTHER; default: auto")
    parser.add_argument(
        "--against-field", action="append", default=[], metavar="NAME=VALUE", help="--field for the records of OTHER"
    )


def run(args: argparse.Namespace) -> int:
    """Checks; returns the exit code."""
    from fascicle.commands.corpus_examine import run_check  # late, for what it brings costs every other command time

    return run_check(args)


def _add_number(parser: argparse.ArgumentParser, name: str, default: int, help_text: str) -> None:
    parser.add_argument(name, type=natural, default=default, metavar="N", help=help_text)


def _add_report(parser: Parser) -> None:
    group = parser.add_argument_group("report")
    group.add_argument(
        "-o", "--output", type=writes, default=STDOUT, metavar="REPORT", help="a file; default: standard output"
    )
    add_json(parser, what="the report")
    group.add_argument("--exclude-list", type=writes, metavar="TSV", help="write what training must leave out")
    group.add_argument(
        "--examples", type=natural, default=CheckSettings.examples, metavar="N", help="per finding; default: 5"
    )
    group.add_argument(
        "--skip", action="append", default=[], metavar="CODE", help="leave out this finding; may be repeated"
    )
    group.add_argument(
        "--fail-on",
        choices=(*SEVERITIES, NEVER),
        default="error",
        help="the exit code is 3 for findings of at least this severity; default: error; never: not for any",
    )
    add_overwrite(parser)


def _share(text: str) -> Fraction:
    """A number above 0 and up to 1, exactly as it is written."""
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        value = Fraction(0)
    if not 0 < value <= 1 or value.denominator > 10**6:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not allowed, give a number above 0 and up to 1 with at most six decimals, such as 0.7"
        )
    return value
