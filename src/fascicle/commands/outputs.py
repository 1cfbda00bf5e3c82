"""The options of commands that write: `writing_of` makes a request of them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from types import MappingProxyType
from typing import Final

import msgspec

from fascicle.commands.parsing import FormatNames
from fascicle.commands.strictness import strictness_of
from fascicle.core.document import Document
from fascicle.errors import UsageError
from fascicle.files.source import suffix
from fascicle.formats.catalogue import ANNOTATED, EARLIER, FORMATS, format_of_output
from fascicle.formats.losses import LENIENT
from fascicle.formats.requests import STDOUT, WriteRequest
from fascicle.formats.textview import ViewOptions

# What the name of an output tells, or --format says -> the format of predictions.
PREDICTING: Final = MappingProxyType({"tsv": "tsv", "csv": "csv", "predictions": "predictions", "jsonl": "predictions"})
_OUTPUTS: Final = FormatNames((*ANNOTATED, *EARLIER), group="writers")


def add_format(parser: argparse.ArgumentParser, *, default: str) -> None:
    """Adds ``--format``, with a line of help for each one."""
    listed = "; ".join(f"{name}: {item.means}" for name, item in FORMATS.items() if item.annotated)
    parser.add_argument(
        "--format",
        choices=_OUTPUTS,
        metavar="FORMAT",
        help=f"of the output; default: {default}; {listed}; or a plug-in",
    )


def add_colour(parser: argparse.ArgumentParser) -> None:
    """Adds ``--color``."""
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours in the format text; auto: on a terminal, unless NO_COLOR is set",
    )


def writing_of(args: argparse.Namespace, *, whole: str = "jsonl") -> WriteRequest:
    """The request that ``-o``, `add_format`, `add_overwrite` and `add_strictness` make.

    Args:
        args: of a command; ``--source``, ``--resume`` and ``--color`` count where it has them.
        whole: the format that the command writes everything in; for the sentence of an error.

    Raises:
        UsageError: ``--allow-loss`` without ``--strict``.
    """
    path = args.output or STDOUT
    return WriteRequest(
        path=path,
        format=args.format or "auto",
        source=getattr(args, "source", None),
        overwrite=args.overwrite,
        resume=getattr(args, "resume", False),
        strictness=strictness_of(args, whole=whole),
        options=ViewOptions(colour=wants_colour(getattr(args, "color", "never"), path)),
    )


def wants_colour(choice: str, path: str) -> bool:
    """Whether a view written to a path is coloured."""
    if choice != "auto":
        return choice == "always"
    return path == STDOUT and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def of_source(documents: Iterable[Document], source: str | None) -> Iterator[Document]:
    """The documents with the mentions of one source alone; ``None`` for all."""
    for document in documents:
        yield document if source is None else msgspec.structs.replace(document, mentions=document.layer(source))


def predicting_of(args: argparse.Namespace) -> WriteRequest:
    """The request of a command that writes predictions, of which JSON Lines are a format of their own.

    Raises:
        UsageError: an output whose name does not tell that it is a prediction file.
    """
    path = args.output or STDOUT
    name = getattr(args, "format", None) or (format_of_output(path) if suffix(path) else "predictions")
    if name not in PREDICTING:
        raise UsageError(f"{path} is no name of a prediction file; name it .tsv, .csv or .jsonl")
    strictness = strictness_of(args, whole="predictions") if "allow_loss" in args else LENIENT
    return WriteRequest(path=path, format=PREDICTING[name], overwrite=args.overwrite, strictness=strictness)
