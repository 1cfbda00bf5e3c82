"""``fascicle pipeline``: what a pipeline is made of, and whether it works."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from fascicle.commands.options import option
from fascicle.commands.places import reads
from fascicle.commands.saying import say
from fascicle.core.wording import counted
from fascicle.tasks.pipeline import check, show


class Show:
    """Print a pipeline with every default.

    In Python: ``fascicle.tasks.pipeline.show("pipeline.toml")``

    Attributes:
        pipeline: a pipeline.toml, or a folder with one.
    """

    pipeline: str = option("PIPELINE", reads)


class Check(Show):
    """Open a pipeline, and try its rules and its known answers, without reading texts.

    In Python: ``fascicle.tasks.pipeline.check("pipeline.toml")``

    Attributes:
        json: print the steps with what decides their mentions as JSON.
    """

    json: bool = option("--json")


def run_show(args: Show) -> int:
    """Prints; returns the exit code."""
    sys.stdout.write(show(args.pipeline))
    return 0


def run_check(args: Check) -> int:
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


COMMANDS = {
    "show": (Show, run_show),
    "check": (Check, run_check),
}
