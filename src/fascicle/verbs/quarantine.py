"""Command ``fascicle quarantine``: lists documents on which a run failed, and tries them again."""

from __future__ import annotations

import sys
from functools import partial

import msgspec

from fascicle.core.wording import plural
from fascicle.errors import one_line
from fascicle.pipeline.running.records import Quarantined
from fascicle.verbs.messages import say
from fascicle.verbs.options import Declared, fills, option, reads
from fascicle.verbs.run import account_code, print_account
from fascicle.verbs.tasks.run import list_quarantined, read_quarantined, retry


class Ls:
    """List the documents in quarantine, with step and error.

    In Python: ``fascicle.verbs.tasks.run.list_quarantined("annotated")``

    Attributes:
        folder: of a run.
        json: print each record, with its document as JSON.
    """

    folder: str = option("FOLDER", reads)
    json: bool = option("--json")


class Show:
    """Print the whole record of one document in quarantine.

    In Python: ``fascicle.verbs.tasks.run.read_quarantined("annotated", "a")``

    Attributes:
        folder: of a run.
        name: of the document.
    """

    folder: str = option("FOLDER", reads)
    name: str = option("ID")


class Retry(Declared):
    """Try documents in quarantine again, for example with a corrected step.

    In Python: ``fascicle.verbs.tasks.run.retry("annotated")``

    Attributes:
        folder: of a run.
        name: only this one; may be repeated.
        pipeline: a pipeline that replaces that of the run.
        json: print the account as JSON.
    """

    folder: str = option("FOLDER", fills)
    name: list[str] = option("--name ID ...")
    pipeline: str | None = option("--pipeline PIPELINE", reads)
    json: bool = option("--json")


def _run_ls(args: Ls) -> int:
    """Lists the documents; returns the exit code."""
    records = list_quarantined(args.folder)
    for record in records:
        sys.stdout.write(
            msgspec.json.encode(record).decode() + "\n"
            if args.json
            else "\t".join(_cells(record)) + "\n"
        )
    say(f"{plural(len(records), 'document')} in quarantine")
    return 0


def _run_show(args: Show) -> int:
    """Prints a document; returns the exit code."""
    content = msgspec.json.encode(read_quarantined(args.folder, args.name))
    sys.stdout.write(msgspec.json.format(content, indent=2).decode() + "\n")
    return 0


def _run_retry(args: Retry) -> int:
    """Tries documents again; returns the exit code."""
    show = partial(print_account, folder=args.folder, as_json=args.json, verbose=args.verbose)
    totals = retry(args.folder, only=args.name, pipeline=args.pipeline, done=show, tell=say)
    return account_code(totals)


def _cells(record: Quarantined) -> list[str]:
    values = (
        record.id,
        record.step,
        record.error,
        f"{record.seconds:g} s",
        record.input,
        record.message,
    )
    return [one_line(" ".join(cell.split())) for cell in values]


COMMANDS = {
    "ls": (Ls, _run_ls),
    "show": (Show, _run_show),
    "retry": (Retry, _run_retry),
}
