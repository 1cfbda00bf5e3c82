"""Plain text: a file is one document, and its text is never changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from fascicle.core.document import Document
from fascicle.core.files.source import Source, whole_text
from fascicle.errors import InputError, UsageError
from fascicle.formats.handlers import Reader, Writer
from fascicle.formats.losses import held
from fascicle.formats.report import ReadReport, WriteReport

HOLDS: Final = held("plain text", "text-between-words")
_MARK: Final = "\ufeff"


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Yields the one document of a text file; an empty file is a document with an empty text.

    Line ends stay as they are. A byte order mark is not part of the text.

    Raises:
        FormatError: a binary file, or text in another encoding.
    """
    text = whole_text(source)
    try:
        yield Document(id=source.name, text=text)
    except ValueError as error:  # utf-16 with surrogatepass-like codecs can produce lone surrogates
        raise InputError(str(error), at=source.path) from None


def encoder() -> Callable[[Document, WriteReport], bytes]:
    """Returns the function that encodes the one document as text.

    A text that begins with U+FEFF gets another one in front, since readers take the first for a byte order mark.
    It raises a `UsageError` for a second document.
    """
    written: list[str] = []

    def encode(document: Document, report: WriteReport) -> bytes:
        if written:
            raise UsageError("a plain text file holds one document, but there are several; write jsonl")
        written.append(document.id)
        text = document.text.replace("\0", " ")
        if nul := document.text.count("\0"):
            report.lose("nul", document, count=nul)
        return (_MARK + text if text.startswith(_MARK) else text).encode()

    return encode


READER: Final = Reader(read=read, may_be_empty=True)
WRITER: Final = Writer(holds=HOLDS, encoder=lambda _: encoder())
