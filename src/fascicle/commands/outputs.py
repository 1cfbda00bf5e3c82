"""The options of commands that write: `writing_of` makes a request of them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from fascicle.commands.strictness import strictness_of
from fascicle.core.document import Document
from fascicle.formats.catalogue import ANNOTATED, EARLIER, FORMATS, format_of_output
from fascicle.formats.losses import LENIENT, Strictness
from fascicle.formats.outputs import write_predictions as write_requested
from fascicle.formats.predictions import Prediction
from fascicle.formats.report import WriteReport
from fascicle.formats.requests import STDOUT as STDOUT
from fascicle.formats.requests import WriteRequest
from fascicle.formats.textview import ViewOptions

_OUTPUTS: Final = (*ANNOTATED, *EARLIER)


def add_format(parser: argparse.ArgumentParser, *, default: str) -> None:
    """Adds ``--format``, with a line of help for each one."""
    listed = "; ".join(f"{name}: {item.means}" for name, item in FORMATS.items() if item.annotated)
    parser.add_argument(
        "--format", choices=_OUTPUTS, metavar="FORMAT", help=f"of the output; default: {default}; {listed}"
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


# What follows is for commands that do not make a request yet; it goes with its last caller.
format_of = format_of_output


def check_output(path: str, *, format_name: str, overwrite: bool) -> None:
    """Says early whether a path can be written."""
    WriteRequest(path=path, format=format_name, overwrite=overwrite).check()


@dataclass(frozen=True, kw_only=True)
class Look:
    """The format of predictions, and whether one is refused of which it would lose something."""

    format: str
    strictness: Strictness = LENIENT


def write_predictions(
    path: str, predictions: Iterable[Prediction], *, look: Look, overwrite: bool = False
) -> WriteReport:
    """Writes what is known of documents without their texts; see `fascicle.formats.requests.write_predictions`."""
    request = WriteRequest(path=path, format=look.format, strictness=look.strictness, overwrite=overwrite)
    return write_requested(predictions, request)
