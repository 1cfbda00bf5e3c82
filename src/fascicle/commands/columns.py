"""Gold and predictions as columns of one file: ``WORD GOLD PRED``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from fascicle.commands.console import Tally
from fascicle.commands.inputs import read_file
from fascicle.commands.predicted import Predicted, read_predicted
from fascicle.core.document import Document
from fascicle.errors import UsageError
from fascicle.files.source import STDIN, stem
from fascicle.formats.report import ReadReport


def add_columns(group: argparse._ArgumentGroup) -> None:
    """Adds ``--gold-column`` and ``--pred-column``."""
    group.add_argument(
        "--gold-column",
        type=_column,
        metavar="N",
        help="GOLD is a column file with gold and predicted tags: the column of the gold tags, from 0; the word is in "
        "column 0, or where --columns says",
    )
    group.add_argument(
        "--pred-column",
        type=_column,
        action="append",
        default=[],
        metavar="N",
        help="the column of predicted tags in such a file; once for each system",
    )


def check_columns(args: argparse.Namespace) -> None:
    """Refuses columns that do not go together.

    Raises:
        UsageError: one of the two options without the other, files beside them, or one column twice.
    """
    if args.gold_column is None and not args.pred_column:
        return
    if args.gold_column is None or not args.pred_column:
        given, other = (
            ("--gold-column", "--pred-column") if not args.pred_column else ("--pred-column", "--gold-column")
        )
        raise UsageError(f"{given} was given without {other}; give both, for example --gold-column 1 --pred-column 2")
    if args.files:
        raise UsageError(
            f"--pred-column takes the predictions from {args.gold}, but {args.files[0]} was given too; leave one out"
        )
    if args.gold == STDIN:
        raise UsageError("standard input (-) can be read once, and each column needs a reading; name a file")
    used = [_token(args), args.gold_column, *args.pred_column]
    twice = next((column for column in used if used.count(column) > 1), None)
    if twice is not None:
        raise UsageError(
            f"column {twice} was given twice; the word, the gold and each system have a column of their own"
        )


def read_gold(args: argparse.Namespace, report: ReadReport) -> Iterator[Document]:
    """Streams the gold documents, from their column if one is named."""
    if args.gold_column is None:
        return read_file(args.gold, args, format_name=args.gold_format, report=report)
    return read_file(args.gold, _reading(args, args.gold_column), format_name="conll", report=report)


def read_columns(args: argparse.Namespace, *, tally: Tally) -> dict[str, tuple[str, Predicted]]:
    """Reads the predictions of ``--pred-column``.

    Returns:
        Name of the system -> the path, and what it said; nothing without the option.
    """
    found = {}
    for column in args.pred_column:
        name = stem(args.gold) if len(args.pred_column) == 1 else f"{stem(args.gold)} column {column}"
        found[name] = args.gold, read_predicted(args.gold, _reading(args, column), tally=tally)
    return found


def _reading(args: argparse.Namespace, column: int) -> argparse.Namespace:
    """The options to read one column of tags."""
    changed = {"columns": f"{_token(args)},{column}", "pred_format": "conll"}
    return argparse.Namespace(**vars(args) | changed)


def _token(args: argparse.Namespace) -> int:
    if args.columns is None:
        return 0
    try:
        return _column(args.columns)
    except argparse.ArgumentTypeError:
        raise UsageError(
            f"--columns {args.columns} was given with --gold-column; name the column of the word alone, for example "
            "--columns 0"
        ) from None


def _column(text: str) -> int:
    """The number of a column, from 0; negative numbers count from the last."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 6):
        raise argparse.ArgumentTypeError(f"{text!r} is not allowed, give the number of a column, from 0")
    return int(text)
