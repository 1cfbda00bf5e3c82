"""``fascicle quarantine``: what a run could not do, and another try."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import msgspec

from fascicle.commands.parsing import Parser, add_command, add_json, commands_of
from fascicle.commands.places import fills, reads
from fascicle.commands.run import tell
from fascicle.commands.saying import say
from fascicle.core.wording import counted
from fascicle.errors import UsageError, one_line
from fascicle.tasks.run import quarantined, retry, shown

if TYPE_CHECKING:
    from fascicle.running.records import Quarantined


def configure(parser: Parser) -> None:
    """Adds the commands."""
    parser.set_defaults(run=_run_nothing)
    commands = commands_of(parser, dest="quarantine_command")
    listed = add_command(commands, "ls", help_text="list the documents in quarantine, with step and error")
    _add_folder(listed, reads)
    listed.set_defaults(run=run_ls)
    add_json(listed, what="each record, with its document")
    one = add_command(commands, "show", help_text="print all that is known of one document in quarantine")
    _add_folder(one, reads)
    one.add_argument("name", metavar="ID", help="of the document")
    one.set_defaults(run=run_show)
    again = add_command(commands, "retry", help_text="try documents in quarantine again, e.g. with a corrected step")
    _add_folder(again, fills)
    again.add_argument("--name", action="append", default=[], metavar="ID", help="only this one; may be repeated")
    again.add_argument("--pipeline", type=reads, metavar="PIPELINE", help="in place of the pipeline of the run")
    again.set_defaults(run=run_retry)
    add_json(again, what="the account")


def run_ls(args: argparse.Namespace) -> int:
    """Lists; returns the exit code."""
    records = quarantined(args.folder)
    for one in records:
        sys.stdout.write(_json(one) if args.json else "\t".join(_cells(one)) + "\n")
    say(f"{counted(len(records), 'document')} in quarantine")
    return 0


def run_show(args: argparse.Namespace) -> int:
    """Prints; returns the exit code."""
    content = msgspec.json.encode(shown(args.folder, args.name))
    sys.stdout.write(msgspec.json.format(content, indent=2).decode() + "\n")
    return 0


def run_retry(args: argparse.Namespace) -> int:
    """Tries again; returns the exit code."""
    totals = retry(args.folder, only=args.name, pipeline=args.pipeline)
    return tell(totals, args.folder, as_json=args.json, verbose=args.verbose)


def _cells(record: Quarantined) -> list[str]:
    given = (record.id, record.step, record.error, f"{record.seconds:g} s", record.input, record.message)
    return [one_line(" ".join(cell.split())) for cell in given]


def _json(record: Quarantined) -> str:
    return msgspec.json.encode(record).decode() + "\n"


def _add_folder(parser: argparse.ArgumentParser, role: object) -> None:
    parser.add_argument("folder", type=role, metavar="FOLDER", help="of a run")  # type: ignore[arg-type]


def _run_nothing(args: argparse.Namespace) -> int:
    raise UsageError("quarantine needs a command of its own: ls, show or retry; see fascicle quarantine --help")
