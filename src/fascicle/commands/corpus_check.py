"""``fascicle corpus check``: its options."""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import Literal

from fascicle.commands.options import OVERWRITE, option
from fascicle.commands.parsing import natural, positive
from fascicle.commands.places import reads, writes
from fascicle.commands.shared import ReadingAs, input_format
from fascicle.core.document import GOLD
from fascicle.doctor.settings import NEVER, SEVERITIES, CheckSettings
from fascicle.formats.requests import STDOUT

_EXIT = "exit codes: 0 done; 2 bad input or usage, or nothing could be read; 3 a file was not read to its end, or \
there is a finding of at least the severity of --fail-on (by default an error)"


_MODEL = "what a model can return"


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


class Against:
    """How the other corpora are read.

    Attributes:
        against_format: of OTHER; default: auto.
        against_field: --field for the records of OTHER.
    """

    against_format: str = input_format("--against-format")
    against_field: list[str] = option("--against-field NAME=VALUE ...")


class Options(ReadingAs, Against):
    """Find defects, and copies of texts in other parts and corpora.

    In Python: ``fascicle.check("train.tsv", dev="dev.tsv", test="test.tsv")``

    Attributes:
        files: corpora without parts; - for standard input.
        train: the train part of a corpus.
        dev: the dev part of a corpus.
        test: the test part of a corpus.
        against: other corpora that may contain copies.
        source: whose mentions are checked; default: gold.
        near: Jaccard of near duplicates; default: 0.7.
        min_words: of a text whose copies are leaks; default: 8.
        long_sentence: most words of a sentence; default: 128.
        tokenizer: a folder with a tokenizer.json: check what is unreachable.
        width: most units of a mention; default: any number.
        level: what a unit is; default: word.
        max_length: pieces of a window; default: 256.
        output: a file; default: standard output.
        json: print the report as JSON.
        exclude_list: write what training must leave out.
        examples: per finding; default: 5.
        skip: leave out this finding; may be repeated.
        fail_on: the exit code is 3 for findings of at least this severity; default: error; never: not for any.
    """

    epilog = _EXIT
    files: list[str] = option("CORPUS *", reads)
    train: list[str] = option("--train FILE +", reads)
    dev: list[str] = option("--dev FILE +", reads)
    test: list[str] = option("--test FILE +", reads)
    against: list[str] = option("--against OTHER +", reads)
    source: str = option("--source NAME", default=GOLD)
    near: Fraction = option("--near SHARE", _share, default=CheckSettings.near)
    min_words: int = option("--min-words N", natural, default=CheckSettings.min_words)
    long_sentence: int = option("--long N", natural, default=CheckSettings.long_sentence)
    tokenizer: str | None = option("--tokenizer DIR", reads, group=_MODEL)
    width: int | None = option("--width N", positive, group=_MODEL)
    level: Literal["word", "piece"] = option("--level", choices=("word", "piece"), default="word", group=_MODEL)
    max_length: int = option("--max-length N", positive, default=256, group=_MODEL)
    output: str = option("-o --output REPORT", writes, default=STDOUT, group="report")
    json: bool = option("--json")
    exclude_list: str | None = option("--exclude-list TSV", writes, group="report")
    examples: int = option("--examples N", natural, default=CheckSettings.examples, group="report")
    skip: list[str] = option("--skip CODE ...", group="report")
    fail_on: str = option("--fail-on", choices=(*SEVERITIES, NEVER), default="error", group="report")
    overwrite: bool = OVERWRITE


def run(args: Options) -> int:
    """Checks; returns the exit code."""
    from fascicle.commands.corpus_examine import run_check  # late, for what it brings costs every other command time

    return run_check(args)
