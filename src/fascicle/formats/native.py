"""The native format: JSON Lines of `Document`, with a schema version; nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator

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


def encode(document: Document, report: WriteReport) -> bytes:
    """One document as one line; nothing is lost."""
    report.mentions += len(document.mentions)
    return codec.encode(document) + b"\n"
