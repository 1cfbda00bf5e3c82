"""Options of commands that score or combine systems, and the requests that are built from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from fascicle.core.files.atomic import check_target
from fascicle.errors import UsageError
from fascicle.evaluation.systems.predictions import PREDICTIONS, PredictionRequest
from fascicle.formats.distributions import SUFFIXES
from fascicle.verbs.options import option, reads, writes
from fascicle.verbs.shared import INPUT_FORMATS, ReadingDetails, input_format, reading_of

SYSTEM_FORMATS: Final = INPUT_FORMATS.with_more(PREDICTIONS)
REPORTS: Final = (".html", ".md", ".json")  # suffixes of the file of --report
DISTRIBUTIONS: Final[Any] = option(
    "--distributions FILE.jsonl",
    writes,
    help="write the probability of each type for every gold mention, for fascicle plot; ends in "
    + " or ".join(SUFFIXES),
)


class SystemOptions(ReadingDetails):
    """Options for the systems of a file, and for its reading.

    Attributes:
        source: of files with mentions of several sources: take this one; give it once for each.
        map: other names for types: lines "CHEMICAL" = "Chemical", in a table [NAME] for one system only; the new name
            "" leaves a type out.
        distinct_types: types with other names are other types, however similar the names are.
        input_format: default: auto.
    """

    source: list[str] = option("--source NAME ...")
    map: str | None = option("--map TYPES.toml", reads)
    distinct_types: bool = option("--distinct-types")
    input_format: str = input_format("--input-format", choices=SYSTEM_FORMATS, group="reading")


def predictions_of(args: Any) -> list[PredictionRequest]:
    """Returns the files with predictions."""
    reading = reading_of(args, role="pred")
    return [PredictionRequest(path=path, reading=reading, source=args.source or "") for path in args.files]


def check_report(path: str, *, overwrite: bool) -> None:
    """Refuses a name for a report that cannot be written.

    Raises:
        UsageError: the name has no suffix of a format.
        OutputError: the file exists.
    """
    if Path(path).suffix not in REPORTS:
        raise UsageError(
            f"the report {path} was asked for; its name must end with {' or '.join(REPORTS)}, which decides what it is"
        )
    check_target(path, overwrite=overwrite)
