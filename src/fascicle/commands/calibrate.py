"""``fascicle calibrate``: a copy of a model whose scores, thresholds and rules are fitted on development data."""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from fascicle.commands.console import Tally, with_progress
from fascicle.commands.inputs import add_reading, reading_of
from fascicle.commands.parsing import add_json, add_overwrite, add_strict, add_threads, add_types, types_of
from fascicle.commands.places import reads, writes
from fascicle.commands.saying import say
from fascicle.errors import UsageError
from fascicle.loading import as_path
from fascicle.reports.table import aligned_rows, percent
from fascicle.systems.predictions import PredictionRequest
from fascicle.tasks.calibrate import Calibrated, CalibrateSettings, calibrate, described, rules_described

if TYPE_CHECKING:
    from fascicle.evaluation.calibration.fitting import Stage

METHODS = ("temperature", "isotonic", "none")
OPTIMISTIC = (
    "These numbers are of the documents that all of it was fitted on, so they are optimistic; score the new model on "
    "others."
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.add_argument("model", type=reads, metavar="MODEL", help="a model folder, or the name of a shipped model")
    parser.add_argument(
        "gold", type=reads, metavar="GOLD", help="development documents with gold mentions, in any format"
    )
    parser.add_argument(
        "-o", "--output", type=writes, metavar="DIR", help="the folder to write: the model with the new calibration"
    )
    parser.add_argument(
        "--method",
        choices=METHODS,
        default="temperature",
        help="how scores become probabilities; none: they stay; default: temperature",
    )
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument("--precision", type=_share, metavar="P", help="set the threshold for this precision, e.g. 0.9")
    wanted.add_argument("--recall", type=_share, metavar="R", help="set the threshold for this recall, e.g. 0.9")
    wanted.add_argument("--f1", action="store_true", help="set the threshold for the best F1")
    parser.add_argument(
        "--abbreviations",
        action="store_true",
        help="choose, by F1, what the short and long forms of a document change about its mentions; with --method none "
        "nothing else is fitted, and MODEL may be an ensemble",
    )
    parser.add_argument("--per-type", action="store_true", help="a threshold for each type")
    add_types(parser)
    parser.add_argument("--name", help="of the new model; becomes the source of its mentions; default: the old one")
    add_json(parser, what="what was fitted")
    add_threads(parser)
    add_overwrite(parser)
    add_strict(parser)
    add_reading(parser)


def run(args: argparse.Namespace) -> int:
    """Fits and writes; returns the exit code."""
    settings = settings_of(args)
    if not args.output:
        raise UsageError("no place to write was given; name a folder with -o")
    tally = Tally()
    gold = PredictionRequest(path=args.gold, reading=reading_of(args))
    events, watch = tally.account.events, partial(with_progress, quiet=False)
    made = calibrate(args.model, gold, args.output, settings, overwrite=args.overwrite, events=events, watch=watch)
    tally.say(verbose=args.verbose)
    for note in made.notes:
        say(f"note: {note}")
    sys.stdout.write(_as_json(made) if args.json else _as_text(made, args.gold))
    say(f"the calibrated model is {made.folder}; fascicle annotate --model {as_path(made.folder)} uses it")
    return tally.exit_code(strict=args.strict)


def settings_of(args: argparse.Namespace) -> CalibrateSettings:
    """What is fitted."""
    from fascicle.evaluation.calibration.fitting import Target  # late: other commands need none of it

    wanted = args.f1 or args.precision is not None or args.recall is not None
    return CalibrateSettings(
        method=args.method,
        target=Target(precision=args.precision, recall=args.recall) if wanted else None,
        per_type=args.per_type,
        abbreviations=args.abbreviations,
        types=types_of(args),
        name=args.name or "",
        threads=args.threads,
    )


def _as_text(made: Calibrated, gold: str) -> str:
    lines = [f"{made.manifest.name} on {gold}", ""]
    if made.fitted:
        rows = [("", "mentions", "ECE", "Brier", "P", "R", "F1"), *map(_row, made.fitted.stages)]
        head, *rest = (line.rstrip() for line in aligned_rows(rows))
        lines += [head, "-" * len(head), *rest, "", *described(made.fitted.calibration)]
    if made.abbreviations:
        lines += rules_described(made.abbreviations)
    return "\n".join([*lines, OPTIMISTIC]) + "\n"


def _row(stage: Stage) -> tuple[str, ...]:
    brier = "-" if stage.brier is None else f"{stage.brier:.4f}"
    shown = stage.figures
    rates = map(percent, (shown.precision, shown.recall, shown.f1))
    return (stage.name, f"{stage.mentions:,}", percent(stage.calibration_error), brier, *rates)


def _as_json(made: Calibrated) -> str:
    value: dict[str, Any] = {
        "name": made.manifest.name,
        "calibration": msgspec.to_builtins(made.calibration),
        "stages": [stage.as_dict() for stage in made.fitted.stages] if made.fitted else [],
        "notes": [*(made.fitted.notes if made.fitted else ()), OPTIMISTIC],
    }
    if made.abbreviations:
        value["abbreviations"] = made.abbreviations.as_dict()
    return json.dumps(value, ensure_ascii=False) + "\n"


def _share(text: str) -> float:
    """A number above 0 and up to 1."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not allowed, give a number above 0 and up to 1, such as 0.9")
    return value
