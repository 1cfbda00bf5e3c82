"""``fascicle ensemble``: several models and a rule to one folder that is used like a model."""

from __future__ import annotations

import sys

from fascicle.combination.rules import HALF, RULES
from fascicle.commands.combine import rule_of
from fascicle.commands.options import Overwrite, called, option
from fascicle.commands.parsing import positive
from fascicle.commands.places import reads, writes
from fascicle.commands.saying import say
from fascicle.core.wording import counted
from fascicle.errors import UsageError
from fascicle.settings.recipes.ensemble import RuleName
from fascicle.tasks.ensemble import ensemble


class Options(Overwrite):
    """Options of ``fascicle ensemble``.

    In Python: ``fascicle.tasks.ensemble.ensemble(["runs/mine", "biomed"], "both", "union")``

    Attributes:
        files: names of shipped models, or model folders.
        output: the folder to write; the models are copied into it.
        k: of kofn: how many models must agree.
        weights: of weighted: one number for each model, in their order.
        filter: of meta: the run folder of a filter, or its export.
        flat: of overlapping mentions, keep those with the most support.
        name: of the ensemble, the source of its mentions; default: that of the folder.
        distinct_types: treat types with similar names as different types.
    """

    rule: RuleName = option("RULE", choices=tuple(RULES), help=f"{', '.join(RULES)}; as of combine")
    files: list[str] = option("MODEL *", reads)
    output: str | None = option("-o --output DIR", writes)
    k: int | None = option("--k K", positive)
    weights: str | None = option("--weights W,W,...")
    threshold: str | None = option("--threshold SHARE", help=f"of weighted: the share to exceed; default: {HALF}")
    filter: str | None = option("--filter FOLDER", reads)
    flat: bool = option("--flat")
    name: str | None = option("--name NAME")
    distinct_types: bool = option("--distinct-types")


def run(args: Options) -> int:
    """Saves; returns the exit code."""
    if not args.output:
        raise UsageError("no place to write was given; name a folder with -o")
    saved = called(ensemble, args, models=args.files, folder=args.output, rule=rule_of(args))
    for note in saved.notes:
        say(f"note: {note}")
    manifest = saved.manifest
    size = sum(file.stat().st_size for file in saved.folder.rglob("*") if file.is_file())
    sys.stdout.write(
        f"{saved.folder}: {manifest.name}, {manifest.rule} of {counted(len(manifest.members), 'model')}, "
        f"{manifest.output} output, types {', '.join(manifest.types)}, {size / 1e6:.1f} MB\n"
    )
    return 0
