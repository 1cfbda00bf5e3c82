"""``fascicle pipeline``: what a pipeline is made of, and whether it works."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from fascicle.commands.parsing import Parser, add_command, add_json, commands_of
from fascicle.commands.places import reads
from fascicle.commands.saying import say
from fascicle.core.wording import counted
from fascicle.errors import UsageError
from fascicle.tasks.pipeline import check, show


def configure(parser: Parser) -> None:
    """Adds the commands."""
    parser.set_defaults(run=_run_nothing)
    commands = commands_of(parser, dest="pipeline_command")
    shown = add_command(commands, "show", help_text="print a pipeline with every default")
    _add_pipeline(shown)
    shown.set_defaults(run=run_show)
    tried = add_command(
        commands, "check", help_text="open a pipeline, and try its rules and its known answers, without reading texts"
    )
    _add_pipeline(tried)
    tried.set_defaults(run=run_check)
    add_json(tried, what="the steps with what decides their mentions")


def run_show(args: argparse.Namespace) -> int:
    """Prints; returns the exit code."""
    sys.stdout.write(show(args.pipeline))
    return 0


def run_check(args: argparse.Namespace) -> int:
    """Tries; returns the exit code."""
    found = check(args.pipeline)
    if args.json:
        sys.stdout.write(json.dumps(asdict(found), ensure_ascii=False) + "\n")
        return 0
    for name, needs, gives in found.steps:
        sys.stdout.write(f"{name}\tneeds {', '.join(needs) or 'nothing'}\tgives {', '.join(gives) or 'nothing'}\n")
    say(
        f"{found.name} works: {counted(len(found.steps), 'step')}, {counted(found.rules, 'rule')} and "
        f"{counted(found.answers, 'known answer')} tried"
    )
    return 0


def _add_pipeline(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pipeline", type=reads, metavar="PIPELINE", help="a pipeline.toml, or a folder with one")


def _run_nothing(args: argparse.Namespace) -> int:
    raise UsageError("pipeline needs a command of its own: show or check; see fascicle pipeline --help")
