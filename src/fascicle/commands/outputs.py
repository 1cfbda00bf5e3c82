"""What commands write: `OUTPUTS` is the table of formats, the same for every command."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, Final

import msgspec

from fascicle.commands.textview import HOLDS as VIEW_HOLDS
from fascicle.commands.textview import TextView
from fascicle.core.document import Document
from fascicle.errors import UsageError
from fascicle.formats.atomic import Opened, check_target, output
from fascicle.formats.brat_write import check_place
from fascicle.formats.files import FORMATS, write_as
from fascicle.formats.losses import EVERYTHING, LENIENT, Holds, Strictness
from fascicle.formats.predictions import HOLDS as PREDICTION_HOLDS
from fascicle.formats.predictions import Prediction, json_line, prediction_of
from fascicle.formats.report import WriteReport
from fascicle.formats.source import STDIN, suffix
from fascicle.formats.tables import CSV, TSV, Table
from fascicle.formats.writing import Encode, Put, write_each
from fascicle.recipe.settings import ReadingSettings
from fascicle.text.segment import segmenter

STDOUT: Final = STDIN


@dataclass(frozen=True, kw_only=True)
class Output:
    """One format of the option ``--format``.

    Attributes:
        suffix: of its files; empty for a format of several files, which goes to one place whatever the inputs are.
        writer: name in ``formats.files.FORMATS``; empty for those that are written here.
        table: of a format that is a table of mentions.
        means: for the help.
    """

    suffix: str
    writer: str = ""
    table: Table | None = None
    means: str

    @property
    def holds(self) -> Holds:
        """What of a document is in its files."""
        if self.writer:
            return FORMATS[self.writer].holds
        return self.table.holds if self.table is not None else _HERE[self.suffix]


OUTPUTS: Final[Mapping[str, Output]] = MappingProxyType(
    {
        "jsonl": Output(suffix=".jsonl", writer="native", means="everything, one document per line"),
        "records": Output(suffix=".records.jsonl", writer="jsonl", means="simple JSON records with text and entities"),
        "pubtator": Output(suffix=".pubtator", writer="pubtator", means="PubTator"),
        "conll": Output(suffix=".conll", writer="conll", means="a token per line with its IOB2 tag"),
        "brat": Output(suffix="", writer="brat", means="a folder, or a .zip, of .txt and .ann files"),
        "tsv": Output(suffix=".tsv", table=TSV, means="mentions only: document, type, start, end, score, text"),
        "csv": Output(suffix=".csv", table=CSV, means="the same for spreadsheets"),
        "predictions": Output(suffix=".predictions.jsonl", means="mentions and a hash of the text, never the text"),
        "text": Output(suffix=".txt", means="for reading"),
        "html": Output(suffix=".html", writer="html", means="one page of marked texts, for a browser"),
    }
)
_HERE: Final = MappingProxyType({".predictions.jsonl": PREDICTION_HOLDS, ".txt": VIEW_HOLDS})
_BY_SUFFIX: Final = MappingProxyType(
    {
        ".jsonl": "jsonl",
        ".jsonlines": "jsonl",
        ".json": "jsonl",
        ".pubtator": "pubtator",
        ".conll": "conll",
        ".iob2": "conll",
        ".bio": "conll",
        ".tsv": "tsv",
        ".csv": "csv",
        ".txt": "text",
        ".html": "html",
        ".htm": "html",
        ".zip": "brat",
    }
)


@dataclass(frozen=True, kw_only=True)
class Look:
    """How documents are written.

    Attributes:
        format: a name of `OUTPUTS`.
        source: only the mentions of this source, in all formats but the one that holds everything; ``None`` for all.
        colour: ANSI colours in the view for reading.
        types: entity types in the order of their colours.
        title: whether the view names each document.
        strictness: whether a document is refused of which the format would lose something.
    """

    format: str
    source: str | None = None
    colour: bool = False
    types: tuple[str, ...] = ()
    title: bool = True
    strictness: Strictness = LENIENT


def add_format(parser: argparse.ArgumentParser, *, default: str) -> None:
    """Adds ``--format``, with a line of help for each one."""
    listed = "; ".join(f"{name}: {item.means}" for name, item in OUTPUTS.items())
    parser.add_argument(
        "--format", choices=tuple(OUTPUTS), metavar="FORMAT", help=f"of the output; default: {default}; {listed}"
    )


def add_colour(parser: argparse.ArgumentParser) -> None:
    """Adds ``--color``."""
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours in the format text; auto: on a terminal, unless NO_COLOR is set",
    )


def format_of(path: str) -> str:
    """The format that the name of an output file tells, or the empty string."""
    name = path.lower().removesuffix(".gz")
    for special in ("predictions", "records"):
        if name.endswith(OUTPUTS[special].suffix):
            return special
    return _BY_SUFFIX.get(Path(name).suffix, "")


def file_format(path: str) -> str:
    """The format that the name of an output file tells; JSON Lines for a name without a suffix.

    Raises:
        UsageError: a suffix that stands for no format.
    """
    found = format_of(path)
    kind = suffix(path)
    if kind and not found:
        raise UsageError(
            f"{path} ends with {kind}, which stands for no output format; name it {', '.join(sorted(_BY_SUFFIX))}, or "
            "choose the format with --format"
        )
    return found or "jsonl"


def check_output(path: str, *, format_name: str, overwrite: bool) -> None:
    """Says early whether a path can be written: to be called before long work.

    Raises:
        UsageError: standard output, or the name of one file, for a format of several files.
        OutputError: it exists and may not be overwritten, or its folder is missing.
    """
    if is_many(format_name):
        check_place(path, overwrite=overwrite)
    elif path != STDOUT:
        check_target(path, overwrite=overwrite)


def is_many(format_name: str) -> bool:
    """Whether a format of `OUTPUTS` has several files."""
    return not OUTPUTS[format_name].suffix


def wants_colour(choice: str, path: str) -> bool:
    """Whether a view written to a path is coloured."""
    if choice != "auto":
        return choice == "always"
    return path == STDOUT and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def write_documents(
    path: str,
    documents: Iterable[Document],
    *,
    look: Look,
    overwrite: bool = False,
    report: WriteReport | None = None,
    opened: Opened = output,
) -> WriteReport:
    """Writes documents in a format of `OUTPUTS`.

    Args:
        path: a file, or ``"-"`` for standard output.
        documents: may be a stream.
        look: the format, and how.
        overwrite: replace an existing file.
        report: where to count; a new one by default. One whose ``aside`` keeps going sets documents aside that the
            format cannot hold at all.
        opened: opens a format of one file for writing.

    Returns:
        The report: what was written, and what the format could not hold.

    Raises:
        OutputError: the file exists, or the place cannot be written.
        InputError: a document that the format cannot hold at all.
        LossError: the format would lose something of a document, and that is refused; nothing is written to a file.
    """
    report = WriteReport() if report is None else report
    chosen = OUTPUTS[look.format]
    holds = _held(chosen, look, path)
    if chosen.writer:
        ready = map(_with_words, documents) if chosen.writer == "conll" else documents
        form = replace(FORMATS[chosen.writer], holds=holds)
        return write_as(
            path, ready, form, overwrite=overwrite, report=report, strictness=look.strictness, opened=opened
        )
    with opened(path, overwrite=overwrite) as stream:
        send = partial(write_each, documents, holds=holds, report=report, strictness=look.strictness)
        if chosen.table is not None:
            stream.write(chosen.table.header(with_text=True))
            send(partial(_rows, chosen.table), stream.write)
        elif look.format == "text":
            _view(send, stream, look)
        else:
            send(_prediction, stream.write)
    return report


def write_predictions(
    path: str,
    predictions: Iterable[Prediction],
    *,
    look: Look,
    overwrite: bool = False,
    report: WriteReport | None = None,
) -> WriteReport:
    """Writes what is known of documents without their texts: the answer of one system.

    Args:
        path: a file, or ``"-"`` for standard output.
        predictions: may be a stream.
        look: the format, and what is refused.
        overwrite: replace an existing file.
        report: where to count; a new one by default.

    Returns:
        The report: what was written, and what the format could not hold.

    Raises:
        OutputError: the file exists, or the place cannot be written.
        InputError: an id or a type that the format cannot hold.
        LossError: see `write_documents`.
    """
    report = WriteReport() if report is None else report
    table, holds = OUTPUTS[look.format].table, OUTPUTS[look.format].holds
    holds = replace(holds, by_reference=holds.by_reference | {"sources"})  # a table of one system is named after it
    with output(path, overwrite=overwrite) as stream:
        if table is not None:
            stream.write(table.header())
        encode = partial(_bare_rows, table) if table is not None else _line
        write_each(predictions, encode, stream.write, holds=holds, report=report, strictness=look.strictness)
    return report


def _held(chosen: Output, look: Look, path: str) -> Holds:
    """What is in the file; a table or view of one source is its answer, so that its name is not lost."""
    holds = chosen.holds
    if look.format == "text" and path == STDOUT:
        return replace(holds, fields=EVERYTHING, only=look.source)  # to be looked at, and no file
    if holds.fields == EVERYTHING or look.source is None:
        return holds
    return replace(holds, only=look.source, source=look.source if holds.by_reference else holds.source)


def _view(send: Callable[[Encode, Put], None], stream: BinaryIO, look: Look) -> None:
    columns = shutil.get_terminal_size((100, 24)).columns
    view = TextView(width=columns, colour=look.colour, types=look.types)

    def encode(document: Document, part: WriteReport) -> bytes:
        part.mentions = len(document.mentions)
        # The view counts what it renders, so what cannot be written is found before.
        " ".join([document.id, *(mention.type for mention in document.mentions)]).encode()
        return view.render(document, document.mentions, title=look.title).encode()

    def put(content: bytes) -> None:
        stream.write(content)
        stream.flush()

    send(encode, put)
    put(view.legend().encode())


def _bare_rows(table: Table, prediction: Prediction, part: WriteReport) -> bytes:
    part.mentions = len(prediction.mentions)
    return table.rows(prediction.id, prediction.mentions)


def _line(prediction: Prediction, part: WriteReport) -> bytes:
    part.mentions = len(prediction.mentions)
    return json_line(prediction)


def _rows(table: Table, document: Document, part: WriteReport) -> bytes:
    part.mentions = len(document.mentions)
    return table.rows(document.id, document.mentions, text=document.text)


def _prediction(document: Document, part: WriteReport) -> bytes:
    part.mentions = len(document.mentions)
    return json_line(prediction_of(document))


def of_source(documents: Iterable[Document], source: str | None) -> Iterator[Document]:
    """The documents with the mentions of one source alone; ``None`` for all."""
    for document in documents:
        yield document if source is None else msgspec.structs.replace(document, mentions=document.layer(source))


def _with_words(document: Document) -> Document:
    """A column file needs words; a text without them gets those of the segmenter that models read by default."""
    if document.words is not None:
        return document
    rules = segmenter(ReadingSettings().segmenter)
    sentences = document.sentences if document.sentences is not None else rules.sentences(document.text)
    return msgspec.structs.replace(document, words=rules.words(document.text), sentences=sentences)
