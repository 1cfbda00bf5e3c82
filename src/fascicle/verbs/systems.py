"""Options of commands that score or combine systems, and the requests that are built from them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final, NamedTuple

from fascicle.core.files.atomic import check_target
from fascicle.core.files.source import STDIN, stem
from fascicle.errors import UsageError
from fascicle.evaluation.systems.predictions import PREDICTIONS, PredictionRequest
from fascicle.formats.distributions import SUFFIXES
from fascicle.runtime.places import is_shipped
from fascicle.settings.folders.best import description_file, model_folder
from fascicle.verbs.options import option, reads, writes
from fascicle.verbs.shared import INPUT_FORMATS, ReadingDetails, input_format, read_request

SYSTEM_FORMATS: Final = INPUT_FORMATS.with_more(PREDICTIONS)
REPORTS: Final = (".html", ".md", ".json")  # suffixes of the file of --report
DISTRIBUTIONS: Final[Any] = option(
    "--distributions FILE.jsonl",
    writes,
    help="write the probability of each type for every gold mention, for fascicle plot; the name "
    "ends in " + " or ".join(SUFFIXES),
)


MAP: Final[Any] = option(
    "--map TYPES.toml",
    reads,
    help='file with other names for types, in lines such as "CHEMICAL" = "Chemical"; lines in a '
    'table [NAME] are for the system NAME only; the new name "" leaves a type out',
)


class SystemOptions(ReadingDetails):
    """Options for the systems of a file, and for its reading.

    Attributes:
        source: if PRED has mentions of several sources: use this source as a system; may be
            repeated.
        distinct_types: treat types with similar names as different types.
        input_format: format of PRED; default: auto.
    """

    source: list[str] = option("--source NAME ...")
    map: str | None = MAP
    distinct_types: bool = option("--distinct-types")
    input_format: str = input_format("--input-format", choices=SYSTEM_FORMATS, group="reading")


def prediction_requests(args: Any) -> list[PredictionRequest]:
    """Returns the files with predictions."""
    reading = read_request(args, role="pred")
    return [
        PredictionRequest(path=path, reading=reading, source=args.source or "")
        for path in files_of(args)
    ]


def files_of(args: Any) -> list[str]:
    """Returns the names of the files with predictions.

    Raises:
        UsageError: one that is a model.
    """
    for path in args.files:
        if description_file(model_folder(Path(path))).is_file() or (
            is_shipped(path) and not Path(path).exists()
        ):
            raise UsageError(
                f"{path} is a model, but PRED must be a file of predictions; score the model with "
                f"fascicle evaluate GOLD --model {path}, or write predictions with fascicle "
                f"annotate --model {path} --format predictions"
            )
    return list(args.files)


def check_report(path: str, *, overwrite: bool) -> None:
    """Refuses a name for a report that cannot be written.

    Raises:
        UsageError: the name has no suffix of a format.
        OutputError: the file exists.
    """
    if Path(path).suffix not in REPORTS:
        raise UsageError(
            f"the report {path} was asked for; its name must end with {' or '.join(REPORTS)}, "
            "which decides what it is"
        )
    check_target(path, overwrite=overwrite)


def _column(text: str) -> int:
    """Parses the number of a column, from 0; negative numbers count from the last."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 6):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not allowed, give the number of a column, from 0"
        )
    return int(text)


class Columns:
    """Gold and predictions in columns of one file.

    Attributes:
        gold_column: column of the gold tags, counted from 0, if GOLD is a column file with gold and
            predicted tags; words are in column 0, or in that of --columns.
        pred_column: column of the predicted tags in such a file; give it once for each system.
    """

    group = "reading"
    gold_column: int | None = option("--gold-column N", _column)
    pred_column: list[int] = option("--pred-column N ...", _column)


class SomeColumns(NamedTuple):
    """Columns of one file with the gold tags, and with the tags of each system; see
    ``ReadRequest.columns``.

    Attributes:
        gold: of the word and the gold tags.
        predicted: of the word and the tags of each system, by the name of the system.
    """

    gold: str
    predicted: dict[str, str]


def system_columns(args: Any) -> SomeColumns | None:
    """Returns the columns of ``--gold-column`` and ``--pred-column``; ``None`` without these
    options.

    Raises:
        UsageError: one of the two options without the other, files beside them, or one column
            twice.
    """
    if args.gold_column is None and not args.pred_column:
        return None
    if args.gold_column is None or not args.pred_column:
        present, missing = (
            ("--gold-column", "--pred-column")
            if not args.pred_column
            else ("--pred-column", "--gold-column")
        )
        raise UsageError(
            f"{present} was given without {missing}; give both, for example --gold-column 1 "
            "--pred-column 2"
        )
    if args.files:
        raise UsageError(
            f"--pred-column takes the predictions from {args.gold}, but {args.files[0]} was "
            "given too; leave one out"
        )
    if args.gold == STDIN:
        raise UsageError(
            "standard input (-) can be read once, and each column needs a reading; name a file"
        )
    token = _token(args.columns)
    used = [token, args.gold_column, *args.pred_column]
    twice = next((column for column in used if used.count(column) > 1), None)
    if twice is not None:
        raise UsageError(
            f"column {twice} was given twice; the word, the gold and each system have a column "
            "of their own"
        )
    name, is_single = stem(args.gold), len(args.pred_column) == 1
    predicted = {
        name if is_single else f"{name} column {column}": f"{token},{column}"
        for column in args.pred_column
    }
    return SomeColumns(gold=f"{token},{args.gold_column}", predicted=predicted)


def _token(text: str | None) -> int:
    if text is None:
        return 0
    try:
        return _column(text)
    except argparse.ArgumentTypeError:
        raise UsageError(
            f"--columns {text} was given with --gold-column; name the column of the word alone, "
            "for example --columns 0"
        ) from None
