"""Command ``fascicle curation``: checks, repairs, copies and exports the file in which a service
keeps decisions.
"""

from __future__ import annotations

import sys
from typing import Final

import msgspec

from fascicle.core.wording import plural
from fascicle.serving.curation.upkeep import Verified, backup, export, repair, verify
from fascicle.verbs.messages import say
from fascicle.verbs.options import Overwrite, call, option, reads, writes

_SHOWN: Final = 20  # damages that are printed


class Verify:
    """Check every row of a file of decisions, and list the damage.

    In Python: ``fascicle.serving.curation.upkeep.verify("decisions.sqlite")``

    Attributes:
        path: of decisions.
        json: print the account as JSON.
    """

    path: str = option("FILE", reads)
    json: bool = option("--json")


class Repair(Verify, Overwrite):
    """Write the intact rows of a damaged file of decisions to a new file, and list the damage.

    In Python: ``fascicle.serving.curation.upkeep.repair("decisions.sqlite", "mended.sqlite")``

    Attributes:
        path: of decisions.
        output: the new file.
        json: print the account as JSON.
    """

    output: str = option("-o --output FILE", writes, required=True)


class Backup(Verify, Overwrite):
    """Copy a file of decisions, even while a service uses it.

    In Python: ``fascicle.serving.curation.upkeep.backup("decisions.sqlite", "copy.sqlite")``

    Attributes:
        path: of decisions.
        output: the copy.
        json: print the account as JSON.
    """

    output: str = option("-o --output FILE", writes, required=True)


class Export(Verify, Overwrite):
    """Write the gold of finished documents, to train a model or fit a linker, even while a service
    uses the file.

    In Python: ``fascicle.serving.curation.upkeep.export("decisions.sqlite", "gold.jsonl")``

    Attributes:
        path: of decisions.
        output: the new file; its suffix names the format.
        project: settings of the project; then the decisions of reviewers count, else the mentions
            on which all curators agree.
        version: write the version of this curator instead.
        unfinished: also write unfinished documents.
        decisions: write a table (.csv, .tsv, .xlsx, .parquet) of all mentions of all documents,
            decided or open, with curator, date and note; of a project also what each curator
            decided.
        json: print the account as JSON.
    """

    output: str = option("-o --output FILE", writes, required=True)
    project: str | None = option("--project FILE", reads)
    version: str = option("--version CURATOR", default="")
    unfinished: bool = option("--unfinished")
    decisions: bool = option("--decisions")


def _tell(verified: Verified, place: str, *, as_json: bool) -> int:
    """Prints an account; returns the exit code, which is 3 if something is damaged."""
    if as_json:
        sys.stdout.write(msgspec.json.encode(verified).decode() + "\n")
    for damage in verified.damages[:_SHOWN]:
        say(f"damaged: {damage}")
    if (more := len(verified.damages) - _SHOWN) > 0:
        say(f"damaged: {more:,} more; --json has all")
    say(
        f"{place}: {plural(verified.documents, 'document')} and {plural(verified.steps, 'step')} "
        "are intact"
    )
    return 3 if verified.damages else 0


def _run_verify(args: Verify) -> int:
    """Checks a file; returns the exit code."""
    return _tell(verify(args.path), args.path, as_json=args.json)


def _run_repair(args: Repair) -> int:
    """Writes a mended file; returns the exit code."""
    return _tell(call(repair, args), args.output, as_json=args.json)


def _run_backup(args: Backup) -> int:
    """Copies a file; returns the exit code."""
    return _tell(call(backup, args), args.output, as_json=args.json)


def _run_export(args: Export) -> int:
    """Writes gold; returns the exit code, which is 3 if the file is damaged."""
    export_result = call(export, args)
    if args.json:
        sys.stdout.write(msgspec.json.encode(export_result).decode() + "\n")
    for line in (
        *(f"damaged: {damage}" for damage in export_result.damages[:_SHOWN]),
        *export_result.losses,
    ):
        say(line)
    if export_result.uncounted:
        say(
            f"not counted: decisions of {', '.join(export_result.uncounted)}, who are no curators "
            "of the project"
        )
    if export_result.left:
        say(
            f"left out: {plural(export_result.left, 'document')} not finished, or without "
            "agreement of all curators"
        )
    if export_result.undecided:
        say(f"not written: {plural(export_result.undecided, 'mention')} without a decision")
    say(
        f"{args.output}: {plural(export_result.documents, 'document')} with "
        f"{plural(export_result.mentions, 'row' if args.decisions else 'mention')}"
    )
    return 3 if export_result.damages else 0


COMMANDS = {
    "verify": (Verify, _run_verify),
    "repair": (Repair, _run_repair),
    "backup": (Backup, _run_backup),
    "export": (Export, _run_export),
}
