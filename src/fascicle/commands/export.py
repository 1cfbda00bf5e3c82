"""``fascicle export``: a trained model to a folder that needs no torch."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from fascicle.commands.console import needs_extra
from fascicle.commands.parsing import add_json, add_overwrite
from fascicle.errors import UsageError
from fascicle.loading import find_model

HELP = "turn a trained model into a folder that runs without torch"


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.add_argument("model", metavar="RUN_OR_MODEL", help="a run folder, or the model folder in it")
    parser.add_argument("-o", "--output", metavar="DIR", help="the folder to write")
    parser.add_argument("--int8", action="store_true", help="8-bit weights: smaller and faster, a little less exact")
    parser.add_argument("--name", help="of the exported model; becomes the source of its mentions")
    add_overwrite(parser)
    add_json(parser, what="the description of the model")


def run(args: argparse.Namespace) -> int:
    """Exports; returns the exit code."""
    if not args.output:
        raise UsageError("no place to write was given; name a folder with -o")
    folder, target = find_model(args.model), Path(args.output)
    with needs_extra("train"):
        from fascicle.models.ship import export_model
    manifest = export_model(folder, target, int8=args.int8, name=args.name, overwrite=args.overwrite)
    if args.json:
        sys.stdout.write(msgspec.json.encode(manifest).decode() + "\n")
        return 0
    size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
    sys.stdout.write(f"{target}: {manifest.name}, types {', '.join(manifest.types)}, {size / 1e6:.1f} MB\n")
    return 0
