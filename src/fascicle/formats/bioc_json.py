"""BioC in JSON: a collection, several in an array, or one document per line as PubTator provides them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, BinaryIO, Final

import msgspec

from fascicle.core.document import Document
from fascicle.core.files.source import MAX_FILE, Line, Source, is_integer, lines_or_errors, text_of, without_mark
from fascicle.errors import FormatError, Place
from fascicle.formats.bioc import SOURCE, Entry, document_of, entry_of, holds_of
from fascicle.formats.handlers import Encode, Put, Reader, Writer
from fascicle.formats.report import ReadReport, WriteReport

DOCUMENTS: Final = ("documents", "PubTator3")
_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LIST: Final = msgspec.json.Decoder(list[msgspec.Raw])
_ENTRY: Final = msgspec.json.Decoder(Entry, strict=False)
_ENCODER: Final = msgspec.json.Encoder()
_HEAD: Final = _ENCODER.encode({"source": SOURCE, "date": "", "key": "", "infons": {}})
_BROKEN: Final = (msgspec.MsgspecError, ValueError, RecursionError)


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Streams the documents of a collection; the whole file is read first unless it has one document per line.

    Args:
        source: the file.
        options: none.
        report: a document of another form is set aside.

    Raises:
        FormatError: no JSON, or no document of BioC.
    """
    found = lines_or_errors(source)
    numbered = ((number, line) for number, line in found if not isinstance(line, str) or line.strip())
    yield from _all(source, report, numbered)


def _all(source: Source, report: ReadReport, numbered: Iterator[tuple[int, Line]]) -> Iterator[Document]:
    first = next(numbered, None)
    if first is None:
        return
    if _is_document(first[1]):
        for number, line in chain((first,), numbered):
            with report.aside.one():
                yield _document(text_of(line).encode(), Place(source.path, number))
        return
    place = Place(source.path, first[0])
    for raw in _documents(_whole(first[1], numbered, place), place):
        with report.aside.one():
            yield _document(bytes(raw), place)


def _is_document(line: Line) -> bool:
    """True if a line is a whole document."""
    try:
        return "passages" in _OBJECT.decode(text_of(without_mark(line)))
    except (FormatError, *_BROKEN):
        return False


def _whole(first: Line, numbered: Iterator[tuple[int, Line]], place: Place) -> str:
    parts, size = [text_of(without_mark(first))], 0
    for _, line in numbered:
        parts.append(text_of(line))
        size += len(parts[-1]) + 1
        if size > MAX_FILE:
            raise FormatError(
                f"the collection has more than {MAX_FILE:,} characters; write one document on each line",
                at=place,
                code="too-large",
            )
    return "\n".join(parts)


def _documents(text: str, place: Place) -> Iterator[msgspec.Raw]:
    """Yields the documents of a collection, or of an array of collections or documents."""
    try:
        given = _LIST.decode(text) if text.lstrip().startswith("[") else [msgspec.Raw(text.encode())]
        for one in given:
            yield from _of_one(one)
    except _BROKEN as error:
        raise FormatError(
            f"no collection of BioC ({error}); it is an object with documents, and each has passages", at=place
        ) from None


def _of_one(raw: msgspec.Raw) -> Iterator[msgspec.Raw]:
    fields = _OBJECT.decode(raw)
    key = next((name for name in DOCUMENTS if name in fields), "")
    if not key and "passages" not in fields:
        raise ValueError("neither documents nor passages are among its fields")
    yield from _LIST.decode(fields[key]) if key else (raw,)


def _document(data: bytes, place: Place) -> Document:
    try:
        entry = _ENTRY.decode(data)
    except _BROKEN as error:
        raise FormatError(f"no document of BioC ({error})", at=place) from None
    return document_of(entry, at=place)


def encode(document: Document, report: WriteReport) -> bytes:
    """Encodes one document as a JSON object.

    Raises:
        InputError: an id or a type that cannot be written.
    """
    return _ENCODER.encode(entry_of(document, report))


@contextmanager
def into_collection(stream: BinaryIO, encode: Encode) -> Iterator[Put]:
    """Opens a collection and yields the function that adds a document; the collection is closed at the end.

    Args:
        stream: a file.
        encode: makes the documents.
    """
    stream.write(_HEAD[:-1] + b',"documents":[')
    with _array(stream) as put:
        yield put


@contextmanager
def _array(stream: BinaryIO) -> Iterator[Put]:
    before = b"\n"

    def put(data: Any) -> None:
        nonlocal before
        stream.write(before + data)
        before = b",\n"

    yield put
    stream.write(b"\n]}\n")


# -- as the service of PubTator 3 answers ------------------------------------------------------------------------------


def _encode_answer(document: Document, report: WriteReport) -> bytes:
    """Encodes one document as an object of a PubTator 3 response: BioC with the ids of the article.

    Raises:
        InputError: an id or a type that cannot be written.
    """
    entry = entry_of(document, report)
    ids = {"pmid": int(document.id) if is_integer(document.id) else None, "pmcid": document.meta.get("pmc")}
    return _ENCODER.encode({"_id": f"{document.id}|{ids['pmcid']}", **msgspec.to_builtins(entry), **ids})


@contextmanager
def _into_answer(stream: BinaryIO, encode: Encode) -> Iterator[Put]:
    """Opens a PubTator 3 response for writing, see `into_collection`."""
    stream.write(b'{"PubTator3":[')
    with _array(stream) as put:
        yield put


READER: Final = Reader(read=read)
WRITER: Final = Writer(holds=holds_of("BioC JSON"), encoder=lambda _: encode, into=into_collection, grows=False)
PUBTATOR3_WRITER: Final = Writer(
    holds=holds_of("PubTator 3 JSON"), encoder=lambda _: _encode_answer, into=_into_answer, grows=False
)
