"""What all writers share: one document after the other, each written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fascicle.core.document import Document
from fascicle.errors import InputError
from fascicle.formats.report import WriteReport

Encode = Callable[[Document, WriteReport], Any]
Put = Callable[[Any], object]


def write_each(documents: Iterable[Document], encode: Encode, put: Put, *, report: WriteReport) -> None:
    """Writes documents one by one.

    Nothing of a document is written before all of it is encoded. A document that cannot be encoded is set aside if the
    report says so; errors of reading the documents are never caught here.

    Args:
        documents: may be a stream.
        encode: makes what is written of one document; counts its mentions and losses in the report that it is given.
        put: writes that.
        report: receives the counts of the documents that are written.

    Raises:
        InputError: a document that the format cannot hold at all.
    """
    for document in documents:
        with report.aside.one():
            part = WriteReport()
            put(_encoded(document, encode, part))
            part.documents = 1
            report.add(part)


def _encoded(document: Document, encode: Encode, part: WriteReport) -> Any:
    try:
        return encode(document, part)
    except UnicodeEncodeError as error:
        raise InputError(
            f"document {document.id!r} holds {error.object[error.start : error.end]!r}, half of a character, in its id "
            "or its annotation, which no file can hold; repair the source"
        ) from None
