"""``fascicle export``: a trained model to a folder that needs no torch."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from fascicle.commands.console import needs_extra
from fascicle.commands.parsing import add_json, add_overwrite
from fascicle.commands.places import reads, writes
from fascicle.commands.saying import say
from fascicle.errors import UsageError
from fascicle.settings.folders.manifest import Manifest
from fascicle.tasks.export import export


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
    parser.add_argument(
        "--types-encoder",
        action="store_true",
        help="of a bi-encoder: also export what reads about types, so that annotate --types works with the folder",
    )
    add_overwrite(parser)
    add_json(parser, what="the description of the model")


def run(args: argparse.Namespace) -> int:
    """Exports; returns the exit code."""
    if not args.output:
        raise UsageError("no place to write was given; name a folder with -o")
    target = Path(args.output)
    with needs_extra("train"):
        manifest = export(
            args.model,
            target,
            int8=args.int8,
            sample=args.calibrate,
            name=args.name,
            types_encoder=args.types_encoder,
            overwrite=args.overwrite,
        )
    if args.int8 and isinstance(manifest, Manifest) and manifest.decision.calibration:
        say(f"note: {manifest.name} was calibrated with its weights in full; fit the scores of {target} again")
    if args.json:
        sys.stdout.write(msgspec.json.encode(manifest).decode() + "\n")
        return 0
    size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
    sys.stdout.write(f"{target}: {manifest.name}, types {', '.join(manifest.types)}, {size / 1e6:.1f} MB\n")
    return 0
