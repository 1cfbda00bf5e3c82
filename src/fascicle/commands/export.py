"""``fascicle export``: a trained model to a folder that needs no torch."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from fascicle.commands.console import needs_extra
from fascicle.commands.options import OVERWRITE, called, option
from fascicle.commands.places import reads, writes
from fascicle.commands.saying import say
from fascicle.errors import UsageError
from fascicle.settings.folders.manifest import Manifest
from fascicle.tasks.export import export


class Options:
    """Options of ``fascicle export``.

    In Python: ``fascicle.export("runs/mine", "mine", int8=True)``

    Attributes:
        model: a run folder, of a model or a filter, or the model folder in it.
        output: the folder to write.
        int8: 8-bit weights: smaller and faster, a little less exact.
        sample: texts to measure 8-bit activations on, in any format, for a filter with gold mentions; default: the
            training part of the run's recipe.
        name: of the exported model; becomes the source of its mentions.
        types_encoder: of a bi-encoder: also export what reads about types, so that annotate --types works with the
            folder.
        json: print the description of the model as JSON.
    """

    model: str = option("RUN_OR_MODEL", reads)
    output: str | None = option("-o --output DIR", writes)
    int8: bool = option("--int8")
    sample: str | None = option("--calibrate FILE", reads)
    name: str | None = option("--name NAME")
    types_encoder: bool = option("--types-encoder")
    overwrite: bool = OVERWRITE
    json: bool = option("--json")


def run(args: Options) -> int:
    """Exports; returns the exit code."""
    if not args.output:
        raise UsageError("no place to write was given; name a folder with -o")
    target = Path(args.output)
    with needs_extra("train"):
        manifest = called(export, args, folder=target)
    if args.int8 and isinstance(manifest, Manifest) and manifest.decision.calibration:
        say(f"note: {manifest.name} was calibrated with its weights in full; fit the scores of {target} again")
    if args.json:
        sys.stdout.write(msgspec.json.encode(manifest).decode() + "\n")
        return 0
    size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
    sys.stdout.write(f"{target}: {manifest.name}, types {', '.join(manifest.types)}, {size / 1e6:.1f} MB\n")
    return 0
