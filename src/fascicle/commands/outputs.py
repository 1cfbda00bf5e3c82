"""What commands write: `OUTPUTS` is the table of formats, the same for every command."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec

from fascicle.commands.textview import TextView
from fascicle.core.document import Document
from fascicle.formats.atomic import check_target, output
from fascicle.formats.brat_write import check_place
from fascicle.formats.files import write
from fascicle.formats.predictions import prediction_of, write_jsonl, write_tsv
from fascicle.formats.report import WriteReport
from fascicle.formats.source import STDIN
from fascicle.recipe.settings import ReadingSettings
from fascicle.text.segment import segmenter

STDOUT: Final = STDIN


@dataclass(frozen=True, kw_only=True)
class Output:
    """One format of the option ``--format``.

    Attributes:
        suffix: of its files; empty for a format of several files, which goes to one place whatever the inputs are.
        writer: name in ``formats.files.FORMATS``; empty for those that are written here.
        means: for the help.
    """

    suffix: str
    writer: str = ""
    means: str


OUTPUTS: Final[Mapping[str, Output]] = MappingProxyType(
    {
        "jsonl": Output(suffix=".jsonl", writer="native", means="everything, one document per line"),
        "records": Output(suffix=".records.jsonl", writer="jsonl", means="simple JSON records with text and entities"),
        "pubtator": Output(suffix=".pubtator", writer="pubtator", means="PubTator"),
        "conll": Output(suffix=".conll", writer="conll", means="a token per line with its IOB2 tag"),
        "brat": Output(suffix="", writer="brat", means="a folder, or a .zip, of .txt and .ann files"),
        "tsv": Output(suffix=".tsv", means="mentions only: document, type, start, end, score"),
        "predictions": Output(suffix=".predictions.jsonl", means="mentions and a hash of the text, never the text"),
        "text": Output(suffix=".txt", means="for reading"),
    }
)
_BY_SUFFIX: Final = MappingProxyType(
    {
        ".jsonl": "jsonl",
        ".json": "jsonl",
        ".pubtator": "pubtator",
        ".conll": "conll",
        ".iob2": "conll",
        ".tsv": "tsv",
        ".txt": "text",
        ".zip": "brat",
    }
)


@dataclass(frozen=True, kw_only=True)
class Look:
    """How documents are written.

    Attributes:
        format: a name of `OUTPUTS`.
        source: only the mentions of this source, where the format cannot tell sources apart; ``None`` for all.
        colour: ANSI colours in the view for reading.
        types: entity types in the order of their colours.
        title: whether the view names each document.
    """

    format: str
    source: str | None = None
    colour: bool = False
    types: tuple[str, ...] = ()
    title: bool = True


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


def write_documents(path: str, documents: Iterable[Document], *, look: Look, overwrite: bool = False) -> WriteReport:
    """Writes documents in a format of `OUTPUTS`.

    Args:
        path: a file, or ``"-"`` for standard output.
        documents: may be a stream.
        look: the format, and how.
        overwrite: replace an existing file.

    Returns:
        What was written, and what the format could not hold.

    Raises:
        OutputError: the file exists, or the place cannot be written.
        InputError: a document that the format cannot hold at all.
    """
    writer = OUTPUTS[look.format].writer
    if writer == "native":
        return write(path, documents, format=writer, overwrite=overwrite)
    if writer:
        chosen = (_only(document, look.source) for document in documents)
        ready = map(_with_words, chosen) if writer == "conll" else chosen
        return write(path, ready, format=writer, overwrite=overwrite)
    report = WriteReport()
    counted = _counted(documents, report, look.source)
    with output(path, overwrite=overwrite) as stream:
        if look.format == "text":
            for part in _view(counted, look):
                stream.write(part.encode())
                stream.flush()
        else:
            lines = (prediction_of(document, source=look.source) for document in counted)
            (write_tsv if look.format == "tsv" else write_jsonl)(lines, stream)
    return report


def _view(documents: Iterable[Document], look: Look) -> Iterator[str]:
    columns = shutil.get_terminal_size((100, 24)).columns
    view = TextView(width=columns, colour=look.colour, types=look.types)
    for document in documents:
        yield view.render(document, _only(document, look.source).mentions, title=look.title)
    yield view.legend()


def _counted(documents: Iterable[Document], report: WriteReport, source: str | None) -> Iterator[Document]:
    for document in documents:
        yield document
        report.documents += 1
        report.mentions += len(_only(document, source).mentions)


def _only(document: Document, source: str | None) -> Document:
    return document if source is None else msgspec.structs.replace(document, mentions=document.layer(source))


def _with_words(document: Document) -> Document:
    """A column file needs words; a text without them gets those of the segmenter that models read by default."""
    if document.words is not None:
        return document
    rules = segmenter(ReadingSettings().segmenter)
    sentences = document.sentences if document.sentences is not None else rules.sentences(document.text)
    return msgspec.structs.replace(document, words=rules.words(document.text), sentences=sentences)
