"""Gold and predictions as columns of one file: ``WORD GOLD PRED``."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import Any

from fascicle.commands.options import option
from fascicle.errors import UsageError
from fascicle.files.source import STDIN, stem
from fascicle.formats.requests import ReadRequest


def _column(text: str) -> int:
    """The number of a column, from 0; negative numbers count from the last."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 6):
        raise argparse.ArgumentTypeError(f"{text!r} is not allowed, give the number of a column, from 0")
    return int(text)


class Columns:
    """Gold and predictions in columns of one file.

    Attributes:
        gold_column: GOLD is a column file with gold and predicted tags: the column of the gold tags, from 0; the word
            is in column 0, or where --columns says.
        pred_column: the column of predicted tags in such a file; once for each system.
    """

    group = "reading"
    gold_column: int | None = option("--gold-column N", _column)
    pred_column: list[int] = option("--pred-column N ...", _column)


@dataclass(frozen=True, kw_only=True)
class SomeColumns:
    """Which columns of one file hold the words, the gold tags, and the tags of each system.

    Attributes:
        token: of the word.
        gold: of the gold tags.
        predicted: of the tags of each system.
    """

    token: int
    gold: int
    predicted: tuple[int, ...]

    def gold_request(self, request: ReadRequest) -> ReadRequest:
        """How the gold is read.

        Args:
            request: what the other options say.
        """
        return replace(request, format="conll", columns=f"{self.token},{self.gold}")

    def predicted_requests(self, request: ReadRequest, path: str) -> dict[str, ReadRequest]:
        """How the tags of each system are read, by the name of the system.

        Args:
            request: what the other options say.
            path: of the file; the systems are named after it.
        """
        name = stem(path)
        return {
            name if len(self.predicted) == 1 else f"{name} column {column}": replace(
                request, format="conll", columns=f"{self.token},{column}"
            )
            for column in self.predicted
        }


def columns_of(args: Any) -> SomeColumns | None:
    """The columns that ``--gold-column`` and ``--pred-column`` name; ``None`` without these options.

    Raises:
        UsageError: one of the two options without the other, files beside them, or one column twice.
    """
    if args.gold_column is None and not args.pred_column:
        return None
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
    found = SomeColumns(token=_token(args.columns), gold=args.gold_column, predicted=tuple(args.pred_column))
    used = [found.token, found.gold, *found.predicted]
    twice = next((column for column in used if used.count(column) > 1), None)
    if twice is not None:
        raise UsageError(
            f"column {twice} was given twice; the word, the gold and each system have a column of their own"
        )
    return found


def _token(text: str | None) -> int:
    if text is None:
        return 0
    try:
        return _column(text)
    except argparse.ArgumentTypeError:
        raise UsageError(
            f"--columns {text} was given with --gold-column; name the column of the word alone, for example --columns 0"
        ) from None
