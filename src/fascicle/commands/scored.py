"""What ``fascicle evaluate`` reads and writes, whatever it scores."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from fascicle.commands.inputs import reading_of
from fascicle.errors import UsageError
from fascicle.files.atomic import check_target
from fascicle.systems.predictions import PredictionRequest

REPORTS: Final = (".html", ".md", ".json")  # suffixes of the file of --report


def predictions_of(args: argparse.Namespace) -> list[PredictionRequest]:
    """The files with predictions."""
    reading = reading_of(args, role="pred")
    return [PredictionRequest(path=path, reading=reading, source=args.source or "") for path in args.files]


def check_report(path: str, *, overwrite: bool) -> None:
    """Refuses the name of a report that cannot be written.

    Raises:
        UsageError: a name that does not tell its format.
        OutputError: the file exists.
    """
    if Path(path).suffix not in REPORTS:
        raise UsageError(
            f"the report {path} was asked for; its name must end with {' or '.join(REPORTS)}, which decides what it is"
        )
    check_target(path, overwrite=overwrite)
