"""The native format: JSON Lines of `Document`, with a schema version; nothing is lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.errors import FormatError
from fascicle.formats.report import ReadReport, WriteReport
from fascicle.formats.source import Source, lines


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Streams the documents of a native file; blank lines are skipped.

    Raises:
        FormatError: a line that is no document of this schema.
    """
    for number, line in lines(source):
        if not line.strip():
            continue
        try:
            yield codec.decode(line)
        except (FormatError, RecursionError) as error:
            raise FormatError(f"{source.path}:{number}: {error}") from None


def write(documents: Iterable[Document], stream: BinaryIO, options: None, report: WriteReport) -> None:
    """Writes documents, one per line."""
    for document in documents:
        stream.write(codec.encode(document) + b"\n")
        report.documents += 1
        report.mentions += len(document.mentions)
