"""``fascicle calibrate``: a copy of a model whose scores and thresholds are fitted on development data."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from fascicle.commands.console import Tally, say, with_progress
from fascicle.commands.inputs import add_reading, read_file
from fascicle.commands.parsing import add_json, add_overwrite, add_strict, add_threads
from fascicle.commands.places import reads, writes
from fascicle.core.document import Document
from fascicle.core.wording import counted
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.scoring.inputs import layers
from fascicle.files.atomic import atomic_folder, check_folder
from fascicle.files.source import STDIN
from fascicle.loading import find_model, load_single
from fascicle.reports.table import aligned_rows, percent
from fascicle.settings.calibration import TemperatureCurve
from fascicle.settings.folders.manifest import CARD, Manifest, write_manifest

if TYPE_CHECKING:
    from fascicle.evaluation.calibration.fitting import Fitted, Stage, Target
    from fascicle.evaluation.calibration.reliability import Judged
    from fascicle.runtime.predictor import ModelPredictor
    from fascicle.settings.calibration import Calibration

HELP = "fit the scores and thresholds of a model on development data"
METHODS = ("temperature", "isotonic", "none")
_CARD = "\n## Calibration\n\n"
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
        "-o", "--output", type=writes, metavar="DIR", help="the folder to write: the model with the new decision"
    )
    parser.add_argument(
        "--method",
        choices=METHODS,
        default="temperature",
        help="what makes scores truer; none leaves them; default: temperature",
    )
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument("--precision", type=_share, metavar="P", help="keep what reaches this precision, e.g. 0.9")
    wanted.add_argument("--recall", type=_share, metavar="R", help="keep what this recall needs, e.g. 0.9")
    wanted.add_argument("--f1", action="store_true", help="keep what gives the best F1")
    parser.add_argument("--per-type", action="store_true", help="a threshold for each type")
    parser.add_argument("--name", help="of the new model; becomes the source of its mentions; default: the old one")
    add_json(parser, what="what was fitted")
    add_threads(parser)
    add_overwrite(parser)
    add_strict(parser)
    add_reading(parser)


def run(args: argparse.Namespace) -> int:
    """Fits and writes; returns the exit code."""
    from fascicle.evaluation.calibration.fitting import fit_calibration  # late: other commands need none of it

    target = _target(args)
    folder, output = find_model(args.model), Path(args.output)
    check_folder(output, kind="model", overwrite=args.overwrite)
    predictor = load_single(folder, threads=args.threads)
    manifest, tally = _named(predictor.manifest, args.name), Tally()
    documents = list(tally.observe(read_file(args.gold, args, format_name=args.input_format)))
    if manifest.decision.calibration:
        say(f"note: {manifest.name} is calibrated already; the new calibration starts from its first scores")
    data = _judged(predictor.uncalibrated(), documents, tally)
    tally.say(verbose=args.verbose)
    _say_types(data, manifest)
    try:
        types = manifest.types if args.per_type else ()
        fitted = fit_calibration(data, method=args.method, target=target, types=types, chosen_on=_hash(args.gold))
    except InputError as error:
        raise InputError(f"{manifest.name} on {args.gold}: {error}") from None
    for note in fitted.notes:
        say(f"note: {note}")
    written = _write(folder, output, _decided(manifest, fitted.calibration), overwrite=args.overwrite)
    sys.stdout.write(_as_json(written, fitted) if args.json else _as_text(written, fitted, args.gold))
    say(f"the calibrated model is {output}; fascicle annotate --model {output} uses it")
    return tally.exit_code(strict=args.strict)


def _target(args: argparse.Namespace) -> Target | None:
    """What the threshold is for; refuses what is not to be done."""
    from fascicle.evaluation.calibration.fitting import Target

    wanted = args.f1 or args.precision is not None or args.recall is not None
    if not args.output:
        raise UsageError("no place to write was given; name a folder with -o")
    if args.gold == STDIN:
        raise UsageError("the gold was given as standard input (-), but the model keeps its hash; give a file")
    if not wanted and (args.per_type or args.method == "none"):
        option = "--per-type" if args.per_type else "--method none"
        raise UsageError(f"{option} needs a target for thresholds; give --precision P, --recall R or --f1")
    return Target(precision=args.precision, recall=args.recall) if wanted else None


def _judged(predictor: ModelPredictor, documents: Sequence[Document], tally: Tally) -> Judged:
    """What the model says of documents, none of whose mentions it sees."""
    from fascicle.evaluation.calibration.reliability import judged

    bare = (msgspec.structs.replace(document, mentions=(), events=()) for document in documents)
    found = with_progress(tally.observe(predictor.stream(bare)), quiet=False)
    return judged(layers(documents), layers(found, source=predictor.name))


def _say_types(data: Judged, manifest: Manifest) -> None:
    strange = {name: count for name, count in data.gold.items() if name not in manifest.types}
    if strange:
        listed = ", ".join(f"{name!r} ({count:,})" for name, count in strange.items())
        say(f"note: the model lacks types of the gold, {listed}; their mentions count as missed")


def _hash(path: str) -> str:
    from fascicle.training.corpus import part_sha256  # knows no torch

    return part_sha256(path)


def _named(manifest: Manifest, name: str | None) -> Manifest:
    try:
        return msgspec.structs.replace(manifest, name=name or manifest.name)
    except ValueError as error:
        raise UsageError(f"--name {name} is not allowed: {error}") from None


def _decided(manifest: Manifest, calibration: Calibration) -> Manifest:
    decision = msgspec.structs.replace(manifest.decision, calibration=calibration)
    return msgspec.structs.replace(manifest, decision=decision)


def _write(folder: Path, output: Path, manifest: Manifest, *, overwrite: bool) -> Manifest:
    """The model folder with another manifest, complete or not at all."""
    with atomic_folder(output, kind="model", overwrite=overwrite) as place:
        for file in manifest.files:
            shutil.copyfile(folder / file, place / file)
        if (folder / CARD).is_file():
            card = (folder / CARD).read_text(encoding="utf-8").partition(_CARD)[0].rstrip("\n")
            (place / CARD).write_text(f"{card}\n{_CARD}{_card(manifest.decision.calibration)}", encoding="utf-8")
        return write_manifest(place, manifest)


def _card(calibration: Calibration | msgspec.UnsetType) -> str:
    assert calibration
    said = "\n".join(f"- {line}" for line in _described(calibration))
    return (
        "This is a copy whose scores and thresholds were fitted on development data (sha256 "
        f"{calibration.chosen_on}). What is said above of its accuracy was measured before.\n\n{said}\n"
    )


def _described(calibration: Calibration) -> list[str]:
    """What was fitted, as lines."""
    lines = []
    curve = calibration.curve
    if isinstance(curve, TemperatureCurve):
        word = "too sure" if curve.temperature > 1 else "not too sure"
        lines.append(f"temperature {curve.temperature:.4g}: the scores of the model are {word}")
    elif curve is not None:
        lines.append(f"isotonic curve with {counted(len(curve.scores), 'knot')}")
    if not calibration.wanted:
        return lines
    if not calibration.thresholds or calibration.threshold:
        rest = " of the other types" if calibration.thresholds else ""
        lines.append(f"threshold{rest} for {calibration.wanted}: {_threshold(calibration.threshold)}")
    lines += [f"threshold of {t} for {calibration.wanted}: {_threshold(v)}" for t, v in calibration.thresholds.items()]
    return lines


def _threshold(value: float) -> str:
    return f"{value:.4g}" if value else "0, which keeps all"


def _as_text(manifest: Manifest, fitted: Fitted, gold: str) -> str:
    rows = [("", "mentions", "ECE", "Brier", "P", "R", "F1"), *map(_row, fitted.stages)]
    head, *rest = (line.rstrip() for line in aligned_rows(rows))
    assert manifest.decision.calibration
    lines = [f"{manifest.name} on {gold}", "", head, "-" * len(head), *rest, ""]
    return "\n".join([*lines, *_described(manifest.decision.calibration), OPTIMISTIC]) + "\n"


def _row(stage: Stage) -> tuple[str, ...]:
    brier = "-" if stage.brier is None else f"{stage.brier:.4f}"
    shown = stage.figures
    rates = map(percent, (shown.precision, shown.recall, shown.f1))
    return (stage.name, f"{stage.mentions:,}", percent(stage.calibration_error), brier, *rates)


def _as_json(manifest: Manifest, fitted: Fitted) -> str:
    value: dict[str, Any] = {
        "name": manifest.name,
        "calibration": msgspec.to_builtins(fitted.calibration),
        "stages": [stage.as_dict() for stage in fitted.stages],
        "notes": [*fitted.notes, OPTIMISTIC],
    }
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
