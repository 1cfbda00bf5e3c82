"""The options of commands that read: `reading_of` makes a request of them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from fascicle.commands.parsing import FormatNames
from fascicle.commands.places import reads
from fascicle.core.document import Document
from fascicle.files.encodings import AUTO
from fascicle.formats.account import Account
from fascicle.formats.catalogue import EARLIER, READABLE
from fascicle.formats.conll import DOCUMENTS
from fascicle.formats.requests import Input, ReadRequest, pairs, paths_of, read_inputs
from fascicle.formats.shapes import SHAPES

INPUT_FORMATS = FormatNames(("auto", *READABLE, *EARLIER), group="readers")


def add_reading(parser: argparse.ArgumentParser, *, aliases: Sequence[str] = ()) -> None:
    """Adds ``--input-format`` and what tells readers how to read.

    Args:
        parser: of a command.
        aliases: other names of ``--input-format``.
    """
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--input-format",
        *aliases,
        dest="input_format",
        choices=INPUT_FORMATS,
        default="auto",
        help="default: auto; the names of plug-ins are taken too",
    )
    add_reading_details(group)


def add_reading_details(group: argparse._ArgumentGroup) -> None:
    """Adds the options of column files and JSON records."""
    group.add_argument(
        "--encoding",
        default=AUTO,
        help="of the input files; default: auto: UTF-8, or the only encoding that fits a file (a note names it)",
    )
    group.add_argument("--documents", choices=DOCUMENTS, help="what a document of a column file is; default: auto")
    group.add_argument("--columns", metavar="T,L", help="columns of a column file, from 0: token, then tags (0,3)")
    group.add_argument("--shape", choices=("auto", *SHAPES), help="shape of JSON records; default: auto")
    group.add_argument(
        "--field",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a part of the shape and its field in these records (text=body, type=label); may be repeated",
    )
    group.add_argument(
        "--labels",
        type=reads,
        metavar="O,B-PER,...",
        help="names of tags that are numbers, in order, or the file dataset_info.json that lists them",
    )
    group.add_argument("--bare-tags", action="store_true", help="tags are types without B- and I- (person, O)")
    group.add_argument(
        "--where", action="append", default=[], metavar="FIELD=VALUE", help="only these JSON records; may be repeated"
    )


def reading_of(args: argparse.Namespace, *, role: str = "input") -> ReadRequest:
    """The request that the options of `add_reading` or `add_reading_details` make.

    Args:
        args: of a command.
        role: whose format it is: ``"gold"`` for the option ``--gold-format``.

    Raises:
        UsageError: ``--field`` or ``--where`` without a name and a value.
    """
    return ReadRequest(
        format=getattr(args, f"{role}_format"),
        encoding=args.encoding,
        documents=args.documents or "",
        columns=args.columns or "",
        shape=args.shape or "",
        fields=pairs(args.field, key="--field", example="text=body"),
        labels=args.labels or "",
        bare_tags=args.bare_tags,
        where=pairs(args.where, key="--where FIELD=VALUE", example="split=test"),
        asked_by=f"--{role}-format",
    )


def documents_of(files: Sequence[str], request: ReadRequest, account: Account) -> Iterator[Document]:
    """Streams documents with what is to be used of them, and counts them.

    Args:
        files: as given.
        request: how they are read.
        account: where to count.

    Raises:
        InputError: a file cannot be read, or every document was set aside.
    """
    inputs = [Input(name=path) for path in paths_of(files, request)]
    for _, document in read_inputs(inputs, request, report=account.reading):
        account.read += 1
        account.events.see(document)
        yield document
    if not account.read:
        account.refuse_nothing()
