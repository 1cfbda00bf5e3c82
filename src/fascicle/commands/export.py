"""``fascicle export``: a trained model to a folder that needs no torch."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from fascicle.commands.console import needs_extra, say
from fascicle.commands.parsing import add_json, add_overwrite
from fascicle.commands.places import reads, writes
from fascicle.core.document import GOLD, Document
from fascicle.errors import InputError, UsageError
from fascicle.files.atomic import check_folder
from fascicle.files.tree import is_there
from fascicle.formats.files import read
from fascicle.loading import find_model
from fascicle.settings.folders.best import described_by
from fascicle.settings.folders.manifest import Manifest
from fascicle.settings.recipes.filter import FILTER
from fascicle.settings.recipes.recogniser import CorpusSettings

HELP = "turn a trained model into a folder that runs without torch"


class _Named(msgspec.Struct):
    """What is needed of ``recipe.json``, whatever release wrote the rest."""

    corpus: CorpusSettings


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "model",
        type=reads,
        metavar="RUN_OR_MODEL",
        help="a run folder, of a model or a filter, or the model folder in it",
    )
    parser.add_argument("-o", "--output", type=writes, metavar="DIR", help="the folder to write")
    parser.add_argument("--int8", action="store_true", help="8-bit weights: smaller and faster, a little less exact")
    parser.add_argument(
        "--calibrate",
        type=reads,
        metavar="FILE",
        help="texts to measure 8-bit activations on, in any format, for a filter with gold mentions; default: the "
        "training part of the run's recipe",
    )
    parser.add_argument("--name", help="of the exported model; becomes the source of its mentions")
    add_overwrite(parser)
    add_json(parser, what="the description of the model")


def run(args: argparse.Namespace) -> int:
    """Exports; returns the exit code."""
    if not args.output:
        raise UsageError("no place to write was given; name a folder with -o")
    if args.name == GOLD:
        raise UsageError(f"--name {GOLD} is that of human annotation; give the model another name")
    folder, target = find_model(args.model), Path(args.output)
    with needs_extra("train"):
        from fascicle.models.export.folders import export_filter, export_model
    is_filter = described_by(folder).name == FILTER
    check_folder(target, kind="filter" if is_filter else "model", overwrite=args.overwrite)
    sample = _sample(folder, args.calibrate) if args.int8 else []
    export = export_filter if is_filter else export_model
    manifest = export(folder, target, sample=sample, int8=args.int8, name=args.name, overwrite=args.overwrite)
    if args.int8 and isinstance(manifest, Manifest) and manifest.decision.calibration:
        say(f"note: {manifest.name} was calibrated with its weights in full; fit the scores of {target} again")
    if args.json:
        sys.stdout.write(msgspec.json.encode(manifest).decode() + "\n")
        return 0
    size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
    sys.stdout.write(f"{target}: {manifest.name}, types {', '.join(manifest.types)}, {size / 1e6:.1f} MB\n")
    return 0


def _sample(folder: Path, calibrate: str | None) -> list[Document]:
    """Texts to measure activations on: those given, or the training documents of the run that made the model."""
    if calibrate is not None:
        return list(read(calibrate))
    from fascicle.training.exclusion import training_documents

    recipes = [p for p in (folder / "recipe.json", folder.parent / "recipe.json") if p.is_file()]
    if not recipes:
        raise UsageError(
            f"{folder} is not in a run folder that names its corpus; give sample texts with --calibrate FILE"
        )
    try:
        corpus = msgspec.json.decode(recipes[0].read_bytes(), type=_Named).corpus
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InputError(f"{recipes[0]} is damaged ({error}); give sample texts with --calibrate FILE") from None
    if not is_there(corpus.train):
        raise InputError(f"the training corpus {corpus.train} is not there any more; give texts with --calibrate FILE")
    return training_documents(corpus)
