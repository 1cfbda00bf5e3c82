"""Writes documents in any format, and predictions without texts; each output is written completely
or not at all.

Beside a result that only refers to its texts, the texts of PDFs and other files that hold no plain
text are written.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from fascicle.core.arguments import check_argument, check_optional, validate_documents
from fascicle.core.document import Document
from fascicle.core.files.atomic import Opened, atomic_folder, atomic_writer, open_output
from fascicle.core.files.source import LONGEST_NAME, STDIN
from fascicle.errors import InputError
from fascicle.formats.catalogue import Format, format_named, format_to_write
from fascicle.formats.files import IdSet
from fascicle.formats.handlers import (
    EXTRACTED,
    TEXT,
    Encode,
    FormatWriter,
    WriteOne,
    check_options,
    write_each,
)
from fascicle.formats.losses import (
    EVERYTHING,
    LENIENT,
    OF_LINKS,
    HeldFields,
    LossPolicy,
    loss_names,
)
from fascicle.formats.report import WriteReport

if TYPE_CHECKING:
    from fascicle.formats.predictions import Prediction

STDOUT: Final = STDIN


@dataclass(frozen=True, kw_only=True)
class WriteRequest:
    """Options for writing documents.

    Attributes:
        path: a file or folder, or ``"-"`` for standard output.
        format: a name of ``formats.catalogue.FORMATS``, or ``"auto"``: told by the name of the
            output.
        source: only the mentions of this source, or of these, in all formats but the one that holds
            everything; ``None`` for all.
        overwrite: replace what is there.
        one_file: write one file in a format of several files too, as a part of a run is: a zip of
            brat, or a Parquet table of documents with their mentions.
        resume: go on with what an interrupted run left.
        strictness: whether a document is refused of which the format would lose something.
        options: of one format; other formats have their defaults.
    """

    path: str = STDOUT
    format: str = "auto"
    source: str | tuple[str, ...] | None = None
    overwrite: bool = False
    one_file: bool = False
    resume: bool = False
    strictness: LossPolicy = LENIENT
    options: Any = None

    @property
    def sources(self) -> tuple[str, ...] | None:
        """Sources whose mentions are written, at least one; ``None`` for all."""
        return (self.source,) if isinstance(self.source, str) else self.source or None

    @property
    def output_format(self) -> Format:
        """Format of the output.

        Raises:
            UsageError: there is no such format, or the name of the output belongs to no format.
        """
        return format_named(format_to_write(self.path, self.format))

    def check(self) -> Format:
        """Checks that the output can be written; call it before long work.

        Returns:
            The format.

        Raises:
            UsageError: see `output_format`; or standard output, or the name of one file, for a
                format of several files.
            OutputError: it exists and may not be overwritten, or its folder is missing.
        """
        output = self.output_format
        output.writer.check(self.path, overwrite=self.overwrite)
        return output


def write(  # noqa: PLR0913 - what users may say, each on its own
    path: str | Path,
    documents: Iterable[Document],
    *,
    format: str = "auto",  # noqa: A002
    options: Any = None,
    overwrite: bool = False,
    report: WriteReport | None = None,
    strict: bool = False,
    allow_loss: Iterable[str] = (),
) -> WriteReport:
    """Writes documents to a file or folder; the output gets its final name only when it is
    complete.

    Args:
        path: where; ``"-"`` is standard output; ``.gz`` at its end packs the file. A format of
            several files is written to a folder, or to a zip if the path ends with ``.zip``.
        documents: may be a stream.
        format: a name of `FORMATS`, or ``"auto"``: told by the suffix.
        options: of the class of the format's writer; defaults by default.
        overwrite: replace an existing file, or a folder that was written in the format and has not
            changed since.
        report: where to count; a new one by default. One whose ``aside`` keeps going sets documents
            aside that the format cannot hold at all.
        strict: refuse a document of which the format would lose something.
        allow_loss: names of `fascicle.formats.losses.LOSSES` that are no reason to refuse.

    Returns:
        The report: what was written, and what the format could not hold.

    Raises:
        UsageError: an unknown format or loss, options of another format, or a file for a format of
            several files.
        LossError: a document would lose something, and ``strict`` is on; nothing is written.
        OutputError: the file or folder exists, or the place cannot be written.
        InputError: a document that the format cannot hold at all.
    """
    check_argument(path, (str, Path), name="path", means="a str or a Path")
    check_optional(report, WriteReport, name="report", means="a WriteReport")
    check_argument(format, str, name="format", means="a str")
    documents = validate_documents(documents)
    request = WriteRequest(path=str(path), format=format, overwrite=overwrite, options=options)
    output = request.output_format
    check_options(options, output.writer.options, output.name)
    request = replace(request, strictness=LossPolicy(refuse=strict, allowed=loss_names(allow_loss)))
    return _write(documents, request, output, output.writer.holds, report=report)


def write_documents(
    documents: Iterable[Document],
    request: WriteRequest,
    *,
    report: WriteReport | None = None,
    opened: Opened = open_output,
) -> WriteReport:
    """Writes documents, see `write`.

    Args:
        documents: may be a stream.
        request: where and how. Options of another format than the written one are ignored.
        report: where to count; a new one by default. One whose ``aside`` keeps going sets documents
            aside that the format cannot hold at all.
        opened: opens a format of one file for writing.

    Returns:
        The report: what was written, and what the format could not hold.

    Raises:
        OutputError: the file exists, or the place cannot be written.
        InputError: a document that the format cannot hold at all.
        LossError: the format would lose something of a document, and that is refused; nothing is
            written to a file.
    """
    output = request.output_format
    holds = _held_fields(output, request)
    return _write(documents, request, output, holds, report=report, opened=opened)


def write_predictions(
    predictions: Iterable[Prediction], request: WriteRequest, *, report: WriteReport | None = None
) -> WriteReport:
    """Writes predictions, which have no texts: the output of one system.

    Args:
        predictions: may be a stream.
        request: where and how; its format is one that refers to its texts.
        report: where to count; a new one by default.

    Returns:
        The report: what was written, and what the format could not hold.

    Raises:
        OutputError: the file exists, or the place cannot be written.
        InputError: an id or a type that the format cannot hold.
        LossError: see `write_documents`.
    """
    output = request.output_format
    holds = output.writer.holds
    # A table of one system has the name of the system.
    holds = replace(holds, by_reference=holds.by_reference | {"sources"})
    if output.writer.options is not None:
        request = replace(request, options=output.writer.options(with_text=False))
        # a table without texts has no columns for them
        holds = replace(holds, fields=holds.fields - OF_LINKS)
    return _write(predictions, request, output, holds, report=report)


def _write(
    documents: Iterable[Any],
    request: WriteRequest,
    output: Format,
    holds: HeldFields,
    *,
    report: WriteReport | None,
    opened: Opened = open_output,
) -> WriteReport:
    """Writes documents, or predictions for formats without texts; ``holds`` names the fields in
    the output.
    """
    writer, path = output.writer, request.path
    report = WriteReport() if report is None else report
    # The format 'text' shows the text itself.
    if "text-between-words" in holds.by_reference and output.name != "text":
        documents = write_texts_beside(documents, path, overwrite=request.overwrite, report=report)
    if writer.prepare is not None:
        documents = map(writer.prepare, documents)

    encode = _encoder(writer, request.options)
    with _open(output, request, encode, opened) as add:
        write_each(
            documents,
            _refuse_repeated_ids(encode) if writer.by_id else encode,
            add,
            holds=holds,
            report=report,
            strictness=request.strictness,
        )
    return report


@contextmanager
def _open(
    output: Format, request: WriteRequest, encode: Encode, opened: Opened
) -> Iterator[WriteOne]:
    """Opens a file or a folder, and yields the function that adds an encoded document."""
    writer, path, overwrite = output.writer, request.path, request.overwrite
    into_folder = None if request.one_file else writer.into_folder
    if into_folder is not None:
        writer.check(path, overwrite=overwrite)
    if into_folder is None or path.lower().endswith(".zip"):
        with opened(path, overwrite=overwrite) as stream, writer.into(stream, encode) as add:
            yield add
    else:
        with (
            atomic_folder(path, kind=output.name, overwrite=overwrite) as folder,
            into_folder(folder) as add,
        ):
            yield add


def _encoder(writer: FormatWriter, options: Any) -> Encode:
    """Returns the function that encodes one document; options of another format do not count."""
    if writer.options is None:
        return writer.encoder(None)
    return writer.encoder(options if isinstance(options, writer.options) else writer.options())


def _refuse_repeated_ids(encode: Encode) -> Encode:
    """Returns an encoder that refuses a second document with an id."""
    identifiers = IdSet()

    def encode_once(document: Any, part: WriteReport) -> Any:
        content = encode(document, part)
        if not identifiers.add(document.id):
            raise InputError(
                f"two documents have the id {document.id!r}, but this format needs different "
                "ids; rename one of them"
            )
        return content

    return encode_once


def _held_fields(output: Format, request: WriteRequest) -> HeldFields:
    """Returns the fields in the file; a table or view of one source keeps the source as its own
    name.
    """
    holds, sources = output.writer.holds, request.sources
    if output.name == "text" and request.path == STDOUT:
        return replace(holds, fields=EVERYTHING, only=sources)  # output for a person, not a file
    if holds.fields == EVERYTHING or sources is None:
        return holds
    return replace(holds, only=sources, source=sources[0] if holds.by_reference else holds.source)


_FOLDER: Final = ".texts"
_NOT_IN_NAMES: Final = re.compile(r'[%/\\:*?"<>|\x00-\x1f]|^\.')
_Result = TypeVar("_Result")


def write_texts_beside(
    documents: Iterable[_Result], path: str, *, overwrite: bool, report: WriteReport
) -> Iterator[_Result]:
    """Streams documents, and writes each extracted text to ``NAME.texts/ID.txt`` beside the file
    ``NAME.csv``.

    An id that is too long for the name of a file is replaced by its SHA-256.

    Args:
        documents: any.
        path: of the file; nothing is written beside standard output or a device.
        overwrite: replace another text of this name.
        report: receives the name of the folder.

    Raises:
        OutputError: there is another text of this name, or the place cannot be written.
    """
    target = Path(path)
    is_file = path != STDIN and (target.is_file() or not target.exists())
    folder = target.with_name(target.name.removesuffix(".gz")).with_suffix(_FOLDER)
    for document in documents:
        if (
            is_file
            and isinstance(document, Document)
            and EXTRACTED.items() <= document.meta.items()
        ):
            _write_text(folder, document, overwrite=overwrite)
            report.folders.add(str(folder))
        yield document


def _write_text(folder: Path, document: Document, *, overwrite: bool) -> None:
    folder.mkdir(exist_ok=True)
    name = _NOT_IN_NAMES.sub(lambda match: f"%{ord(match[0]):02X}", document.id) + TEXT
    if len(os.fsencode(name)) > LONGEST_NAME:
        name = hashlib.sha256(document.id.encode()).hexdigest() + TEXT
    place, content = folder / name, document.text.encode()
    if place.is_file() and place.read_bytes() == content:
        return
    with atomic_writer(place, overwrite=overwrite) as stream:
        stream.write(content)
