"""``fascicle init``: a commented recipe for annotated files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fascicle.commands.console import say
from fascicle.commands.parsing import add_overwrite
from fascicle.commands.places import reads, writes
from fascicle.errors import InputError, UsageError
from fascicle.files.atomic import atomic_text_writer, check_target


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "path", type=reads, metavar="TRAIN", help="training file or folder, or a folder that holds train, dev and test"
    )
    parser.add_argument("--dev", type=reads, metavar="PATH", help="development part, on which every choice is made")
    parser.add_argument("--test", type=reads, metavar="PATH", help="test part, scored once at the end")
    parser.add_argument("-o", "--output", type=writes, default="recipe.toml", help="default: recipe.toml")
    parser.add_argument("--encoder", type=reads, metavar="NAME", help="a Hugging Face name, or a folder")
    parser.add_argument("--name", help="name of the model; default: that of the folder of TRAIN")
    add_overwrite(parser)


def run(args: argparse.Namespace) -> int:
    """Writes the recipe; returns the exit code."""
    from fascicle.tasks.init import recipe_for

    check_target(args.output, overwrite=args.overwrite)
    text = recipe_for(
        _parts(args.path, args.dev, args.test),
        place=Path(args.output),
        name=args.name or "",
        encoder=args.encoder or "",
    )
    with atomic_text_writer(args.output, overwrite=args.overwrite) as stream:
        stream.write(text)
    sys.stdout.write(text)
    say(f"wrote {args.output}; train with: fascicle train {args.output}")
    return 0


def _parts(path: str, dev: str | None, test: str | None) -> dict[str, Path]:
    from fascicle.tasks.init import parts_in

    given = {part: Path(one) for part, one in (("train", path), ("dev", dev), ("test", test)) if one is not None}
    for part, place in given.items():
        if not place.exists():
            raise InputError(f"there is no {part} part {place}; check the path")
    if dev is not None or not given["train"].is_dir():
        return given
    if test is not None:
        raise UsageError("--test was given without --dev; give both, or a folder that holds train, dev and test")
    return parts_in(given["train"])
