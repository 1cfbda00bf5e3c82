"""``fascicle ensemble``: several models and a rule to one folder that is used like a model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fascicle.combination.rules import HALF, RULES
from fascicle.commands.combine import rule_of
from fascicle.commands.parsing import add_overwrite, positive
from fascicle.commands.places import reads, writes
from fascicle.commands.saying import say
from fascicle.core.wording import counted
from fascicle.errors import UsageError
from fascicle.tasks.ensemble import EnsembleRequest, save_ensemble


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.add_argument("rule", choices=tuple(RULES), metavar="RULE", help=f"{', '.join(RULES)}; as of combine")
    parser.add_argument(
        "files", nargs="*", type=reads, metavar="MODEL", help="names of shipped models, or model folders"
    )
    parser.add_argument(
        "-o", "--output", type=writes, metavar="DIR", help="the folder to write; the models are copied into it"
    )
    parser.add_argument("--k", type=positive, metavar="K", help="of kofn: how many models must agree")
    parser.add_argument("--weights", metavar="W,W,...", help="of weighted: one number for each model, in their order")
    parser.add_argument("--threshold", metavar="SHARE", help=f"of weighted: the share to exceed; default: {HALF}")
    parser.add_argument(
        "--filter", type=reads, metavar="FOLDER", help="of meta: the run folder of a filter, or its export"
    )
    parser.add_argument("--flat", action="store_true", help="of overlapping mentions, keep those with the most support")
    parser.add_argument("--name", help="of the ensemble, the source of its mentions; default: that of the folder")
    parser.add_argument(
        "--distinct-types", action="store_true", help="treat types with similar names as different types"
    )
    add_overwrite(parser)


def run(args: argparse.Namespace) -> int:
    """Saves; returns the exit code."""
    if not args.output:
        raise UsageError("no place to write was given; name a folder with -o")
    request = EnsembleRequest(
        rule=rule_of(args),
        models=args.files,
        name=args.name or "",
        flat=args.flat,
        distinct_types=args.distinct_types,
    )
    saved = save_ensemble(request, Path(args.output), overwrite=args.overwrite)
    for note in saved.notes:
        say(f"note: {note}")
    manifest = saved.manifest
    size = sum(file.stat().st_size for file in saved.folder.rglob("*") if file.is_file())
    sys.stdout.write(
        f"{saved.folder}: {manifest.name}, {manifest.rule} of {counted(len(manifest.members), 'model')}, "
        f"{manifest.output} output, types {', '.join(manifest.types)}, {size / 1e6:.1f} MB\n"
    )
    return 0
