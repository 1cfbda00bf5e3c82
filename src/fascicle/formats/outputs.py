"""Writing what a request asks for: documents in any format, and predictions without their texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from fascicle.core.document import Document
from fascicle.formats.atomic import Opened, output
from fascicle.formats.catalogue import Format
from fascicle.formats.files import write_as
from fascicle.formats.losses import EVERYTHING, Holds
from fascicle.formats.predictions import Prediction
from fascicle.formats.report import WriteReport
from fascicle.formats.requests import STDOUT, WriteRequest


def write_documents(
    documents: Iterable[Document],
    request: WriteRequest,
    *,
    report: WriteReport | None = None,
    opened: Opened = output,
) -> WriteReport:
    """Writes documents.

    Args:
        documents: may be a stream.
        request: where and how.
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
    chosen = request.chosen
    return _write(documents, request, chosen, _held(chosen, request), report=report, opened=opened)


def write_predictions(
    predictions: Iterable[Prediction], request: WriteRequest, *, report: WriteReport | None = None
) -> WriteReport:
    """Writes what is known of documents without their texts: the answer of one system.

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
    chosen = request.chosen
    holds = chosen.writer.holds
    holds = replace(holds, by_reference=holds.by_reference | {"sources"})  # a table of one system is named after it
    if chosen.writer.options is not None:
        request = replace(request, options=chosen.writer.options(with_text=False))
    return _write(predictions, request, chosen, holds, report=report)


def _write(
    documents: Iterable[Any],
    request: WriteRequest,
    chosen: Format,
    holds: Holds,
    *,
    report: WriteReport | None,
    opened: Opened = output,
) -> WriteReport:
    return write_as(
        request.path,
        documents,
        chosen,
        options=request.options if isinstance(request.options, chosen.writer.options or ()) else None,
        overwrite=request.overwrite,
        report=report,
        strictness=request.strictness,
        opened=opened,
        holds=holds,
    )


def _held(chosen: Format, request: WriteRequest) -> Holds:
    """What is in the file; a table or view of one source is its answer, so that its name is not lost."""
    holds, source = chosen.writer.holds, request.source
    if chosen.name == "text" and request.path == STDOUT:
        return replace(holds, fields=EVERYTHING, only=source)  # to be looked at, and no file
    if holds.fields == EVERYTHING or source is None:
        return holds
    return replace(holds, only=source, source=source if holds.by_reference else holds.source)
