"""Interface between a format module and the catalogue: how files of the format are read and
written.

Also plug-in readers and writers (`fascicle.core.contracts.Reader` and ``Writer``), with checks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Final, NoReturn

import msgspec

from fascicle.core import contracts
from fascicle.core.document import Document, Section
from fascicle.core.files.atomic import check_target
from fascicle.core.files.source import STDIN, Source
from fascicle.core.mention import are_tuples
from fascicle.core.wording import shorten
from fascicle.errors import FascicleError, InputError, PluginError, UsageError
from fascicle.formats.losses import (
    EVERYTHING,
    LENIENT,
    HeldFields,
    Item,
    LossPolicy,
    representable_part,
)
from fascicle.formats.report import ReadReport, WriteReport

Encode = Callable[[Any, WriteReport], Any]
WriteOne = Callable[[Any], object]
TEXT: Final = ".txt"
ANNOTATIONS: Final = (".ann", ".a1", ".a2")  # of brat
SUFFIXES: Final = (TEXT, *ANNOTATIONS)
# `Document.meta` of a text that no file holds
EXTRACTED: Final = MappingProxyType({"text": "extracted"})
_NOT_IN_NAMES: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_MARK: Final = "\ufeff"


def write_each(
    documents: Iterable[Item],
    encode: Encode,
    put: WriteOne,
    *,
    holds: HeldFields,
    report: WriteReport,
    strictness: LossPolicy = LENIENT,
) -> None:
    """Writes documents one by one.

    Nothing of a document is written before all of it is encoded. A document that cannot be encoded
    is set aside if the report allows it; errors of reading the documents are never caught here.

    Args:
        documents: may be a stream; predictions are written in the same way.
        encode: makes what is written of one document; counts losses in the report that it is given,
            and corrects the number of mentions there if it leaves out some.
        put: writes that.
        holds: what the format holds; the rest is counted.
        report: receives the counts of the documents that are written.
        strictness: whether a document is refused that would lose something.

    Raises:
        LossError: a document would lose something, and that is refused.
        InputError: a document that the format cannot hold at all.
    """
    for document in documents:
        with report.aside.one():
            part = WriteReport()
            writable = representable_part(document, holds, part)
            part.mentions = len(writable.mentions)
            content = _encode_part(writable, encode, part)
            strictness.check(document, part, format_name=holds.format)
            put(content)
            part.documents = 1
            report.add(part)


def check_name(
    value: str, *, what: str, forbidden: str = "", trimmed: bool = True, advice: str = "rename it"
) -> str:
    """Returns an id or a type unchanged; raises an error if a line cannot hold it.

    Args:
        value: the id or type.
        what: for the message, e.g. ``"the type"``.
        forbidden: characters that it may not hold, beside control characters and ends of lines.
        trimmed: whether readers leave out blanks at its ends.
        advice: what to do.

    Raises:
        InputError: it is empty, has blanks at its ends (where that matters), begins with U+FEFF
            (which readers take for a byte order mark), or holds what it may not hold.
    """
    bad = _NOT_IN_NAMES.search(value) or any(sign in value for sign in forbidden)
    if bad or not value or value.startswith(_MARK) or (trimmed and value != value.strip()):
        signs = "".join(f", {sign!r}" for sign in forbidden)
        blanks = ", nor begin or end with a blank" if trimmed else ""
        raise InputError(
            f"{what} {shorten(repr(value), most=100)} cannot be written in this format: it may not "
            f"be empty, hold TAB, line breaks or other control characters{signs}, begin with "
            f"U+FEFF{blanks}; {advice}"
        )
    return value


def _encode_part(document: Item, encode: Encode, part: WriteReport) -> Any:
    try:
        return encode(document, part)
    except UnicodeEncodeError as error:
        raise InputError(
            f"document {document.id!r} holds {error.object[error.start : error.end]!r}, half of a "
            "character, in its id or its annotation, which no file can hold; repair the source"
        ) from None


class FormatReader(msgspec.Struct, frozen=True, kw_only=True):
    """Reader of files in a format.

    Attributes:
        read: streams the documents of a source.
        options: class of its options, if it has any.
        may_be_empty: whether a file without documents is no error.
    """

    read: Callable[[Source, Any, ReadReport], Iterator[Document]]
    options: type[Any] | None = None
    may_be_empty: bool = False


@contextmanager
def open_frame(
    stream: BinaryIO,
    encode: Encode,
    *,
    head: bytes = b"",
    first: bytes = b"",
    between: bytes = b"",
    tail: bytes = b"",
) -> Iterator[WriteOne]:
    """Yields the function that writes one document into a file, with what stands around the
    documents.

    Args:
        stream: of the file.
        encode: not used.
        head: bytes at the beginning of the file.
        first: bytes before the first document.
        between: bytes before every other document.
        tail: bytes at the end of the file.
    """
    stream.write(head)
    before = first

    def write_one(data: bytes) -> None:
        nonlocal before
        stream.write(before + data)
        before = between

    yield write_one
    stream.write(tail)


def _check_file(path: str, *, overwrite: bool) -> None:
    if path != STDIN:
        check_target(path, overwrite=overwrite)


class FormatWriter(msgspec.Struct, frozen=True, kw_only=True):
    """Writer of files in a format.

    Attributes:
        holds: fields of a document that the files hold.
        encoder: takes options, and returns the function that encodes one document.
        options: class of the options, if there are any.
        into: opens a stream for what that function, its second argument, makes; bytes are written
            as they are by default.
        into_folder: the same for an empty folder, for a format of several files; ``into`` then
            writes a zip.
        check: raises early an error if a path cannot be written.
        prepare: adds to a document what the format needs and the document lacks.
        grows: whether a later run can append to a file, because documents need no separator or
            closing part.
        by_id: whether only the id says which mentions belong together, so that no two documents may
            have the same.
    """

    holds: HeldFields
    encoder: Callable[[Any], Encode]
    options: type[Any] | None = None
    into: Callable[[BinaryIO, Encode], AbstractContextManager[WriteOne]] = open_frame
    into_folder: Callable[[Path], AbstractContextManager[WriteOne]] | None = None
    check: Callable[..., None] = _check_file
    prepare: Callable[[Document], Document] | None = None
    grows: bool = True
    by_id: bool = False


def check_options(options: Any, allowed: type[Any] | None, name: str) -> None:
    """Raises an error if options are not of the class that a format takes.

    Args:
        options: as given; ``None`` for none.
        allowed: class of the options of its reader or writer, if it has any.
        name: of the format.

    Raises:
        UsageError: they are.
    """
    if options is None or (allowed is not None and isinstance(options, allowed)):
        return
    rule = f"they must be {allowed.__name__}" if allowed is not None else "it has none"
    raise UsageError(f"{type(options).__name__} are not options of the format {name!r}: {rule}")


def file_text(document: Document, report: WriteReport) -> tuple[str, bytes]:
    """Returns the text of a document with a blank for each NUL, which is counted, and the content
    of its text file.

    A text that begins with U+FEFF gets another one in front there, since readers take the first for
    a byte order mark.
    """
    text = document.text.replace("\0", " ")
    if nul := document.text.count("\0"):
        report.lose("nul", document, count=nul)
    return text, (_MARK + text if text.startswith(_MARK) else text).encode()


def _is_passage(section: Section) -> bool:
    return section.name == section.name.strip() != "" and section.start < section.end


def separate_sections(
    document: Document, report: WriteReport, *, fits: Callable[[Section], bool] = _is_passage
) -> list[Section]:
    """Returns the sections that a file can hold, in order and without overlap; counts the others as
    losses.

    Args:
        document: whose sections they are.
        report: receives the counts.
        fits: true for a section that the file can hold; by default one with a name and a text.
    """
    sections: list[Section] = []
    for section in sorted(
        set(document.sections or ()), key=lambda one: (one.start, one.end > one.start, -one.end)
    ):
        if fits(section) and section.start >= (sections[-1].end if sections else 0):
            sections.append(section)
    if losses := len(document.sections or ()) - len(sections):
        report.lose("sections", document, count=losses)
    return sections


def reader_of(reader: contracts.Reader, *, name: str) -> FormatReader:
    """Returns the reader of a format from an object that meets the protocol; ``name`` is the
    name of the format.
    """
    return FormatReader(read=partial(_stream_documents, reader, name))


def _stream_documents(
    reader: contracts.Reader, name: str, source: Source, options: Any, report: ReadReport
) -> Iterator[Document]:
    """Streams the documents of a file; errors that the reader yields are counted as set aside.

    Raises:
        InputError: the reader raises an error.
        PluginError: it gives something else than documents and errors.
    """
    try:
        for result in reader.read(source):
            if isinstance(result, Document):
                _check_document(result, name)
                yield result
            elif isinstance(result, InputError):
                report.aside.add(result if result.file else _name_file(result, source.path))
            else:
                _refuse(
                    f"gave {_kind(result)} in place of a Document; yield Documents, and an "
                    "InputError for what cannot be read",
                    name,
                )
    except InputError as error:
        if error.file:
            raise
        raise _name_file(error, source.path) from error
    except FascicleError as error:
        error.file = error.file or source.path
        raise
    except OSError:
        raise
    except Exception as error:
        why = f"the reader {name!r} cannot read it ({type(error).__name__}: {error})"
        raise InputError(why, at=source.path, key=name) from error


def _name_file(error: InputError, path: str) -> InputError:
    """Returns the error with the file in its attribute and in its message, which the reader may
    omit.
    """
    placed = error if path in str(error) else error.saying(f"{path}: {error}")
    placed.file = path
    return placed


def _check_document(document: Document, name: str) -> None:
    for what, value in (("id", document.id), ("text", document.text)):
        if not isinstance(value, str):
            _refuse(f"gave a Document with {_kind(value)} as its {what}; make it a str", name)
    for mention in document.mentions:
        if not are_tuples(mention.spans):
            _refuse(
                f"gave a mention with the spans {mention.spans!r}; make them a tuple of tuples "
                "(start, end)",
                name,
            )


def _refuse(what: str, name: str) -> NoReturn:
    raise PluginError(f"the reader {name!r} {what}", key=name)


def _kind(value: object) -> str:
    return f"an object of the type {type(value).__name__}"


def writer_of(writer: contracts.Writer, *, name: str) -> FormatWriter:
    """Returns the writer of a format from an object that meets the protocol.

    Args:
        writer: the object.
        name: of the format.

    Raises:
        PluginError: it declares a field that does not exist.
    """
    fields = frozenset(writer.holds)
    if unknown := fields - EVERYTHING:
        raise PluginError(
            f"the writer {name!r} has {min(unknown)!r} in holds, which is not a field of a "
            f"document; the fields are {', '.join(sorted(EVERYTHING))}",
            key=name,
        )
    return FormatWriter(
        holds=HeldFields(format=name, fields=fields),
        encoder=lambda options: partial(_encode, writer, name),
        into=partial(open_frame, head=writer.start, tail=writer.end),
        grows=False,
    )


def _encode(writer: contracts.Writer, name: str, document: Document, report: WriteReport) -> bytes:
    try:
        content = writer.encode(document)
    except FascicleError:
        raise
    except Exception as error:
        message = (
            f"document {document.id!r} cannot be written by the writer {name!r} "
            f"({type(error).__name__}: {error})"
        )
        raise InputError(message, key=document.id) from error
    if not isinstance(content, bytes):
        raise PluginError(
            f"the writer {name!r} gave {_kind(content)} in place of bytes; encode the text, as "
            "with .encode()",
            key=name,
        )
    return content
