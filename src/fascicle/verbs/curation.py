"""Command ``fascicle curation``: checks, repairs and copies the file in which a service keeps decisions."""

from __future__ import annotations

import sys
from typing import Final

import msgspec

from fascicle.core.wording import counted
from fascicle.serving.curation.upkeep import Verified, backup, repair, verify
from fascicle.verbs.messages import say
from fascicle.verbs.options import Overwrite, called, option, reads, writes

_SHOWN: Final = 20  # damages that are printed


class Verify:
    """Check every row of a file of decisions, and name what is damaged.

    In Python: ``fascicle.serving.curation.upkeep.verify("decisions.sqlite")``

    Attributes:
        path: of decisions.
        json: print the account as JSON.
    """

    path: str = option("FILE", reads)
    json: bool = option("--json")


class Repair(Verify, Overwrite):
    """Write what is intact of a damaged file of decisions into a new one, and name the rest.

    In Python: ``fascicle.serving.curation.upkeep.repair("decisions.sqlite", "mended.sqlite")``

    Attributes:
        path: of decisions.
        output: the new file.
        json: print the account as JSON.
    """

    output: str = option("-o --output FILE", writes, required=True)


class Backup(Verify, Overwrite):
    """Copy a file of decisions, also while a service has it open.

    In Python: ``fascicle.serving.curation.upkeep.backup("decisions.sqlite", "copy.sqlite")``

    Attributes:
        path: of decisions.
        output: the copy.
        json: print the account as JSON.
    """

    output: str = option("-o --output FILE", writes, required=True)


def _tell(found: Verified, place: str, *, as_json: bool) -> int:
    """Prints an account; returns the exit code, which is 3 if something is damaged."""
    if as_json:
        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
    for damage in found.damages[:_SHOWN]:
        say(f"damaged: {damage}")
    if (more := len(found.damages) - _SHOWN) > 0:
        say(f"damaged: {more:,} more; --json has all")
    say(f"{place}: {counted(found.documents, 'document')} and {counted(found.steps, 'step')} are intact")
    return 3 if found.damages else 0


def _run_verify(args: Verify) -> int:
    """Checks a file; returns the exit code."""
    return _tell(verify(args.path), args.path, as_json=args.json)


def _run_repair(args: Repair) -> int:
    """Writes a mended file; returns the exit code."""
    return _tell(called(repair, args), args.output, as_json=args.json)


def _run_backup(args: Backup) -> int:
    """Copies a file; returns the exit code."""
    return _tell(called(backup, args), args.output, as_json=args.json)


COMMANDS = {"verify": (Verify, _run_verify), "repair": (Repair, _run_repair), "backup": (Backup, _run_backup)}
