"""Documents as they are: JSON Lines of `Document` with a schema version, which lose nothing, and
plain text.

A file of plain text is one document, and its text is never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

import msgspec

from fascicle.core import codec
from fascicle.core.absent import decode_present
from fascicle.core.document import Document
from fascicle.core.effects import make_event
from fascicle.core.files.source import (
    Line,
    Source,
    line_text,
    read_lines_or_errors,
    read_whole_text,
)
from fascicle.core.wording import plural
from fascicle.errors import BROKEN, FormatError, InputError, Place, UsageError
from fascicle.formats.collect import is_text_at
from fascicle.formats.handlers import FormatReader, FormatWriter, file_text
from fascicle.formats.losses import EVERYTHING, HeldFields, held_fields
from fascicle.formats.offset_units import StatedMention, convert_spans, fit_offsets
from fascicle.formats.report import ReadReport, WriteReport

_STEP: Final = "native"
_DIFFERS: Final = "text-mismatch"
_HOLDS: Final = HeldFields(format="the format jsonl", fields=EVERYTHING)


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Streams the documents of a native file; blank lines are skipped.

    Args:
        source: the file.
        options: none.
        report: a bad line sets one document aside.

    Raises:
        FormatError: a line that is no document of this schema.
    """
    for number, line in read_lines_or_errors(source):
        if line == "" or (isinstance(line, str) and line.isspace()):
            continue
        with report.aside.one():
            yield _document(line, Place(source.path, number))


def _document(line: Line, place: str) -> Document:
    text = line_text(line)
    try:
        document = codec.decode(text)
        differs = any(event.code == _DIFFERS for event in document.events)
        return _in_code_points(text) or document if differs else document
    except (FormatError, RecursionError) as error:
        with suppress(FormatError, RecursionError, *BROKEN):
            if moved := _in_code_points(text):
                return moved
        hint = "" if '"fascicle"' in text else "; read what another tool wrote with format=records"
        raise FormatError(f"{error}{hint}", at=place, code=getattr(error, "code", "")) from None


def _in_code_points(line: str) -> Document | None:
    """Returns the document of a line in which another program counted offsets of mentions in its
    own unit.

    Only mentions whose text is not that at their offsets are moved, if the texts of all of them
    then are.
    """
    record = decode_present(msgspec.json.Decoder(codec.DocumentRecord), line)
    text = record.text
    wrong = [
        mention
        for mention in record.mentions
        if mention.text is not None and not is_text_at(mention.spans, text, mention.text)
    ]
    stated = [StatedMention(mention.spans, mention.text) for mention in wrong]
    fit = fit_offsets(text, stated, agrees=lambda beside, spans: is_text_at(spans, text, beside))
    if not fit.how or record.relations:  # which name mentions by their offsets
        return None

    for mention in wrong:
        mention.spans = convert_spans(mention.spans, fit.convert)
        if not is_text_at(mention.spans, text, mention.text or ""):
            return None
    message = f"the offsets of {plural(len(wrong), 'mention')} count {fit.how}; they were moved"
    return codec.decode(msgspec.json.encode(record)).with_events(
        make_event("offsets-moved", step=_STEP, message=message)
    )


READER: Final = FormatReader(read=read)
WRITER: Final = FormatWriter(
    holds=_HOLDS, encoder=lambda _: lambda document, report: codec.encode(document) + b"\n"
)


_PLAIN_HOLDS: Final = held_fields("plain text", "text-between-words")


def _read_plain(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Yields the one document of a text file; an empty file is a document with an empty text.

    Line ends stay as they are. A byte order mark is not part of the text.

    Raises:
        FormatError: a binary file, or text in another encoding.
    """
    text = read_whole_text(source)
    try:
        yield Document(id=source.name, text=text)
    except ValueError as error:  # utf-16 with surrogatepass-like codecs can produce lone surrogates
        raise InputError(str(error), at=source.path) from None


def _plain_encoder() -> Callable[[Document, WriteReport], bytes]:
    """Returns the function that encodes the one document as text.

    A text that begins with U+FEFF gets another one in front, since readers take the first for a
    byte order mark. It raises a `UsageError` for a second document.
    """
    is_full = False

    def encode(document: Document, report: WriteReport) -> bytes:
        nonlocal is_full
        if is_full:
            raise UsageError(
                "a plain text file holds one document, but there are several; write jsonl"
            )
        is_full = True
        return file_text(document, report)[1]

    return encode


PLAIN_READER: Final = FormatReader(read=_read_plain, may_be_empty=True)
PLAIN_WRITER: Final = FormatWriter(holds=_PLAIN_HOLDS, encoder=lambda _: _plain_encoder())
