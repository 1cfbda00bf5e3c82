"""``fascicle models``: what can be named without a folder."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from fascicle.commands.console import say
from fascicle.commands.parsing import add_json
from fascicle.formats.catalogue import FORMATS
from fascicle.loading import find_model, shipped_models
from fascicle.plugins import plugins
from fascicle.settings.folders.manifest import read_manifest


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    add_json(parser, what="the list")
    parser.add_argument(
        "--plugins", action="store_true", help="list predictors, steps, readers and writers of other packages instead"
    )


def run(args: argparse.Namespace) -> int:
    """Lists; returns the exit code."""
    if args.plugins:
        return _list_plugins(as_json=args.json)
    rows = [_row(name) for name in shipped_models()]
    if args.json:
        sys.stdout.write(json.dumps(rows) + "\n")
        return 0
    if not rows:
        say("no model comes with this installation; train one, or give a model folder")
    for row in rows:
        sys.stdout.write(f"{row['name']}  {', '.join(row['types'])}  ({row['runtime']}, {row['megabytes']} MB)\n")
    return 0


def _list_plugins(*, as_json: bool) -> int:
    """Lists them; those that cannot be used are named with the reason."""
    own = {"predictors": [one for name in shipped_models() for one in (name, name.partition("@")[0])]}
    found = plugins({**own, "readers": [*FORMATS], "writers": [*FORMATS]})
    if as_json:
        sys.stdout.write(json.dumps([one._asdict() for one in found]) + "\n")
        return 0
    if not found:
        say("no installed package has plug-ins for Fascicle")
    for one in found:
        unusable = " (cannot be used)" if one.problem else ""
        sys.stdout.write(f"{one.name}  {one.group.removesuffix('s')} of {one.package}{unusable}\n")
        if one.problem:
            say(one.problem)
    return 0


def _row(name: str) -> dict[str, Any]:
    folder = find_model(name)
    manifest = read_manifest(folder)
    size = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
    return {
        "name": name,
        "types": list(manifest.types),
        "runtime": manifest.runtime,
        "megabytes": round(size / 1e6, 1),
        "encoder": manifest.encoder,
    }
