"""Format ``jsonl``: JSON Lines of `Document`, with a schema version; nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.core.files.source import Line, Source, lines_or_errors, text_of, without_mark
from fascicle.errors import FormatError, Place
from fascicle.formats.handlers import Reader, Writer
from fascicle.formats.losses import EVERYTHING, HeldFields
from fascicle.formats.report import ReadReport

HOLDS: Final = HeldFields(format="the format jsonl", fields=EVERYTHING)


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Streams the documents of a native file; blank lines are skipped.

    Args:
        source: the file.
        options: none.
        report: a bad line sets one document aside.

    Raises:
        FormatError: a line that is no document of this schema.
    """
    for number, line in lines_or_errors(source):
        if line == "" or (isinstance(line, str) and line.isspace()):
            continue
        with report.aside.one():
            yield _document(line, Place(source.path, number))


def _document(line: Line, place: str) -> Document:
    text = text_of(without_mark(line))
    try:
        return codec.decode(text)
    except (FormatError, RecursionError) as error:
        hint = "" if '"fascicle"' in text else "; read what another tool wrote with format=records"
        raise FormatError(f"{error}{hint}", at=place, code=getattr(error, "code", "")) from None


READER: Final = Reader(read=read)
WRITER: Final = Writer(holds=HOLDS, encoder=lambda _: lambda document, report: codec.encode(document) + b"\n")
