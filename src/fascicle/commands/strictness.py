"""The options ``--strict`` and ``--allow-loss`` of commands that write documents."""

from __future__ import annotations

import argparse

from fascicle.errors import UsageError
from fascicle.formats.losses import LOSSES, Strictness, loss_names


def add_strictness(parser: argparse.ArgumentParser) -> None:
    """Adds ``--strict`` and ``--allow-loss``, for a command that writes documents."""
    parser.add_argument(
        "--strict",
        action="store_true",
        help="refuse (exit code 2) to write a document if the format would lose a part of it; exit with 3 if reading "
        "lost anything",
    )
    parser.add_argument(
        "--allow-loss",
        type=_losses,
        default=frozenset(),
        metavar="NAME,NAME,...",
        help=f"with --strict: losses that are accepted, of {', '.join(LOSSES)}",
    )


def strictness_of(args: argparse.Namespace, *, whole: str = "jsonl") -> Strictness:
    """What ``--strict`` and ``--allow-loss`` say.

    Args:
        args: of a command with `add_strictness`.
        whole: the format that the command writes everything in.

    Raises:
        UsageError: the second without the first.
    """
    if args.allow_loss and not args.strict:
        raise UsageError("--allow-loss says what --strict may pass, but --strict was not given; give both, or neither")
    advice = f"write --format {whole}, which holds it, or pass it with --allow-loss {{codes}}"
    return Strictness(refuse=args.strict, allowed=args.allow_loss, advice=advice)


def _losses(text: str) -> frozenset[str]:
    return loss_names(name for name in text.split(",") if name)
