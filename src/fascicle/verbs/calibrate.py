"""Command ``fascicle calibrate``: copies a model with scores, thresholds and rules fitted on
development data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import msgspec

from fascicle.errors import UsageError
from fascicle.evaluation.calibration.documents import describe_fit
from fascicle.evaluation.calibration.fitting import Stage, Target
from fascicle.evaluation.reports.table import percent, ruled_rows
from fascicle.evaluation.systems.predictions import PredictionRequest
from fascicle.runtime.places import path_to_load
from fascicle.verbs.console import Tally, with_progress
from fascicle.verbs.messages import emit, say, say_notes
from fascicle.verbs.options import (
    Overwrite,
    Strict,
    Threads,
    call,
    first_given,
    number,
    option,
    reads,
    writes,
)
from fascicle.verbs.shared import TYPES, ReadingOptions, read_request, type_mapping
from fascicle.verbs.tasks.calibrate import (
    Calibrated,
    CalibrateSettings,
    Method,
    calibrate,
    describe_calibration,
    describe_rules,
)
from fascicle.verbs.tasks.calibrate_documents import DocumentCalibrated, calibrate_documents

_OPTIMISTIC = (
    "These numbers are of the documents that all of it was fitted on, so they are optimistic; "
    "score the new model on others."
)


_SHARE = number("above 0 and up to 1, such as 0.9", lambda value: 0 < value <= 1)


class Options(Threads, Overwrite, Strict, ReadingOptions):
    """Options of ``fascicle calibrate``.

    In Python: ``fascicle.calibrate("runs/mine", "dev.tsv", "calibrated")``

    Attributes:
        model: a model folder, or the name of a shipped model.
        gold: development documents with gold mentions, in any format; only --document takes several
            files.
        output: the folder to write: the model with the new calibration.
        method: how scores become probabilities; none: scores stay as they are; default:
            temperature.
        precision: set the threshold for this precision, e.g. 0.9.
        recall: set the threshold for this recall, e.g. 0.9.
        f1: set the threshold for the best F1.
        abbreviations: choose rules by F1 that correct mentions of short and long forms; with
            --method none, nothing else is fitted, and MODEL may be an ensemble.
        per_type: fit one threshold for each type.
        document: fit only the decision for whole documents, by type: thresholds, names that are
            marked at all places, ends of names, and probabilities.
        untaught: with --document, if MODEL does not list its training texts: state that no text of
            GOLD was among them.
        name: name of the new model, and of the source of its mentions; default: the old name.
        json: print what was fitted as JSON.
    """

    model: str = option("MODEL", reads)
    gold: list[str] = option("GOLD +", reads)
    output: str | None = option("-o --output DIR", writes)
    method: Method = option("--method", choices=get_args(Method), default="temperature")
    precision: float | None = option("--precision P", _SHARE, apart="threshold")
    recall: float | None = option("--recall R", _SHARE, apart="threshold")
    f1: bool = option("--f1", apart="threshold")
    abbreviations: bool = option("--abbreviations")
    per_type: bool = option("--per-type")
    document: bool = option("--document")
    untaught: bool = option("--untaught")
    types: list[str] = TYPES
    name: str | None = option("--name NAME")
    json: bool = option("--json")


def _check_document(args: Options) -> None:
    if other := first_given(args, ("precision", "recall", "f1", "abbreviations", "per_type")):
        raise UsageError(f"--document and {other} cannot be given together; give one of them")


def run(args: Options) -> int:
    """Fits and writes the model; returns the exit code."""
    if not args.output:
        raise UsageError("no place to write was given; name a folder with -o")
    tally = Tally()
    gold = [PredictionRequest(path=path, reading=read_request(args)) for path in args.gold]
    how: dict[str, Any] = {
        "overwrite": args.overwrite,
        "events": tally.account.events,
        "watch": with_progress,
    }
    calibrated: Calibrated | DocumentCalibrated
    if args.document:
        _check_document(args)
        how |= {"gold": gold, "folder": args.output, "types": type_mapping(args)}
        calibrated = documents = call(calibrate_documents, args, **how)
        value, text = _documents_value(documents), _documents_as_text(documents, args.gold)
    else:
        calibrated = fitted = calibrate(args.model, gold[0], args.output, _settings_of(args), **how)
        value, text = _value(fitted), _as_text(fitted, args.gold[0])
    tally.say(verbose=args.verbose)
    say_notes(calibrated.notes)
    emit(value, text, as_json=args.json)
    say(
        f"the calibrated model is {calibrated.folder}; fascicle annotate --model "
        f"{path_to_load(calibrated.folder)} uses it"
    )
    return tally.exit_code(strict=args.strict)


def _documents_as_text(calibrated: DocumentCalibrated, paths: Sequence[str]) -> str:
    head = f"{calibrated.manifest.name} on {', '.join(paths)}"
    return "\n".join([head, "", *describe_fit(calibrated.fitted), _OPTIMISTIC]) + "\n"


def _documents_value(calibrated: DocumentCalibrated) -> dict[str, Any]:
    return {
        "name": calibrated.manifest.name,
        "document": msgspec.to_builtins(calibrated.fitted.decision),
        "rows": [row.as_dict() for row in calibrated.fitted.rows],
        "notes": [*calibrated.notes, _OPTIMISTIC],
    }


def _settings_of(args: Options) -> CalibrateSettings:
    """Returns the settings of the fit of scores and rules."""
    if len(args.gold) > 1 or args.untaught:
        wrong = "--untaught was given" if args.untaught else f"{len(args.gold)} files were given"
        raise UsageError(
            f"{wrong} without --document, but needs it; add --document, or leave it out"
        )
    has_target = args.f1 or args.precision is not None or args.recall is not None
    target = Target(precision=args.precision, recall=args.recall) if has_target else None
    return call(CalibrateSettings, args, target=target, types=type_mapping(args))


def _as_text(calibrated: Calibrated, gold: str) -> str:
    lines = [f"{calibrated.manifest.name} on {gold}", ""]
    if calibrated.fitted:
        rows = [
            ("", "mentions", "ECE", "Brier", "P", "R", "F1"),
            *map(_row, calibrated.fitted.stages),
        ]
        lines += [ruled_rows(rows), "", *describe_calibration(calibrated.fitted.calibration)]
    if calibrated.abbreviations:
        lines += describe_rules(calibrated.abbreviations)
    return "\n".join([*lines, _OPTIMISTIC]) + "\n"


def _row(stage: Stage) -> tuple[str, ...]:
    brier = "-" if stage.brier is None else f"{stage.brier:.4f}"
    figures = stage.figures
    rates = map(percent, (figures.precision, figures.recall, figures.f1))
    return (stage.name, f"{stage.mentions:,}", percent(stage.calibration_error), brier, *rates)


def _value(calibrated: Calibrated) -> dict[str, Any]:
    value: dict[str, Any] = {
        "name": calibrated.manifest.name,
        "calibration": msgspec.to_builtins(calibrated.calibration),
        "stages": [stage.as_dict() for stage in calibrated.fitted.stages]
        if calibrated.fitted
        else [],
        "notes": [*(calibrated.fitted.notes if calibrated.fitted else ()), _OPTIMISTIC],
    }
    if calibrated.abbreviations:
        value["abbreviations"] = calibrated.abbreviations.as_dict()
    return value
