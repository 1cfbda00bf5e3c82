"""The options of a model that is scored itself, and of a distributions file."""

from __future__ import annotations

import argparse

from fascicle.commands.parsing import add_ends, add_threads
from fascicle.commands.places import reads, writes
from fascicle.errors import UsageError
from fascicle.formats.distributions import SUFFIXES
from fascicle.systems.model import ModelRequest, check_distributions


def add_model(parser: argparse.ArgumentParser) -> None:
    """Adds the options of a model that is scored in place of a file, or beside it."""
    group = parser.add_argument_group("model", "score a model itself, without a file of its predictions")
    group.add_argument(
        "--model",
        type=reads,
        metavar="MODEL",
        help="a model folder, a term pack, or the name of a shipped model, of a dictionary or of a plug-in",
    )
    add_ends(group)
    add_distributions(group)
    add_threads(parser)


def add_distributions(parser: argparse._ActionsContainer) -> None:
    """Adds the option for a distributions file."""
    parser.add_argument(
        "--distributions",
        type=writes,
        metavar="FILE.jsonl",
        help="write the probability of each type for every gold mention, for fascicle plot; ends in "
        + " or ".join(SUFFIXES),
    )


def model_of(args: argparse.Namespace) -> ModelRequest | None:
    """The model of ``--model``; refuses early what would fail after long work.

    Raises:
        UsageError: options that need a model and have none.
        OutputError: the place of the distributions file cannot be written.
    """
    if args.model is None:
        for name in ("distributions", "threads", "ends"):
            if getattr(args, name) is not None:
                raise UsageError(f"--{name} is about a model; give --model MODEL too")
        return None
    check_distributions(args.distributions or "", overwrite=args.overwrite)
    return ModelRequest(
        model=args.model,
        threads=args.threads,
        distributions=args.distributions or "",
        overwrite=args.overwrite,
        ends=args.ends,
    )
